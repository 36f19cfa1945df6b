//! The log of a store: opening it, its newest event, and the state that its writers share.

mod chains;
mod events;
mod explained;
mod file_stamps;
mod known_by;
mod read;
mod refusal;
mod rewritten;
mod state;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::disk::Disk;
use crate::error::Result;
use crate::holes::KnownHoles;
use crate::recover::Tip;
use crate::rewritten::Rewritten;
use crate::walk;
use icm_event::facts::Continues;
use icm_event::id::OriginId;

pub use known_by::{KnownBy, Unknown};
pub use refusal::Refusal;
pub(crate) use state::{FileStamps, Hold, State};

/// The log of one store. Threads share it; other processes may write to the same files.
pub struct Log {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    /// Locked during the sync of a segment. The kernel reports a failed write-back to one sync only. The thread that
    /// receives the error stores it here, so that nobody takes the next sync for a good one.
    pub(crate) sync_gate: Mutex<Option<Arc<str>>>,
    /// The holes that repairs have explained; read when a reader meets a gap.
    pub(crate) holes: Mutex<KnownHoles>,
    pub(crate) own_branches: walk::OwnBranches,
    /// The other machine as which this log is walked; such a log is never written.
    pub(crate) known_by: Option<KnownBy>,
}

impl Log {
    /// Opens the log of the store in `dir` and changes no byte. The folder may be absent or empty: the log then has no
    /// events, and the first write creates the store.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Log> {
        let log = Log::unread(disk, dir);
        log.refresh()?;
        Ok(log)
    }

    /// Returns the log of the store in `dir` without reading it. The log is empty until its first [`Log::refresh`].
    pub fn unread(disk: Arc<dyn Disk>, dir: &Path) -> Log {
        Log {
            disk,
            dir: dir.to_owned(),
            state: Mutex::new(State {
                store: None,
                store_bytes: Vec::new(),
                older_secret: None,
                parts: Vec::new(),
                tip: None,
                refusal: None,
                trouble: None,
                slot: None,
                hold: Hold::default(),
                notices: Vec::new(),
                segments: None,
                stamps: None,
                rewritten: Rewritten::default(),
            }),
            changed: Condvar::new(),
            sync_gate: Mutex::new(None),
            holes: Mutex::new(KnownHoles::default()),
            own_branches: walk::OwnBranches::default(),
            known_by: None,
        }
    }

    /// Waits up to `most` for a change that another thread announces.
    pub(crate) fn wait<'s>(
        &self,
        mut state: MutexGuard<'s, State>,
        most: Duration,
    ) -> MutexGuard<'s, State> {
        state.hold.waiting += 1;
        let (mut state, _) = self
            .changed
            .wait_timeout(state, most)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        state.hold.waiting -= 1;
        state
    }

    /// Wakes the threads that wait, if there are any.
    pub(crate) fn tell(&self, state: &State) {
        if state.hold.waiting > 0 {
            self.changed.notify_all();
        }
    }

    pub(crate) fn lock_state(&self) -> MutexGuard<'_, State> {
        // A panic while the state is locked is a bug of ours. Each use reads the state again.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the store's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Reads the events that other processes appended. Cheap if there are none.
    pub fn refresh(&self) -> Result<()> {
        let mut state = self.lock_state();
        if state.hold.lock.is_some() && state.hold.poisoned.is_none() {
            return Ok(()); // nobody else can have appended
        }
        self.refresh_state(&mut state).map(|_| ())
    }

    /// Returns the newest event of a whole batch, as of the last refresh; `None` if the log is empty.
    pub fn tip(&self) -> Option<Tip> {
        self.lock_state().tip.as_ref().map(|place| place.tip)
    }

    /// Returns the reason for which writes are refused, as of the last refresh; `None` if they are not.
    pub fn refusal(&self) -> Option<Refusal> {
        self.lock_state().refusal.clone()
    }

    /// Returns this machine's origin; `None` before the first write.
    pub fn origin(&self) -> Option<OriginId> {
        self.lock_state().store.as_ref().map(|store| store.origin)
    }

    /// Returns the chains that were written here, each continued by the next. The last one is written now.
    pub fn own_chains(&self) -> Vec<OriginId> {
        let state = self.lock_state();
        state.parts.iter().map(|part| part.origin).collect()
    }

    /// Returns the secret for keyed hashes; `None` before the first write.
    pub fn secret(&self) -> Option<[u8; 32]> {
        self.lock_state().store.as_ref().map(|store| store.secret)
    }

    /// Returns the notices of recovery since the last call, a line each.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.lock_state().notices)
    }

    pub(crate) fn continues(state: &State) -> Option<Continues> {
        state.tip.as_ref().map(|place| Continues {
            origin: place.tip.origin,
            seq: place.tip.seq,
            event: place.tip.event,
        })
    }
}
