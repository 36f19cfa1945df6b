//! Waits for the lock of a file and for the end of a process.

use std::fs::TryLockError;
use std::io;
use std::process::{Child, ExitStatus};

use crate::{Deadline, until};

/// The reason why a file was not locked.
#[derive(Debug)]
pub enum NotLocked {
    /// Another process held the lock until the deadline.
    Busy,
    /// Locking failed.
    Failed(io::Error),
}

/// Retries `try_lock` until it takes the lock.
///
/// # Errors
/// [`NotLocked::Busy`] at the deadline, [`NotLocked::Failed`] at once.
pub fn lock(
    deadline: Deadline,
    mut try_lock: impl FnMut() -> Result<(), TryLockError>,
) -> Result<(), NotLocked> {
    let taken = until(deadline, || match try_lock() {
        Ok(()) => Some(Ok(())),
        Err(TryLockError::WouldBlock) => None,
        Err(TryLockError::Error(error)) => Some(Err(NotLocked::Failed(error))),
    });
    taken.unwrap_or(Err(NotLocked::Busy))
}

/// Waits for the end of a process. Returns `None` if it still runs at the deadline; it is not killed.
///
/// # Errors
/// When the process cannot be waited for.
pub fn ended(child: &mut Child, deadline: Deadline) -> io::Result<Option<ExitStatus>> {
    until(deadline, || child.try_wait().transpose()).transpose()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_lock_is_taken_once_it_is_free_and_busy_until_then() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let held = File::create(&path).expect("a file");
        held.lock().expect("it is free");
        let file = File::open(&path).expect("a file");
        let soon = Deadline::after(Duration::from_millis(10));
        let busy = lock(soon, || file.try_lock_shared());
        assert!(matches!(busy, Err(NotLocked::Busy)), "{busy:?}");
        drop(held);
        let free = lock(Deadline::after(Duration::ZERO), || file.try_lock_shared());
        assert!(free.is_ok(), "{free:?}");
    }

    #[test]
    fn a_failure_is_told_at_once() {
        let failed = lock(Deadline::never(), || {
            Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
        });
        assert!(matches!(failed, Err(NotLocked::Failed(_))), "{failed:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_process_is_waited_for_until_the_deadline() {
        let sleeping = std::process::Command::new("sleep").arg("60").spawn();
        let mut child = sleeping.expect("it starts");
        let soon = Deadline::after(Duration::from_millis(10));
        assert!(ended(&mut child, soon).expect("it can be").is_none());
        child.kill().expect("it runs");
        let status = ended(&mut child, Deadline::never()).expect("it can be");
        assert!(!status.expect("it ended").success());
    }
}
