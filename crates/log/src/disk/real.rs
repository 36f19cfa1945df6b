//! The disk of this machine, as a [`Disk`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{DirEntry, Disk, DiskFile, DiskLock, OpenMode, Stamp};

/// Age in nanoseconds below which two changes may have the same time. Several ticks of a kernel's clock, or twice the
/// coarsest clock of a file system in use. Raised, stamps can be relied on later.
const SETTLES_AFTER_NS: i128 = 100_000_000;
const SETTLES_AFTER_COARSE_NS: i128 = 4_000_000_000;

/// The file system of this machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealDisk;

#[cfg(unix)]
fn for_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn for_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a regular file. Never waits, not even for the other end of a pipe that somebody put in the file's place. Does
/// not follow a link to write, since it may lead out of the store.
fn open_regular(options: &mut OpenOptions, path: &Path, writes: bool) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let no_follow = if writes { libc::O_NOFOLLOW } else { 0 };
        options.custom_flags(libc::O_NONBLOCK | no_follow);
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(error) => return Err(odd_file(path, writes).unwrap_or(error)),
    };
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !kind.is_file() {
        return Err(not_regular());
    }
    Ok(file)
}

/// Returns the defect of a file that cannot be opened, if the error of the system does not name it.
fn odd_file(path: &Path, writes: bool) -> Option<io::Error> {
    if writes && fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink()) {
        return Some(io::Error::new(
            io::ErrorKind::InvalidData,
            "a symbolic link, which is not written through",
        ));
    }
    let kind = fs::metadata(path).ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then(not_regular)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a regular file")
}

/// Returns a file that is open already as a [`DiskFile`].
pub fn file_of(file: File) -> Arc<dyn DiskFile> {
    Arc::new(RealFile(file))
}

impl Disk for RealDisk {
    fn read_dir(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                let kind = entry.file_type()?;
                let is_link = kind.is_symlink();
                let target = || entry.path().metadata().is_ok_and(|target| target.is_dir());
                entries.push(DirEntry {
                    name,
                    is_dir: kind.is_dir() || (is_link && target()),
                    is_link,
                });
            }
        }
        Ok(entries)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => {}
            OpenMode::Write => {
                options.write(true);
            }
            OpenMode::CreateNew => {
                for_owner(options.write(true).create_new(true));
            }
            OpenMode::Create => {
                for_owner(options.write(true).create(true).truncate(false));
            }
        }
        let writes = mode != OpenMode::Read;
        Ok(Arc::new(RealFile(open_regular(
            &mut options,
            path,
            writes,
        )?)))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        builder.create(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if cfg!(unix) {
            File::open(dir)?.sync_all()
        } else {
            Ok(())
        }
    }

    fn identity(&self, path: &Path) -> io::Result<u64> {
        look(path).map(|(_, identity)| identity)
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<(Stamp, bool)>> {
        match look(path) {
            Ok((metadata, identity)) => Ok(Some(stamp_of(&metadata, identity))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        let mut options = OpenOptions::new();
        for_owner(options.read(true).write(true).create(true).truncate(false));
        let file = open_regular(&mut options, path, true)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(RealLock(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Returns a file's metadata and its number in its file system.
#[cfg(unix)]
fn look(path: &Path) -> io::Result<(fs::Metadata, u64)> {
    let metadata = fs::metadata(path)?;
    let identity = std::os::unix::fs::MetadataExt::ino(&metadata);
    Ok((metadata, identity))
}

/// Returns a file's metadata and its number in its file system. The creation time would not do: a file that soon
/// replaces another of the same name gets the other's creation time.
#[cfg(windows)]
fn look(path: &Path) -> io::Result<(fs::Metadata, u64)> {
    use std::os::windows::fs::OpenOptionsExt;
    // FILE_FLAG_BACKUP_SEMANTICS opens folders, too. No access is asked for, so nobody can refuse it.
    const FOLDERS_TOO: u32 = 0x0200_0000;
    let mut options = OpenOptions::new();
    look_at(
        &options
            .access_mode(0)
            .custom_flags(FOLDERS_TOO)
            .open(path)?,
    )
}

#[cfg(unix)]
fn look_at(file: &File) -> io::Result<(fs::Metadata, u64)> {
    let metadata = file.metadata()?;
    let identity = std::os::unix::fs::MetadataExt::ino(&metadata);
    Ok((metadata, identity))
}

#[cfg(windows)]
fn look_at(file: &File) -> io::Result<(fs::Metadata, u64)> {
    let found = winapi_util::file::information(file)?;
    Ok((file.metadata()?, found.file_index()))
}

#[cfg(unix)]
fn changed_ns(metadata: &fs::Metadata) -> i128 {
    use std::os::unix::fs::MetadataExt;
    let ns = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
    ns(metadata.mtime(), metadata.mtime_nsec()).max(ns(metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn changed_ns(metadata: &fs::Metadata) -> i128 {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos() as i128)
}

fn stamp_of(metadata: &fs::Metadata, identity: u64) -> (Stamp, bool) {
    let changed = changed_ns(metadata);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as i128);
    let stamp = Stamp {
        identity,
        len: metadata.len(),
        changed,
    };
    // A file system that counts whole seconds has only such times.
    let settles_after = match changed % 1_000_000_000 {
        0 => SETTLES_AFTER_COARSE_NS,
        _ => SETTLES_AFTER_NS,
    };
    (stamp, changed + settles_after < now)
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match read_once(&self.0, &mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all(&self.0, bytes, offset)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn stamp(&self) -> io::Result<Stamp> {
        let (metadata, identity) = look_at(&self.0)?;
        Ok(stamp_of(&metadata, identity).0)
    }
}

#[cfg(unix)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_all(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(windows)]
fn write_all(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if written == 0 {
            return Err(io::Error::from(io::ErrorKind::WriteZero));
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

#[allow(dead_code, reason = "held for the lock that its drop releases")]
struct RealLock(File);

impl DiskLock for RealLock {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    const MODES: [OpenMode; 3] = [OpenMode::Read, OpenMode::Write, OpenMode::Create];

    fn problem<T>(result: io::Result<T>) -> String {
        result
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn irregular_files_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "a FIFO");
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        for path in [fifo.as_path(), &socket, Path::new("/dev/null")] {
            for mode in MODES {
                let said = problem(RealDisk.open(path, mode));
                assert_eq!(said, "not a regular file", "{} {mode:?}", path.display());
            }
            let said = problem(RealDisk.try_lock(path));
            assert_eq!(said, "not a regular file", "{}", path.display());
        }
    }

    #[test]
    fn a_link_is_read_through_and_not_written_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "kept").expect("a file");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert!(RealDisk.open(&link, OpenMode::Read).is_ok());
        for mode in [OpenMode::Write, OpenMode::Create] {
            let said = problem(RealDisk.open(&link, mode));
            assert!(said.starts_with("a symbolic link"), "{mode:?}: {said}");
        }
        let said = problem(RealDisk.try_lock(&link));
        assert!(said.starts_with("a symbolic link"), "{said}");
        fs::remove_file(&target).expect("removed");
        assert!(RealDisk.open(&link, OpenMode::Create).is_err());
        assert!(!target.exists(), "a link that leads nowhere makes nothing");
    }
}
