//! Prepares the store for an append: reads the appends of others, and sets a torn tail aside.

use super::Writer;
use crate::error::{LogError, Result};
use crate::log::{Refusal, State};
use icm_event::id::Seq;

/// Most tails that are set aside before an append; each makes the log shorter. Raised, more damage is set aside before
/// a write gives up.
const SET_ASIDE_MAX: usize = 8;

impl Writer<'_> {
    /// Reads the appends of others and prepares the store for an append.
    pub(super) fn prepare(&self, state: &mut State) -> Result<()> {
        let (log, env) = (self.log, self.env);
        if state.hold.holders > 1 {
            return match &state.refusal {
                Some(refusal) => Err(refusal.to_error(&log.dir)),
                None => Ok(()),
            };
        }
        if state.hold.poisoned.take().is_some() {
            // The records of the failed sync are found again below, and written again before the next sync.
            state.hold.file = None;
            *log.gate() = None;
        }
        // Nothing counts as durable until the log was examined, so no slot is written if that fails.
        state.hold.durable = Seq(0);
        let changed = log.refresh_state(state)?;
        if let Some(refusal) = &state.refusal {
            return Err(refusal.to_error(&log.dir));
        }
        self.set_aside_tail(state)?;
        log.mint_if_needed(state, env, changed)?;
        self.note_durable(state);
        Ok(())
    }

    /// Like `prepare`, after a repair has changed the files. `mint` is the reason for which a new origin must continue
    /// the chain, if it must.
    pub(crate) fn prepare_repaired(&self, mint: Option<&str>) -> Result<()> {
        let log = self.log;
        let mut state = log.lock_state();
        state.hold.file = None;
        state.hold.durable = Seq(0);
        state.stamps = None;
        // The repair may have moved records.
        state.tip = None;
        log.refresh_state(&mut state)?;
        match &state.refusal {
            None | Some(Refusal::Repairing) => {}
            Some(Refusal::NoStoreFile { .. }) if mint.is_some() => {}
            Some(refusal) => return Err(refusal.to_error(&log.dir)),
        }
        self.set_aside_tail(&mut state)?;
        match mint {
            Some(why) => log.mint(&mut state, self.env, Some(why))?,
            None => log.mint_if_needed(&mut state, self.env, true)?,
        }
        state.refusal = None;
        self.note_durable(&mut state);
        Ok(())
    }

    /// Sets aside the bytes of an append that was never acknowledged.
    fn set_aside_tail(&self, state: &mut State) -> Result<()> {
        let log = self.log;
        let mut rounds = 0;
        while let Some(trouble) = state.trouble.take() {
            // A torn creation may hide a torn tail in the segment before it.
            if rounds == SET_ASIDE_MAX {
                return Err(LogError::NotWritable {
                    path: log.dir.clone(),
                    why: format!("its torn tail could not be set aside ({})", trouble.what),
                });
            }
            rounds += 1;
            log.set_aside(state, &trouble)?;
            log.refresh_state(state)?;
            match &state.refusal {
                None | Some(Refusal::Repairing | Refusal::NoStoreFile { .. }) => {}
                Some(refusal) => return Err(refusal.to_error(&log.dir)),
            }
        }
        Ok(())
    }

    /// Determines the newest event that is known to be durable.
    fn note_durable(&self, state: &mut State) {
        let slot = state.slot;
        let own = state.store.as_ref().map(|store| store.origin);
        state.hold.acked_generation = slot.map_or(0, |slot| slot.generation);
        let slot_seq = slot
            .filter(|slot| Some(slot.origin) == own)
            .map_or(Seq(0), |slot| slot.seq);
        let synced = state.tip.as_ref().map_or(Seq(0), |place| place.synced);
        let same_chain = state
            .tip
            .as_ref()
            .is_some_and(|place| Some(place.tip.origin) == own);
        state.hold.durable = if same_chain {
            slot_seq.max(synced)
        } else {
            Seq(0)
        };
    }
}
