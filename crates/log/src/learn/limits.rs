//! Ceilings for imports. No real store comes near them; beyond them a forged file could make every read of the log
//! slow.

use std::collections::{BTreeMap, HashMap};

use super::held::Held;
use crate::bundle::Bundle;
use crate::error::{LogError, Result};
use icm_event::facts::{Facts, UndoneRange};
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::kind::Kind;

/// Most runs of one chain. A chain is cut into runs where it branches and where events are lost. Raised, a forged
/// bundle could make reads slower.
const RUNS_MAX: usize = 4_096;
/// Most times that undos may name an undo. Raised, a forged bundle could make folds slower.
const UNDOS_NAMED_MAX: u64 = 1_000_000;

/// Every undo of the store and of the bundle.
#[derive(Default)]
pub(super) struct Undos(HashMap<EventId, (OriginId, Seq, Vec<UndoneRange>)>);

impl Undos {
    pub(super) fn note(&mut self, head: &Head<'_>, id: EventId) {
        if head.kind() != Kind::LOG_UNDONE {
            return;
        }
        if let Ok(Facts::Undone(facts)) = Facts::of(head) {
            self.0.insert(id, (head.origin(), head.seq(), facts.ranges));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = &UndoneRange> {
        self.0.values().flat_map(|(_, _, ranges)| ranges)
    }

    /// Returns how many times an undo names an undo.
    fn named(&self) -> u64 {
        let mut places: Vec<(OriginId, Seq)> = self
            .0
            .values()
            .map(|(origin, seq, _)| (*origin, *seq))
            .collect();
        places.sort_unstable();
        let before = |place| places.partition_point(|other| *other < place) as u64;
        self.ranges().fold(0, |sum, range| {
            let after = Seq(range.to_seq.0.saturating_add(1));
            let found = before((range.origin, after)) - before((range.origin, range.from_seq));
            sum.saturating_add(found)
        })
    }
}

/// Refuses a bundle if, together with the store, it is beyond what any real store contains.
pub(super) fn check(held: &Held, bundle: &Bundle, undos: &Undos) -> Result<()> {
    let mut runs: BTreeMap<OriginId, usize> = BTreeMap::new();
    for range in bundle.ranges() {
        // A range that the store holds already adds no run.
        let is_held = held.has(range.origin, range.to_seq, range.head);
        *runs.entry(range.origin).or_default() += usize::from(!is_held);
    }
    for (origin, brought) in runs {
        let pieces = held.runs.get(&origin).map_or(0, Vec::len);
        if pieces + brought > RUNS_MAX {
            return Err(LogError::TooTangled {
                what: format!("chain {origin} is in more than {RUNS_MAX} pieces"),
            });
        }
    }
    match undos.named() > UNDOS_NAMED_MAX {
        false => Ok(()),
        true => Err(LogError::TooTangled {
            what: format!("undos name undos more than {UNDOS_NAMED_MAX} times"),
        }),
    }
}
