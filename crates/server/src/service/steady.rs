//! Reading while another process writes log files anew, as a redaction does: halves of two states look
//! like damage.

use std::time::Duration;

use super::Service;
use crate::error::{Result, ServiceError};

/// How often, and after which time, it is read again. A redaction of a large log takes its time; what
/// is damaged all along is told in the end.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(25);

impl Service {
    /// What `read` makes of the log: again, where it met damage or failed while files were written.
    pub(crate) fn steady<T>(
        &self,
        mut read: impl FnMut() -> Result<T>,
        is_damaged: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let mut tries = 0;
        loop {
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
            if !met || tries == TRIES || !self.log.is_written_anew() {
                return found;
            }
            tries += 1;
            std::thread::sleep(PAUSE);
        }
    }
}
