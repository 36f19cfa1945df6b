//! The log as another machine knows it.

use std::sync::Arc;

use super::{Log, State};
use crate::error::Result;
use crate::recover::Tip;
use crate::walk;
use icm_event::id::OriginId;

/// Another machine, as far as can be told here what it knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownBy {
    /// The chain that it writes.
    pub origin: OriginId,
    /// The last event that it is known to have had, where what came next is not known.
    pub until: Option<(Tip, Unknown)>,
}

/// Why what another machine did next is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// It learned what is not held here.
    NotHeld,
    /// Its chain branches: a copy of it, or it before it was put back, wrote under the same origin.
    Branches,
}

impl Log {
    /// The same log as the machine that writes another chain knows it: in its order of learning, as far as that chain is
    /// held here, and what it learned. It cannot be written.
    ///
    /// # Errors
    /// What [`Log::open`] fails with.
    pub fn as_known_by(&self, origin: OriginId) -> Result<Log> {
        let as_far_as = |until| {
            let log = Log {
                known_by: Some(KnownBy { origin, until }),
                ..Log::unread(Arc::clone(&self.disk), &self.dir)
            };
            log.refresh()?;
            Ok(log)
        };
        let branches = walk::before_branches(&*self.disk, &self.dir, origin)?;
        let log = as_far_as(branches.map(|tip| (tip, Unknown::Branches)))?;
        match log.before_what_is_not_held()? {
            None => Ok(log),
            Some(tip) => as_far_as(Some((tip, Unknown::NotHeld))),
        }
    }

    /// The machine that it is walked as, where that is another one.
    pub fn known_by(&self) -> Option<KnownBy> {
        self.known_by
    }

    pub(super) fn read_as_known_by(
        &self,
        KnownBy { origin, until }: KnownBy,
        state: &mut State,
    ) -> Result<()> {
        let (disk, dir) = (&*self.disk, &self.dir);
        state.refusal = None;
        state.parts = walk::parts(disk, dir, origin, None)?;
        if let Some((until, _)) = until {
            let place = (state.parts.iter()).position(|part| part.origin == until.origin);
            state
                .parts
                .truncate(place.map_or(usize::MAX, |place| place + 1));
            if let Some(last) = state.parts.last_mut() {
                (last.until, last.event) = (Some(until.seq), until.event);
            }
        }
        self.examine_own(state)
    }
}
