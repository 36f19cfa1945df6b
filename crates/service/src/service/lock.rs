//! The wait for the store's lock: as long as the caller said, then the store is busy.
//!
//! `docs/crates/service.md` lists who holds the lock, and how long each process waits for it.

use std::time::Duration;

use icm_log::{LOCK_FILE, Writer};
use icm_wait::Deadline;

use super::Service;
use crate::holder::Holder;
use icm_api::error::{Result, ServiceError};

/// Wait for the lock before its holder is looked at, 20 ms. Raised, a writer notices later that the holder is stopped
/// or has become the owner; lowered, a busy store is looked at more often.
pub(crate) const LOCK_LOOK: Duration = Duration::from_millis(20);

impl Service {
    /// Takes the lock of the log. Waits up to `wait` for its holder.
    pub(crate) fn begin(&self, wait: Duration) -> Result<Writer<'_>> {
        let writer = self.log.begin(&*self.ground.env, wait);
        writer.map_err(|error| self.explained(error))
    }

    /// Runs `attempt`, [`LOCK_LOOK`] at a time, until it is no longer busy or `wait` is over. A stopped holder ends the
    /// wait at once: it may stay stopped for hours.
    ///
    /// # Errors
    /// `Busy`, `Stopped`, and every other error of `attempt`.
    pub(crate) fn until_free<T>(
        &self,
        wait: Duration,
        mut attempt: impl FnMut(Duration) -> Result<T>,
    ) -> Result<T> {
        let deadline = Deadline::after(wait);
        let ended = icm_wait::until(deadline, || {
            match attempt(deadline.left().min(LOCK_LOOK)) {
                Err(ServiceError::Busy { .. }) => {}
                other => return Some(other),
            }
            let holder = Holder::stopped(&self.dir().join(LOCK_FILE))?;
            let (pid, asked) = (holder.pid, false);
            Some(Err(ServiceError::Stopped { pid, asked }))
        });
        ended.unwrap_or_else(|| {
            let waited_ms = deadline.waited().as_millis() as u64;
            Err(ServiceError::Busy { waited_ms })
        })
    }
}
