//! What one chain should look like: which records stand in which segment, what is set aside, and
//! what is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::choose::choose;
use super::salvage::{Edge, NoBody, Run, Salvaged, Source, SourceKind};
use crate::acked::Slot;
use crate::error::Result;
use crate::facts::{Hole, ImportedRange};
use crate::head::PLACE_MAX;
use crate::holes::Gap;
use crate::id::{EventId, OriginId, Seq};
use crate::scan::Step;
use crate::segment::{HEADER_LEN, SEGMENT_LEN_TARGET, SegmentHeader, SegmentName};

/// What a chain is to this machine.
#[derive(Debug, Clone)]
pub(super) enum Role {
    /// The one that is written.
    Newest,
    /// One that a newer own chain continues from this event on.
    Continued(Seq, EventId),
    /// Another machine's, with what was learned of it.
    Foreign(Vec<ImportedRange>),
}

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) source: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A segment as it should be.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) name: SegmentName,
    pub(super) header: SegmentHeader,
    pub(super) slices: Vec<Slice>,
    /// Some of its payloads are damaged.
    bad_bodies: bool,
}

/// Bytes to be set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aside {
    pub(super) slice: Slice,
    /// The event that should have stood there.
    pub(super) seq: Seq,
    pub(super) what: &'static str,
}

/// Events that are gone, and what is known of where they stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone {
    pub(super) hole: Hole,
    pub(super) after: Option<Edge>,
    pub(super) before: Option<Edge>,
}

/// What is to be done about a chain.
#[derive(Debug, Clone)]
pub(super) struct ChainPlan {
    pub(super) origin: OriginId,
    pub(super) newest: bool,
    /// Segments that are written anew.
    pub(super) write: Vec<Target>,
    pub(super) remove: Vec<PathBuf>,
    pub(super) aside: Vec<Aside>,
    pub(super) gone: Vec<Gone>,
    /// The newest seq that there was, where it is beyond the newest that there is.
    pub(super) end: Option<Seq>,
    /// Another event stands where one was acknowledged.
    pub(super) other_branch: bool,
    /// Events whose payload is not what was written, and where a good copy of it lies.
    pub(super) bodies: Bodies,
    /// Events that are taken from elsewhere.
    pub(super) refilled: u64,
    /// Seq of the newest event.
    pub(super) last: Seq,
}

impl ChainPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty() && self.gone.is_empty() && !self.ends_anew()
    }

    /// Whether a new origin has to carry on.
    pub(super) fn ends_anew(&self) -> bool {
        self.newest && (self.end.is_some() || self.other_branch)
    }

    /// Events whose payload is gone for good.
    pub(super) fn payloads_gone(&self) -> impl Iterator<Item = &NoBody> {
        let gone = self.bodies.values().filter(|(_, copy)| copy.is_none());
        gone.map(|(body, _)| body)
    }
}

/// Whether a file of a chain is exactly as it should be.
fn is_healthy(salvaged: &Salvaged, index: usize) -> bool {
    let source = &salvaged.sources[index];
    let mut runs = salvaged.runs.iter().filter(|run| run.source == index);
    let (Some(run), None) = (runs.next(), runs.next()) else {
        return false;
    };
    source.kind == SourceKind::Segment
        && source.header_fits()
        && source.bad.is_empty()
        && run.start == HEADER_LEN as u64
        && run.damaged_bodies().next().is_none()
        && source.place == Some((run.origin, SegmentName::new(run.from, run.first.id)))
}

/// The first and one past the last events of runs and of what is known of the chain.
fn cuts(runs: &[Run], known: &[Seq]) -> BTreeSet<Seq> {
    let mut cuts: BTreeSet<Seq> = runs
        .iter()
        .flat_map(|run| [run.from, Seq(run.to.0 + 1)])
        .collect();
    for seq in known {
        cuts.extend([*seq, Seq(seq.0.saturating_add(1))]);
    }
    cuts
}

