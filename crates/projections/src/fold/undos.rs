//! Undos, and the events that are in force: an event is in force if no undo in force names it.

use std::collections::BTreeMap;

use icm_log::facts::{ImportedRange, LogUndone};
use icm_log::{Event, EventId, OriginId, Position, Seq};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// An event and its place in its chain. The place is enough to identify the event unless the chain branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InChain {
    /// The author.
    pub origin: OriginId,
    /// The place in the author's chain.
    pub seq: Seq,
    /// The event.
    pub event: EventId,
}

impl InChain {
    /// A place outside of every chain.
    pub(super) const NOWHERE: InChain = InChain {
        origin: OriginId::ZERO,
        seq: Seq(0),
        event: EventId::ZERO,
    };

    /// Returns the place of an event.
    pub fn of(event: &Event<'_>) -> InChain {
        InChain {
            origin: event.head.origin(),
            seq: event.head.seq(),
            event: event.id,
        }
    }
}

/// An undo that was folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The position of the undo.
    pub position: Position,
    /// The event id of the undo.
    pub event: EventId,
    /// The author's origin.
    pub origin: OriginId,
    /// The undo's place in the author's chain.
    pub seq: Seq,
    /// The named ranges: origin, first and last seq, id of the last event.
    pub ranges: Vec<(OriginId, Seq, Seq, EventId)>,
    /// Sorted events at these places on another branch of their chain: the undo does not name them.
    pub beside: Vec<EventId>,
    /// `true` if the undo is in force.
    pub effective: bool,
}

impl Undo {
    pub(super) fn of(event: &Event<'_>, facts: &LogUndone) -> Undo {
        let (origin, seq) = (event.head.origin(), event.head.seq());
        let ranges = facts.ranges.iter().filter_map(|range| {
            // An undo cannot name later events of its own chain.
            let to_seq = match range.origin == origin {
                true => range.to_seq.min(Seq(seq.0 - 1)),
                false => range.to_seq,
            };
            (range.from_seq <= to_seq).then_some((range.origin, range.from_seq, to_seq, range.head))
        });
        Undo {
            position: event.position,
            event: event.id,
            origin,
            seq,
            ranges: ranges.collect(),
            beside: Vec::new(),
            effective: true,
        }
    }

    /// Returns an undo that is not written yet.
    pub(super) fn unwritten(facts: &LogUndone) -> Undo {
        let ranges = facts.ranges.iter();
        Undo {
            position: Position(u64::MAX),
            event: EventId::ZERO,
            origin: OriginId::ZERO,
            seq: Seq(0),
            ranges: ranges
                .map(|range| (range.origin, range.from_seq, range.to_seq, range.head))
                .collect(),
            beside: Vec::new(),
            effective: true,
        }
    }

    fn holds(&self, at: &InChain) -> bool {
        let holds = |range: &(OriginId, Seq, Seq, EventId)| {
            range.0 == at.origin && range.1 <= at.seq && at.seq <= range.2
        };
        self.ranges.iter().any(holds) && !self.has_beside(at.event)
    }

    fn has_beside(&self, event: EventId) -> bool {
        self.beside.binary_search(&event).is_ok()
    }
}

/// Every undo, by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undos(pub(super) Vec<Undo>);

impl Undos {
    pub(crate) fn new(all: BTreeMap<Position, Undo>) -> Undos {
        Undos(all.into_values().collect())
    }

    /// Appends undos that come after the others, and decides again which undos are in force.
    pub(super) fn extend(&mut self, undos: impl IntoIterator<Item = Undo>) {
        self.0.extend(undos);
        self.settle();
    }

    /// Decides which undos are in force, only by which undo names which: they may have been learned in any order.
    fn settle(&mut self) {
        let mut by_id: Vec<usize> = (0..self.0.len()).collect();
        by_id.sort_unstable_by_key(|undo| self.0[*undo].event);
        let mut places: Vec<(OriginId, Seq, usize)> = by_id
            .iter()
            .map(|undo| (self.0[*undo].origin, self.0[*undo].seq, *undo))
            .collect();
        places.sort_unstable();
        let mut namers: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        for namer in &by_id {
            for (origin, from, to, _) in &self.0[*namer].ranges {
                let first = places.partition_point(|place| (place.0, place.1) < (*origin, *from));
                for (_, _, named) in places[first..]
                    .iter()
                    .take_while(|place| place.0 == *origin && place.1 <= *to)
                {
                    if !self.0[*namer].has_beside(self.0[*named].event) {
                        namers[*named].push(*namer);
                    }
                }
            }
        }
        let mut settled: Vec<Option<bool>> = vec![None; self.0.len()];
        for undo in by_id {
            settle_one(undo, &namers, &mut settled);
        }
        for (undo, effective) in self.0.iter_mut().zip(settled) {
            undo.effective = effective.unwrap_or(true);
        }
    }

    /// Returns these undos with others that are not written yet.
    pub fn with(&self, unwritten: &[LogUndone]) -> Undos {
        let mut all = self.clone();
        all.extend(unwritten.iter().map(Undo::unwritten));
        all
    }

    /// Returns the undos up to a position, with their force as of that position.
    pub fn as_of(mut self, position: Position) -> Undos {
        self.0.retain(|undo| undo.position <= position);
        self.settle();
        self
    }

    /// Returns `true` if an event is undone.
    pub fn is_undone(&self, at: &InChain) -> bool {
        self.in_force(at).next().is_some()
    }

