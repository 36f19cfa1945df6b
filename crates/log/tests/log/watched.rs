//! A disk that counts syncs, can let them fail, and can change a file while it is read.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use icm_log::disk::{DirEntry, Disk, DiskFile, DiskLock, OpenMode, RealDisk, Stamp};

/// The real disk, with a count of the syncs of segments. The next sync fails if `fail` is set.
#[derive(Default)]
pub(crate) struct Watched {
    pub(crate) syncs: AtomicU64,
    pub(crate) fail: AtomicBool,
    /// Makes all changes appear to have the same time.
    pub(crate) no_clock: AtomicBool,
    /// Runs just before a segment is read beyond its first 16 KiB.
    pub(crate) meanwhile: Mutex<Option<Meanwhile>>,
}

pub(crate) type Meanwhile = Box<dyn FnOnce() + Send>;

pub(crate) struct WatchedDisk(pub(crate) Arc<Watched>);

struct WatchedFile(Arc<Watched>, Arc<dyn DiskFile>, bool);

impl Disk for WatchedDisk {
    fn read_dir(&self, dir: &Path) -> std::io::Result<Vec<DirEntry>> {
        RealDisk.read_dir(dir)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> std::io::Result<Arc<dyn DiskFile>> {
        let segment = path.extension().is_some_and(|end| end == "icmlog");
        let file = RealDisk.open(path, mode)?;
        Ok(Arc::new(WatchedFile(self.0.clone(), file, segment)))
    }
    fn create_dir_all(&self, dir: &Path) -> std::io::Result<()> {
        RealDisk.create_dir_all(dir)
    }
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.remove_file(path)
    }
    fn sync_dir(&self, dir: &Path) -> std::io::Result<()> {
        RealDisk.sync_dir(dir)
    }
    fn identity(&self, path: &Path) -> std::io::Result<u64> {
        RealDisk.identity(path)
    }
    fn stamp(&self, path: &Path) -> std::io::Result<Option<(Stamp, bool)>> {
        let found = RealDisk.stamp(path)?;
        Ok(found.map(
            |(stamp, settled)| match self.0.no_clock.load(Ordering::Relaxed) {
                true => (
                    Stamp {
                        changed: 0,
                        ..stamp
                    },
                    true,
                ),
                false => (stamp, settled),
            },
        ))
    }
    fn try_lock(&self, path: &Path) -> std::io::Result<Option<Box<dyn DiskLock>>> {
        RealDisk.try_lock(path)
    }
}

impl DiskFile for WatchedFile {
    fn len(&self) -> std::io::Result<u64> {
        self.1.len()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        if self.2 && offset >= 16 * 1_024 {
            let meanwhile = self.0.meanwhile.lock().expect("a lock").take();
            if let Some(meanwhile) = meanwhile {
                meanwhile();
            }
        }
        self.1.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.1.write_at(bytes, offset)
    }
    fn truncate(&self, len: u64) -> std::io::Result<()> {
        self.1.truncate(len)
    }
    fn sync(&self) -> std::io::Result<()> {
        if self.2 {
            self.0.syncs.fetch_add(1, Ordering::Relaxed);
            if self.0.fail.swap(false, Ordering::Relaxed) {
                return Err(std::io::Error::other("the disk said no"));
            }
        }
        self.1.sync()
    }
    fn stamp(&self) -> std::io::Result<Stamp> {
        let stamp = self.1.stamp()?;
        Ok(match self.0.no_clock.load(Ordering::Relaxed) {
            true => Stamp {
                changed: 0,
                ..stamp
            },
            false => stamp,
        })
    }
}

/// Runs `change` just before a segment is read beyond its first 16 KiB, once.
pub(crate) fn meanwhile(watched: &Watched, change: impl FnOnce() + Send + 'static) {
    *watched.meanwhile.lock().expect("a lock") = Some(Box::new(change));
}
