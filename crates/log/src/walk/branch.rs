//! This machine's branch of a walked chain that branches. A copy of this store, or this store before it was restored,
//! wrote the other branch under the same origin.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::part::Part;
use crate::chain::{self, SegmentFile};
use crate::disk::Disk;
use crate::error::Result;
use crate::runs::{self, Run};
use icm_event::id::{EventId, OriginId, Seq};

/// The segments of this machine's branches, kept for as long as the files stay the same: finding them takes a pass over
/// the chain.
#[derive(Default)]
pub(crate) struct OwnBranches(Mutex<HashMap<OriginId, KnownBranch>>);

/// The own segments among all of a chain, as far as an event.
struct KnownBranch {
    event: EventId,
    all: Vec<SegmentFile>,
    own: Vec<SegmentFile>,
}

impl OwnBranches {
    /// Returns those of `all` segments of a walked chain that lead to the event from which a newer chain continues.
    pub(crate) fn among(
        &self,
        disk: &dyn Disk,
        store: &Path,
        part: Part,
        all: Vec<SegmentFile>,
    ) -> Result<Vec<SegmentFile>> {
        let Some(until) = part.until.filter(|_| chain::branches(&all)) else {
            return Ok(all);
        };
        let mut looked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |looked: &&KnownBranch| looked.all == all && looked.event == part.event;
        if let Some(looked) = looked.get(&part.origin).filter(is_same) {
            return Ok(looked.own.clone());
        }
        let runs = runs::runs_of(disk, store, part.origin, None, &mut |_, _, _| {})?;
        let stretches = runs::leading_to(&runs, Seq(1), until, part.event);
        let is_own = |segment: &&SegmentFile| {
            stretches.iter().any(|stretch| {
                let run: &Run = &runs[stretch.run];
                let mut parts = run.parts.iter();
                segment.name.first_seq <= stretch.to && parts.any(|it| it.path == segment.path)
            })
        };
        let own: Vec<SegmentFile> = all.iter().filter(is_own).cloned().collect();
        let event = part.event;
        let found = own.clone();
        looked.insert(part.origin, KnownBranch { event, all, own });
        Ok(found)
    }
}

/// Tells the walk's own events from imported ones.
pub(crate) struct Walked {
    parts: Vec<Part>,
    /// The own events of chains that branch, by origin.
    branches: HashMap<OriginId, HashSet<EventId>>,
}

impl Walked {
    pub(crate) fn of(disk: &dyn Disk, store: &Path, parts: &[Part]) -> Result<Walked> {
        let mut branches = HashMap::new();
        for part in parts {
            let Some(until) = part.until else { continue };
            if !chain::branches(&chain::segments(disk, store, part.origin)?) {
                continue;
            }
            let runs = runs::runs_of(disk, store, part.origin, None, &mut |_, _, _| {})?;
            let mut own = HashSet::new();
            for stretch in runs::leading_to(&runs, Seq(1), until, part.event) {
                own.extend(runs[stretch.run].ids_between(stretch.from, stretch.to));
            }
            branches.insert(part.origin, own);
        }
        Ok(Walked {
            parts: parts.to_vec(),
            branches,
        })
    }

    pub(crate) fn has(&self, origin: OriginId, seq: Seq, event: EventId) -> bool {
        let part = self.parts.iter().find(|part| part.origin == origin);
        part.is_some_and(|part| part.until.is_none_or(|until| seq <= until))
            && (self.branches.get(&origin)).is_none_or(|own| own.contains(&event))
    }
}
