//! Opens, maps and replaces files of vectors.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Result, io};

/// Opens a file for reading.
///
/// # Errors
/// `Io`, also for a path that is no regular file: opening a pipe would wait for ever.
fn open(path: &Path) -> Result<File> {
    let open = || match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is no file")),
    };
    open().map_err(io("opening", path))
}

/// Maps a whole file.
///
/// # Errors
/// `Io`, also for a path that is no regular file.
#[allow(unsafe_code)]
pub(crate) fn map(path: &Path) -> Result<Mmap> {
    let file = open(path)?;
    // SAFETY: vector files are appended to, beyond the rows that any reader looks at. No process of icm truncates a
    // file that may be mapped.
    unsafe { Mmap::map(&file) }.map_err(io("mapping", path))
}

/// Reads a whole file.
///
/// # Errors
/// `Io`, also for a path that is no regular file.
#[cfg(feature = "graph")]
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::Read::read_to_end(&mut open(path)?, &mut bytes);
    read.map_err(io("reading", path))?;
    Ok(bytes)
}

/// Replaces a file by `bytes` in one step. Nothing is synced: the file can be made again.
///
/// # Errors
/// `Io`; then the file is as it was.
#[cfg(feature = "graph")]
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("tmp");
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(io("removing", &beside)(error));
        }
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside).map_err(io("creating", &beside))?;
    io::Write::write_all(&mut file, bytes).map_err(io("writing", &beside))?;
    fs::rename(&beside, path).map_err(io("renaming", &beside))
}
