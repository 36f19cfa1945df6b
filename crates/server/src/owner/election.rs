//! The role of the owner: one process of many has it, as long as it holds the lock of `sock/owner`.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::file;
use super::socket::{Door, Listener};

/// The role of the owner, held until it is dropped.
pub(super) struct Claim {
    // The socket is closed before the lock is given back.
    door: Option<Door>,
    file: File,
}

impl Claim {
    /// Takes the role; `None` if another process has it.
    pub(super) fn take(store: &Path) -> io::Result<Option<Claim>> {
        let file = file::to_own(store)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Claim { door: None, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Waits until no other process has the role, and takes it.
    pub(super) fn wait(store: &Path) -> io::Result<Claim> {
        let file = file::to_own(store)?;
        file.lock()?;
        Ok(Claim { door: None, file })
    }

    /// Starts to listen, and writes the notice.
    pub(super) fn listen(&mut self, store: &Path) -> io::Result<Listener> {
        let (listener, door) = Door::open(&store.canonicalize()?, &self.file)?;
        self.door = Some(door);
        Ok(listener)
    }
}

/// Returns `true` if a process has the role.
pub(crate) fn is_taken(store: &Path) -> bool {
    let taken = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    file::open(store).is_ok_and(taken)
}
