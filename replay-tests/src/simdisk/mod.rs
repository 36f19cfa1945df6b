//! A disk in memory that loses, halves and reorders unsynced bytes and names.
//!
//! It keeps apart the bytes that a program sees (the page cache) and those that a power cut leaves (the durable ones).
//! [`SimDisk::crash`] returns the disk as it could be found if the power failed at this moment; [`SimDisk::fail_at`]
//! and its siblings make operations fail. Everything is a function of the operations and of seeds.
//!
//! It is harsher than most file systems where the contract of [`Disk`] allows it: a synced file can be lost with its
//! unsynced name, and each unsynced name is kept or lost by itself. It is not harsher than the contract: a rename
//! happens or does not, and names that are never synced may also survive.

mod crash;
mod fault;
mod file;
mod node;
mod tree;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use icm_log::disk::{DirEntry, Disk, DiskFile, DiskLock, OpenMode, Stamp};

pub use crash::{CrashPlan, Names, Writes};
pub use fault::{Op, OpKind};

use crate::folder::Files;
use fault::Faults;
use tree::{Ino, Tree};

/// A simulated disk. Clones are the same disk.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

struct State {
    tree: Tree,
    faults: Faults,
}

impl Default for SimDisk {
    fn default() -> Self {
        SimDisk::new()
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimDisk after {} operations", self.op_count())
    }
}

impl SimDisk {
    /// Returns an empty disk: only the root folder, durable.
    pub fn new() -> SimDisk {
        SimDisk::with(Tree::new())
    }

    fn with(tree: Tree) -> SimDisk {
        SimDisk {
            state: Arc::new(Mutex::new(State {
                tree,
                faults: Faults::default(),
            })),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no operation of the simulated disk panics while it holds the state")
    }

    /// Returns the number of operations so far, including reads and failed operations.
    pub fn op_count(&self) -> u64 {
        self.state().faults.count
    }

    /// Returns every operation so far, in order; the n-th operation is the n-th entry, from 1.
    pub fn trace(&self) -> Vec<Op> {
        self.state().faults.trace.clone()
    }

    /// Returns the operations that changed something or failed, one a line, for the message of a failing test.
    pub fn trace_text(&self) -> String {
        let state = self.state();
        let lines = state.faults.trace.iter().enumerate();
        let lines = lines.filter(|(_, op)| op.kind.changes() || op.failed);
        lines
            .map(|(index, op)| format!("{:5} {op}\n", index + 1))
            .collect()
    }

    /// Lets the n-th operation (from 1, counted from the disk's beginning) fail once. A write fails with `StorageFull`
    /// after a part of it was written. A sync fails, and its bytes may never become durable. Other operations fail
    /// without effect.
    pub fn fail_at(&self, n: u64) {
        self.state().faults.fail_at = Some(n);
    }

    /// Lets the n-th operation and every later one that changes something fail as in [`SimDisk::fail_at`]; reads still
    /// work.
    pub fn fail_from(&self, n: u64) {
        self.state().faults.fail_from = Some(n);
    }

    /// Lets the n-th and every later operation fail without any effect: the power is off.
    pub fn power_off_at(&self, n: u64) {
        self.state().faults.power_off_at = Some(n);
    }

    /// Limits the bytes in all files together. A write that needs more fails with `StorageFull`, having written as much
    /// as fits.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().faults.capacity = bytes;
    }

    /// Ends all faults.
    pub fn heal(&self) {
        let mut state = self.state();
        state.faults.fail_at = None;
        state.faults.fail_from = None;
        state.faults.power_off_at = None;
        state.faults.capacity = None;
    }

    /// Seeds the choice of the bytes that a failing operation leaves behind.
    pub fn seed_faults(&self, seed: u64) {
        self.state().faults.seed = seed;
    }

    /// Returns the disk as it could be found if the power failed now. This disk stays untouched, so one moment can be
    /// crashed in many ways. Locks are gone, identities stay.
    pub fn crash(&self, plan: CrashPlan) -> SimDisk {
        SimDisk::with(crash::crash(&self.state().tree, plan))
    }

    /// Returns the disk as another process finds it if this one is killed now: only locks are lost. Unsynced bytes are
    /// still unsynced.
    pub fn kill(&self) -> SimDisk {
        let mut tree = self.state().tree.clone();
        tree.unlock_all();
        SimDisk::with(tree)
    }