/// Cuts what is brought from elsewhere so that no segment gets longer than it should.
fn roll(salvaged: &Salvaged, chosen: Vec<Run>) -> Result<Vec<Run>> {
    let mut rolled = Vec::new();
    for piece in chosen {
        let fits = piece.end - piece.start <= SEGMENT_LEN_TARGET;
        if fits || piece.kind == SourceKind::Segment {
            rolled.push(piece);
            continue;
        }
        let (mut cuts, mut begun) = (BTreeSet::new(), piece.start);
        let (mut batch, mut batch_at) = (piece.from, piece.start);
        let mut scan = salvaged.sources[piece.source].scan(piece.start, piece.end);
        while let Step::Record { offset, record, .. } = scan.step()? {
            let Ok(head) = record.parse_head() else { break };
            if head.batch_index() == 0 {
                (batch, batch_at) = (head.seq(), offset);
            }
            let end = offset + record.bytes.len() as u64;
            if end - begun > SEGMENT_LEN_TARGET - HEADER_LEN as u64 && batch_at > begun {
                cuts.insert(batch);
                begun = batch_at;
            }
        }
        rolled.extend(salvaged.cut(vec![piece], &cuts)?);
    }
    Ok(rolled)
}

/// Pieces with the same key hold the same events.
type Key = (Seq, Seq, EventId, EventId);

fn key(run: &Run) -> Key {
    (run.from, run.to, run.last.id, run.base)
}

fn links(before: &Run, after: &Run) -> bool {
    before.to.0 + 1 == after.from.0 && before.last.id == after.base
}

/// What is known of a chain from outside of it.
pub(super) struct Known<'a> {
    pub(super) origin: OriginId,
    pub(super) role: Role,
    pub(super) slot: Option<&'a Slot>,
    /// What an interrupted repair had found out.
    pub(super) end: Option<Seq>,
}

/// What is taken of a chain.
pub(super) struct Picked {
    /// All there is of it, cut so that two pieces hold either the same events or others.
    pieces: Vec<Run>,
    pub(super) chosen: Vec<Run>,
    /// Events that something outside of the chain says were there.
    anchors: Vec<(Seq, EventId)>,
    /// The newest seq that is known to have been durable.
    evidence: Seq,
}

/// Works out what is to be taken of a chain.
pub(super) fn pick(salvaged: &Salvaged, known: &Known<'_>) -> Result<Picked> {
    let origin = known.origin;
    let mut anchors: Vec<(Seq, EventId)> = Vec::new();
    anchors.extend(
        known
            .slot
            .filter(|slot| slot.origin == origin)
            .map(|slot| (slot.seq, slot.event)),
    );
    match &known.role {
        Role::Newest => {}
        Role::Continued(seq, event) => anchors.push((*seq, *event)),
        Role::Foreign(learned) => {
            anchors.extend(learned.iter().map(|range| (range.to_seq, range.head)));
        }
    }
    let runs: Vec<Run> = (salvaged.runs.iter())
        .filter(|run| run.origin == origin)
        .cloned()
        .collect();
    let seqs: Vec<Seq> = anchors.iter().map(|(seq, _)| *seq).collect();
    let cuts = cuts(&runs, &seqs);
    let mut pieces = salvaged.cut(runs, &cuts)?;
    let chosen = choose(&pieces, &anchors);
    let mut chosen: Vec<Run> = chosen
        .into_iter()
        .map(|index| pieces[index].clone())
        .collect();

    let names = salvaged.sources.iter().filter_map(|source| source.place);
    let named = names.filter(|place| place.0 == origin);
    let named = named
        .map(|place| place.1.first_seq.0.saturating_sub(1))
        .max();
    let synced = salvaged.synced.iter().find(|it| it.0 == origin);
    let mut evidence = known.end.map_or(0, |end| end.0);
    let slot = known.slot.filter(|slot| slot.origin == origin);
    let slot = slot.map_or(0, |slot| slot.seq.0);
    match &known.role {
        Role::Newest => {
            let synced = synced.map_or(0, |it| it.1.0);
            evidence = evidence.max(slot).max(synced).max(named.unwrap_or(0));
            let torn = drop_torn(salvaged, &mut chosen, evidence)?;
            let (ends, cut) = drop_open_batch(salvaged, &mut chosen, evidence)?;
            evidence = evidence.max(ends);
            pieces = salvaged.cut(pieces, &torn)?;
            pieces = salvaged.cut(pieces, &cut)?;
        }
        Role::Continued(until, _) => evidence = evidence.max(until.0).max(slot),
        Role::Foreign(learned) => {
            let learned = learned.iter().map(|range| range.to_seq.0).max();
            evidence = evidence.max(learned.unwrap_or(0));
        }
    }
    Ok(Picked {
        pieces,
        chosen,
        anchors,
        evidence: Seq(evidence.min(PLACE_MAX)),
    })
}

