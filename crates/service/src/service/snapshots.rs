//! The newest snapshot of the views, which questions are asked of, and the state of its files.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use icm_projections::{FilesMark, Views};

use super::locked;

/// The newest snapshot. A question takes it and holds no lock while it searches. The lock is held while the next
/// snapshot is made: while views are opened, new events are folded, or other views take their place. Its holder never
/// waits for the lock of the log.
#[derive(Default)]
pub(crate) struct Snapshots {
    state: Mutex<SnapshotState>,
    /// The right of this process to write the views' files.
    writes: Mutex<()>,
}

/// The state that the lock guards.
#[derive(Default)]
pub(crate) struct SnapshotState {
    newest: Option<Arc<Views>>,
    /// Files of snapshots that were replaced. A commit reuses the pages that the one before it left behind, so no
    /// commit begins while a question reads one of these files.
    older: Vec<FilesMark>,
    /// `true` if this process writes the files of the newest snapshot. A change of these files then does not make it
    /// stale.
    pub(crate) is_written: bool,
    /// The time since which the newest snapshot is in memory because another process was writing the files.
    stand_in: Option<Instant>,
    /// The time of the last commit of the tail, and how long that took.
    pub(crate) settled: Option<(Instant, Duration)>,
}

impl SnapshotState {
    /// Returns the newest snapshot.
    pub(crate) fn newest(&self) -> Option<&Arc<Views>> {
        self.newest.as_ref()
    }

    /// Returns the newest snapshot, to be changed. Its readers keep the snapshot as it was.
    pub(crate) fn newest_mut(&mut self) -> Option<&mut Views> {
        self.newest.as_mut().map(Arc::make_mut)
    }

    /// Puts another snapshot, or none, in place of the newest. Returns the old one, as dropping it may take a while.
    pub(crate) fn put(&mut self, next: Option<Views>) -> Option<Arc<Views>> {
        let old = std::mem::replace(&mut self.newest, next.map(Arc::new));
        if let Some(old) = old.as_ref().filter(|old| old.are_on_disk()) {
            self.older.push(old.files_mark());
        }
        self.older.retain(FilesMark::are_read);
        self.stand_in = None;
        old
    }

    /// Puts a snapshot in memory in place of the newest for a time, because another process writes the files.
    pub(crate) fn put_stand_in(&mut self, next: Views) {
        self.put(Some(next));
        self.stand_in = Some(Instant::now());
    }

    /// Returns how long the newest snapshot has stood in for the files on disk, if it does.
    pub(crate) fn stood_in(&self) -> Option<Duration> {
        self.stand_in.map(|since| since.elapsed())
    }

    /// Returns `true` if a question still reads files of a snapshot that was replaced.
    pub(crate) fn are_older_read(&mut self) -> bool {
        self.older.retain(FilesMark::are_read);
        !self.older.is_empty()
    }
}

impl Snapshots {
    /// Locks the state and returns it.
    pub(crate) fn locked(&self) -> MutexGuard<'_, SnapshotState> {
        locked(&self.state)
    }

    /// Returns the newest snapshot as it is.
    pub(crate) fn newest(&self) -> Option<Arc<Views>> {
        self.locked().newest.clone()
    }

    /// Puts another snapshot, or none, in place of the newest.
    pub(crate) fn put(&self, next: Option<Views>) {
        let old = self.locked().put(next);
        // The old snapshot is dropped after the lock is free again.
        drop(old);
    }

    /// Waits for the right of this process to write the views' files, and takes it. It is taken before the lock of the
    /// state.
    pub(crate) fn write(&self) -> MutexGuard<'_, ()> {
        locked(&self.writes)
    }

    /// Takes the right to write the views' files. Returns `None` if another thread has it.
    pub(crate) fn try_write(&self) -> Option<MutexGuard<'_, ()>> {
        match self.writes.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
