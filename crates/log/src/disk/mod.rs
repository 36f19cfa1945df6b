//! The disk, as far as the log needs one. The real one is [`RealDisk`]; the test bed has a simulated
//! one that loses, halves and reorders what was not synced.
//!
//! What a caller may rely on, and every implementation is tested for: bytes are durable once
//! [`DiskFile::sync`] returned after the write; a name (created, renamed, removed) once
//! [`Disk::sync_dir`] of its folder returned; [`Disk::rename`] replaces in one step.

mod real;

use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::{RealDisk, file_of};

/// What stands in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// File name; names that are not UTF-8 are left out.
    pub name: String,
    /// Whether it is a folder.
    pub is_dir: bool,
    /// A symbolic link, to a folder where `is_dir` says so.
    pub is_link: bool,
}

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist; only reads.
    Read,
    /// It must exist; reads and writes.
    Write,
    /// It must not exist (`AlreadyExists`); reads and writes. For its owner only (0600).
    CreateNew,
    /// Created when absent; reads and writes. For its owner only (0600).
    Create,
}

/// How a file or folder looked: while its stamp stays the same nobody changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Tells it from another that later has the same name.
    pub identity: u64,
    /// Length in bytes; of a folder, whatever the file system says.
    pub len: u64,
    /// When it was last changed, in units that only tell moments apart.
    pub changed: i128,
}

/// Folders and names.
pub trait Disk: Send + Sync {
    /// Entries of a folder, in no order.
    fn read_dir(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;
    /// Creates a folder (0700) and those above it; fine when it exists.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Renames a file, replacing what has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// A number that tells a folder from its copy (the inode where there is one).
    fn identity(&self, path: &Path) -> io::Result<u64>;
    /// How a file or folder looks; `None` when there is none. The second part says whether the stamp
    /// can be relied on: a change so young that another one could bear the same time cannot.
    fn stamp(&self, path: &Path) -> io::Result<Option<(Stamp, bool)>>;
    /// Takes the exclusive advisory lock of a file, created when absent, without waiting. `None`
    /// when somebody else has it. The lock goes with the value, and with the process.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>>;
}

/// An open file.
pub trait DiskFile: Send + Sync {
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether it has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes at `offset`, growing the file. May have written a part when it fails.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts the file.
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Makes contents and length durable (`fdatasync`).
    fn sync(&self) -> io::Result<()>;
    /// How the file looks; the same as [`Disk::stamp`] says of its name while it has one.
    fn stamp(&self) -> io::Result<Stamp>;
}

/// A lock that is held.
pub trait DiskLock: Send + Sync {}

/// The whole contents of a file of at most `len_max` bytes; `InvalidData` for longer ones.
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

/// Replaces a file in one step: written beside it, synced, renamed, folder synced.
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