/// Works out what is to be done about a chain.
pub(super) fn plan(salvaged: &Salvaged, known: &Known<'_>, picked: Picked) -> Result<ChainPlan> {
    let Picked {
        pieces,
        chosen,
        anchors,
        evidence,
    } = picked;
    let last = chosen.last().map_or(Seq(0), |piece| piece.to);
    let mut plan = ChainPlan {
        origin: known.origin,
        newest: matches!(known.role, Role::Newest),
        write: Vec::new(),
        remove: Vec::new(),
        aside: Vec::new(),
        gone: Vec::new(),
        end: (evidence > last).then_some(evidence),
        other_branch: false,
        bodies: BTreeMap::new(),
        refilled: 0,
        last,
    };
    find_gone(salvaged, known, &pieces, &chosen, &anchors, &mut plan);
    let taken = chosen.iter().map(key).collect();
    let chosen = roll(salvaged, chosen)?;
    let foreign = matches!(known.role, Role::Foreign(_));
    lay_out(salvaged, foreign, &pieces, (&chosen, &taken), &mut plan)?;
    Ok(plan)
}

/// Takes away what follows the first damage that nothing says was durable: a power cut may leave
/// later pages without earlier ones. Returns where a piece had to be cut.
fn drop_torn(salvaged: &Salvaged, chosen: &mut Vec<Run>, evidence: u64) -> Result<BTreeSet<Seq>> {
    let (mut next, mut torn) = (1, None);
    for piece in chosen.iter() {
        if next < piece.from.0 && next > evidence {
            torn = Some(next);
            break;
        }
        let mut bodies = piece.damaged_bodies();
        if let Some(body) = bodies.find(|body| body.seq.0 > evidence) {
            torn = Some(
                body.seq
                    .0
                    .saturating_sub(u64::from(body.batch_index))
                    .max(1),
            );
            break;
        }
        next = piece.to.0 + 1;
    }
    let Some(torn) = torn else {
        return Ok(BTreeSet::new());
    };
    chosen.retain(|piece| piece.from.0 < torn);
    let cuts = BTreeSet::from([Seq(torn)]);
    if chosen.last().is_some_and(|piece| piece.to.0 >= torn) {
        let piece = chosen.pop().expect("it was just looked at");
        let cut = salvaged.cut(vec![piece], &cuts)?;
        chosen.extend(cut.into_iter().next());
    }
    Ok(cuts)
}

/// Takes away what was never acknowledged of the last batch. Returns where a batch ends that is not
/// there as a whole although some of it was, and where a piece had to be cut.
fn drop_open_batch(
    salvaged: &Salvaged,
    chosen: &mut Vec<Run>,
    evidence: u64,
) -> Result<(u64, BTreeSet<Seq>)> {
    while let Some(piece) = chosen.last() {
        let (index, count) = piece.last.batch;
        if index + 1 >= count {
            break;
        }
        let begun = piece.to.0.saturating_sub(u64::from(index)).max(1);
        if evidence >= begun {
            let end = piece.to.0 + u64::from(count - 1 - index);
            return Ok((end, BTreeSet::new()));
        }
        let piece = chosen.pop().expect("it was just looked at");
        if piece.from.0 < begun {
            let cuts = BTreeSet::from([Seq(begun)]);
            let cut = salvaged.cut(vec![piece], &cuts)?;
            chosen.extend(cut.into_iter().next());
            return Ok((0, cuts));
        }
    }
    Ok((0, BTreeSet::new()))
}

