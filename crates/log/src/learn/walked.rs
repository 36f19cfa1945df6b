//! Judges the events of a bundle that belong to walked chains.
//!
//! They can be events that were lost here, or another branch: written by a copy of this store, or by this store before
//! it was restored. Events that anybody could have made up are refused.

use super::Fork;
use super::plan::{Piece, Plan};
use crate::bundle::Bundle;
use crate::error::{Gap, Result};
use crate::runs::Run;
use crate::walk::Part;
use icm_event::id::{EventId, Seq};

/// The verdict on a piece of a walked chain.
enum Verdict {
    /// The next event names the piece, so only the author can have made it.
    Proven,
    Unproven,
    /// Other events have these seqs here: the piece is another branch.
    Fork,
}

impl Plan {
    /// Keeps the pieces that fill a hole of a walked chain, come after the chain, or branch off one of its events.
    /// Leaves out the others, and the pieces that continue from them.
    pub(super) fn judge_walked(&mut self, bundle: &Bundle) -> Result<()> {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|piece| (piece.origin, piece.from_seq));
        let mut left: Vec<Piece> = Vec::new();
        let mut branches: Vec<Piece> = Vec::new();
        // The own chain continues elsewhere, although those events are not taken yet.
        for gap in &self.later {
            let part = self.held.part(gap.origin);
            self.mint |= part.is_some_and(|part| part.until.is_none());
        }
        for piece in pieces {
            let (origin, seq) = (piece.origin, piece.from_seq);
            let Some(part) = self.held.part(origin).copied() else {
                self.pieces.push(piece);
                continue;
            };
            if left.iter().any(|other| hangs_on(&piece, other)) && !self.joins_held(&piece) {
                self.forks.retain(|fork| *fork != Fork { origin, seq });
                left.push(piece);
                continue;
            }
            let runs = self.held.runs.get(&origin);
            let runs = runs.map(Vec::as_slice).unwrap_or_default();
            let newest = runs.iter().map(|run| run.to_seq()).max();
            let end = part.until.or(newest).unwrap_or(Seq(0));
            if seq > end {
                self.mint |= part.until.is_none();
                self.pieces.push(piece);
                continue;
            }
            let (within, beyond) = cut(bundle, &piece, end)?;
            match judge(&within, runs, &part) {
                Verdict::Proven => {
                    self.past = true;
                    self.pieces.push(within);
                    self.pieces.extend(beyond);
                    let branch = beyond.filter(|it| self.branches(origin, it.from_seq, it.base));
                    let branch = branch.map(|it| it.from_seq);
                    self.forks.extend(branch.map(|seq| Fork { origin, seq }));
                    continue;
                }
                Verdict::Unproven => {
                    let from_seq = seq;
                    self.unproven.push(Gap { origin, from_seq });
                }
                Verdict::Fork => {
                    self.mint |= part.until.is_none();
                    let follows = self.joins_held(&piece) && self.holds_any_at(origin, seq);
                    if follows || branches.iter().any(|other| hangs_on(&piece, other)) {
                        // Another branch is learned like another machine's chain. Files of this chain are divided for
                        // it.
                        self.past = true;
                        self.pieces.push(piece);
                        branches.push(piece);
                        continue;
                    }
                    self.own_forks.push(Fork { origin, seq });
                }
            }
            self.forks.retain(|fork| *fork != Fork { origin, seq });
            left.push(piece);
        }
        self.left = left;
        Ok(())
    }

    pub(super) fn joins_held(&self, piece: &Piece) -> bool {
        let before = Seq(piece.from_seq.0 - 1);
        before == Seq(0) || self.held.has(piece.origin, before, piece.base)
    }
}

/// Returns `true` if a piece may continue from an event of another piece.
pub(super) fn hangs_on(piece: &Piece, other: &Piece) -> bool {
    let before = Seq(piece.from_seq.0 - 1);
    other.origin == piece.origin && other.from_seq <= before && before <= other.to_seq
}

fn judge(piece: &Piece, runs: &[Run], part: &Part) -> Verdict {
    let taken = |run: &Run| run.from_seq <= piece.to_seq && piece.from_seq <= run.to_seq();
    let continued = part.until == Some(piece.to_seq);
    if runs.iter().any(taken) || (continued && part.event != piece.head) {
        return Verdict::Fork;
    }
    let after = Seq(piece.to_seq.0 + 1);
    let closes = |run: &Run| run.from_seq == after && run.base == piece.head;
    match continued || runs.iter().any(closes) {
        true => Verdict::Proven,
        false => Verdict::Unproven,
    }
}

/// Returns the part of a piece up to event `end`, and the rest.
pub(super) fn cut(bundle: &Bundle, piece: &Piece, end: Seq) -> Result<(Piece, Option<Piece>)> {
    if piece.to_seq <= end {
        return Ok((*piece, None));
    }
    let mut at: Option<(EventId, u64)> = None;
    bundle.records(&piece.range(), &mut |offset, record, id| {
        if record.seq() == end {
            at = Some((id, offset + record.bytes.len() as u64));
        }
        Ok(())
    })?;
    let (event, offset) = at.expect("a piece has all of its events");
    let within = Piece {
        to_seq: end,
        head: event,
        end: offset,
        ..*piece
    };
    let beyond = Piece {
        from_seq: Seq(end.0 + 1),
        base: event,
        start: offset,
        ..*piece
    };
    Ok((within, Some(beyond)))
}
