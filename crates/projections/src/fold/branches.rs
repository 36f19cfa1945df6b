//! Chains that branch: a copy of a store, or a store before it was put back, wrote under the same origin. A range of an
//! undo means the events that lead to its head, not the events of another branch at the same places.

use icm_log::facts::{Facts, UndoneRange};
use icm_log::{Event, EventId, OriginId, Seq};
use rustc_hash::FxHashMap;

use super::base::Learned;
use super::memory::facts_of;
use super::undos::Undo;

/// The learned places of the chains, by origin: ranges of seqs, with a second range where a branch was learned.
#[derive(Debug, Default)]
pub(super) struct Places(FxHashMap<OriginId, Vec<(Seq, Seq)>>);

impl Places {
    /// Returns the places that imports brought.
    pub(super) fn imported<'a>(all: impl Iterator<Item = &'a Learned>) -> Places {
        let mut places = Places::default();
        for it in all {
            places.add(it.origin, it.from_seq, it.to_seq);
        }
        places
    }

    /// Adds the places of the whole walk, event by event.
    pub(super) fn note(&mut self, walked: &mut FxHashMap<OriginId, (Seq, Seq)>, event: &Event<'_>) {
        if !event.own {
            return;
        }
        let seq = event.head.seq();
        walked.entry(event.head.origin()).or_insert((seq, seq)).1 = seq;
        if let Facts::Imported(facts) = facts_of(event) {
            for range in &facts.ranges {
                self.add(range.origin, range.from_seq, range.to_seq);
            }
        }
    }

    pub(super) fn add(&mut self, origin: OriginId, from: Seq, to: Seq) {
        self.0.entry(origin).or_default().push((from, to));
    }

    /// Returns the ranges of places that lie within a range, cut to it.
    pub(super) fn within(&self, range: &UndoneRange) -> Vec<(Seq, Seq)> {
        let all = self.0.get(&range.origin).into_iter().flatten();
        let cut = all.map(|(from, to)| (*from.max(&range.from_seq), *to.min(&range.to_seq)));
        let mut within: Vec<_> = cut.filter(|(from, to)| from <= to).collect();
        within.sort_unstable();
        within
    }

    /// Returns `true` if there may be two events at one place of a range.
    pub(super) fn branch_in(&self, range: &UndoneRange) -> bool {
        let within = self.within(range);
        within.windows(2).any(|pair| pair[1].0 <= pair[0].1)
    }
}

/// Events of a range: place, id, and the id of the event before.
#[derive(Debug, Default)]
pub(super) struct Named(Vec<(Seq, EventId, EventId)>);

impl Named {
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let head = &event.head;
        self.0.push((head.seq(), event.id, head.prev()));
    }

    /// Returns the events that do not lead to the head of the range. If events are missing in between, a single event
    /// at its place counts as leading to the head, and so do several events that cannot be told apart.
    pub(super) fn beside(mut self, range: &UndoneRange) -> Vec<EventId> {
        self.0.sort_unstable_by(|one, other| other.cmp(one));
        self.0.dedup();
        let mut beside = Vec::new();
        if !self.0.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return beside;
        }
        let mut leads = Some((range.to_seq, range.head));
        for there in self.0.chunk_by(|one, other| one.0 == other.0) {
            let seq = there[0].0;
            let on = match leads.filter(|leads| leads.0 == seq) {
                Some((_, id)) => {
                    let others = there.iter().filter(|it| it.1 != id);
                    beside.extend(others.map(|it| it.1));
                    there.iter().find(|it| it.1 == id)
                }
                None => there.first().filter(|_| there.len() == 1),
            };
            leads = on.map(|it| (Seq(seq.0 - 1), it.2));
        }
        beside
    }
}

impl Undo {
    /// Returns the ranges of the undo in the form of facts.
    pub(super) fn facts(&self) -> impl Iterator<Item = UndoneRange> {
        let ranges = self.ranges.iter();
        ranges.map(|(origin, from_seq, to_seq, head)| UndoneRange {
            origin: *origin,
            from_seq: *from_seq,
            to_seq: *to_seq,
            head: *head,
        })
    }

    /// Sets the events that are at its places but on another branch.
    pub(super) fn is_beside(&mut self, mut beside: Vec<EventId>) {
        beside.sort_unstable();
        self.beside = beside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> EventId {
        EventId([n; 32])
    }

    fn range(to: u64, head: u8) -> UndoneRange {
        UndoneRange {
            origin: OriginId([1; 16]),
            from_seq: Seq(2),
            to_seq: Seq(to),
            head: id(head),
        }
    }

    fn beside(events: &[(u64, u8, u8)], range: &UndoneRange) -> Vec<EventId> {
        let events = events.iter();
        let events = events.map(|(seq, event, prev)| (Seq(*seq), id(*event), id(*prev)));
        Named(events.collect()).beside(range)
    }

    #[test]
    fn events_that_lead_to_the_head_are_named_and_no_others() {
        // A branch: 1 and 2, then 3 to 4, or 13 to 15, or 25 after the 4.
        let all = [
            (2, 2, 1),
            (3, 3, 2),
            (3, 13, 2),
            (4, 4, 3),
            (4, 14, 13),
            (5, 25, 4),
            (5, 15, 14),
        ];
        assert_eq!(beside(&all[..1], &range(2, 2)), []);
        assert_eq!(beside(&all[..5], &range(4, 4)), [id(14), id(13)]);
        assert_eq!(beside(&all[..5], &range(4, 14)), [id(4), id(3)]);
        assert_eq!(beside(&all, &range(5, 25)), [id(15), id(14), id(13)]);
        // Without the 4, it is unknown which of the events below it leads to the 25.
        let holed: Vec<_> = all.iter().copied().filter(|it| it.1 != 4).collect();
        assert_eq!(beside(&holed, &range(5, 25)), [id(15), id(14)]);
        // A chain without branches has no event beside the range, for any head.
        assert_eq!(beside(&[(2, 2, 1), (3, 3, 2)], &range(3, 9)), []);
    }

    #[test]
    fn a_branch_is_a_place_that_was_learned_twice() {
        let mut places = Places::default();
        let origin = range(2, 2).origin;
        places.add(origin, Seq(1), Seq(4));
        places.add(origin, Seq(5), Seq(9));
        assert!(!places.branch_in(&range(9, 9)));
        places.add(origin, Seq(7), Seq(8));
        assert!(places.branch_in(&range(7, 7)));
        assert!(!places.branch_in(&range(6, 6)));
    }
}
