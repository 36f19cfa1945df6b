//! Appends to the log. The holder of the store's lock may append; the threads of a process share the lock and one sync
//! (group commit).

mod batch;
mod commit;
mod encoder;
mod lock;
mod mint;
mod open_segment;
mod prepare;
mod torn;

use crate::env::Env;
use crate::error::Result;
use crate::log::Log;
use crate::recover::Tip;
use crate::rewritten::Rewritten;
use icm_event::hash;
use icm_event::id::{ActorId, Seq};

pub(crate) use batch::POSITIONS_MAX;
pub use batch::{Appended, BATCH_EVENTS_MAX, BATCH_LEN_MAX, Batch, NewEvent, actor_named};
use batch::{check_ceilings, origin_batch};
pub use commit::{Durability, LAZY_MAX};
use encoder::Encoder;

/// Most milliseconds by which the clock may be behind the newest own event. Beyond that a new origin is minted. Raised,
/// times can be further ahead of the clock; lowered, small corrections of a clock mint origins.
pub const SKEW_MAX_MS: u64 = 24 * 60 * 60 * 1_000;

/// Most ranges of one import. Raised, their list would exceed the 256 KiB of facts.
pub(crate) const RANGES_MAX: usize = 2_730;

/// The right to append. Other writers (threads and processes) wait while it is held; readers of the same [`Log`] do
/// not.
pub struct Writer<'a> {
    pub(crate) log: &'a Log,
    pub(crate) env: &'a dyn Env,
    /// `true` while this thread has the turn among those of the process. A commit gives it up while it waits for the
    /// disk.
    has_turn: bool,
    appended: Option<Seq>,
}

impl Writer<'_> {
    /// Mints a new origin for the store, and gives the reason in a notice.
    pub(crate) fn mint(&mut self, why: &str) -> Result<()> {
        let mut state = self.log.lock_state();
        self.log.mint(&mut state, self.env, Some(why))
    }

    /// Marks log files as rewritten. Durable when it returns.
    pub(crate) fn mark_rewritten(&self) -> Result<()> {
        Rewritten::renew(&*self.log.disk, &self.log.dir, self.env)
    }

    /// Returns the newest event of a whole batch, as [`Log::tip`].
    pub fn tip(&self) -> Option<Tip> {
        self.log.tip()
    }

    /// Returns the secret of keyed hashes.
    pub fn secret(&self) -> [u8; 32] {
        self.log.secret().expect("a writer has minted a store")
    }

    /// Returns the id of an actor in this store.
    pub fn actor(&self, name: &str) -> ActorId {
        hash::actor_id(&self.secret(), name)
    }

    /// Returns `true` if the next append starts the origin's chain. That append names its actor itself.
    pub fn starts_origin(&self) -> bool {
        let state = self.log.lock_state();
        let own = state.store.as_ref().map(|store| store.origin);
        state.tip.as_ref().map(|place| place.tip.origin) != own
    }

    /// Appends a batch. The batch counts only after [`Writer::commit`] returned. If the append fails, nothing was
    /// appended.
    ///
    /// # Errors
    /// `TooLarge` if an event or the batch exceeds a ceiling; `NoSpace`, `NotWritable`, `Io`.
    ///
    /// # Panics
    /// If the batch has no events.
    pub fn append(&mut self, batch: &Batch<'_>) -> Result<Vec<Appended>> {
        assert!(!batch.events.is_empty(), "a batch has at least one event");
        check_ceilings(batch)?;
        let actor = self.actor(batch.actor);
        let starts = self.starts_origin();
        let (log, env) = (self.log, self.env);
        let mut state = log.lock_state();
        let store = state.store.clone().expect("a writer has minted a store");
        let mut encoder = Encoder {
            store: &store,
            env,
            tip: state.tip.as_ref().map(|place| place.tip),
            synced: state.hold.durable,
            bytes: Vec::new(),
            last: None,
            appended: Vec::new(),
        };
        if starts {
            encoder.encode(&origin_batch(&store, batch, actor), actor)?;
        }
        let skip = encoder.appended.len();
        encoder.encode(batch, actor)?;
        let Encoder {
            bytes,
            last,
            mut appended,
            ..
        } = encoder;
        let (tip, offset_in_bytes, first) = last.expect("a batch has at least one event");
        if let Some(stamps) = state.stamps.take() {
            state.hold.stamps_before = Some(stamps);
        }
        state.hold.appended = true;
        let written = log.write(&mut state, &bytes, tip, offset_in_bytes, first);
        state.hold.failed |= written.is_err();
        written?;
        drop(state);
        self.appended = Some(tip.seq);
        Ok(appended.split_off(skip))
    }
}
