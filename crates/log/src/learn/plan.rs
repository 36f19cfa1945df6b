//! Decides which events of a bundle are taken, before anything is written.

use std::collections::HashSet;

use super::held::{Held, holes_of};
use super::limits::{self, Undos};
use super::{Fork, Learned};
use crate::bundle::{Bundle, BundleRange};
use crate::error::{Gap, LogError, Result};
use crate::log::Log;
use crate::redacted::Redactions;
use crate::runs;
use crate::writer::SKEW_MAX_MS;
use icm_event::facts::{Facts, Hole};
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Seq, SubjectId};
use icm_event::kind::Kind;
use icm_event::record::Body;

/// A range of consecutive events of a bundle that the store does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) origin: OriginId,
    pub(super) base: EventId,
    pub(super) from_seq: Seq,
    pub(super) to_seq: Seq,
    pub(super) head: EventId,
    /// Offsets of its records in the bundle, in bytes.
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Piece {
    pub(super) fn count(&self) -> u64 {
        self.to_seq.0 + 1 - self.from_seq.0
    }

    pub(super) fn range(&self) -> BundleRange {
        BundleRange {
            origin: self.origin,
            base: self.base,
            from_seq: self.from_seq,
            to_seq: self.to_seq,
            head: self.head,
            start: self.start,
            end: self.end,
        }
    }
}

/// The plan of an import.
pub(super) struct Plan {
    pub(super) held: Held,
    pub(super) pieces: Vec<Piece>,
    /// Events of the store whose body is missing here and present in the bundle.
    pub(super) bodies: HashSet<EventId>,
    pub(super) left_out: u64,
    pub(super) forks: Vec<Fork>,
    pub(super) later: Vec<Gap>,
    pub(super) unproven: Vec<Gap>,
    pub(super) waiting: Vec<Gap>,
    pub(super) own_forks: Vec<Fork>,
    /// Number of events that the store holds already.
    pub(super) unchanged: u64,
    /// `true` if the own chain continues in the bundle: a copy of this store wrote it, or this store was restored. A
    /// new origin is then minted.
    pub(super) mint: bool,
    /// Pieces that are left out, of walked chains or with an undo that waits.
    pub(super) left: Vec<Piece>,
    /// Redactions in the pieces left out, as single events and subjects, to be appended as this machine's own.
    pub(super) adopted: Vec<(Vec<EventId>, Vec<SubjectId>)>,
    /// `true` if a redaction is among the new events.
    pub(super) redacts: bool,
    /// Number of bodies in the store that a redaction names.
    pub(super) redactions: u64,
    /// `true` if a new event comes before events that were already learned.
    pub(super) past: bool,
}

impl Plan {
    /// Returns the result of the plan without carrying it out.
    pub(super) fn preview(self) -> Learned {
        let new: u64 = self.pieces.iter().map(Piece::count).sum();
        Learned {
            events: new,
            unchanged: self.unchanged,
            refilled_bodies: self.bodies.len() as u64,
            left_out: self.left_out,
            forks: self.forks,
            later: self.later,
            unproven: self.unproven,
            waiting: self.waiting,
            own_forks: self.own_forks,
            redactions: self.redactions,
            ..Learned::default()
        }
    }
}

impl Log {
    pub(super) fn plan_learning(&self, bundle: &Bundle, now_ms: u64) -> Result<Plan> {
        let mut held = self.held()?;
        let mut brought = HashSet::new();
        let mut undos = Undos::default();
        let mut redacts = false;
        let mut holes = std::mem::take(&mut held.holes);
        for range in bundle.ranges() {
            bundle.records(range, &mut |_, record, id| {
                if let Ok(head) = record.parse_head() {
                    held.redactions.note(&head);
                    holes.extend(holes_of(&head));
                    undos.note(&head, id);
                    redacts |= head.kind() == Kind::LOG_REDACTED;
                }
                brought.insert((range.origin, record.seq(), id));
                Ok(())
            })?;
        }
        held.redactions.settle();
        let mut plan = Plan {
            held,
            pieces: Vec::new(),
            bodies: HashSet::new(),
            left_out: 0,
            forks: Vec::new(),
            later: Vec::new(),
            unproven: Vec::new(),
            waiting: Vec::new(),
            own_forks: Vec::new(),
            unchanged: 0,
            mint: false,
            left: Vec::new(),
            adopted: Vec::new(),
            redacts: false,
            redactions: 0,
            past: false,
        };
        let undoes = !undos.is_empty();
        for (id, head) in &plan.held.undos {
            if let Ok(head) = Head::parse(head) {
                undos.note(&head, *id);
            }
        }
        limits::check(&plan.held, bundle, &undos)?;
        let limit_ms = now_ms.saturating_add(SKEW_MAX_MS);
        for range in bundle.ranges() {
            plan.range(bundle, range, limit_ms)?;
        }
        plan.drop_unjoined(bundle, &brought, &holes)?;
        plan.forks_among_pieces(bundle, &brought);
        plan.judge_walked(bundle)?;
        if undoes {
            plan.leave_undos_of_the_absent(bundle, &holes)?;
        }
        plan.past |= plan.pieces.iter().any(|piece| plan.is_past(piece));
        if plan.leaves_any() {
            // Only redactions that this store will hold take a text out.
            plan.held.redactions = self.redactions_with(bundle, &plan.pieces)?;
        }
        if redacts {
            plan.adopt(bundle)?;
        }
        plan.redactions = self.bodies_to_go(&plan.held)?;
        for piece in plan.pieces.iter().filter(|_| redacts) {
            bundle.records(&piece.range(), &mut |_, record, _| {
                let head = record.parse_head();
                plan.redacts |= head.is_ok_and(|head| head.kind() == Kind::LOG_REDACTED);
                Ok(())
            })?;
        }
        plan.redacts |= plan.redactions > 0 || !plan.adopted.is_empty();
        Ok(plan)
    }

