//! Restoring a backup into an absent or empty folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use icm_log::STORE_FILE;
use icm_log::copy::check_unbound;
use icm_log::disk::{Disk, RealDisk};

use super::manifest::Manifest;
use super::staging::Staging;
use super::{archive, failed, trouble, verified};
use icm_api::error::{Result, ServiceError};
use icm_api::{Progress, RestoreReceipt, VerifyReport};

/// Restores a backup to `dir`, which must be absent or empty. The copy gets its name in one step after all checks: a
/// process that is killed leaves no store or a whole one. If the same store is there already and nothing was written to
/// it since, nothing changes.
///
/// The next write to the store mints an origin that continues the restored history.
///
/// # Errors
/// `BadBackup` for a backup that is cut, changed, or holds foreign files.
pub fn restore(file: &Path, dir: &Path, progress: &dyn Progress) -> Result<RestoreReceipt> {
    let target = target_of(dir)?;
    let staging = Staging::take(&target, "restore")?;
    let is_free = is_free(&target)?;
    if !is_free && !is_restored(&target) {
        return Err(taken(&target));
    }
    let copy = staging.place("store");
    let manifest = archive::read(file, Some(&copy), progress)?;
    let report = checked(file, &copy, &manifest, progress)?;
    if is_free {
        RealDisk
            .rename(&copy, &target)
            .map_err(failed("creating", &target))?;
    } else if !is_same(&target, &manifest) {
        return Err(taken(&target));
    }
    let parent = target.parent().unwrap_or(&target);
    RealDisk
        .sync_dir(parent)
        .map_err(failed("syncing", parent))?;
    Ok(RestoreReceipt {
        unchanged: !is_free,
        store: dir.to_string_lossy().into_owned(),
        bytes: manifest.bytes(),
        events: report.events,
        position: report.positions,
        origins: report.origins,
    })
}

/// Checks that the unpacked copy is whole and as the manifest says. Returns the report.
fn checked(
    file: &Path,
    copy: &Path,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<VerifyReport> {
    let bad = |why: String| ServiceError::BadBackup {
        file: file.display().to_string(),
        why,
    };
    let path = copy.join(STORE_FILE);
    let store_file = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(bad(format!("it has no {STORE_FILE}")));
        }
        Err(error) => return Err(failed("reading", &path)(error)),
    };
    check_unbound(copy, &store_file)
        .map_err(|_| bad(format!("its {STORE_FILE} is not a copy's")))?;
    let (report, _) = verified(copy, progress)?;
    if let Some(what) = trouble(&report) {
        return Err(bad(what));
    }
    if report.positions != manifest.position {
        let (ends, says) = (report.positions, manifest.position);
        return Err(bad(format!(
            "it ends at @{ends}, its manifest says @{says}"
        )));
    }
    Ok(report)
}

/// Returns the folder by its real name, and creates the folders above it.
fn target_of(dir: &Path) -> Result<PathBuf> {
    if let Ok(real) = dir.canonicalize() {
        return Ok(real);
    }
    let Some(name) = dir.file_name() else {
        return Err(ServiceError::invalid_with(
            format!("{} is no name for a store", dir.display()),
            "name the store's folder with `--db`",
        ));
    };
    let parent = match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    RealDisk
        .create_dir_all(parent)
        .map_err(failed("creating", parent))?;
    let parent = parent.canonicalize().map_err(failed("opening", parent))?;
    Ok(parent.join(name))
}

/// Returns `true` if the folder is absent or empty.
fn is_free(target: &Path) -> Result<bool> {
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(failed("opening", target)(error)),
        Ok(there) if there.is_dir() => {
            let mut entries = fs::read_dir(target).map_err(failed("reading", target))?;
            Ok(entries.next().is_none())
        }
        Ok(_) => Ok(false),
    }
}

/// Returns `true` if a store is there that was not written to since it was restored.
fn is_restored(target: &Path) -> bool {
    fs::read(target.join(STORE_FILE)).is_ok_and(|bytes| check_unbound(target, &bytes).is_ok())
}

/// Returns `true` if the store has the files of the manifest, byte by byte, and no other segment.
fn is_same(target: &Path, manifest: &Manifest) -> bool {
    let same = |name: &str, blake3: &str| {
        let mut hasher = blake3::Hasher::new();
        let file = fs::File::open(target.join(name));
        let read = file.and_then(|mut file| io::copy(&mut file, &mut hasher));
        read.is_ok() && hasher.finalize().to_hex().as_str() == blake3
    };
    let are_same = (manifest.files.iter()).all(|file| same(&file.name, &file.blake3));
    let segments = |name: &str| name.starts_with("log/");
    let known = (manifest.files.iter()).filter(|file| segments(&file.name));
    are_same && count_files(&target.join("log")) == known.count()
}

fn count_files(dir: &Path) -> usize {
    let entries = RealDisk.read_dir(dir).unwrap_or_default();
    let count = |entry: &icm_log::disk::DirEntry| match entry.is_dir {
        true => count_files(&dir.join(&entry.name)),
        false => 1,
    };
    entries.iter().map(count).sum()
}

fn taken(target: &Path) -> ServiceError {
    ServiceError::invalid_with(
        format!("{} is there already and not empty", target.display()),
        "a backup is restored into a folder of its own: name one with `--db`",
    )
}
