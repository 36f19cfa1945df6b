//! Places the kept events of a chain in segments, and finds the bytes of its files that are in none.

use std::collections::BTreeSet;

use super::chain_plan::{Aside, Bodies, ChainPlan, Slice, Target};
use super::salvage::{NoBody, Run, Salvaged, Source, SourceKind};
use crate::error::Result;
use crate::scan::Step;
use icm_event::id::{EventId, Seq};
use icm_event::segment::{HEADER_LEN, SEGMENT_LEN_TARGET, SegmentHeader, SegmentName};

/// Runs with the same key hold the same events.
pub(super) type Key = (Seq, Seq, EventId, EventId);

pub(super) fn key(run: &Run) -> Key {
    (run.from, run.to, run.last.id, run.base)
}

pub(super) fn links(before: &Run, after: &Run) -> bool {
    before.to.0 + 1 == after.from.0 && before.last.id == after.base
}

/// Lays the records out in segments. With `branches`, valid events of branches that were not chosen are kept, too.
pub(super) fn lay_out(
    salvaged: &Salvaged,
    branches: bool,
    pieces: &[Run],
    (chosen, taken): (&[Run], &BTreeSet<Key>),
    plan: &mut ChainPlan,
) -> Result<()> {
    let origin = plan.origin;
    // Payloads that an earlier repair declared lost may be among the spares.
    let brought = bodies(salvaged, pieces, chosen)?;
    let mut targets: Vec<(Target, bool)> = Vec::new();
    let mut before: Option<&Run> = None;
    for piece in chosen {
        add(salvaged, &mut targets, before, piece, &brought);
        before = Some(piece);
    }
    let healthy: BTreeSet<usize> = (0..salvaged.sources.len())
        .filter(|index| branches && is_healthy(salvaged, *index))
        .collect();
    let kept_too = match branches {
        true => add_branches(salvaged, &mut targets, pieces, taken, &healthy, &brought),
        false => Vec::new(),
    };

    let tip = chosen.last().map(|piece| (piece.source, piece.end));
    let may_be_torn = plan.newest && plan.end.is_none();
    // The next writer sets aside records that were never acknowledged, but not a whole record that does not fit.
    let others: Vec<&Run> = (salvaged.runs.iter())
        .filter(|run| run.origin != origin)
        .chain(pieces)
        .collect();
    let is_torn = |source, at| may_be_torn && fits_on(&others, chosen.last(), source, at);
    let mut right: BTreeSet<SegmentName> = BTreeSet::new();
    for (target, _) in &targets {
        if let [slice] = target.slices[..] {
            let source = &salvaged.sources[slice.source];
            let to_end = source.bad.is_empty() && slice.end == source.end
                || tip == Some((slice.source, slice.end))
                    && is_newest(salvaged, plan, source)
                    && is_torn(slice.source, slice.end);
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
        if begun
            && !names.contains(&name)
            && is_newest(salvaged, plan, source)
            && is_torn(index, HEADER_LEN as u64)
        {
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
    note_damaged_bodies(salvaged, pieces, chosen, &kept_too, plan)?;
    let from_elsewhere = chosen.iter().filter(|run| run.kind != SourceKind::Segment);
    plan.refilled = from_elsewhere.map(Run::count).sum();
    let wrong = targets.into_iter().map(|(target, _)| target);
    plan.write = wrong
        .filter(|target| !right.contains(&target.name))
        .collect();
    Ok(())
}

/// Lays out the valid events of other branches, except those in files that stay as they are. Returns the runs laid out.
fn add_branches<'r>(
    salvaged: &Salvaged,
    targets: &mut Vec<(Target, bool)>,
    pieces: &'r [Run],
    taken: &BTreeSet<Key>,
    healthy: &BTreeSet<usize>,
    brought: &Bodies,
) -> Vec<&'r Run> {
    targets.retain(|(target, _)| {
        !target
            .slices
            .iter()
            .all(|slice| healthy.contains(&slice.source))
    });
    let is_kept = |piece: &Run| healthy.contains(&piece.source);
    let kept: BTreeSet<Key> = pieces.iter().filter(|it| is_kept(it)).map(key).collect();
    let others = pieces.iter().filter(|piece| {
        piece.kind == SourceKind::Segment
            && !is_kept(piece)
            && !kept.contains(&key(piece))
            && !taken.contains(&key(piece))
    });
    let mut others: Vec<&Run> = others.collect();
    others.sort_by_key(|piece| (piece.source, piece.start));
    let mut before: Option<&Run> = None;
    for piece in &others {
        let joined = before.filter(|before| {
            before.source == piece.source && before.end == piece.start && links(before, piece)
        });
        add(salvaged, targets, joined, piece, brought);
        before = Some(piece);
    }
    others
}

/// Records the damaged payloads of the kept events: their good copies, and the records to set aside.
fn note_damaged_bodies(
    salvaged: &Salvaged,
    pieces: &[Run],
    chosen: &[Run],
    kept_too: &[&Run],
    plan: &mut ChainPlan,
) -> Result<()> {
    for piece in kept_too {
        for body in piece.damaged_bodies() {
            let copy = good_copy(salvaged, pieces, body)?;
            plan.bodies.insert(body.id, (*body, copy));
        }
    }
    for piece in chosen.iter().chain(kept_too.iter().copied()) {
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
    Ok(())
}

/// Returns `true` if the whole records in a file from `at` on continue from `last`, or if there are none.
fn fits_on(runs: &[&Run], last: Option<&Run>, source: usize, mut at: u64) -> bool {
    let mut last = last;
    while let Some(next) = (runs.iter()).find(|run| (run.source, run.start) == (source, at)) {
        let fits = match last {
            Some(last) => last.origin == next.origin && links(last, next),
            None => next.from == Seq(1),
        };
        if !fits {
            return false;
        }
        (last, at) = (Some(*next), next.end);
    }
    true
}

/// Returns `true` if a file is the newest segment of its chain.
fn is_newest(salvaged: &Salvaged, plan: &ChainPlan, source: &Source) -> bool {
    let of_chain = salvaged.sources.iter().filter_map(|source| source.place);
    let newest = of_chain.filter(|place| place.0 == plan.origin).max();
    // A torn creation may follow.
    newest.is_some_and(|newest| {
        source.place == Some(newest) || newest.1.first_seq.0 == plan.last.0 + 1
    })
}

/// Appends a run to the last segment or to a new one.
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
        // Events for the middle of a segment go into that segment. Events of a whole lost segment get a segment of
        // their own.
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

/// Records the bytes of a file that are in no new segment.
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

/// Returns the events of a chain whose payload is damaged, and those whose payload an earlier repair declared lost and
/// a copy now restores.
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

/// Returns the place of a record of this event with a good payload, if there is one.
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

/// Cuts runs from elsewhere so that no segment exceeds its target length.
pub(super) fn roll(salvaged: &Salvaged, chosen: Vec<Run>) -> Result<Vec<Run>> {
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

/// Returns `true` if a file of a chain is exactly as it should be.
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
