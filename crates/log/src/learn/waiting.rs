//! Undos that name events which are not here.
//!
//! Such an undo would reach the events that are later written in that place. A chain is therefore left out from its
//! first such undo on, until the undone events are here or in the same bundle.

use std::collections::HashSet;

use super::plan::{Piece, Plan};
use super::walked::{cut, hangs_on};
use crate::bundle::Bundle;
use crate::error::{Gap, Result};
use icm_event::facts::{Facts, Hole, UndoneRange};
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::kind::Kind;

/// An undo in the bundle.
struct Undo {
    origin: OriginId,
    seq: Seq,
    id: EventId,
    /// Seq of the last event before the undo's batch.
    before: Seq,
    ranges: Vec<UndoneRange>,
}

type Events = HashSet<(OriginId, Seq, EventId)>;

impl Plan {
    pub(super) fn leave_undos_of_the_absent(
        &mut self,
        bundle: &Bundle,
        holes: &[Hole],
    ) -> Result<()> {
        // Events that are left out may be those that another undo waits for.
        loop {
            let (events, undos) = self.brought(bundle)?;
            let is_here = |range: &UndoneRange| {
                let (origin, to) = (range.origin, range.to_seq);
                let gone =
                    |hole: &Hole| hole.origin == origin && hole.from_seq <= to && to <= hole.to_seq;
                self.held.has(origin, to, range.head)
                    || events.contains(&(origin, to, range.head))
                    || holes.iter().any(gone)
            };
            let waiting = undos.iter().filter(|undo| !undo.ranges.iter().all(is_here));
            let waiting: Vec<&Undo> = waiting.collect();
            if waiting.is_empty() {
                return Ok(());
            }
            for undo in waiting {
                self.leave_from(bundle, undo)?;
            }
        }
    }

    /// Returns all events that the plan takes, and the undos among them.
    fn brought(&self, bundle: &Bundle) -> Result<(Events, Vec<Undo>)> {
        let (mut events, mut undos) = (Events::new(), Vec::new());
        for piece in &self.pieces {
            bundle.records(&piece.range(), &mut |_, record, id| {
                events.insert((piece.origin, record.seq(), id));
                if let Ok(head) = record.parse_head()
                    && head.kind() == Kind::LOG_UNDONE
                    && let Ok(Facts::Undone(facts)) = Facts::of(&head)
                {
                    let begun = head.seq().0.saturating_sub(u64::from(head.batch_index()));
                    undos.push(Undo {
                        origin: piece.origin,
                        seq: head.seq(),
                        id,
                        before: Seq(begun.saturating_sub(1)),
                        ranges: facts.ranges,
                    });
                }
                Ok(())
            })?;
        }
        Ok((events, undos))
    }

    /// Leaves out an undo and the events after it in its chain.
    fn leave_from(&mut self, bundle: &Bundle, undo: &Undo) -> Result<()> {
        let (origin, from_seq) = (undo.origin, Seq(undo.before.0 + 1));
        let (mut kept, mut left) = (Vec::new(), Vec::<Piece>::new());
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|piece| (piece.origin, piece.from_seq));
        for piece in pieces {
            let hangs = left.iter().any(|other| hangs_on(&piece, other));
            if hangs && !self.joins_held(&piece) {
                left.push(piece);
                continue;
            }
            let mut holds = false;
            if piece.origin == origin && (piece.from_seq..=piece.to_seq).contains(&undo.seq) {
                bundle.records(&piece.range(), &mut |_, _, id| {
                    holds |= id == undo.id;
                    Ok(())
                })?;
            }
            if !holds {
                kept.push(piece);
            } else if undo.before < piece.from_seq {
                left.push(piece);
            } else {
                let (within, beyond) = cut(bundle, &piece, undo.before)?;
                kept.push(within);
                left.extend(beyond);
            }
        }
        let is_left = |origin, seq| {
            let mut left = left.iter();
            left.any(|piece| piece.origin == origin && piece.from_seq == seq)
        };
        self.forks.retain(|fork| !is_left(fork.origin, fork.seq));
        if !left.is_empty() {
            self.waiting.push(Gap { origin, from_seq });
        }
        self.left.append(&mut left);
        self.pieces = kept;
        Ok(())
    }
}
