//! Chooses the runs that a repair keeps of a chain: a pure function of the runs and the evidence.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::salvage::{Run, SourceKind};
use icm_event::id::{EventId, Seq};

/// Number of earlier runs that are tried as the one before a run; the best way so far is tried as well. Raised,
/// choosing takes longer and finds a better way past more runs that contradict each other.
const LOOK_BACK: usize = 256;

/// The quality of a way through the runs. A larger score is better; earlier fields count first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Events that evidence outside the chain confirms.
    anchors: u64,
    /// Events in files of this store that no other own event contradicts. Spares fill gaps and never replace an own
    /// event.
    own: u64,
    /// Number of events that name another event before them than the one that is there.
    breaks: Reverse<u64>,
    events: u64,
    /// Number of runs that do not lie in the file where they belong.
    moved: Reverse<u64>,
}

/// Returns the runs to keep, in the order of the chain. Runs may hold the same events, or contradict each other. The
/// best way has most confirmed events, then most own events, then fewest breaks, then most events.
pub(super) fn choose(pieces: &[Run], anchors: &[(Seq, EventId)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|index| {
        let piece = &pieces[*index];
        (piece.from, piece.to, piece.kind, piece.source, piece.start)
    });
    // The first of several runs with the same events stands for all.
    let mut seen = BTreeMap::new();
    order.retain(|index| {
        let piece = &pieces[*index];
        let key = (piece.from, piece.to, piece.last.id, piece.base);
        seen.insert(key, ()).is_none()
    });
    // Sorted by their ends, so that the run before a run comes first.
    order.sort_by_key(|index| (pieces[*index].to, pieces[*index].from));
    let is_own = |piece: &Run| piece.kind != SourceKind::Spare;
    let brought: BTreeSet<(Seq, EventId)> = pieces
        .iter()
        .filter(|piece| !is_own(piece))
        .map(|piece| (piece.to, piece.last.id))
        .collect();
    // If an own event names a spare's event, the own event in that place was changed.
    let refuted: BTreeSet<(Seq, EventId)> = pieces
        .iter()
        .filter(|piece| is_own(piece))
        .map(|piece| (Seq(piece.from.0.saturating_sub(1)), piece.base))
        .filter(|named| brought.contains(named))
        .collect();
    let is_refuted = |piece: &Run| {
        let named = |(seq, event): &(Seq, EventId)| *seq == piece.to && *event != piece.last.id;
        refuted
            .range((piece.to, EventId::ZERO)..)
            .take_while(|it| it.0 == piece.to)
            .any(named)
    };
    let mut ways: Vec<(Score, Option<usize>)> = Vec::with_capacity(order.len());
    // The best way so far.
    let mut best: Option<usize> = None;
    for (at, index) in order.iter().enumerate() {
        let piece = &pieces[*index];
        let near = (at.saturating_sub(LOOK_BACK)..at).rev();
        let mut found: Option<(Score, usize)> = None;
        for before in near.chain(best) {
            let earlier = &pieces[order[before]];
            let rises = earlier.to < piece.from
                && earlier.last.time < piece.first.time
                && earlier.last.position < piece.first.position;
            if !rises {
                continue;
            }
            let mut score = ways[before].0;
            let meets = earlier.to.0 + 1 == piece.from.0;
            score.breaks.0 += u64::from(meets && earlier.last.id != piece.base);
            if found.is_none_or(|(best, _)| score > best) {
                found = Some((score, before));
            }
        }
        let (mut score, before) = match found {
            Some((score, before)) => (score, Some(before)),
            None => (Score::default(), None),
        };
        let anchored = anchors
            .iter()
            .filter(|(seq, event)| *seq == piece.to && *event == piece.last.id);
        score.anchors += anchored.count() as u64;
        score.events += piece.count();
        if is_own(piece) && !is_refuted(piece) {
            score.own += piece.count();
        }
        score.moved.0 += u64::from(piece.kind as u8 > 0);
        ways.push((score, before));
        if best.is_none_or(|best| score > ways[best].0) {
            best = Some(at);
        }
    }
    let mut chosen = Vec::new();
    let mut next = best;
    while let Some(at) = next {
        chosen.push(order[at]);
        next = ways[at].1;
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::salvage::Edge;
    use super::*;
    use icm_event::id::{OriginId, Position, Time};

    /// A run whose events differ by a branch.
    fn piece(source: usize, from: u64, to: u64, base: u8, branch: u8) -> Run {
        let id = |seq: u64, branch: u8| {
            let mut id = [branch; 32];
            id[0] = seq as u8;
            EventId(match seq {
                0 => [0; 32],
                _ => id,
            })
        };
        let edge = |seq: u64| Edge {
            id: id(seq, branch),
            time: Time(seq * 10),
            position: Position(seq),
            batch: (0, 1),
        };
        Run {
            source,
            kind: SourceKind::Segment,
            origin: OriginId([1; 16]),
            start: from,
            end: to + 1,
            from: Seq(from),
            to: Seq(to),
            base: id(from - 1, base),
            first: edge(from),
            last: edge(to),
            no_bodies: Vec::new(),
        }
    }

    fn check(pieces: &[Run], anchors: &[(Seq, EventId)], expected: &[usize]) {
        assert_eq!(choose(pieces, anchors), expected);
    }

    #[test]
    fn continuing_bundles_are_taken_and_repeated_ones_are_not() {
        let pieces = [
            piece(0, 1, 4, 1, 1),
            piece(0, 3, 4, 1, 1),
            piece(0, 5, 9, 1, 1),
            piece(1, 5, 9, 1, 1),
            piece(1, 12, 20, 1, 1),
        ];
        check(&pieces, &[], &[0, 2, 4]);
        check(&[], &[], &[]);
    }

    #[test]
    fn of_two_branches_the_one_that_was_acknowledged_then_the_longer_one() {
        let pieces = [
            piece(0, 1, 4, 1, 1),
            piece(0, 5, 6, 1, 1),
            piece(1, 5, 6, 1, 2),
            piece(1, 7, 9, 2, 2),
        ];
        check(&pieces, &[], &[0, 2, 3]);
        let acknowledged = (Seq(6), pieces[1].last.id);
        check(&pieces, &[acknowledged], &[0, 1, 3]);
        let unknown = (Seq(6), EventId([9; 32]));
        check(&pieces, &[unknown], &[0, 2, 3]);
    }

    /// The same run from elsewhere.
    fn spare(from: u64, to: u64, base: u8, branch: u8) -> Run {
        Run {
            kind: SourceKind::Spare,
            ..piece(9, from, to, base, branch)
        }
    }

    #[test]
    fn added_events_take_no_other_events_place() {
        // It fills a gap, and continues the end.
        let own = [piece(0, 1, 4, 1, 1), piece(0, 7, 9, 1, 1)];
        let gap = [
            own[0].clone(),
            own[1].clone(),
            spare(5, 6, 1, 1),
            spare(10, 12, 1, 1),
        ];
        check(&gap, &[], &[0, 2, 1, 3]);
        // Another branch fills nothing, however long it is.
        let fork = [
            own[0].clone(),
            own[1].clone(),
            spare(5, 6, 1, 2),
            spare(7, 20, 2, 2),
        ];
        check(&fork, &[], &[0, 1]);
        let end = [piece(0, 1, 6, 1, 1), spare(1, 6, 1, 2), spare(7, 20, 2, 2)];
        check(&end, &[], &[0]);
        // An event that was changed here is not the one that the next event names.
        let changed = [
            piece(0, 1, 6, 1, 3),
            piece(0, 7, 9, 1, 1),
            spare(1, 6, 1, 1),
        ];
        check(&changed, &[], &[2, 1]);
    }

    #[test]
    fn a_seq_that_cannot_be_is_not_followed() {
        // Its time and place are those of event 5: somebody changed the number.
        let mut wrong = piece(0, 90, 90, 1, 1);
        (wrong.first.time, wrong.last.time) = (Time(50), Time(50));
        (wrong.first.position, wrong.last.position) = (Position(5), Position(5));
        let pieces = [piece(0, 1, 4, 1, 1), wrong, piece(0, 6, 20, 1, 1)];
        check(&pieces, &[], &[0, 2]);
    }

    #[test]
    fn many_pieces_that_contradict_hide_no_beginning() {
        let mut pieces = vec![piece(0, 1, 4, 1, 1)];
        pieces.extend((0..300).map(|n| piece(n, 3, 5, 1, 10 + (n % 200) as u8)));
        for (n, twin) in pieces[1..].iter_mut().enumerate() {
            twin.last.id.0[1] = n as u8;
            twin.last.id.0[2] = (n / 256) as u8;
        }
        pieces.push(piece(0, 6, 9, 1, 1));
        let chosen = choose(&pieces, &[]);
        assert_eq!((chosen[0], chosen.last()), (0, Some(&301)));
    }
}
