//! Mints origins. Machine and folder tell which installation writes.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::SKEW_MAX_MS;
use super::commit::sync_failed;
use crate::env::{Env, random_16};
use crate::error::{Result, at};
use crate::log::{Log, State};
use crate::store_file::StoreFile;
use crate::walk;
use icm_event::facts::Continues;
use icm_event::id::{OriginId, Seq};

impl Log {
    /// Mints an origin if the store has none, if the store is a copy of the one that its origin was minted for, or if
    /// the clock is more than a day behind the newest event.
    pub(super) fn mint_if_needed(
        &self,
        state: &mut State,
        env: &dyn Env,
        changed: bool,
    ) -> Result<()> {
        let mut moved = None;
        let fingerprint = match &state.store {
            Some(store) if !changed => store.fingerprint.clone(),
            _ => self.fingerprint(env)?,
        };
        if let Some(store) = &state.store {
            let ahead = state
                .tip
                .as_ref()
                .filter(|place| place.tip.origin == store.origin)
                .is_some_and(|place| {
                    place.tip.time.ms() > env.now_ms().saturating_add(SKEW_MAX_MS)
                });
            if store.fingerprint == fingerprint && !ahead {
                return Ok(());
            }
            moved = Some(match ahead {
                true => "its clock went back",
                false => "it is a copy or has moved",
            });
        }
        self.mint(state, env, moved)
    }

    /// Mints an origin that continues from the newest event. `why` becomes a notice.
    pub(super) fn mint(&self, state: &mut State, env: &dyn Env, why: Option<&str>) -> Result<()> {
        let fingerprint = self.fingerprint(env)?;
        // The events that a new origin continues must be whole: no writer reads them again after this.
        self.walk_of(state)
            .forward(&walk::Cursor::START, &mut |_| ControlFlow::Continue(()))?;
        self.sync_continued(state)?;
        let mut secret = [0; 32];
        match (&state.store, state.older_secret) {
            (Some(store), _) => secret = store.secret,
            (None, Some(older)) => secret = older,
            (None, None) => env.fill_random(&mut secret),
        }
        let same_place = state
            .store
            .as_ref()
            .filter(|it| it.fingerprint == fingerprint);
        let here = same_place.map(|older| {
            let before = older.here.iter().copied();
            before.chain([older.origin]).collect()
        });
        let store = StoreFile {
            origin: icm_event::OriginId(random_16(env)),
            fingerprint,
            secret,
            here: here.unwrap_or_default(),
            continues: Log::continues(state),
            older: older(&state.parts),
        };
        store.write(&*self.disk, &self.dir)?;
        state.notices.extend(
            why.map(|why| format!("the store writes under a new origin from here on: {why}")),
        );
        state.parts = walk::parts(&*self.disk, &self.dir, store.origin, Some(&store))?;
        state.stamps = None;
        state.segments = None;
        state.hold.file = None;
        state.hold.durable = Seq(0);
        state.store = Some(store);
        state.store_bytes.clear();
        Ok(())
    }

    /// Returns the origins that were minted for this machine and folder; none if the store is a copy that nothing was
    /// written to yet.
    ///
    /// # Errors
    /// If the store's folder cannot be read.
    pub fn origins_here(&self, env: &dyn Env) -> Result<Vec<OriginId>> {
        let fingerprint = self.fingerprint(env)?;
        let state = self.lock_state();
        let store = state
            .store
            .as_ref()
            .filter(|it| it.fingerprint == fingerprint);
        Ok(store.map_or_else(Vec::new, |store| {
            let older = store.here.iter().copied();
            older.chain([store.origin]).collect()
        }))
    }

    /// Makes the event that a new origin continues durable before anything names it.
    fn sync_continued(&self, state: &mut State) -> Result<()> {
        let Some(place) = state.tip.clone() else {
            return Ok(());
        };
        let slot = state
            .slot
            .filter(|slot| slot.origin == place.tip.origin)
            .map_or(Seq(0), |slot| slot.seq);
        if slot.max(place.synced) >= place.tip.seq {
            return Ok(());
        }
        let path = &place.segment.path;
        let file = self.open_segment(state, path, place.end)?;
        state.hold.file = None;
        self.sync_segment(&*file).map_err(|why| {
            state.hold.poisoned = Some(Arc::clone(&why));
            sync_failed(path, &why)
        })
    }

    fn fingerprint(&self, env: &dyn Env) -> Result<String> {
        let folder = self
            .disk
            .identity(&self.dir)
            .map_err(at("reading", &self.dir))?;
        let machine = env.machine_id().unwrap_or_default();
        let digest = blake3::hash(format!("icm fingerprint v1\n{machine}\n{folder}").as_bytes());
        Ok(icm_event::id::to_hex(&digest.as_bytes()[..16]))
    }
}

/// Returns the place from which each chain but the oldest continues another.
fn older(parts: &[walk::Part]) -> Vec<(OriginId, Continues)> {
    let pairs = parts.iter().zip(parts.iter().skip(1));
    let continued = pairs.filter_map(|(before, part)| {
        let continues = Continues {
            origin: before.origin,
            seq: before.until?,
            event: before.event,
        };
        Some((part.origin, continues))
    });
    continued.collect()
}
