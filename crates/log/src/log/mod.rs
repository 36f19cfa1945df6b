//! The log of a store: opening, what it ends with, and who may write.

mod chains;
mod events;
mod explained;
mod known_by;
mod looks;
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
pub(crate) use state::{Hold, Looks, State};

/// The log of one store. Shared by threads; other processes may write beside it.
pub struct Log {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    /// Held while a segment is synced. An operating system tells of a failed write once, to whoever
    /// syncs first: that one leaves word here, so that nobody takes the next sync for a good one.
    pub(crate) sync_gate: Mutex<Option<Arc<str>>>,
    /// What repairs have explained; read when a gap is met.
    pub(crate) holes: Mutex<KnownHoles>,
    pub(crate) own_branches: walk::OwnBranches,
    /// It is walked as another machine does, and never written.
    pub(crate) known_by: Option<KnownBy>,
}

impl Log {
    /// Opens the log of the store in `dir`, which may be absent or empty: then there is nothing to
    /// read, and the first write makes it a store. Changes no byte.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Log> {
        let log = Log::unread(disk, dir);
        log.refresh()?;
        Ok(log)
    }

    /// The same, but nothing is read before the first [`Log::refresh`]: until then it is as if there were nothing.
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
                looks: None,
                rewritten: Rewritten::default(),
            }),
            changed: Condvar::new(),
            sync_gate: Mutex::new(None),
            holes: Mutex::new(KnownHoles::default()),
            own_branches: walk::OwnBranches::default(),
            known_by: None,
        }
    }

    /// Waits for a change that another thread tells of, up to `most`.
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

    /// Tells the threads that wait, if any do.
    pub(crate) fn tell(&self, state: &State) {
        if state.hold.waiting > 0 {
            self.changed.notify_all();
        }
    }

    pub(crate) fn lock_state(&self) -> MutexGuard<'_, State> {
        // A panic while the state is held is a bug of ours; the state is read anew by each use.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The store's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Sees what other processes appended. Cheap when there is nothing new.
    pub fn refresh(&self) -> Result<()> {
        let mut state = self.lock_state();
        if state.hold.lock.is_some() && state.hold.poisoned.is_none() {
            return Ok(()); // nobody else can have appended
        }
        self.refresh_state(&mut state).map(|_| ())
    }

    /// Newest event of a whole batch, as of the last refresh; `None` while there is none.
    pub fn tip(&self) -> Option<Tip> {
        self.lock_state().tip.as_ref().map(|place| place.tip)
    }

    /// Why writes are refused, if they are, as of the last refresh.
    pub fn refusal(&self) -> Option<Refusal> {
        self.lock_state().refusal.clone()
    }

    /// This machine's origin, once it has one.
    pub fn origin(&self) -> Option<OriginId> {
        self.lock_state().store.as_ref().map(|store| store.origin)
    }

    /// The chains that were written here, each carrying on from the one before; the last one is written now.
    pub fn own_chains(&self) -> Vec<OriginId> {
        let state = self.lock_state();
        state.parts.iter().map(|part| part.origin).collect()
    }

    /// The secret for keyed hashes, once there is one.
    pub fn secret(&self) -> Option<[u8; 32]> {
        self.lock_state().store.as_ref().map(|store| store.secret)
    }

    /// What recovery did since the last call, for the user, a line each.
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