/// Finds the places where events are gone and no repair has said so.
fn find_gone(
    salvaged: &Salvaged,
    known: &Known<'_>,
    pieces: &[Run],
    chosen: &[Run],
    anchors: &[(Seq, EventId)],
    plan: &mut ChainPlan,
) {
    let origin = known.origin;
    let foreign = matches!(known.role, Role::Foreign(_));
    let mut before: Option<&Run> = None;
    for piece in chosen {
        let (last, from) = match before {
            Some(before) => (before.last.id, before.to.0 + 1),
            None => (EventId::ZERO, 1),
        };
        let joined = from == piece.from.0 && last == piece.base;
        // Another branch of somebody else's chain goes on from an event that is there.
        let branches = || foreign && pieces.iter().any(|other| other.last.id == piece.base);
        if !joined && !branches() {
            let gap = Gap {
                origin,
                last,
                next: piece.first.id,
                from: Seq(from),
                to: Seq(piece.from.0 - 1),
            };
            if salvaged.explained.explain(&gap).is_none() {
                plan.gone.push(Gone {
                    hole: Hole {
                        origin,
                        last_good: gap.last,
                        next_good: gap.next,
                        from_seq: gap.from,
                        to_seq: gap.to,
                    },
                    after: before.map(|run| run.last),
                    before: Some(piece.first),
                });
            }
        }
        before = Some(piece);
    }
    let at_end = |from: Seq, to: Seq, last: Option<&Run>| Gone {
        hole: Hole {
            origin,
            last_good: last.map_or(EventId::ZERO, |run| run.last.id),
            next_good: EventId::ZERO,
            from_seq: from,
            to_seq: to,
        },
        after: last.map(|run| run.last),
        before: None,
    };
    if let Some(end) = plan.end {
        let from = Seq(plan.last.0 + 1);
        match salvaged.explained.covering(origin, end) {
            Some(_) => plan.end = None,
            None => plan.gone.push(at_end(from, end, before)),
        }
    }
    // Another event may stand where one was acknowledged, or is continued from.
    let own = anchors.iter().filter(|_| !foreign);
    for (seq, event) in own.filter(|(seq, _)| *seq <= plan.last) {
        let there = pieces.iter().any(|piece| piece.last.id == *event);
        let held = chosen.iter().any(|piece| piece.last.id == *event);
        let in_hole = |gone: &Gone| gone.hole.from_seq <= *seq && *seq <= gone.hole.to_seq;
        if held
            || plan.gone.iter().any(in_hole)
            || salvaged.explained.covering(origin, *seq).is_some()
        {
            continue;
        }
        debug_assert!(!there, "what was acknowledged is preferred");
        let before = chosen.iter().rfind(|piece| piece.to < *seq);
        if before.map_or(0, |run| run.to.0) + 1 == seq.0 {
            plan.other_branch = true;
            plan.gone.push(at_end(*seq, *seq, before));
        }
    }
    plan.gone
        .sort_by_key(|gone| (gone.hole.from_seq, gone.hole.to_seq));
}

