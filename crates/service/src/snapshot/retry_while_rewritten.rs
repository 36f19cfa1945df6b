//! Reading while another process writes log files anew, as a redaction does: halves of two states look
//! like damage.

use std::time::{Duration, Instant};

use icm_log::LOCK_FILE;

use crate::holder::is_held;
use crate::service::Service;
use icm_api::error::{Result, ServiceError};

/// How long it is read again, and after which time. A redaction of a large log takes its time; what is
/// damaged all along is told in the end.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(25);
/// Looks at a redaction that waits for nobody who holds the lock: one that was killed.
const IDLE_TRIES: u32 = 8;

impl Service {
    /// Returns the result of `read`. Reads again if `read` met damage or failed while log files were written anew.
    pub(crate) fn retry_while_rewritten<T>(
        &self,
        mut read: impl FnMut() -> Result<T>,
        is_damaged: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let begun = Instant::now();
        let mut idle = 0;
        loop {
            let mark = self.log.rewritten_now();
            let found = read();
            let met = match &found {
                Ok(found) => is_damaged(found),
                Err(error) => matches!(
                    error,
                    ServiceError::Damaged { .. }
                        | ServiceError::Io { .. }
                        | ServiceError::Internal(_)
                ),
            };
            let changed = self.log.rewritten_now() != mark;
            let pending = self.log.redaction_pending();
            if !met || !(changed || pending) || begun.elapsed() > PATIENCE {
                return found;
            }
            idle += u32::from(!changed && !is_held(&self.options.dir.join(LOCK_FILE)));
            if idle > IDLE_TRIES {
                return found;
            }
            std::thread::sleep(PAUSE);
        }
    }
}