    fn redactions_with(&self, bundle: &Bundle, pieces: &[Piece]) -> Result<Redactions> {
        let mut redactions = self.held()?.redactions;
        for piece in pieces {
            bundle.records(&piece.range(), &mut |_, record, _| {
                if let Ok(head) = record.parse_head() {
                    redactions.note(&head);
                }
                Ok(())
            })?;
        }
        redactions.settle();
        Ok(redactions)
    }
}

impl Plan {
    /// Returns `true` if older events may fold differently after the import.
    pub(super) fn changes_the_past(&self) -> bool {
        self.redacts || self.past || !self.bodies.is_empty()
    }

    /// Adds the redactions of the pieces left out. A text that was redacted elsewhere is withheld here, too, even if
    /// the event of the redaction is left out.
    fn adopt(&mut self, bundle: &Bundle) -> Result<()> {
        for piece in &self.left {
            bundle.records(&piece.range(), &mut |_, record, _| {
                let Ok(head) = record.parse_head() else {
                    return Ok(());
                };
                if head.kind() == Kind::LOG_REDACTED
                    && let Ok(Facts::Redacted(facts)) = Facts::of(&head)
                {
                    let refs: Vec<EventId> = head.refs().collect();
                    if !self.held.redactions.cover(&refs, &facts.subjects) {
                        self.adopted.push((refs, facts.subjects));
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn leaves_any(&self) -> bool {
        let gaps = [&self.later, &self.unproven, &self.waiting];
        !self.own_forks.is_empty() || gaps.iter().any(|gaps| !gaps.is_empty())
    }

    /// Cuts the new events of a range into pieces.
    fn range(&mut self, bundle: &Bundle, range: &BundleRange, limit_ms: u64) -> Result<()> {
        let left_behind = |later: &[Gap]| {
            let mut later = later.iter();
            later.any(|gap| gap.origin == range.origin && gap.from_seq <= range.from_seq)
        };
        if left_behind(&self.later) {
            return Ok(());
        }
        let mut open: Option<Piece> = None;
        // The piece up to the last whole batch.
        let mut whole: Option<Piece> = None;
        let mut late: Option<Seq> = None;
        let mut pieces = Vec::new();
        bundle.records(range, &mut |offset, record, id| {
            if late.is_some() {
                return Ok(());
            }
            let Ok(head) = record.parse_head() else {
                return Ok(()); // it was read before
            };
            let seq = head.seq();
            let present = matches!(record.body, Body::Present { .. });
            let redacted = present && self.held.redactions.names(&head, id);
            if self.held.has(range.origin, seq, id) {
                pieces.extend(open.take());
                whole = None;
                self.unchanged += 1;
                let missing = self.held.bodiless.get(&id);
                if present && missing.is_some() && !redacted {
                    self.bodies.insert(id);
                }
                return Ok(());
            }
            if head.time().ms() > limit_ms {
                late = Some(
                    whole.map_or(open.map_or(seq, |piece| piece.from_seq), |piece| {
                        Seq(piece.to_seq.0 + 1)
                    }),
                );
                return Ok(());
            }
            self.left_out += u64::from(redacted);
            let end = offset + record.bytes.len() as u64;
            let piece = Piece {
                to_seq: seq,
                head: id,
                end,
                ..open.unwrap_or(Piece {
                    origin: range.origin,
                    base: head.prev(),
                    from_seq: seq,
                    to_seq: seq,
                    head: id,
                    start: offset,
                    end,
                })
            };
            if open.is_none() && self.branches(range.origin, seq, head.prev()) {
                let origin = range.origin;
                self.forks.push(Fork { origin, seq });
            }
            open = Some(piece);
            if head.batch_index() + 1 == head.batch_count() {
                whole = open;
            }
            Ok(())
        })?;
        match late {
            None => pieces.extend(open),
            Some(from_seq) => {
                pieces.extend(whole);
                let origin = range.origin;
                self.later.push(Gap { origin, from_seq });
            }
        }
        self.pieces.extend(pieces);
        Ok(())
    }

    /// Returns `true` if the store holds an event after `base` other than the one in the bundle.
    pub(super) fn branches(&self, origin: OriginId, seq: Seq, base: EventId) -> bool {
        let runs = self.held.runs.get(&origin).into_iter().flatten();
        runs.into_iter().any(|run| {
            let starts = run.from_seq == seq && run.base == base;
            starts || (run.id_at(Seq(seq.0 - 1)) == Some(base) && run.id_at(seq).is_some())
        })
    }

    pub(super) fn holds_any_at(&self, origin: OriginId, seq: Seq) -> bool {
        let runs = self.held.runs.get(&origin).into_iter().flatten();
        runs.into_iter().any(|run| run.id_at(seq).is_some())
    }

    /// Records a fork for each piece that continues from an event within another range of the bundle, or from the same
    /// event as another piece.
    fn forks_among_pieces(&mut self, bundle: &Bundle, brought: &HashSet<(OriginId, Seq, EventId)>) {
        for piece in self.pieces.iter().filter(|piece| piece.from_seq > Seq(1)) {
            let (origin, seq) = (piece.origin, piece.from_seq);
            let within = brought.contains(&(origin, Seq(seq.0 - 1), piece.base));
            let starts = |range: &BundleRange| range.base == piece.base && range.origin == origin;
            let continues = |other: &&Piece| other.origin == origin && other.base == piece.base;
            let is_fork = within && bundle.ranges().iter().any(starts)
                || self.pieces.iter().filter(continues).count() > 1;
            let fork = Fork { origin, seq };
            if is_fork && !self.forks.contains(&fork) {
                self.forks.push(fork);
            }
        }
    }

    /// Refuses pieces that join neither the store nor the bundle. A piece that continues from events left out is left
    /// out with them.
    fn drop_unjoined(
        &mut self,
        bundle: &Bundle,
        brought: &HashSet<(OriginId, Seq, EventId)>,
        holes: &[Hole],
    ) -> Result<()> {
        let (mut joined, mut gaps) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            let before = Seq(piece.from_seq.0 - 1);
            let base = (piece.origin, before, piece.base);
            let joins = piece.from_seq == Seq(1)
                || self.held.has(piece.origin, before, piece.base)
                || brought.contains(&base);
            if joins || explained(bundle, piece, holes)? {
                joined.push(*piece);
            } else if !self.later.iter().any(|gap| gap.origin == piece.origin) {
                gaps.push(Gap {
                    origin: piece.origin,
                    from_seq: self.needed_from(piece),
                });
            }
        }
        gaps.dedup();
        self.pieces = joined;
        match gaps.is_empty() {
            true => Ok(()),
            false => Err(LogError::Gaps(gaps)),
        }
    }

    /// Returns the first event that a piece needs to join the events of the store.
    fn needed_from(&self, piece: &Piece) -> Seq {
        let runs = self.held.runs.get(&piece.origin).into_iter().flatten();
        let before = runs.filter(|run| run.to_seq() < piece.from_seq);
        let newest = before.map(|run| run.to_seq().0).max();
        Seq(newest.unwrap_or(0) + 1)
    }

    /// Returns `true` if a piece lies within a range that was learned already.
    fn is_past(&self, piece: &Piece) -> bool {
        let learned = self.held.learned.iter().any(|range| {
            range.origin == piece.origin
                && range.from_seq <= piece.to_seq
                && piece.from_seq <= range.to_seq
        });
        // Other events in that place mean that the piece is another branch.
        let lost = !self.holds_any_at(piece.origin, piece.from_seq);
        learned && lost
    }
}

/// Returns `true` if a repair declares the events before a piece lost.
fn explained(bundle: &Bundle, piece: &Piece, holes: &[Hole]) -> Result<bool> {
    if !holes.iter().any(|hole| hole.origin == piece.origin) {
        return Ok(false);
    }
    let mut first = EventId::ZERO;
    bundle.records(&piece.range(), &mut |_, record, id| {
        if record.seq() == piece.from_seq {
            first = id;
        }
        Ok(())
    })?;
    let bridges = |hole: &Hole| runs::bridges(hole, piece.origin, piece.from_seq, first);
    Ok(holes.iter().any(bridges))
}
