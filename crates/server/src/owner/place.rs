//! The role of the owner: one process of many has it, as long as it holds the lock of `sock/owner`.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use super::door;
use super::door::{Door, Listener};

/// Folder in the store's.
pub(super) const FOLDER: &str = "sock";
/// The lock.
pub(super) const OWNER: &str = "owner";
/// Longest file that is read.
const NOTICE_MAX_BYTES: u64 = 8 << 10;

/// The role of the owner, held until it is dropped.
pub(super) struct Claim {
    // Closed before the role is given back.
    door: Option<Door>,
    file: File,
}

impl Claim {
    /// Takes the role; `None` while another process has it.
    pub(super) fn take(store: &Path) -> io::Result<Option<Claim>> {
        let file = file_to_own(store)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Claim { door: None, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes the role as soon as no other process has it.
    pub(super) fn wait(store: &Path) -> io::Result<Claim> {
        let file = file_to_own(store)?;
        file.lock()?;
        Ok(Claim { door: None, file })
    }

    /// Listens to others, and says where.
    pub(super) fn listen(&mut self, store: &Path) -> io::Result<Listener> {
        let (listener, door) = Door::open(&store.canonicalize()?, &self.file)?;
        self.door = Some(door);
        Ok(listener)
    }
}

/// Whether a process has the role.
pub(crate) fn is_taken(store: &Path) -> bool {
    let taken = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    opened(store).is_ok_and(taken)
}

/// The owner's file and its bytes, if it is a regular file.
pub(super) fn read(store: &Path) -> Option<(File, Vec<u8>)> {
    let file = opened(store).ok()?;
    let mut bytes = Vec::new();
    (&file)
        .take(NOTICE_MAX_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some((file, bytes))
}

/// The file to be locked by the owner; it is made where it is missing.
fn file_to_own(store: &Path) -> io::Result<File> {
    let folder = store.join(FOLDER);
    door::private_folder(&folder)?;
    let mut options = door::opened();
    options.write(true).create(true).truncate(false);
    regular(options.open(folder.join(OWNER))?)
}

fn opened(store: &Path) -> io::Result<File> {
    regular(door::opened().open(store.join(FOLDER).join(OWNER))?)
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!(
            "{FOLDER}/{OWNER} is not a regular file"
        ))),
    }
}
