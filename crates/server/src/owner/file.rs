//! The file that the owner locks, and its folder; both are for this user only.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::process::geteuid;

/// Name of the folder in the folder of the store.
pub(super) const FOLDER: &str = "sock";
/// Name of the lock file.
pub(super) const OWNER: &str = "owner";
/// Longest notice read, in bytes. Raised, a hostile file takes more memory.
const NOTICE_MAX_BYTES: u64 = 8 << 10;

/// Reads the owner's file, if it is a regular file.
pub(super) fn read(store: &Path) -> Option<(File, Vec<u8>)> {
    let file = open(store).ok()?;
    let mut bytes = Vec::new();
    (&file)
        .take(NOTICE_MAX_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some((file, bytes))
}

/// Opens the file for locking; creates it if it is missing.
pub(super) fn to_own(store: &Path) -> io::Result<File> {
    let folder = store.join(FOLDER);
    private_folder(&folder)?;
    let mut options = options();
    options.write(true).create(true).truncate(false);
    regular(options.open(folder.join(OWNER))?)
}

/// Opens the file for reading.
pub(super) fn open(store: &Path) -> io::Result<File> {
    regular(options().open(store.join(FOLDER).join(OWNER))?)
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!(
            "{FOLDER}/{OWNER} is not a regular file"
        ))),
    }
}

/// Returns options that follow no link and do not wait for the other end of a pipe; a new file is for this user only.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// Creates a folder for this user only, or checks that it is one.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(folder)?;
    if found.is_dir() && is_own(&found) && !is_private(&found) {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))?;
    } else if !is_private(&found) {
        let why = format!("{} is not a folder of this user alone", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

pub(super) fn is_private(found: &Metadata) -> bool {
    found.is_dir() && is_own(found) && found.mode() & 0o077 == 0
}

pub(super) fn is_own(found: &Metadata) -> bool {
    found.uid() == geteuid().as_raw()
}
