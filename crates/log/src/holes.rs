//! Holes that repairs have explained: a chain lacks events there, and a `log.repaired` says so.
//!
//! The heads are read for explanations only when a reader meets a gap.

use std::collections::BTreeMap;

use crate::chain;
use crate::disk::Disk;
use crate::error::Result;
use crate::scan::{SegmentScan, Step};
use icm_event::facts::{Facts, Hole};
use icm_event::id::{EventId, OriginId, Position, Seq};
use icm_event::kind::Kind;
use icm_event::segment::HEADER_LEN;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A place at which a chain does not continue with the next event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) origin: OriginId,
    /// Id of the event before the gap; zero at the start of the chain.
    pub(crate) last: EventId,
    /// Id of the event after the gap.
    pub(crate) next: EventId,
    /// Seq of the first missing event.
    pub(crate) from: Seq,
    /// Seq of the last missing event. `from - 1` if no event is missing, but `prev` does not match.
    pub(crate) to: Seq,
}

/// A hole, and the position of the repair that explains it, by the repair's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Explained {
    pub(crate) hole: Hole,
    pub(crate) position: Position,
}

/// The holes that repairs have explained, and the events whose payload they declare lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Holes {
    pub(crate) holes: Vec<Explained>,
    pub(crate) payloads: BTreeMap<EventId, Position>,
}

impl Holes {
    /// Adds the statements of a head, if it is that of a repair.
    pub(crate) fn note(&mut self, head: &icm_event::head::Head<'_>, own: &[OriginId]) {
        if head.kind() != Kind::LOG_REPAIRED {
            return;
        }
        let Ok(Facts::Repaired(facts)) = Facts::of(head) else {
            return;
        };
        // Statements of other machines about this machine's chains explain nothing.
        let author_is_own = own.contains(&head.origin());
        let position = head.position();
        let fits = |hole: &Hole| author_is_own || !own.contains(&hole.origin);
        let holes = facts.holes.into_iter().filter(fits);
        self.holes
            .extend(holes.map(|hole| Explained { hole, position }));
        self.payloads.extend(head.refs().map(|id| (id, position)));
    }

    /// Returns the repair that explains a gap. Events that came back may have made a hole smaller, so a gap within a
    /// hole is explained. An end that the gap shares with the hole must have the hole's event.
    pub(crate) fn explain(&self, gap: &Gap) -> Option<Explained> {
        let fits = |hole: &Hole| {
            hole.origin == gap.origin
                && hole.from_seq <= gap.from
                && gap.to <= hole.to_seq
                && (hole.from_seq != gap.from || hole.last_good == gap.last)
                && (hole.to_seq != gap.to || hole.next_good == gap.next || hole.next_good.is_zero())
        };
        self.holes.iter().rev().copied().find(|it| fits(&it.hole))
    }

    /// Returns the repair that declares an event lost.
    pub(crate) fn covering(&self, origin: OriginId, seq: Seq) -> Option<Explained> {
        let fits =
            |hole: &Hole| hole.origin == origin && hole.from_seq <= seq && seq <= hole.to_seq;
        self.holes.iter().rev().copied().find(|it| fits(&it.hole))
    }

    /// Returns `true` if an event at this seq lies within or directly beside a hole. Its batch may be cut.
    pub(crate) fn touches(&self, origin: OriginId, seq: Seq) -> bool {
        self.holes.iter().any(|Explained { hole, .. }| {
            hole.origin == origin
                && hole.from_seq.0 <= seq.0.saturating_add(1)
                && seq.0 <= hole.to_seq.0.saturating_add(1)
        })
    }

    /// Returns the hole in which a chain ends, if `last` is its last event.
    pub(crate) fn at_end(&self, origin: OriginId, last: Seq) -> Option<Explained> {
        let next = Seq(last.0.saturating_add(1));
        self.covering(origin, next)
    }

    /// Reads the heads of all chains. `own` names the walked chains.
    pub(crate) fn collect(disk: &dyn Disk, store: &Path, own: &[OriginId]) -> Result<Holes> {
        let mut holes = Holes::default();
        for origin in chain::origins(disk, store)? {
            for segment in chain::segments(disk, store, origin)? {
                let (start, end) = (HEADER_LEN as u64, u64::MAX);
                // A segment that cannot be read explains nothing; readers of that segment report the error.
                let Ok(mut scan) = SegmentScan::open(disk, &segment.path, start, end) else {
                    continue;
                };
                while let Ok(Step::Record { record, .. }) = scan.step() {
                    if record.is_of(origin)
                        && let Ok(head) = record.parse_head()
                    {
                        holes.note(&head, own);
                    }
                }
            }
        }
        Ok(holes)
    }
}

