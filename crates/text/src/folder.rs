//! The folder of an index, which may be read-only.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::OwnedBytes;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{Directory, HasLen};

/// A directory whose readers work without a lock if none can be taken.
///
/// A reader locks a file while it opens segments, so that a writer does not delete them meanwhile. In a read-only
/// folder the lock file cannot be made. Then there is no writer, or the reader opens the index again when a file has
/// gone (see `TextIndex::open`).
///
/// Stored documents are read, not mapped. Each hit needs a block or two from anywhere in their file. A mapping would
/// also load the blocks around them, until the whole file is in memory.
#[derive(Debug, Clone)]
pub(crate) struct Folder<D> {
    directory: D,
    path: Option<PathBuf>,
}

impl Folder<MmapDirectory> {
    /// Opens the folder at a path.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self {
            directory: MmapDirectory::open(path)?,
            path: Some(path.to_owned()),
        })
    }
}

#[cfg(test)]
impl<D> Folder<D> {
    /// Wraps a directory that is no folder.
    pub(crate) fn of(directory: D) -> Self {
        Self {
            directory,
            path: None,
        }
    }
}

impl<D: Directory + Clone> Directory for Folder<D> {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.directory.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if lock.filepath == META_LOCK.filepath && is_read_only(&error) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            answer => answer,
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match &self.path {
            // On other systems reading moves the position in the file, which threads would share.
            Some(folder) if cfg!(unix) && path.extension().is_some_and(|e| e == "store") => {
                ReadFile::open(&folder.join(path), path)
            }
            _ => self.directory.get_file_handle(path),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.directory.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.directory.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.directory.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.directory.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.directory.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_directory()
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.directory.watch(watch_callback)
    }
}

/// A file whose pieces are read on demand.
#[derive(Debug)]
struct ReadFile {
    file: File,
    len: usize,
}

impl ReadFile {
    fn open(path: &Path, name: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let opened = open_file(path).and_then(|file| {
            let len = file.metadata()?.len() as usize;
            Ok(ReadFile { file, len })
        });
        match opened {
            Ok(file) => Ok(Arc::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(OpenReadError::FileDoesNotExist(name.to_owned()))
            }
            Err(error) => Err(OpenReadError::wrap_io_error(error, name.to_owned())),
        }
    }
}

impl HasLen for ReadFile {
    fn len(&self) -> usize {
        self.len
    }
}

impl FileHandle for ReadFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        read_at(&self.file, &mut bytes, range.start as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}

/// Opens a regular file: opening a pipe would wait for ever.
fn open_file(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")),
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    unreachable!("elsewhere stored documents are mapped")
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}