    /// Returns the paths of all files from the root, sorted. Not an operation.
    pub fn files(&self) -> Vec<PathBuf> {
        self.state().tree.files()
    }

    /// Returns the bytes that a program would read from a file. Not an operation.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn contents(&self, path: impl AsRef<Path>) -> Vec<u8> {
        let state = self.state();
        let found = state.tree.find(path.as_ref());
        let ino = found.unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()));
        state.tree.file(ino).expect("it is a file").current.to_vec()
    }

    /// Puts a file with these durable contents, as an accident or another program would. Not an operation.
    ///
    /// # Panics
    /// If its folder does not exist.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        self.state()
            .tree
            .put(path.as_ref(), bytes)
            .expect("the folder exists");
    }

    /// Puts a folder with these files, all durable. Not an operation.
    pub fn hold(&self, dir: &Path, files: &Files) {
        let mut state = self.state();
        let mut put = |path: &Path, bytes: &[u8]| {
            state.tree.create_dir_all(path.parent().unwrap_or(dir))?;
            state.tree.put(path, bytes)
        };
        for (path, bytes) in files {
            put(&dir.join(path), bytes).expect("no file stands where a folder should be");
        }
        state.tree.make_names_durable();
    }

    /// Returns all files below a folder. Not an operation.
    pub fn below(&self, dir: &Path) -> Files {
        let relative = |path: PathBuf| Some((path.strip_prefix(dir).ok()?.to_owned(), path));
        let paths = self.files().into_iter().filter_map(relative);
        paths
            .map(|(relative, path)| (relative, self.contents(path)))
            .collect()
    }

    /// Removes a file, durably. Not an operation.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn take(&self, path: impl AsRef<Path>) {
        self.state()
            .tree
            .take(path.as_ref())
            .expect("the file exists");
    }
}

impl Disk for SimDisk {
    fn read_dir(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let mut state = self.state();
        state.faults.begin(OpKind::ReadDir, dir, 0, 0)?;
        state.tree.read_dir(dir)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        let creates = matches!(mode, OpenMode::CreateNew | OpenMode::Create)
            && state.tree.find(path).is_err();
        state.faults.begin(
            if creates {
                OpKind::Create
            } else {
                OpKind::Open
            },
            path,
            0,
            0,
        )?;
        let ino = state.tree.open(path, mode)?;
        Ok(Arc::new(file::SimFile {
            disk: self.clone(),
            ino,
            path: path.to_owned(),
            writable: mode != OpenMode::Read,
        }))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        let exists = state.tree.find(dir).is_ok();
        state.faults.begin(
            if exists {
                OpKind::Open
            } else {
                OpKind::CreateDir
            },
            dir,
            0,
            0,
        )?;
        state.tree.create_dir_all(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.faults.begin(OpKind::Rename, from, 0, 0)?;
        state.tree.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.faults.begin(OpKind::Remove, path, 0, 0)?;
        state.tree.remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.faults.begin(OpKind::SyncDir, dir, 0, 0)?;
        state.tree.sync_dir(dir)
    }

    fn identity(&self, path: &Path) -> io::Result<u64> {
        let mut state = self.state();
        state.faults.begin(OpKind::Stat, path, 0, 0)?;
        Ok(state.tree.find(path)?.0)
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<(Stamp, bool)>> {
        let mut state = self.state();
        state.faults.begin(OpKind::Stat, path, 0, 0)?;
        Ok(state.tree.stamp(path).map(|stamp| (stamp, true)))
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        let mut state = self.state();
        let creates = state.tree.find(path).is_err();
        state.faults.begin(
            if creates {
                OpKind::Create
            } else {
                OpKind::Lock
            },
            path,
            0,
            0,
        )?;
        let ino = state.tree.open(path, OpenMode::Create)?;
        let file = state.tree.file_mut(ino)?;
        if file.locked {
            return Ok(None);
        }
        file.locked = true;
        Ok(Some(Box::new(SimLock {
            disk: self.clone(),
            ino,
        })))
    }
}

/// A lock, released on drop, only on the disk on which it was taken.
struct SimLock {
    disk: SimDisk,
    ino: Ino,
}

impl DiskLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        if let Ok(mut state) = self.disk.state.lock()
            && let Ok(file) = state.tree.file_mut(self.ino)
        {
            file.locked = false;
        }
    }
}
