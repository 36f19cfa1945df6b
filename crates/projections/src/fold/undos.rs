//! Which events are in force: an event is, when no undo in force names it.

use std::collections::BTreeMap;

use icm_log::facts::{LogUndone, UndoneRange};
use icm_log::{Event, EventId, OriginId, Position, Seq};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// An undo that was folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Its position.
    pub position: Position,
    /// The event.
    pub event: EventId,
    /// Its author.
    pub origin: OriginId,
    /// Its place in the author's chain.
    pub seq: Seq,
    /// What it names: origin, first and last seq, id of the last.
    pub ranges: Vec<(OriginId, Seq, Seq, EventId)>,
    /// Whether it is in force.
    pub effective: bool,
}

impl Undo {
    pub(super) fn of(event: &Event<'_>, facts: &LogUndone) -> Undo {
        let (origin, seq) = (event.head.origin(), event.head.seq());
        let ranges = facts.ranges.iter().filter_map(|range| {
            // Nothing is undone before it is there.
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
            effective: true,
        }
    }

    fn holds(&self, origin: OriginId, seq: Seq) -> bool {
        let holds = |range: &(OriginId, Seq, Seq, EventId)| {
            range.0 == origin && range.1 <= seq && seq <= range.2
        };
        self.ranges.iter().any(holds)
    }
}

/// Every undo, by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undos(pub(super) Vec<Undo>);

impl Undos {
    pub(crate) fn new(all: BTreeMap<Position, Undo>) -> Undos {
        Undos(all.into_values().collect())
    }

    /// Takes more of them in, which come after the others, and says anew which are in force.
    pub(super) fn extend(&mut self, undos: impl IntoIterator<Item = Undo>) {
        self.0.extend(undos);
        self.settle();
    }

    /// The same with an undo that is not written yet.
    pub(super) fn with(&self, ranges: &[UndoneRange]) -> Undos {
        let mut with = self.clone();
        with.extend([Undo {
            position: Position(u64::MAX),
            event: EventId::ZERO,
            origin: OriginId::ZERO,
            seq: Seq(0),
            ranges: ranges
                .iter()
                .map(|range| (range.origin, range.from_seq, range.to_seq, range.head))
                .collect(),
            effective: true,
        }]);
        with
    }

    /// Says of each whether it is in force, by what names what alone: they may have been learned in
    /// any order.
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
                    namers[*named].push(*namer);
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

    /// Those up to a position, as they were in force there.
    pub fn as_of(mut self, position: Position) -> Undos {
        self.0.retain(|undo| undo.position <= position);
        self.settle();
        self
    }

    /// Whether an event is undone.
    pub fn is_undone(&self, origin: OriginId, seq: Seq) -> bool {
        self.in_force(origin, seq).next().is_some()
    }

    /// The undos in force that name an event, in the order in which they were learned.
    pub fn in_force(&self, origin: OriginId, seq: Seq) -> impl Iterator<Item = &Undo> {
        let undos = self.0.iter();
        undos.filter(move |undo| undo.effective && undo.holds(origin, seq))
    }

    /// The undo that an event is.
    pub fn get(&self, event: EventId) -> Option<&Undo> {
        self.0.iter().find(|undo| undo.event == event)
    }

    /// Events that are undone, by chain: sorted ranges that do not meet.
    pub(super) fn undone(&self) -> Undone {
        let mut ranges: FxHashMap<OriginId, Vec<(Seq, Seq)>> = FxHashMap::default();
        for undo in self.0.iter().filter(|undo| undo.effective) {
            for (origin, from, to, _) in &undo.ranges {
                ranges.entry(*origin).or_default().push((*from, *to));
            }
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
        Undone(ranges)
    }
}

/// Settles an undo and what its being in force hangs on. An undo cannot name what comes of itself,
/// so there is no circle but a forged one, which is cut where it is met.
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

/// Events that are undone, to be asked about often.
#[derive(Debug, Clone, Default)]
pub(super) struct Undone(FxHashMap<OriginId, Vec<(Seq, Seq)>>);

impl Undone {
    pub(super) fn holds(&self, origin: OriginId, seq: Seq) -> bool {
        let Some(ranges) = self.0.get(&origin) else {
            return false;
        };
        let after = ranges.partition_point(|range| range.0 <= seq);
        after > 0 && seq <= ranges[after - 1].1
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
            effective: true,
        }
    }

    /// An undo of an undo of an undo, and beside it one more undo of the first: in whatever order
    /// they are learned, and one by one.
    #[test]
    fn what_is_in_force_hangs_on_names_alone() {
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
                assert!(!undos.is_undone(OriginId([1; 16]), Seq(1)));
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
