//! Waiting for the store's lock, as long as the caller said; then the store is busy.

use std::thread;
use std::time::{Duration, Instant};

use icm_log::{LOCK_FILE, Writer};

use super::Service;
use crate::holder::Holder;
use icm_api::error::{Result, ServiceError};

/// How long the lock is waited for at a time: then it is looked who holds it.
pub(crate) const LOCK_LOOK: Duration = Duration::from_millis(20);
/// How long the views are left to others before the lock is waited for again.
const TURN_OF_OTHERS: Duration = Duration::from_millis(1);

impl Service {
    /// Takes the lock of the log, waiting that long for whoever has it.
    pub(crate) fn begin(&self, wait: Duration) -> Result<Writer<'_>> {
        let writer = self.log.begin(&*self.ground.env, wait);
        writer.map_err(|error| self.explained(error))
    }

    /// Tries to take the lock, a while each time, until it is had or `wait` is over. Who holds it and is stopped is not
    /// waited for: that may last for hours.
    ///
    /// # Errors
    /// `Busy`, `Stopped`, and what `attempt` fails with for another reason.
    pub(crate) fn until_free<T>(
        &self,
        wait: Duration,
        mut attempt: impl FnMut(Duration) -> Result<T>,
    ) -> Result<T> {
        let begun = Instant::now();
        loop {
            let left = wait.saturating_sub(begun.elapsed());
            match attempt(left.min(LOCK_LOOK)) {
                Err(ServiceError::Busy { .. }) => {}
                other => return other,
            }
            if let Some(holder) = Holder::stopped(&self.dir().join(LOCK_FILE)) {
                let (pid, asked) = (holder.pid, false);
                return Err(ServiceError::Stopped { pid, asked });
            }
            let waited = begun.elapsed();
            if waited >= wait {
                let waited_ms = waited.as_millis() as u64;
                return Err(ServiceError::Busy { waited_ms });
            }
            thread::sleep(TURN_OF_OTHERS);
        }
    }
}