/// Lays the records out in segments.
fn lay_out(
    salvaged: &Salvaged,
    foreign: bool,
    pieces: &[Run],
    (chosen, taken): (&[Run], &BTreeSet<Key>),
    plan: &mut ChainPlan,
) -> Result<()> {
    let origin = plan.origin;
    // What an earlier repair found gone may have been brought.
    let brought = bodies(salvaged, pieces, chosen)?;
    let mut targets: Vec<(Target, bool)> = Vec::new();
    let mut before: Option<&Run> = None;
    for piece in chosen {
        add(salvaged, &mut targets, before, piece, &brought);
        before = Some(piece);
    }
    let healthy: BTreeSet<usize> = (0..salvaged.sources.len())
        .filter(|index| foreign && is_healthy(salvaged, *index))
        .collect();
    let mut kept_too = Vec::new();
    if foreign {
        // Nothing valid of somebody else's chain is dropped: another branch stays beside this one.
        targets.retain(|(target, _)| {
            !target
                .slices
                .iter()
                .all(|slice| healthy.contains(&slice.source))
        });
        let others = pieces.iter().filter(|piece| {
            piece.kind == SourceKind::Segment
                && !healthy.contains(&piece.source)
                && !taken.contains(&key(piece))
        });
        let mut others: Vec<&Run> = others.collect();
        others.sort_by_key(|piece| (piece.source, piece.start));
        let mut before: Option<&Run> = None;
        for piece in others {
            let joined = before.filter(|before| {
                before.source == piece.source && before.end == piece.start && links(before, piece)
            });
            add(salvaged, &mut targets, joined, piece, &brought);
            kept_too.push(piece);
            before = Some(piece);
        }
    }

    let tip = chosen.last().map(|piece| (piece.source, piece.end));
    let may_be_torn = plan.newest && plan.end.is_none();
    let mut right: BTreeSet<SegmentName> = BTreeSet::new();
    for (target, _) in &targets {
        if let [slice] = target.slices[..] {
            let source = &salvaged.sources[slice.source];
            let to_end = source.bad.is_empty() && slice.end == source.end
                // What follows was never acknowledged: the next writer sets it aside.
                || may_be_torn
                    && tip == Some((slice.source, slice.end))
                    && is_newest(salvaged, plan, source);
            if source.place == Some((origin, target.name))
                && source.header_fits()
                && slice.start == HEADER_LEN as u64
                && to_end
                && !target.bad_bodies
            {
                right.insert(target.name);
            }
        }
    }
    let mut names: BTreeSet<SegmentName> = targets.iter().map(|(target, _)| target.name).collect();
    names.extend(healthy.iter().filter_map(|index| {
        let place = salvaged.sources[*index].place;
        place.filter(|place| place.0 == origin).map(|place| place.1)
    }));
    for (index, source) in salvaged.sources.iter().enumerate() {
        let Some((_, name)) = source.place.filter(|place| place.0 == origin) else {
            continue;
        };
        if right.contains(&name) || healthy.contains(&index) {
            continue;
        }
        let begun = name.first_seq.0 == plan.last.0 + 1;
        if may_be_torn && begun && !names.contains(&name) && is_newest(salvaged, plan, source) {
            continue; // a torn creation, which the next writer removes
        }
        if !names.contains(&name) {
            plan.remove.push(source.path.clone());
        }
        let kept = |run: &Run| {
            let same = |other: &&Run| (other.source, other.start) == (index, run.start);
            taken.contains(&key(run)) || kept_too.iter().any(same)
        };
        let aside: Vec<&Run> = (salvaged.runs.iter())
            .filter(|run| run.source == index && run.origin != origin)
            .chain(
                pieces
                    .iter()
                    .filter(|run| run.source == index && !kept(run)),
            )
            .collect();
        set_aside(source, index, &aside, plan);
    }

    plan.bodies = brought;
    for piece in &kept_too {
        for body in piece.damaged_bodies() {
            let copy = good_copy(salvaged, pieces, body)?;
            plan.bodies.insert(body.id, (*body, copy));
        }
    }
    for piece in chosen.iter().chain(kept_too) {
        let of_chain = salvaged.sources[piece.source].place.is_some();
        let damaged = piece.damaged_bodies().filter(|_| of_chain);
        plan.aside.extend(damaged.map(|body| Aside {
            slice: Slice {
                source: piece.source,
                start: body.start,
                end: body.end,
            },
            seq: body.seq,
            what: "an event with a damaged payload",
        }));
    }
    let from_elsewhere = chosen.iter().filter(|run| run.kind != SourceKind::Segment);
    plan.refilled = from_elsewhere.map(Run::count).sum();
    let wrong = targets.into_iter().map(|(target, _)| target);
    plan.write = wrong
        .filter(|target| !right.contains(&target.name))
        .collect();
    Ok(())
}

/// Whether a file is the newest segment of its chain.
fn is_newest(salvaged: &Salvaged, plan: &ChainPlan, source: &Source) -> bool {
    let of_chain = salvaged.sources.iter().filter_map(|source| source.place);
    let newest = of_chain.filter(|place| place.0 == plan.origin).max();
    // A torn creation may follow.
    newest.is_some_and(|newest| {
        source.place == Some(newest) || newest.1.first_seq.0 == plan.last.0 + 1
    })
}

/// Puts a piece behind what is there, into the same segment or a new one.
fn add(
    salvaged: &Salvaged,
    targets: &mut Vec<(Target, bool)>,
    before: Option<&Run>,
    piece: &Run,
    bodies: &Bodies,
) {
    let bad_bodies =
        (piece.no_bodies.iter()).any(|body| !body.withheld || bodies.contains_key(&body.id));
    let source = &salvaged.sources[piece.source];
    let slice = Slice {
        source: piece.source,
        start: piece.start,
        end: piece.end,
    };
    let begins_file = piece.start == HEADER_LEN as u64 && piece.kind == SourceKind::Segment;
    let batch_closed = before.is_none_or(|run| run.last.batch.0 + 1 == run.last.batch.1);
    let goes_on = before.is_some_and(|before| links(before, piece)) && !targets.is_empty();
    if let Some((target, begun_elsewhere)) = targets.last_mut().filter(|_| goes_on) {
        let len: u64 = target.slices.iter().map(|it| it.end - it.start).sum();
        let full = len + (piece.end - piece.start) > SEGMENT_LEN_TARGET - HEADER_LEN as u64;
        let ends_file = before.is_some_and(|run| {
            run.kind == SourceKind::Segment && run.end == salvaged.sources[run.source].end
        });
        // What belongs into the middle of a segment goes there; what a whole segment held gets one.
        let from_elsewhere = piece.kind != SourceKind::Segment;
        let apart =
            begins_file || (from_elsewhere && (ends_file || full)) || (full && *begun_elsewhere);
        if !(apart && batch_closed && piece.first.batch.0 == 0) {
            match target.slices.last_mut() {
                Some(last) if last.source == slice.source && last.end == slice.start => {
                    last.end = slice.end;
                }
                _ => target.slices.push(slice),
            }
            target.bad_bodies |= bad_bodies;
            return;
        }
    }
    let format = source.header.filter(|header| header.origin == piece.origin);
    let plain = SegmentHeader::new(piece.origin, piece.from);
    let target = Target {
        name: SegmentName::new(piece.from, piece.first.id),
        header: SegmentHeader {
            format: format.map_or(plain.format, |header| header.format),
            oldest_reader: format.map_or(plain.oldest_reader, |header| header.oldest_reader),
            ..plain
        },
        slices: vec![slice],
        bad_bodies,
    };
    targets.push((target, piece.kind != SourceKind::Segment));
}

