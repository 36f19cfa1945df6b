//! The log as another machine knows it: in that machine's order of learning.

use std::sync::Arc;

use super::{Log, State};
use crate::error::Result;
use crate::recover::Tip;
use crate::walk;
use icm_event::id::OriginId;

/// Another machine, and how much of its knowledge this store can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownBy {
    /// The chain that the machine writes.
    pub origin: OriginId,
    /// The last event that the machine is known to have had, if its next event is not known.
    pub until: Option<(Tip, Unknown)>,
}

/// The reason for which the next event of another machine is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// The machine learned events that this store does not hold.
    NotHeld,
    /// The machine's chain branches: a copy of its store, or the store before it was restored, wrote under the same
    /// origin.
    Branches,
}

impl Log {
    /// Returns this log as the writer of another chain knows it. Its events are those of that chain that this store
    /// holds, and the events that they learned, in that machine's order. The returned log cannot be written.
    ///
    /// # Errors
    /// The errors of [`Log::open`].
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

    /// Returns the other machine as which this log is walked, if it is.
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
