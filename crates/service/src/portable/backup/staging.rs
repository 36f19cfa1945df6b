//! A folder beside a target, for files that are not whole yet. One process at a time holds it, and removes the files
//! that a dead process left in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use icm_log::disk::{Disk, DiskLock, RealDisk};

use super::failed;
use icm_api::error::{Result, ServiceError};

const LOCK: &str = "lock";

/// The folder, held by this process. It is removed at the end, after failures too.
pub(super) struct Staging {
    dir: PathBuf,
    _lock: Box<dyn DiskLock>,
}

impl Staging {
    /// Takes the folder `.NAME.icm-DEED` beside `target`, whose folder must exist.
    pub(super) fn take(target: &Path, deed: &str) -> Result<Staging> {
        let mut name = std::ffi::OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(format!(".icm-{deed}"));
        let dir = target.with_file_name(name);
        if fs::symlink_metadata(&dir).is_ok_and(|there| !there.is_dir()) {
            return Err(ServiceError::invalid_with(
                format!("{} is in the way", dir.display()),
                "remove it",
            ));
        }
        RealDisk
            .create_dir_all(&dir)
            .map_err(failed("creating", &dir))?;
        let lock = RealDisk.try_lock(&dir.join(LOCK));
        let Some(lock) = lock.map_err(failed("locking", &dir))? else {
            return Err(ServiceError::invalid_with(
                format!("another {deed} of {} is going on", target.display()),
                "wait for it, and try again",
            ));
        };
        let staging = Staging { dir, _lock: lock };
        staging.clear()?;
        Ok(staging)
    }

    /// Returns a path in the folder that is not in use.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn clear(&self) -> Result<()> {
        let entries = RealDisk.read_dir(&self.dir);
        for entry in entries.map_err(failed("reading", &self.dir))? {
            let path = self.dir.join(&entry.name);
            let removed = match (entry.name == LOCK, entry.is_dir) {
                (true, _) => Ok(()),
                (false, true) => fs::remove_dir_all(&path),
                (false, false) => fs::remove_file(&path),
            };
            removed.map_err(failed("removing", &path))?;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A file that cannot be removed now is removed when the folder is taken again.
        let _: io::Result<()> = fs::remove_dir_all(&self.dir);
    }
}
