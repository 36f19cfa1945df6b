//! The mark of files that were written anew. Who only appends is seen by where the log ends; who
//! takes a body out of a file, puts one back or fills a hole leaves the end as it was. So whoever
//! changes bytes that others may have read changes this mark after the files, and whoever keeps what
//! it read compares.

use std::path::Path;

use crate::disk::{self, Disk};
use crate::env::{Env, random_16};
use crate::error::{Result, at};
use crate::layout::REWRITTEN_FILE;

const LEN_MAX: u64 = 256;

/// What the mark said. All that matters is whether it is another one; a store without the file has
/// one mark, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewritten(Vec<u8>);

impl Rewritten {
    /// A mark that cannot be read is like none: what it says next is another one.
    pub(crate) fn read(disk: &dyn Disk, store: &Path) -> Rewritten {
        let path = store.join(REWRITTEN_FILE);
        Rewritten(disk::read_all(disk, &path, LEN_MAX).unwrap_or_default())
    }

    /// Writes another mark; durable when it returns.
    pub(crate) fn renew(disk: &dyn Disk, store: &Path, env: &dyn Env) -> Result<()> {
        let path = store.join(REWRITTEN_FILE);
        let mark: String = random_16(env)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        disk::replace(disk, &path, format!("{mark}\n").as_bytes()).map_err(at("writing", &path))
    }
}
