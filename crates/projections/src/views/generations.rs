//! The folder of the views of one version: generations, one of which is current. A rebuild makes a new generation beside
//! the current one and then replaces `current`, so no reader sees a half-built view.
//!
//! Each version of the views has its own folder, so two versions of the program do not take turns in rebuilding. The first
//! versions had none: their generations lie right below `views`.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use icm_wait::{Deadline, NotLocked};

use super::VERSIONS;
use super::files::{MANIFEST, TABLE_FILE, create_private, replace};
use super::manifest::{Stamp, stamp_of};
use crate::error::{Result, ViewError, io};

/// Name of the file that names the current generation.
const CURRENT: &str = "current";
const LOCK: &str = "lock";
const BUILD_LOCK: &str = "build.lock";
/// 30 days: after this time without a commit, views of another version are removed. Raised, an update takes twice the room
/// for longer; lowered, a program that is seldom used builds its views again.
const UNUSED_FOR: Duration = Duration::from_hours(30 * 24);

/// Returns the folder of this version's views below the folder of all views.
pub fn version_dir(views: &Path) -> PathBuf {
    let (fold, views_version) = VERSIONS;
    views.join(format!(
        "v{fold}.{}.{}",
        views_version >> 8,
        views_version & 0xff
    ))
}

/// Returns `true` if a name in the folder of all views is one that some version of icm gives to its folder or files.
pub fn is_version_file(name: &str) -> bool {
    let numbers = name.strip_prefix('v').map(|rest| rest.split('.'));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|mut parts| parts.all(is_number)) || is_home_file(name)
}

/// Returns `true` if a name is one of the files or of the generations of a version.
fn is_home_file(name: &str) -> bool {
    is_generation_name(name) || [CURRENT, "current.tmp", LOCK, BUILD_LOCK].contains(&name)
}

