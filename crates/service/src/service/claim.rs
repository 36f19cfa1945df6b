//! Locks of answers: while one of them is held, no other answer of its sort is made.

use std::io::ErrorKind;

use icm_log::disk::DiskLock;
use icm_wait::Deadline;

use super::Service;
use icm_api::error::{Result, ServiceError, plain};

impl Service {
    /// Takes the lock file `name` of the store until the returned value is dropped. `undone` says what a folder that
    /// cannot be written prevents.
    ///
    /// # Errors
    /// `Busy` if another process or thread holds the lock for too long, `ReadOnly`, `Io`.
    pub(crate) fn claim(&self, name: &str, undone: &str) -> Result<Box<dyn DiskLock>> {
        let path = self.dir().join(name);
        let deadline = Deadline::after(self.options.lock_wait);
        let taken = icm_wait::until(deadline, || self.disk().try_lock(&path).transpose());
        match taken {
            Some(Ok(claim)) => Ok(claim),
            Some(Err(source))
                if matches!(
                    source.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Err(ServiceError::ReadOnly {
                    why: format!("{undone} ({}: {})", path.display(), plain(source)),
                })
            }
            Some(Err(source)) => Err(ServiceError::Io {
                doing: format!("opening {}", path.display()),
                source,
            }),
            None => Err(ServiceError::Busy {
                waited_ms: deadline.waited().as_millis() as u64,
            }),
        }
    }
}
