//! What is held, own and foreign.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use crate::chain;
use crate::disk::Disk;
use crate::error::{Gap, LogError, Result};
use crate::facts::{Facts, Hole, ImportedRange};
use crate::head::Head;
use crate::id::{EventId, OriginId, Seq};
use crate::kind::Kind;
use crate::log::Log;
use crate::record::Body;
use crate::redacted::Redactions;
use crate::runs::{self, Run};
use crate::walk::Part;

/// A body that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Withheld,
    Damaged,
}

/// Every event that is held.
pub(super) struct Held {
    /// By chain.
    pub(super) runs: BTreeMap<OriginId, Vec<Run>>,
    /// The chains that are walked.
    pub(super) parts: Vec<Part>,
    pub(super) bodiless: HashMap<EventId, Missing>,
    pub(super) holes: Vec<Hole>,
    pub(super) redactions: Redactions,
    /// The `log.imported` among them.
    pub(super) imports: HashSet<EventId>,
    /// The heads of the undos.
    pub(super) undos: Vec<(EventId, Vec<u8>)>,
    /// What the walk has learned.
    pub(super) learned: Vec<ImportedRange>,
}

impl Held {
    /// Whether an event is held.
    pub(super) fn has(&self, origin: OriginId, seq: Seq, id: EventId) -> bool {
        let runs = self.runs.get(&origin);
        runs.is_some_and(|runs| runs.iter().any(|run| run.id_at(seq) == Some(id)))
    }

    pub(super) fn part(&self, origin: OriginId) -> Option<&Part> {
        self.parts.iter().find(|part| part.origin == origin)
    }
}

fn scan(disk: &dyn Disk, store: &Path, parts: Vec<Part>) -> Result<Held> {
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
        let part = held.part(origin).copied();
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
                    let walked =
                        part.is_some_and(|part| part.until.is_none_or(|until| head.seq() <= until));
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
    /// Whether all is held that the walk has learned.
    pub(crate) fn check_that_what_was_learned_is_held(&self) -> Result<()> {
        let held = self.held()?;
        let lacks = |range: &&ImportedRange| {
            let gone = |hole: &Hole| {
                hole.origin == range.origin
                    && hole.from_seq <= range.to_seq
                    && range.to_seq <= hole.to_seq
            };
            !held.has(range.origin, range.to_seq, range.head) && !held.holes.iter().any(gone)
        };
        let gaps = held.learned.iter().filter(lacks).map(|range| Gap {
            origin: range.origin,
            from_seq: range.from_seq,
        });
        match gaps.collect::<Vec<_>>() {
            gaps if gaps.is_empty() => Ok(()),
            gaps => Err(LogError::Gaps(gaps)),
        }
    }

    pub(super) fn held(&self) -> Result<Held> {
        let parts = self.lock_state().parts.clone();
        scan(&*self.disk, &self.dir, parts)
    }
}
