//! Reads whole files, and writes them beside the old one and renames.

use std::fs::{self, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::error::InstallError;
use super::text::MAX_BYTES;

/// Most links that are followed, as in the Linux kernel.
const LINKS_MAX: usize = 40;

/// Returns the file that a path means, through links, which may lead to a file that does not exist yet.
pub(super) fn target(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::read_link(&path) else {
            break;
        };
        path = match path.parent() {
            Some(folder) => folder.join(link),
            None => link,
        };
    }
    // Folders on the way may be links, too, and two names of one file must be equal.
    let Some(name) = path.file_name() else {
        return path;
    };
    let mut missing = vec![name.to_owned()];
    let mut folder = path.parent();
    while let Some(there) = folder {
        if let Ok(real) = there.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(real, |path, part| path.join(part));
        }
        missing.extend(there.file_name().map(ToOwned::to_owned));
        folder = there.parent();
    }
    path
}

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// [`InstallError::NotAFile`], [`InstallError::TooBig`] before anything is read, [`InstallError::Io`].
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(InstallError::io("read", path)(error)),
    };
    if !about.is_file() {
        return Err(InstallError::NotAFile);
    }
    if about.len() > MAX_BYTES {
        return Err(InstallError::TooBig {
            bytes: about.len(),
            max: MAX_BYTES,
        });
    }
    // The file may have grown since then.
    let mut bytes = Vec::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(InstallError::io("read", path))?;
    match bytes.len() as u64 {
        bytes if bytes > MAX_BYTES => Err(InstallError::TooBig {
            bytes,
            max: MAX_BYTES,
        }),
        _ => Ok(Some(bytes)),
    }
}

/// Refuses a target that a link may have led to. A link in a home folder may lead anywhere, because people keep their
/// settings in other folders, but only to files of the same user. A link in a project must stay in the project, which
/// may have another author.
///
/// # Errors
/// [`InstallError::AnotherUser`], [`InstallError::OutsideProject`].
pub(super) fn check_target(
    target: &Path,
    home: &Path,
    project: Option<&Path>,
) -> Result<(), InstallError> {
    let target_is = || target.to_path_buf();
    if let Some(project) = project {
        let root = project.canonicalize();
        if !target.starts_with(root.as_deref().unwrap_or(project)) {
            return Err(InstallError::OutsideProject {
                target: target_is(),
            });
        }
    }
    match is_of_user(target, project.unwrap_or(home)) {
        true => Ok(()),
        false => Err(InstallError::AnotherUser {
            target: target_is(),
        }),
    }
}

/// Returns `true` if a file or folder belongs to the user of this process.
#[cfg(unix)]
pub(super) fn is_mine(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::geteuid().as_raw();
    fs::metadata(path).is_ok_and(|about| about.uid() == me)
}

#[cfg(not(unix))]
pub(super) fn is_mine(_: &Path) -> bool {
    true
}

/// Returns `true` if a file belongs to the user. Root works for the owner of `folder`: a link of that user to a file of
/// root would let the user write it.
#[cfg(unix)]
fn is_of_user(file: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).ok().map(|about| about.uid());
    let me = rustix::process::geteuid().as_raw();
    let allowed = match me {
        0 => owner(folder).unwrap_or(me),
        _ => me,
    };
    owner(file).is_none_or(|owner| owner == allowed)
}

#[cfg(not(unix))]
fn is_of_user(_: &Path, _: &Path) -> bool {
    true
}

/// Returns `true` if a file is marked as read-only.
pub(super) fn is_read_only(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.permissions().readonly())
}

/// Start of the name of an unfinished file; the process id and random letters follow.
const UNFINISHED: &str = ".icm-init-";
/// Random letters of that name.
const RANDOM_LEN: usize = 6;

