//! The snapshot of the views that questions are asked of, and what is known of its files.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use icm_projections::{FilesMark, Views};

use super::locked;

/// The newest snapshot. A question takes it and holds nothing while it searches. The lock is held while the next one is
/// made: while views are opened, new events are folded, or others take their place. Its holder never waits for the lock of
/// the log.
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
    /// Files of snapshots that were replaced. The pages that a commit leaves behind are used again by the one after it, so
    /// no commit begins while somebody reads one of these.
    older: Vec<FilesMark>,
    /// This process writes the files that the newest snapshot answers from, so that it is no wonder if they change.
    pub(crate) is_written: bool,
    /// Since when the newest snapshot is in memory because somebody else was writing those on disk.
    stand_in: Option<Instant>,
    /// When it was taken further last, and how long that took.
    pub(crate) settled: Option<(Instant, Duration)>,
}

impl SnapshotState {
    /// The newest snapshot.
    pub(crate) fn newest(&self) -> Option<&Arc<Views>> {
        self.newest.as_ref()
    }

    /// The newest snapshot, to be changed: whoever reads it keeps the one before.
    pub(crate) fn newest_mut(&mut self) -> Option<&mut Views> {
        self.newest.as_mut().map(Arc::make_mut)
    }

    /// Puts another in its place, or none. Returns the one that was there: to drop it may take a while.
    pub(crate) fn put(&mut self, next: Option<Views>) -> Option<Arc<Views>> {
        let old = std::mem::replace(&mut self.newest, next.map(Arc::new));
        if let Some(old) = old.as_ref().filter(|old| old.are_on_disk()) {
            self.older.push(old.files_mark());
        }
        self.older.retain(FilesMark::are_read);
        self.stand_in = None;
        old
    }

    /// Puts one that is in memory in its place for a time, because somebody else writes those on disk.
    pub(crate) fn put_stand_in(&mut self, next: Views) {
        self.put(Some(next));
        self.stand_in = Some(Instant::now());
    }

    /// Returns the time that the newest has stood in for those on disk, if it does.
    pub(crate) fn stood_in(&self) -> Option<Duration> {
        self.stand_in.map(|since| since.elapsed())
    }

    /// Whether somebody reads files of a snapshot that was replaced.
    pub(crate) fn are_older_read(&mut self) -> bool {
        self.older.retain(FilesMark::are_read);
        !self.older.is_empty()
    }
}

impl Snapshots {
    /// The state.
    pub(crate) fn locked(&self) -> MutexGuard<'_, SnapshotState> {
        locked(&self.state)
    }

    /// The newest snapshot, as it is.
    pub(crate) fn newest(&self) -> Option<Arc<Views>> {
        self.locked().newest.clone()
    }

    /// Puts another in the place of the newest snapshot, or none.
    pub(crate) fn put(&self, next: Option<Views>) {
        let old = self.locked().put(next);
        // Its memory is given back while others go on.
        drop(old);
    }

    /// Takes the right of this process to write the views' files, and waits for it. It comes before the lock of the state.
    pub(crate) fn write(&self) -> MutexGuard<'_, ()> {
        locked(&self.writes)
    }

    /// The same, but `None` while somebody else has it.
    pub(crate) fn try_write(&self) -> Option<MutexGuard<'_, ()>> {
        match self.writes.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
