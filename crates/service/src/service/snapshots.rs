//! The snapshot of the views that questions are asked of, and what is known of its files.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use icm_projections::{FilesMark, Views};

use super::locked;

/// The newest snapshot. A question takes it and holds nothing while it searches. The lock is held while the
/// next one is made: by who opens views, folds what is new, or puts others in their place. Who holds it never waits for
/// the lock of the log.
#[derive(Default)]
pub(crate) struct Snapshots {
    state: Mutex<SnapshotState>,
    /// Held by who writes the views' files.
    writes: Mutex<()>,
}

/// The state that the lock guards.
#[derive(Default)]
pub(crate) struct SnapshotState {
    /// The newest snapshot.
    pub(crate) newest: Option<Arc<Views>>,
    /// Files that the last commit of this process went on from.
    pub(crate) before: FilesMark,
    /// This process writes the files that the newest snapshot answers from, so that it is no wonder if they change.
    pub(crate) is_written: bool,
    /// Since when it is in memory because somebody else was writing those on disk.
    pub(crate) stand_in: Option<Instant>,
    /// When it was taken further last, and how long that took.
    pub(crate) settled: Option<(Instant, Duration)>,
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

    /// Lets nobody else of this process write the views' files; `None` while somebody does.
    pub(crate) fn try_write(&self) -> Option<MutexGuard<'_, ()>> {
        match self.writes.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }
}
