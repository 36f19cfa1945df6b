//! The mark of files that were written anew. Who only appends is seen by where the log ends; who
//! takes a body out of a file, puts one back or fills a hole leaves the end as it was. So whoever
//! changes bytes that others may have read changes this mark after the files, and whoever keeps what
//! it read compares.

use std::path::Path;
use std::sync::PoisonError;

use crate::disk::{self, Disk};
use crate::env::random_16;
use crate::error::{Result, at};
use crate::layout::REWRITTEN_FILE;
use crate::log::{Log, State};
use crate::writer::Writer;

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
}

impl Log {
    /// The mark as of the last refresh: what was read of the log since is at least as new.
    pub fn rewritten(&self) -> Rewritten {
        self.lock_state().rewritten.clone()
    }

    /// The mark as it is on disk now.
    pub fn rewritten_now(&self) -> Rewritten {
        Rewritten::read(&*self.disk, &self.dir)
    }

    /// Takes what was read before for nothing when the files were written anew since.
    pub(crate) fn look_whether_rewritten(&self, state: &mut State) -> Result<()> {
        let mark = Rewritten::read(&*self.disk, &self.dir);
        if mark == state.rewritten {
            return Ok(());
        }
        self.check_that_it_is_there(state)?;
        state.rewritten = mark;
        state.looks = None;
        state.parts.clear();
        state.tip = None;
        state.segments = None;
        state.hold.file = None;
        let mut holes = self.holes.lock().unwrap_or_else(PoisonError::into_inner);
        holes.forget();
        Ok(())
    }
}

impl Writer<'_> {
    /// Says that files of the log were written anew; durable when it returns.
    pub(crate) fn mark_rewritten(&self) -> Result<()> {
        let path = self.log.dir.join(REWRITTEN_FILE);
        let mark: String = random_16(self.env)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        disk::replace(&*self.log.disk, &path, format!("{mark}\n").as_bytes())
            .map_err(at("writing", &path))
    }
}
