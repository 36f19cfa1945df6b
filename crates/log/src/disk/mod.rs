//! The disk, as far as the log needs one. [`RealDisk`] is the real disk. The simulated disk of the test bed loses,
//! halves and reorders writes that were not synced.
//!
//! Every implementation is tested for this contract. Bytes are durable once [`DiskFile::sync`] returned after the
//! write. A name (created, renamed, removed) is durable once [`Disk::sync_dir`] of its folder returned.
//! [`Disk::rename`] replaces a file in one step.

mod real;

use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::{RealDisk, file_of};

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// File name; names that are not UTF-8 are left out.
    pub name: String,
    /// `true` for a folder, or a link to one.
    pub is_dir: bool,
    /// `true` for a symbolic link.
    pub is_link: bool,
}

/// The mode in which a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// The file must exist; read only.
    Read,
    /// The file must exist; read and write.
    Write,
    /// The file must not exist (`AlreadyExists`); read and write. Created for its owner only (0600).
    CreateNew,
    /// Created if absent; read and write. Created for its owner only (0600).
    Create,
}

/// The state of a file or folder. Two equal stamps mean that nobody changed it in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// A number that differs for another file that later gets the same name.
    pub identity: u64,
    /// Length in bytes; for a folder, the number that the file system reports.
    pub len: u64,
    /// Time of the last change, in units that only tell moments apart.
    pub changed: i128,
}

/// The operations on folders and names.
pub trait Disk: Send + Sync {
    /// Returns the entries of a folder, in no order.
    fn read_dir(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;
    /// Creates a folder (0700) and the folders above it. Succeeds if it exists.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Renames a file and replaces a file of the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Returns a number that tells a folder from its copy (the inode, if there is one).
    fn identity(&self, path: &Path) -> io::Result<u64>;
    /// Returns the stamp of a file or folder; `None` if there is none. The second part is `false` if the last change is
    /// so young that another change could get the same time.
    fn stamp(&self, path: &Path) -> io::Result<Option<(Stamp, bool)>>;
    /// Takes the exclusive advisory lock of a file without waiting. Creates the file if it is absent. `None` if
    /// somebody else has the lock. The lock ends with the value, and with the process.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>>;
}

/// An open file.
pub trait DiskFile: Send + Sync {
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Returns `true` if the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes at `offset` and lets the file grow. A write that fails may have written a part.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts the file to `len` bytes.
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Makes contents and length durable (`fdatasync`).
    fn sync(&self) -> io::Result<()>;
    /// Returns the stamp of the file. It equals the [`Disk::stamp`] of its name, as long as it has that name.
    fn stamp(&self) -> io::Result<Stamp>;
}

/// A lock that is held.
pub trait DiskLock: Send + Sync {}

/// Returns the whole contents of a file; `InvalidData` if it is longer than `len_max` bytes.
pub fn read_all(disk: &dyn Disk, path: &Path, len_max: u64) -> io::Result<Vec<u8>> {
    let file = disk.open(path, OpenMode::Read)?;
    let len = file.len()?;
    if len > len_max {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is too long",
        ));
    }
    let mut bytes = vec![0; len as usize];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Replaces a file in one step: writes a new file beside it, syncs, renames, syncs the folder.
pub fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    match disk.remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.open(&beside, OpenMode::CreateNew)?;
    file.write_at(bytes, 0)?;
    file.sync()?;
    drop(file);
    disk.rename(&beside, path)?;
    match path.parent() {
        Some(dir) => disk.sync_dir(dir),
        None => Ok(()),
    }
}
