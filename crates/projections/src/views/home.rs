//! Where views live on disk: generations, of which one is current. A rebuild makes a new generation
//! beside the current one and then turns the page, so nobody ever sees a half-built view.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Result, ViewError, io};

/// Names the current generation.
const CURRENT: &str = "current";
const LOCK: &str = "lock";

/// The folder of the views.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    dir: PathBuf,
}

/// Held while views are written (exclusive) or opened (shared).
#[allow(dead_code, reason = "held for the lock that its drop releases")]
pub(crate) struct HomeLock(File);

impl Home {
    pub(crate) fn new(dir: &Path) -> Home {
        Home {
            dir: dir.to_owned(),
        }
    }

    /// The current generation, if there is one.
    pub(crate) fn current(&self) -> Option<PathBuf> {
        let name = fs::read_to_string(self.dir.join(CURRENT)).ok()?;
        let name = name.trim();
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let dir = self.dir.join(name);
        (plain && dir.is_dir()).then_some(dir)
    }

    /// Whether anything was ever built here.
    pub(crate) fn exists(&self) -> bool {
        self.dir.join(CURRENT).exists()
    }

    /// A new, empty folder for a generation.
    pub(crate) fn begin(&self) -> Result<PathBuf> {
        let taken = self.generations();
        let next = taken
            .iter()
            .filter_map(|name| name[1..].parse::<u64>().ok())
            .max()
            .unwrap_or(0);
        let dir = self.dir.join(format!("g{}", next + 1));
        create_private(&dir)?;
        Ok(dir)
    }

    /// Makes a generation the current one and removes the others. What another process still has
    /// open of them stays readable to it.
    pub(crate) fn turn(&self, generation: &Path) -> Result<()> {
        let name = generation
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let beside = self.dir.join("current.tmp");
        fs::write(&beside, &name).map_err(io("writing", &beside))?;
        fs::rename(&beside, self.dir.join(CURRENT)).map_err(io("renaming", &beside))?;
        for other in self.generations() {
            if other != name {
                let _ = fs::remove_dir_all(self.dir.join(other));
            }
        }
        Ok(())
    }

    fn generations(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| {
                name.strip_prefix('g').is_some_and(|rest| {
                    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
                })
            })
            .collect()
    }

    fn lock_file(&self) -> Result<File> {
        create_private(&self.dir)?;
        let path = self.dir.join(LOCK);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(io("opening", &path))
    }

    /// The right to write views, waited for up to `wait`.
    pub(crate) fn lock(&self, wait: Duration) -> Result<HomeLock> {
        let file = self.lock_file()?;
        wait_for(wait, || file.try_lock())?;
        Ok(HomeLock(file))
    }

    /// The right to open views: nobody writes them meanwhile. Where not even the lock file can be
    /// opened (a read-only disk) nobody else writes either.
    pub(crate) fn lock_shared(&self, wait: Duration) -> Result<Option<HomeLock>> {
        let path = self.dir.join(LOCK);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("opening", &path)(error)),
        };
        wait_for(wait, || file.try_lock_shared())?;
        Ok(Some(HomeLock(file)))
    }
}

fn wait_for(
    wait: Duration,
    mut try_lock: impl FnMut() -> std::result::Result<(), TryLockError>,
) -> Result<()> {
    let start = Instant::now();
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < wait => {
                thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return Err(ViewError::Busy),
        }
    }
}

pub(crate) fn create_private(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(io("creating", dir))
}