/// Notes what of a file is in no segment any more.
fn set_aside(source: &Source, index: usize, runs: &[&Run], plan: &mut ChainPlan) {
    let mut stretches: Vec<(u64, u64, Option<Seq>, &'static str)> = Vec::new();
    let header_len = source.len.min(HEADER_LEN as u64);
    if source.header.is_none() && header_len > 0 {
        let first = source.place.map(|place| place.1.first_seq);
        stretches.push((0, header_len, first, "a damaged header"));
    }
    let bad = source.bad.iter();
    stretches.extend(bad.map(|(start, end)| (*start, *end, None, "bytes that are no record")));
    stretches.extend(runs.iter().map(|run| {
        let what = match run.origin == plan.origin {
            true => "events that do not fit the chain",
            false => "events of another chain",
        };
        (run.start, run.end, Some(run.from), what)
    }));
    stretches.sort_unstable_by_key(|stretch| stretch.0);
    let mut merged: Vec<(u64, u64, Option<Seq>, &'static str)> = Vec::new();
    for stretch in stretches {
        match merged.last_mut() {
            Some(last) if last.1 == stretch.0 => last.1 = stretch.1,
            _ => merged.push(stretch),
        }
    }
    let first = source.place.map_or(Seq(1), |place| place.1.first_seq);
    plan.aside
        .extend(merged.into_iter().map(|(start, end, seq, what)| Aside {
            slice: Slice {
                source: index,
                start,
                end,
            },
            seq: seq.unwrap_or(first),
            what,
        }));
}

/// Events whose payload is not what was written, and where a good copy of it lies.
type Bodies = BTreeMap<EventId, (NoBody, Option<Slice>)>;

/// The events of a chain whose payload is damaged, or was found gone by an earlier repair and can be
/// brought back.
fn bodies(salvaged: &Salvaged, pieces: &[Run], chosen: &[Run]) -> Result<Bodies> {
    let mut bodies = Bodies::new();
    for body in chosen.iter().flat_map(|piece| &piece.no_bodies) {
        if body.withheld && !salvaged.explained.payloads.contains_key(&body.id) {
            continue; // a redaction took it out
        }
        let copy = good_copy(salvaged, pieces, body)?;
        if copy.is_some() || !body.withheld {
            bodies.insert(body.id, (*body, copy));
        }
    }
    Ok(bodies)
}

/// Where a record of this event lies whose payload is what was written.
fn good_copy(salvaged: &Salvaged, pieces: &[Run], body: &NoBody) -> Result<Option<Slice>> {
    let holding = pieces.iter().filter(|piece| {
        (piece.from..=piece.to).contains(&body.seq)
            && piece.no_bodies.iter().all(|other| other.id != body.id)
    });
    for piece in holding {
        let mut scan = salvaged.sources[piece.source].scan(piece.start, piece.end);
        while let Step::Record { offset, record, id } = scan.step()? {
            if record.seq() != body.seq {
                continue;
            }
            if id == body.id && record.body.payload().is_some() {
                return Ok(Some(Slice {
                    source: piece.source,
                    start: offset,
                    end: offset + record.bytes.len() as u64,
                }));
            }
            break;
        }
    }
    Ok(None)
}
