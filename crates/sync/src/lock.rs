//! The lock that allows one sync of a store at a time.

use std::fs::{File, OpenOptions};

use icm_api::error::{Result, ServiceError};
use icm_service::Service;
use icm_wait::{Deadline, NotLocked, bounds};

/// Name of the lock file, beside the lock of the log. It is not in the folder of deletable files, because a redaction,
/// also one received by the sync itself, deletes that folder.
const LOCK: &str = "sync.lock";

/// Locks a store for a sync, until the returned file is dropped. Returns `None` if there is no store yet, and creates
/// none.
///
/// # Errors
/// `Invalid` while another process syncs the store.
pub(crate) fn of(service: &Service) -> Result<Option<File>> {
    if !service.is_there() {
        return Ok(None);
    }
    let path = service.dir().join(LOCK);
    let failed = |source| ServiceError::Io {
        doing: format!("opening {}", path.display()),
        source,
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(failed)?;
    match icm_wait::lock(Deadline::after(bounds::PEER), || file.try_lock()) {
        Ok(()) => Ok(Some(file)),
        Err(NotLocked::Busy) => Err(ServiceError::Invalid {
            message: "another `icm sync` of this store is running".to_owned(),
            hint: Some("wait for it, or end it".to_owned()),
        }),
        Err(NotLocked::Failed(source)) => Err(failed(source)),
    }
}
