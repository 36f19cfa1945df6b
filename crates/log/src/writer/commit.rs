//! Ends a write: the sync that threads share (group commit), and the slot for the newest durable event.

use std::io;
use std::path::Path;
use std::sync::Arc;

use icm_wait::bounds;

use super::Writer;
use crate::acked::{self, Slot};
use crate::error::{LogError, Result};
use crate::log::{Log, State};

/// Most events that are appended without a sync. Raised, an open of the log may have to examine more events.
pub const LAZY_MAX: u64 = 500;

/// The moment at which an append counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// As soon as it survives a power cut.
    Synced,
    /// As soon as other processes see it. It survives the end of this process, and the next sync makes it durable,
    /// after [`LAZY_MAX`] events at the latest.
    Lazy,
}

impl Writer<'_> {
    /// Ends the write. With [`Durability::Synced`], returns once every appended event survives a power cut. Other
    /// threads may append meanwhile and share the sync.
    ///
    /// A writer that appended nothing waits for the events that it found. A repeated request that finds its events in
    /// the log is then as safe as the first.
    ///
    /// # Errors
    /// If the sync fails, a power cut may or may not lose the appended events. The next writer reads the log again.
    pub fn commit(mut self, durability: Durability) -> Result<()> {
        match durability {
            Durability::Lazy if self.unsynced() < LAZY_MAX => Ok(()),
            Durability::Lazy | Durability::Synced => self.flush(),
        }
    }

    /// Returns the number of events up to this writer's last one that are not known to be durable; 0 if it appended
    /// nothing.
    fn unsynced(&self) -> u64 {
        let durable = self.log.lock_state().hold.durable;
        self.appended
            .map_or(0, |seq| seq.0.saturating_sub(durable.0))
    }

    /// Like [`Writer::commit`], but keeps the lock. Gives up the turn.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.appended.is_none() && self.starts_origin() {
            return Ok(());
        }
        let there = self.tip().map(|tip| tip.seq);
        let Some(seq) = self.appended.or(there) else {
            return Ok(());
        };
        let log = self.log;
        let mut state = log.lock_state();
        state.hold.turn = false;
        self.has_turn = false;
        log.tell(&state);
        let epoch = state.hold.epoch;
        let result = loop {
            if let Some(why) = state
                .hold
                .poisoned
                .clone()
                .filter(|_| state.hold.epoch == epoch)
            {
                break Err(sync_failed(&log.dir, &why));
            }
            if state.hold.epoch != epoch {
                break Err(sync_failed(
                    &log.dir,
                    "the log was read anew after a failed sync",
                ));
            }
            if state.hold.durable >= seq {
                break Ok(());
            }
            if state.hold.syncing {
                state = log.wait(state, bounds::MOMENT);
                continue;
            }
            let place = state.tip.clone().expect("a seq to wait for is of a tip");
            let target = place.tip.seq;
            let file = match log.open_segment(&mut state, &place.segment.path, place.end) {
                Ok(file) => file,
                Err(error) => break Err(error),
            };
            state.hold.syncing = true;
            drop(state);
            let synced = log.sync_segment(&*file);
            state = log.lock_state();
            state.hold.syncing = false;
            match synced {
                Ok(()) => state.hold.durable = state.hold.durable.max(target),
                Err(why) => state.hold.poisoned = Some(why),
            }
            log.tell(&state);
        };
        drop(state);
        result
    }
}

impl Log {
    /// Writes a slot if more events became durable since the last one.
    pub(super) fn note_acked(&self, state: &mut State) {
        let Some(place) = state.tip.as_ref() else {
            return;
        };
        if state.hold.poisoned.is_some() || state.hold.durable < place.tip.seq {
            return;
        }
        if state.slot.is_some_and(|slot| slot.event == place.tip.event) {
            return;
        }
        let slot = Slot {
            generation: state.hold.acked_generation.wrapping_add(1),
            origin: place.tip.origin,
            seq: place.tip.seq,
            event: place.tip.event,
            segment: place.segment.name.first_seq,
            offset: place.offset,
        };
        let file = match &state.hold.acked {
            Some(file) => Ok(file.clone()),
            None => acked::open(&*self.disk, &self.dir),
        };
        // A slot that cannot be written only makes the next open read more.
        if let Ok(file) = file
            && acked::write(&*file, &slot).is_ok()
        {
            state.hold.acked_generation = slot.generation;
            state.slot = Some(slot);
            state.hold.acked = Some(Arc::clone(&file));
        }
    }
}

pub(super) fn sync_failed(dir: &Path, why: &str) -> LogError {
    LogError::Io {
        doing: "syncing",
        path: dir.to_owned(),
        source: io::Error::other(why.to_owned()),
    }
}
