//! The mark of files that were written anew, as this log has seen it.

use std::sync::PoisonError;

use super::{Log, State};
use crate::error::Result;
use crate::rewritten::Rewritten;

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