/// Removes the unfinished files of killed runs from a folder. The caller must hold the lock of runs.
pub(super) fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let is_left = entry.file_type().is_ok_and(|kind| kind.is_file())
            && entry.file_name().to_str().is_some_and(is_of_dead_run);
        if is_left {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns `true` for the name of an unfinished file whose process has ended.
fn is_of_dead_run(name: &str) -> bool {
    let parts = name
        .strip_prefix(UNFINISHED)
        .and_then(|rest| rest.split_once('-'));
    let Some((process, random)) = parts else {
        return false;
    };
    let is_random = random.len() == RANDOM_LEN && random.bytes().all(|b| b.is_ascii_alphanumeric());
    is_random && process.parse().is_ok_and(|process| !lives(process))
}

/// Returns `true` if a process exists, of any user.
#[cfg(unix)]
fn lives(process: i32) -> bool {
    let process = rustix::process::Pid::from_raw(process);
    let asked = process.map(rustix::process::test_kill_process);
    asked.is_some_and(|asked| asked != Err(rustix::io::Errno::SRCH))
}

/// Other systems cannot be asked; the lock excludes other runs.
#[cfg(not(unix))]
fn lives(process: i32) -> bool {
    u32::try_from(process) == Ok(std::process::id())
}

/// Writes a file beside the old one and renames it, with the old one's mode and owner. Makes missing folders and
/// returns them, outermost first.
///
/// # Errors
/// [`InstallError::Io`]; the old file is then unchanged.
pub(super) fn write(
    path: &Path,
    bytes: &[u8],
    executable: bool,
) -> Result<Vec<PathBuf>, InstallError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let made = make_folders(folder)?;
    let old = fs::metadata(path).ok();
    let written = write_beside(path, folder, bytes, executable, old.as_ref());
    if written.is_err() {
        remove_folders(&made);
    }
    written.map(|()| made)
}

fn write_beside(
    path: &Path,
    folder: &Path,
    bytes: &[u8],
    executable: bool,
    old: Option<&Metadata>,
) -> Result<(), InstallError> {
    let mut builder = tempfile::Builder::new();
    let prefix = format!("{UNFINISHED}{}-", std::process::id());
    builder.prefix(&prefix).rand_bytes(RANDOM_LEN);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask limits a new file's mode. The readers of an old file are set before the first byte is written.
        builder.permissions(fs::Permissions::from_mode(match (old, executable) {
            (Some(_), _) => 0o600,
            (None, true) => 0o777,
            (None, false) => 0o666,
        }));
    }
    #[cfg(not(unix))]
    let _ = executable;
    let mut file = builder
        .tempfile_in(folder)
        .map_err(InstallError::io("write", path))?;
    let written = (|| {
        if let Some(old) = old {
            keep_owner(file.path(), old);
            file.as_file().set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()
    })();
    written.map_err(InstallError::io("write", path))?;
    let renamed = file.persist(path).map_err(|error| error.error);
    renamed.map(drop).map_err(InstallError::io("write", path))?;
    sync_folder(folder);
    Ok(())
}

/// Root may edit a file of another user, who must stay its owner. Other users cannot give files away.
#[cfg(unix)]
fn keep_owner(path: &Path, old: &Metadata) {
    use std::os::unix::fs::MetadataExt;
    let _ = std::os::unix::fs::chown(path, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &Metadata) {}

/// Makes a rename durable by syncing its folder. A file system that refuses this offers no other way.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}

fn make_folders(folder: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let missing = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    missing.reverse();
    for (at, folder) in missing.iter().enumerate() {
        if let Err(error) = fs::create_dir(folder)
            && error.kind() != ErrorKind::AlreadyExists
        {
            remove_folders(&missing[..at]);
            return Err(InstallError::io("make", folder)(error));
        }
    }
    Ok(missing)
}

/// Removes folders that are empty, last first.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // The call fails if the folder has content.
        let _ = fs::remove_dir(folder);
    }
}

/// Removes a file.
///
/// # Errors
/// [`InstallError::Io`].
pub(super) fn remove(path: &Path) -> Result<(), InstallError> {
    fs::remove_file(path).map_err(InstallError::io("remove", path))
}
