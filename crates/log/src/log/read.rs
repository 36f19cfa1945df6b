//! Reads the state of a log: `store.toml`, the walked chains, and the end of the newest chain.

use std::io;

use super::{Log, Refusal, State};
use crate::acked;
use crate::cases::{Action, Case};
use crate::chain;
use crate::error::{LogError, Result};
use crate::layout::{self, REPAIRING_FILE};
use crate::recover::{self, Examined, Trouble};
use crate::store_file::StoreFile;
use crate::walk;
use icm_event::id::Seq;

impl Log {
    pub(super) fn read_state(&self, state: &mut State) -> Result<()> {
        if let Some(known_by) = self.known_by {
            return self.read_as_known_by(known_by, state);
        }
        let mut loaded = self.load_store(state);
        let mut is_new = false;
        if matches!(loaded, Ok(None)) {
            is_new = chain::origins(&*self.disk, &self.dir)?.is_empty();
            if !is_new {
                // Another process may have created the store just now: it writes `store.toml` before the log.
                loaded = self.load_store(state);
            }
        }
        let store = match loaded {
            Ok(store) => store,
            Err(LogError::NewerFormat { what }) => {
                state.refusal = Some(Refusal::Newer { what });
                return self.read_without_store(state);
            }
            Err(LogError::NotAStore { why, .. }) => {
                let why = format!("its store.toml cannot be read ({why})");
                state.refusal = Some(Refusal::NoStoreFile { why });
                return self.read_without_store(state);
            }
            Err(LogError::Io { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
                return Err(LogError::NotAStore {
                    path: self.dir.clone(),
                    why: "not a folder".into(),
                });
            }
            Err(error) => return Err(error),
        };
        let Some(store) = store else {
            if is_new {
                state.store = None;
                state.store_bytes.clear();
                state.parts.clear();
                state.tip = None;
                state.slot = None;
                state.trouble = None;
                state.refusal = None;
                return Ok(());
            }
            state.refusal = Some(Refusal::NoStoreFile {
                why: "its store.toml is missing".into(),
            });
            return self.read_without_store(state);
        };
        if state.store.as_ref() != Some(&store) || state.parts.is_empty() {
            state.parts = walk::parts(&*self.disk, &self.dir, store.origin, Some(&store))?;
            state.tip = None;
        }
        if self.is_older_than_the_log(&state.parts)? {
            let why = "its store.toml is older than the log".into();
            state.refusal = Some(Refusal::NoStoreFile { why });
            state.older_secret = Some(store.secret);
            return self.read_without_store(state);
        }
        state.refusal = None;
        state.store = Some(store);
        self.examine_own(state)?;
        if state.refusal.is_none() && self.repair_pending() {
            state.refusal = Some(Refusal::Repairing);
        }
        Ok(())
    }

    /// Returns the contents of `store.toml`; `None` if it is absent.
    fn load_store(&self, state: &mut State) -> Result<Option<StoreFile>> {
        match StoreFile::load(&*self.disk, &self.dir)? {
            None => Ok(None),
            Some(bytes) if bytes == state.store_bytes => Ok(state.store.clone()),
            Some(bytes) => {
                let store = StoreFile::read(&bytes, &self.dir)?;
                state.store_bytes = bytes;
                Ok(Some(store))
            }
        }
    }

    /// Returns `true` if the acknowledged event belongs to a chain that continues the end of this one. Somebody then
    /// restored an old `store.toml`.
    fn is_older_than_the_log(&self, parts: &[walk::Part]) -> Result<bool> {
        let (disk, dir) = (&*self.disk, &self.dir);
        let Some(own) = parts.last() else {
            return Ok(false);
        };
        let Some(slot) = acked::read(disk, dir)? else {
            return Ok(false);
        };
        if parts.iter().any(|part| part.origin == slot.origin) {
            return Ok(false);
        }
        let newer = walk::parts(disk, dir, slot.origin, None)?;
        let mut newer = newer.iter().filter(|part| part.origin == own.origin);
        let Some(until) = newer.find_map(|part| part.until) else {
            return Ok(false);
        };
        let beyond = Seq(until.0.saturating_add(1));
        Ok(walk::find_seq(disk, dir, own.origin, beyond, None)?.is_none())
    }

    /// Returns `true` if a repair was begun and is not known to be finished.
    pub fn repair_pending(&self) -> bool {
        let path = self.dir.join(REPAIRING_FILE);
        matches!(self.disk.stamp(&path), Ok(Some(_)))
    }

    /// Reads the log without a readable `store.toml`. Takes the chain that was acknowledged last, else the chain that
    /// no other continues.
    fn read_without_store(&self, state: &mut State) -> Result<()> {
        state.store = None;
        state.store_bytes.clear();
        let slot = acked::read(&*self.disk, &self.dir)?;
        let origin = match slot {
            Some(slot) => Some(slot.origin),
            None => walk::newest_origin(&*self.disk, &self.dir)?,
        };
        let Some(origin) = origin else {
            (state.tip, state.slot, state.trouble) = (None, None, None);
            state.parts.clear();
            return Ok(());
        };
        if state.parts.last().is_none_or(|part| part.origin != origin) {
            state.tip = None;
        }
        state.parts = walk::parts(&*self.disk, &self.dir, origin, None)?;
        let refusal = state.refusal.take();
        self.examine_own(state)?;
        state.refusal = refusal;
        Ok(())
    }

    pub(super) fn examine_own(&self, state: &mut State) -> Result<()> {
        let slot = acked::read(&*self.disk, &self.dir)?;
        state.trouble = None;
        state.slot = slot;
        state.segments = None;
        for index in (0..state.parts.len()).rev() {
            let part = state.parts[index];
            let known = state
                .tip
                .as_ref()
                .filter(|place| place.tip.origin == part.origin);
            let holes = self.explainer(walk::origins_of(&state.parts), None);
            let mut examined = recover::examine(&holes, part.origin, slot.as_ref(), known)?;
            if let (Some(slot), Some(place)) = (&mut state.slot, examined.slot_place) {
                (slot.segment, slot.offset) = place;
            }
            if let Some(until) = part.until {
                // An older chain of this machine is read up to the event from which the next one continues. If a repair
                // declared the rest lost, the chain is read as far as it goes.
                let last = examined.tip.take();
                let (disk, dir) = (&*self.disk, &self.dir);
                let event = Some(part.event);
                examined.tip = walk::find_seq(disk, dir, part.origin, until, event)?
                    .filter(|place| place.tip.event == part.event);
                examined.segments = self.own_segments(part, examined.segments)?;
                if examined.tip.is_none() && holes.holes()?.covering(part.origin, until).is_some() {
                    examined.tip = last.filter(|place| place.tip.seq < until);
                    if examined.tip.is_none() {
                        continue;
                    }
                }
                examined.trouble = examined.tip.is_none().then(|| Trouble {
                    case: Case::M,
                    file: layout::relative(&self.dir, &layout::dir_of(&self.dir, part.origin)),
                    cut: 0,
                    seq: until,
                    what: format!("event {until}, which this origin continues, is not there"),
                });
            }
            self.judge(state, &examined);
            if examined.tip.is_some() || state.refusal.is_some() {
                state.segments = Some(examined.segments.into());
                state.tip = examined.tip;
                return Ok(());
            }
        }
        state.tip = None;
        Ok(())
    }

    fn judge(&self, state: &mut State, examined: &Examined) {
        let Some(trouble) = &examined.trouble else {
            return;
        };
        match trouble.case.action() {
            Action::SetAside => state.trouble = Some(trouble.clone()),
            Action::RefuseNewer => {
                state.refusal = Some(Refusal::Newer {
                    what: trouble.what.clone(),
                });
            }
            Action::Refuse => {
                state.refusal = Some(Refusal::Damaged {
                    case: trouble.case,
                    file: trouble.file.clone(),
                    seq: trouble.seq,
                    offset_bytes: trouble.cut,
                    what: trouble.what.clone(),
                });
            }
            Action::Open | Action::Withhold | Action::Notice | Action::Keep | Action::Refill => {}
        }
    }
}
