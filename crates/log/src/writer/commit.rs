//! Ending the writing: the sync that threads share (group commit), and the slot that says how far it came.

use std::io;
use std::path::Path;
use std::sync::Arc;

use icm_wait::bounds;

use super::Writer;
use crate::acked::{self, Slot};
use crate::error::{LogError, Result};
use crate::log::{Log, State};

/// Most events that no sync has followed: whoever opens the log looks at all of them.
pub const LAZY_MAX: u64 = 500;

/// When an append counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Once it survives power loss.
    Synced,
    /// Once other processes see it; it survives the end of this process, and the next sync makes it
    /// durable. There is one after [`LAZY_MAX`] events at the latest.
    Lazy,
}

impl Writer<'_> {
    /// Ends the writing. With [`Durability::Synced`] returns once everything appended survives
    /// power loss; other threads may append meanwhile and share the sync. When nothing was appended,
    /// once what was there survives it: so a repeated request that finds its events already in the
    /// log is acknowledged as safely as the first.
    ///
    /// # Errors
    /// When the sync fails, what was appended may or may not be there after power loss; the next
    /// writer reads the log anew.
    pub fn commit(mut self, durability: Durability) -> Result<()> {
        match durability {
            Durability::Lazy if self.unsynced() < LAZY_MAX => Ok(()),
            Durability::Lazy | Durability::Synced => self.flush(),
        }
    }

    /// Events up to what this writer appended that are not known to be durable; 0 where it appended nothing.
    fn unsynced(&self) -> u64 {
        let durable = self.log.lock_state().hold.durable;
        self.appended
            .map_or(0, |seq| seq.0.saturating_sub(durable.0))
    }

    /// As [`Writer::commit`], but the lock is kept; the turn is given up.
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
    /// Writes a slot when something became durable since the last one.
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
        // A slot that cannot be written costs nothing but a longer look at the next opening.
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