    /// Returns the undos in force that name an event, in the order of learning.
    pub fn in_force(&self, at: &InChain) -> impl Iterator<Item = &Undo> {
        let (undos, at) = (self.0.iter(), *at);
        undos.filter(move |undo| undo.effective && undo.holds(&at))
    }

    /// Returns the undo with this event id.
    pub fn get(&self, event: EventId) -> Option<&Undo> {
        self.0.iter().find(|undo| undo.event == event)
    }

    /// Returns the undone events, in a form for many queries.
    pub(super) fn undone(&self) -> Undone {
        let in_force = self.0.iter().filter(|undo| undo.effective);
        let (whole, branched): (Vec<_>, Vec<_>) = in_force.partition(|undo| undo.beside.is_empty());
        Undone {
            ranges: merged(whole.into_iter()),
            branched: branched.into_iter().cloned().collect(),
            named: merged(self.0.iter()),
        }
    }
}

/// Decides an undo and the undos that it depends on. An undo cannot name its own consequences, so only a forger can
/// make a circle; a circle is cut where it is met.
fn settle_one(undo: usize, namers: &[Vec<usize>], settled: &mut [Option<bool>]) {
    let mut stack = vec![(undo, 0)];
    let mut entered = FxHashSet::from_iter([undo]);
    while let Some((undo, next)) = stack.pop() {
        if settled[undo].is_some() {
            continue;
        }
        let namers = &namers[undo];
        let undone = next > 0 && settled[namers[next - 1]] == Some(true);
        match namers.get(next) {
            Some(namer) if !undone => {
                stack.push((undo, next + 1));
                if settled[*namer].is_none() && entered.insert(*namer) {
                    stack.push((*namer, 0));
                }
            }
            _ => settled[undo] = Some(!undone),
        }
    }
}

/// The undone events, in a form for many queries.
#[derive(Debug, Clone, Default)]
pub(super) struct Undone {
    ranges: Merged,
    /// Undos in chains that branch.
    branched: Vec<Undo>,
    /// All events that any undo names, in force or not.
    named: Merged,
}

/// Sorted ranges without overlaps, by chain.
type Merged = FxHashMap<OriginId, Vec<(Seq, Seq)>>;

fn merged<'a>(undos: impl Iterator<Item = &'a Undo>) -> Merged {
    let mut ranges = Merged::default();
    for (origin, from, to, _) in undos.flat_map(|undo| &undo.ranges) {
        ranges.entry(*origin).or_default().push((*from, *to));
    }
    for ranges in ranges.values_mut() {
        ranges.sort_unstable();
        ranges.dedup_by(|next, kept| {
            let meets = next.0 <= kept.1;
            if meets {
                kept.1 = kept.1.max(next.1);
            }
            meets
        });
    }
    ranges
}

/// Returns `true` if a range of a chain includes a place between two seqs.
fn meets(merged: &Merged, origin: OriginId, from: Seq, to: Seq) -> bool {
    merged.get(&origin).is_some_and(|ranges| {
        let after = ranges.partition_point(|range| range.0 <= to);
        after > 0 && from <= ranges[after - 1].1
    })
}

impl Undone {
    /// Returns `true` if an undo, in force or not, names a place of a range.
    pub(super) fn names(&self, range: &ImportedRange) -> bool {
        meets(&self.named, range.origin, range.from_seq, range.to_seq)
    }

    pub(super) fn holds(&self, at: &InChain) -> bool {
        meets(&self.ranges, at.origin, at.seq, at.seq)
            || self.branched.iter().any(|undo| undo.holds(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undo(n: u8, named: &[u8]) -> Undo {
        let origin = |n: u8| OriginId([n; 16]);
        Undo {
            position: Position(0),
            event: EventId([n; 32]),
            origin: origin(n),
            seq: Seq(1),
            ranges: named
                .iter()
                .map(|n| (origin(*n), Seq(1), Seq(1), EventId([*n; 32])))
                .collect(),
            beside: Vec::new(),
            effective: true,
        }
    }

    /// An undo of an undo of an undo, and one more undo of the first: in any order of learning, one by one.
    #[test]
    fn rules_in_force_hang_on_names_alone() {
        let all = [
            undo(9, &[1]),
            undo(8, &[9, 2]),
            undo(3, &[8]),
            undo(7, &[9]),
        ];
        for first in 0..all.len() {
            for step in [1, 3] {
                let mut undos = Undos::default();
                for n in 0..all.len() {
                    undos.extend([all[(first + n * step) % all.len()].clone()]);
                }
                let mut in_force: Vec<_> = undos.0.iter().filter(|undo| undo.effective).collect();
                in_force.sort_by_key(|undo| undo.event);
                let in_force: Vec<u8> = in_force.iter().map(|undo| undo.event.0[0]).collect();
                assert_eq!(in_force, [3, 7]);
                let first = InChain {
                    origin: OriginId([1; 16]),
                    seq: Seq(1),
                    event: EventId([1; 32]),
                };
                assert!(!undos.is_undone(&first));
            }
        }
    }

    #[test]
    fn a_forged_circle_ends() {
        let mut one = Undos::default();
        one.extend([undo(1, &[2]), undo(2, &[3]), undo(3, &[1])]);
        let mut other = Undos::default();
        other.extend([undo(3, &[1]), undo(2, &[3]), undo(1, &[2])]);
        for undo in &one.0 {
            assert_eq!(other.get(undo.event), Some(undo));
        }
    }
}