/// The holes that a log knows. They hold as long as its newest event stays the same.
#[derive(Default)]
pub(crate) struct KnownHoles {
    /// Holes of a repair that is under way; its event is not written yet.
    pub(crate) pending: Vec<Hole>,
    found: Option<(Option<EventId>, Vec<OriginId>, Arc<Holes>)>,
}

impl KnownHoles {
    /// Forgets the holes, so the next caller reads the heads again.
    pub(crate) fn forget(&mut self) {
        self.found = None;
    }
}

/// Finds explanations for gaps.
pub(crate) struct Explainer<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) store: &'a Path,
    /// The walked chains.
    pub(crate) own: Vec<OriginId>,
    /// The newest event, if known. Holes that were read at the same newest event still hold.
    pub(crate) tip: Option<EventId>,
    pub(crate) known: &'a Mutex<KnownHoles>,
}

impl Explainer<'_> {
    pub(crate) fn holes(&self) -> Result<Arc<Holes>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((tip, own, holes)) = &known.found
            && tip.is_some()
            && *tip == self.tip
            && *own == self.own
        {
            return Ok(Arc::clone(holes));
        }
        let mut holes = Holes::collect(self.disk, self.store, &self.own)?;
        let pending = known.pending.iter().map(|hole| Explained {
            hole: *hole,
            position: Position(0),
        });
        holes.holes.extend(pending);
        let holes = Arc::new(holes);
        known.found = Some((self.tip, self.own.clone(), Arc::clone(&holes)));
        Ok(holes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes() -> Holes {
        let hole = |from: u64, to: u64, next: u8| Hole {
            origin: OriginId([1; 16]),
            last_good: EventId([3; 32]),
            next_good: EventId([next; 32]),
            from_seq: Seq(from),
            to_seq: Seq(to),
        };
        let explained = |hole| Explained {
            hole,
            position: Position(9),
        };
        Holes {
            holes: vec![
                explained(hole(41, 44, 4)),
                explained(hole(51, 50, 4)),
                explained(hole(61, 64, 0)),
            ],
            ..Holes::default()
        }
    }

    fn gap(from: u64, to: u64, last: u8, next: u8) -> Gap {
        Gap {
            origin: OriginId([1; 16]),
            last: EventId([last; 32]),
            next: EventId([next; 32]),
            from: Seq(from),
            to: Seq(to),
        }
    }

    #[test]
    fn a_gap_is_explained_by_the_hole_that_it_fits() {
        let explains = |gap: &Gap| holes().explain(gap).is_some();
        assert!(explains(&gap(41, 44, 3, 4)));
        // The hole was made smaller from either side, or from both.
        assert!(explains(&gap(41, 42, 3, 7)));
        assert!(explains(&gap(43, 44, 7, 4)));
        assert!(explains(&gap(42, 43, 7, 8)));
        assert!(explains(&gap(51, 50, 3, 4)));
        assert!(explains(&gap(61, 62, 3, 7)));
        for wrong in [
            gap(41, 44, 3, 5),
            gap(41, 44, 5, 4),
            gap(40, 44, 3, 4),
            gap(41, 45, 3, 4),
            gap(51, 50, 3, 5),
            gap(52, 51, 3, 4),
            Gap {
                origin: OriginId([2; 16]),
                ..gap(41, 44, 3, 4)
            },
        ] {
            assert!(!explains(&wrong), "{wrong:?}");
        }
    }

    #[test]
    fn events_beside_a_hole_may_be_cut() {
        let origin = OriginId([1; 16]);
        let touched: Vec<u64> = (38..66)
            .filter(|seq| holes().touches(origin, Seq(*seq)))
            .collect();
        assert_eq!(
            touched,
            [40, 41, 42, 43, 44, 45, 50, 51, 60, 61, 62, 63, 64, 65]
        );
        assert!(holes().covering(origin, Seq(44)).is_some());
        assert!(holes().covering(origin, Seq(45)).is_none());
        assert!(holes().at_end(origin, Seq(60)).is_some());
        assert!(holes().at_end(origin, Seq(64)).is_none());
    }
}
