//! The mark that counts rewrites of log files, as this log has seen it.

use std::sync::PoisonError;

use super::{Log, State};
use crate::error::Result;
use crate::rewritten::Rewritten;

impl Log {
    /// Returns the mark of the last refresh. The log was read after that mark was.
    pub fn rewritten(&self) -> Rewritten {
        self.lock_state().rewritten.clone()
    }

    /// Returns the mark that is on disk now.
    pub fn rewritten_now(&self) -> Rewritten {
        Rewritten::read(&*self.disk, &self.dir)
    }

    /// Forgets the state of the log if log files were rewritten since it was read.
    pub(crate) fn look_whether_rewritten(&self, state: &mut State) -> Result<()> {
        let mark = Rewritten::read(&*self.disk, &self.dir);
        if mark == state.rewritten {
            return Ok(());
        }
        self.check_that_it_is_there(state)?;
        state.rewritten = mark;
        state.stamps = None;
        state.parts.clear();
        state.tip = None;
        state.segments = None;
        state.hold.file = None;
        let mut holes = self.holes.lock().unwrap_or_else(PoisonError::into_inner);
        holes.forget();
        Ok(())
    }
}
