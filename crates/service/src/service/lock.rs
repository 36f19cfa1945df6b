//! Waiting for the store's lock, as long as the caller said; then the store is busy.

use std::time::Duration;

use icm_log::{LOCK_FILE, Writer};
use icm_wait::Deadline;

use super::Service;
use crate::holder::Holder;
use icm_api::error::{Result, ServiceError};

/// Wait for the lock at a time, 20 ms: then its holder is looked at. Raised, a writer notices later that
/// the holder is stopped or has become the owner; lowered, a busy store is looked at more often.
pub(crate) const LOCK_LOOK: Duration = Duration::from_millis(20);

impl Service {
    /// Takes the lock of the log, waiting that long for whoever has it.
    pub(crate) fn begin(&self, wait: Duration) -> Result<Writer<'_>> {
        let writer = self.log.begin(&*self.ground.env, wait);
        writer.map_err(|error| self.explained(error))
    }

    /// Tries to take the lock, a while each time, until it is had or `wait` is over. A holder that is stopped is not
    /// waited for: that may last for hours.
    ///
    /// # Errors
    /// `Busy`, `Stopped`, and what `attempt` fails with for another reason.
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
