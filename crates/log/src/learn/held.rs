//! The events that this store holds, own and foreign, for an import.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use crate::bundle::ChainRange;
use crate::chain;
use crate::disk::Disk;
use crate::error::Result;
use crate::log::Log;
use crate::recover::{Tip, tip_of};
use crate::redacted::Redactions;
use crate::runs::{self, Run};
use crate::walk::{Part, Walked};
use icm_event::facts::{Facts, Hole, ImportedRange};
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::kind::Kind;
use icm_event::record::Body;

/// The reason for which a body is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Withheld,
    Damaged,
}

/// Every event of the store.
pub(super) struct Held {
    /// The runs of each chain.
    pub(super) runs: BTreeMap<OriginId, Vec<Run>>,
    /// The walked chains.
    pub(super) parts: Vec<Part>,
    pub(super) bodiless: HashMap<EventId, Missing>,
    pub(super) holes: Vec<Hole>,
    pub(super) redactions: Redactions,
    /// The ids of the `log.imported` events.
    pub(super) imports: HashSet<EventId>,
    /// Id and head of each undo.
    pub(super) undos: Vec<(EventId, Vec<u8>)>,
    /// The ranges that the walk has learned.
    pub(super) learned: Vec<ImportedRange>,
}

impl Held {
    /// Returns `true` if the store holds an event.
    pub(super) fn has(&self, origin: OriginId, seq: Seq, id: EventId) -> bool {
        let runs = self.runs.get(&origin);
        runs.is_some_and(|runs| runs.iter().any(|run| run.id_at(seq) == Some(id)))
    }

    /// Returns `true` if the store holds every event of a range, each with its body or withheld. A damaged body counts
    /// as missing.
    pub(super) fn has_all(&self, range: &ChainRange) -> bool {
        if !self.has(range.origin, range.to_seq, range.head) {
            return false;
        }
        let runs = &self.runs[&range.origin];
        let mut count = 0;
        let stretches = runs::leading_to(runs, range.from_seq, range.to_seq, range.head);
        let is_damaged = |id: &EventId| self.bodiless.get(id) == Some(&Missing::Damaged);
        let sound = stretches.iter().all(|stretch| {
            let ids = runs[stretch.run].ids_between(stretch.from, stretch.to);
            count += ids.len() as u64;
            self.bodiless.is_empty() || !ids.iter().any(is_damaged)
        });
        sound && count > range.to_seq.0.saturating_sub(range.from_seq.0)
    }

    pub(super) fn part(&self, origin: OriginId) -> Option<&Part> {
        self.parts.iter().find(|part| part.origin == origin)
    }
}

fn scan(disk: &dyn Disk, store: &Path, parts: Vec<Part>) -> Result<Held> {
    let walked = Walked::of(disk, store, &parts)?;
    let mut held = Held {
        runs: BTreeMap::new(),
        parts,
        bodiless: HashMap::new(),
        holes: Vec::new(),
        redactions: Redactions::default(),
        imports: HashSet::new(),
        undos: Vec::new(),
        learned: Vec::new(),
    };
    for origin in chain::origins(disk, store)? {
        let runs = runs::runs_of(disk, store, origin, None, &mut |record, head, id| {
            held.redactions.note(head);
            match record.body {
                Body::Present { .. } => {}
                Body::Withheld => {
                    held.bodiless.insert(id, Missing::Withheld);
                }
                Body::Damaged => {
                    held.bodiless.insert(id, Missing::Damaged);
                }
            }
            match head.kind() {
                Kind::LOG_IMPORTED => {
                    held.imports.insert(id);
                    let walked = walked.has(origin, head.seq(), id);
                    if let (true, Ok(Facts::Imported(facts))) = (walked, Facts::of(head)) {
                        held.learned.extend(facts.ranges);
                    }
                }
                Kind::LOG_UNDONE => held.undos.push((id, head.bytes().to_vec())),
                Kind::LOG_REPAIRED => held.holes.extend(holes_of(head)),
                _ => {}
            }
        })?;
        held.runs.insert(origin, runs);
    }
    Ok(held)
}

pub(super) fn holes_of(head: &Head<'_>) -> Vec<Hole> {
    match Facts::of(head) {
        Ok(Facts::Repaired(facts)) => facts.holes,
        _ => Vec::new(),
    }
}

impl Log {
    /// Returns the last event of the walk before the first `log.imported` whose events are not all held. `None` if all
    /// are held.
    pub(crate) fn before_what_is_not_held(&self) -> Result<Option<Tip>> {
        let held = self.held()?;
        let lacks = |range: &ImportedRange| {
            let gone = |hole: &Hole| {
                hole.origin == range.origin
                    && hole.from_seq <= range.to_seq
                    && range.to_seq <= hole.to_seq
            };
            !held.has(range.origin, range.to_seq, range.head) && !held.holes.iter().any(gone)
        };
        let (mut last, mut found) = (None, false);
        self.scan_own(&mut |event| {
            let facts = Facts::of(&event.head);
            found = matches!(facts, Ok(Facts::Imported(facts)) if facts.ranges.iter().any(lacks));
            if found {
                return ControlFlow::Break(());
            }
            last = Some(tip_of(&event.head, event.id));
            ControlFlow::Continue(())
        })?;
        Ok(last.filter(|_| found))
    }

    pub(super) fn held(&self) -> Result<Held> {
        let parts = self.lock_state().parts.clone();
        scan(&*self.disk, &self.dir, parts)
    }
}
