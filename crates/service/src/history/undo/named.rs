//! The names of chosen events in the log: neighbours in a chain become one range.

use icm_log::EventId;
use icm_log::facts::{LogUndone, UndoneRange};
use icm_projections::fold::InChain;

/// Returns undos that name these events and no others. If a chain branches, two of the events may share a seq. They go
/// into two undos, because no two ranges of one undo hold the same seq.
///
/// # Arguments
/// Each event, with the event before it in its chain.
pub(super) fn undos_of(mut events: Vec<(InChain, EventId)>) -> Vec<LogUndone> {
    events.sort_unstable_by_key(|(at, _)| (at.origin, at.seq, at.event));
    events.dedup_by_key(|(at, _)| at.event);
    let mut ranges: Vec<UndoneRange> = Vec::new();
    for (at, before) in events {
        // The newest ranges of the chain: only a range that ends at the seq before can go on.
        let near = ranges.iter_mut().rev();
        let mut near = near.take_while(|it| it.origin == at.origin && it.to_seq.0 + 1 >= at.seq.0);
        match near.find(|it| it.to_seq.0 + 1 == at.seq.0 && it.head == before) {
            Some(range) => (range.to_seq, range.head) = (at.seq, at.event),
            None => ranges.push(UndoneRange {
                origin: at.origin,
                from_seq: at.seq,
                to_seq: at.seq,
                head: at.event,
            }),
        }
    }
    let mut undos: Vec<LogUndone> = Vec::new();
    for range in ranges {
        let fits = |undo: &&mut LogUndone| {
            let last = undo.ranges.last().map(|last| (last.origin, last.to_seq));
            undo.ranges.len() < LogUndone::RANGES_MAX && last < Some((range.origin, range.from_seq))
        };
        match undos.iter_mut().find(fits) {
            Some(undo) => undo.ranges.push(range),
            None => undos.push(LogUndone {
                ranges: vec![range],
            }),
        }
    }
    undos
}

#[cfg(test)]
mod tests {
    use icm_log::{OriginId, Seq};

    use super::*;

    /// Takes origin, seq, event and the event before. Returns first seq, last seq and head of each range.
    fn named(events: &[(u8, u64, u8, u8)]) -> Vec<Vec<(u64, u64, u8)>> {
        let events = events.iter().map(|(origin, seq, event, before)| {
            let at = InChain {
                origin: OriginId([*origin; 16]),
                seq: Seq(*seq),
                event: EventId([*event; 32]),
            };
            (at, EventId([*before; 32]))
        });
        let undos = undos_of(events.collect());
        for undo in &undos {
            assert_eq!(LogUndone::decode(&undo.encode()).as_ref(), Ok(undo));
        }
        let ranges = undos.iter().map(|undo| undo.ranges.iter());
        let ranges = ranges.map(|all| all.map(|it| (it.from_seq.0, it.to_seq.0, it.head.0[0])));
        ranges.map(Iterator::collect).collect()
    }

    #[test]
    fn neighbours_are_one_range() {
        let chosen = [(1, 3, 3, 2), (1, 2, 2, 1), (1, 5, 5, 4), (2, 6, 6, 5)];
        assert_eq!(named(&chosen), [[(2, 3, 3), (5, 5, 5), (6, 6, 6)]]);
    }

    #[test]
    fn branches_are_named_apart() {
        let both = [(1, 3, 3, 2), (1, 3, 13, 2), (1, 4, 4, 3), (1, 4, 14, 13)];
        assert_eq!(named(&both), [[(3, 4, 4)], [(3, 4, 14)]]);
        let across = [(1, 3, 3, 2), (1, 4, 14, 13), (1, 5, 5, 4)];
        assert_eq!(named(&across), [[(3, 3, 3), (4, 4, 14), (5, 5, 5)]]);
        // An event that follows two of one seq goes on after its own predecessor.
        let late = [(1, 3, 3, 2), (1, 3, 13, 2), (1, 4, 14, 13)];
        let mut undos = named(&late);
        undos.sort_unstable();
        assert_eq!(undos, [[(3, 3, 3)], [(3, 4, 14)]]);
    }
}
