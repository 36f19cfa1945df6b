//! Retries of a read while another process rewrites log files, as a redaction does: halves of two states look like
//! damage.

use icm_log::LOCK_FILE;
use icm_wait::{Deadline, bounds};

use crate::holder::is_held;
use crate::service::Service;
use icm_api::error::{Result, ServiceError};

impl Service {
    /// Returns the result of `read`. Reads again if `read` met damage or failed while log files were rewritten. A
    /// redaction of a large log takes long. If no process holds the lock, the redaction was killed, and the wait is
    /// short.
    pub(crate) fn retry_while_rewritten<T>(
        &self,
        mut read: impl FnMut() -> Result<T>,
        is_damaged: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let deadline = Deadline::after(bounds::PROCESS);
        let mut idle = None;
        let mut last = None;
        let whole = icm_wait::until(deadline, || {
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
            let mut ends = !met || !(changed || pending);
            if !ends && !changed && !is_held(&self.options.dir.join(LOCK_FILE)) {
                ends = idle
                    .get_or_insert_with(|| Deadline::after(bounds::MOMENT))
                    .is_over();
            }
            match ends {
                true => Some(found),
                false => {
                    last = Some(found);
                    None
                }
            }
        });
        // Damage is reported at the deadline.
        let lost = || Err(ServiceError::Internal("nothing was read".to_owned()));
        whole.or(last).unwrap_or_else(lost)
    }
}