fn is_generation_name(name: &str) -> bool {
    let number = name.strip_prefix('g');
    number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The folder of the views of one version.
#[derive(Debug)]
pub(crate) struct Home {
    /// The folder of the views of all versions.
    root: PathBuf,
    dir: PathBuf,
    /// The last content of `current`, with its stamp from before it was read. The file is replaced, never written in
    /// place.
    named: Mutex<Option<(Stamp, String)>>,
}

/// A generation that is being built; it is removed on drop unless it became the current one.
pub(crate) struct Begun {
    pub(crate) dir: PathBuf,
    turned: bool,
    _lock: HomeLock,
}

impl Drop for Begun {
    fn drop(&mut self) {
        if !self.turned {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Held while views are written (exclusive) or opened (shared).
#[allow(dead_code, reason = "held for the lock that its drop releases")]
pub(crate) struct HomeLock(File);

impl Home {
    /// Returns the folder of this version's views below `root`.
    pub(crate) fn new(root: &Path) -> Home {
        Home {
            root: root.to_owned(),
            dir: version_dir(root),
            named: Mutex::default(),
        }
    }

    /// Returns the folders of the views of other versions: those below `root`, and `root` itself if it has generations.
    fn of_other_versions(&self) -> Vec<Home> {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return Vec::new();
        };
        let mut dirs = Vec::new();
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path == self.dir || !is_version_file(&name) {
                continue;
            }
            let dir = match is_home_file(&name) {
                true => self.root.clone(),
                false if entry.file_type().is_ok_and(|kind| kind.is_dir()) => path,
                false => continue,
            };
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        let home = |dir| Home {
            root: self.root.clone(),
            dir,
            named: Mutex::default(),
        };
        dirs.into_iter().map(home).collect()
    }

    /// Removes the views of other versions that had no commit for [`UNUSED_FOR`] and are not in use now.
    pub(crate) fn remove_unused(&self) {
        for other in self.of_other_versions() {
            let manifest = other.current().map(|it| it.join(MANIFEST));
            let at = |path: PathBuf| fs::metadata(path)?.modified();
            let last = manifest.and_then(|path| at(path).ok());
            let age = last.and_then(|last| last.elapsed().ok());
            if age.is_some_and(|age| age > UNUSED_FOR)
                && let Err(error) = other.remove(Duration::ZERO)
            {
                tracing::debug!(%error, "views of another version were not removed");
            }
        }
    }

    /// Removes the folder with all its files.
    fn remove(&self, wait: Duration) -> Result<()> {
        self.empty(wait)?;
        if self.dir == self.root {
            return Ok(());
        }
        fs::remove_dir_all(&self.dir).map_err(io("removing", &self.dir))
    }

    /// Returns the current generation, if there is one.
    pub(crate) fn current(&self) -> Option<PathBuf> {
        let name = self.current_name()?;
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let dir = self.dir.join(name);
        (plain && dir.is_dir()).then_some(dir)
    }

    /// Returns `true` if an opened generation is still the current one. Costs a stat if `current` has not changed.
    pub(crate) fn is_current(&self, generation: &Path) -> bool {
        let is = |name: &str| generation.file_name() == Some(name.as_ref());
        let looks = fs::metadata(self.dir.join(CURRENT));
        let Some(stamp) = looks.ok().map(|found| stamp_of(&found)) else {
            return false;
        };
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, name)) = &*named
            && stamp.tells_files_apart()
            && *seen == stamp
        {
            return is(name);
        }
        *named = self.current_name().map(|name| (stamp, name));
        named.as_ref().is_some_and(|(_, name)| is(name))
    }

    /// Returns the content of `current`.
    fn current_name(&self) -> Option<String> {
        let path = self.dir.join(CURRENT);
        // Reading a pipe in its place would wait for ever.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        // Longer than any name.
        let mut bytes = [0; 64];
        let read = File::open(path).ok()?.read(&mut bytes).ok()?;
        let name = str::from_utf8(&bytes[..read]).ok()?;
        Some(name.trim().to_owned())
    }

    /// Returns `true` if views of this version were ever built here.
    pub(crate) fn exists(&self) -> bool {
        self.dir.join(CURRENT).exists()
    }

    /// Creates an empty folder for a new generation. Builds take turns; the leftovers of earlier builds are removed.
    pub(crate) fn begin(&self, wait: Duration) -> Result<Begun> {
        let lock = self.lock_named(BUILD_LOCK, wait)?;
        let taken = self.generations();
        self.remove_all_but(self.current().as_deref());
        let next = taken
            .iter()
            .filter_map(|name| name[1..].parse::<u64>().ok())
            .max()
            .unwrap_or(0);
        let dir = self.dir.join(format!("g{}", next.saturating_add(1)));
        create_private(&dir)?;
        Ok(Begun {
            dir,
            turned: false,
            _lock: lock,
        })
    }

    /// Makes a generation the current one and removes the others. Files that another process has open stay readable to
    /// it. Processes that are opening views are waited for.
    pub(crate) fn turn(&self, begun: &mut Begun, wait: Duration) -> Result<()> {
        let _lock = self.lock(wait)?;
        remove_odd(&self.dir.join(CURRENT))?;
        let name = begun.dir.file_name().unwrap_or_default();
        replace(&self.dir.join(CURRENT), name.as_encoded_bytes())?;
        begun.turned = true;
        self.remove_all_but(Some(&begun.dir));
        self.remove_unused();
        Ok(())
    }

    /// Removes the views of every version, except for the lock files of this one, while no process builds, writes or
    /// opens them.
    pub(crate) fn wipe(&self, wait: Duration) -> Result<()> {
        // A folder that cannot be removed keeps no other one.
        let own = self.empty(wait);
        let others = self.of_other_versions();
        let others: Vec<Result<()>> = others.iter().map(|other| other.remove(wait)).collect();
        others.into_iter().fold(own, Result::and)
    }

    /// Removes everything of this version except the lock files.
    fn empty(&self, wait: Duration) -> Result<()> {
        let _build = self.lock_named(BUILD_LOCK, wait)?;
        let _lock = self.lock(wait)?;
        let entries = fs::read_dir(&self.dir).map_err(io("reading", &self.dir))?;
        for entry in entries {
            let entry = entry.map_err(io("reading", &self.dir))?;
            let (path, name) = (entry.path(), entry.file_name());
            let is_other_version = self.dir == self.root && !is_home_file(&name.to_string_lossy());
            if name == LOCK || name == BUILD_LOCK || is_other_version {
                continue;
            }
            let removed = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(io("removing", &path))?;
        }
        Ok(())
    }

    fn remove_all_but(&self, kept: Option<&Path>) {
        for name in self.generations() {
            let dir = self.dir.join(name);
            if Some(dir.as_path()) != kept && is_generation(&dir) {
                let _ = fs::remove_dir_all(dir);
            }
        }
    }

    pub(crate) fn generations(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_generation_name(name))
            .collect()
    }

    fn lock_named(&self, name: &str, wait: Duration) -> Result<HomeLock> {
        create_private(&self.root)?;
        // Nothing is written or removed through a link.
        if self.dir != self.root && is_other_than(&self.dir, Metadata::is_dir) {
            fs::remove_file(&self.dir).map_err(io("removing", &self.dir))?;
        }
        create_private(&self.dir)?;
        let path = self.dir.join(name);
        remove_odd(&path)?;
        lock_file(&path, wait)
    }

    /// Takes the lock for writing views; waits for it up to `wait`.
    pub(crate) fn lock(&self, wait: Duration) -> Result<HomeLock> {
        self.lock_named(LOCK, wait)
    }

    /// Takes the lock for opening views, which keeps writers out. `None` if there is no lock file, as on a read-only
    /// disk, where nobody writes either.
    pub(crate) fn lock_shared(&self, wait: Duration) -> Result<Option<HomeLock>> {
        let path = self.dir.join(LOCK);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("opening", &path)(error)),
        };
        wait_for(wait, &path, || file.try_lock_shared())?;
        Ok(Some(HomeLock(file)))
    }
}

/// Returns `true` if something else is at a path than what `is` accepts; a link is not followed.
fn is_other_than(path: &Path, is: fn(&Metadata) -> bool) -> bool {
    path.symlink_metadata().is_ok_and(|found| !is(&found))
}

/// Removes a link, a folder or a pipe that stands in the place of a file of the views.
fn remove_odd(path: &Path) -> Result<()> {
    if !is_other_than(path, Metadata::is_file) {
        return Ok(());
    }
    let removed = match is_other_than(path, Metadata::is_dir) {
        true => fs::remove_file(path),
        false => fs::remove_dir_all(path),
    };
    removed.map_err(io("removing", path))
}

/// Returns `true` if a folder is a generation: it holds a table, or nothing yet.
fn is_generation(dir: &Path) -> bool {
    dir.join(TABLE_FILE).symlink_metadata().is_ok()
        || fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

/// Takes an exclusive lock on a file, which is created if needed; waits for it up to `wait`.
pub(crate) fn lock_file(path: &Path, wait: Duration) -> Result<HomeLock> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io("opening", path))?;
    wait_for(wait, path, || file.try_lock())?;
    Ok(HomeLock(file))
}

fn wait_for(
    wait: Duration,
    path: &Path,
    try_lock: impl FnMut() -> std::result::Result<(), TryLockError>,
) -> Result<()> {
    let taken = icm_wait::lock(Deadline::after(wait), try_lock);
    taken.map_err(|error| match error {
        NotLocked::Busy => ViewError::Busy,
        NotLocked::Failed(error) => io("locking", path)(error),
    })
}
