//! The mark that counts rewrites of log files.
//!
//! An append moves the end of the log, but removing a body, restoring one or filling a hole may not. Code that changes
//! bytes which others may have read therefore changes the mark afterwards. Code that keeps what it read compares the
//! mark.

use std::path::Path;

use crate::disk::{self, Disk};
use crate::env::{Env, random_16};
use crate::error::{Result, at};
use crate::layout::REWRITTEN_FILE;

const LEN_MAX: u64 = 256;

/// The contents of the mark; only equality matters. A store without the file has an (empty) mark, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewritten(Vec<u8>);

impl Rewritten {
    /// Reads the mark. A mark that cannot be read counts as absent, so it differs from the next one that can.
    pub(crate) fn read(disk: &dyn Disk, store: &Path) -> Rewritten {
        let path = store.join(REWRITTEN_FILE);
        Rewritten(disk::read_all(disk, &path, LEN_MAX).unwrap_or_default())
    }

    /// Writes a new mark. Durable when it returns.
    pub(crate) fn renew(disk: &dyn Disk, store: &Path, env: &dyn Env) -> Result<()> {
        let path = store.join(REWRITTEN_FILE);
        let mark: String = random_16(env)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        disk::replace(disk, &path, format!("{mark}\n").as_bytes()).map_err(at("writing", &path))
    }
}
