//! Writes the events of an import into the files of their chains.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use super::held::Held;
use super::plan::{Piece, Plan};
use super::{Fork, Learned};
use crate::bundle::Bundle;
use crate::chain;
use crate::disk::{self, OpenMode};
use crate::error::{Result, at};
use crate::layout;
use crate::log::Log;
use crate::recover;
use crate::redacted::Redactions;
use crate::runs::{self, Run};
use crate::scan::{SegmentScan, Step};
use crate::writer::{POSITIONS_MAX, RANGES_MAX, Writer};
use icm_event::facts::{ImportedRange, LogImported};
use icm_event::head::FORMAT;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::{self, Body, FRAME_LEN, Parsed, Record, SALT_LEN};
use icm_event::segment::{HEADER_LEN, SEGMENT_LEN_TARGET, SegmentHeader, SegmentName};

/// The segment to which a piece is appended.
struct Target {
    path: PathBuf,
    /// Offset of the end of its valid records, in bytes.
    end: u64,
}

impl Log {
    /// Returns the number of bodies in the files that a redaction names.
    pub(super) fn bodies_to_go(&self, held: &Held) -> Result<u64> {
        if held.redactions.is_empty() {
            return Ok(0);
        }
        let (disk, dir) = (&*self.disk, &self.dir);
        let mut found = 0;
        for origin in chain::origins(disk, dir)? {
            runs::runs_of(disk, dir, origin, None, &mut |record, head, id| {
                let there = record.body != Body::Withheld;
                found += u64::from(there && held.redactions.names(head, id));
            })?;
        }
        Ok(found)
    }
}

impl Writer<'_> {
    pub(super) fn take(&mut self, bundle: &Bundle, plan: Plan) -> Result<Learned> {
        let new: u64 = plan.pieces.iter().map(Piece::count).sum();
        let mut learned = Learned {
            unchanged: plan.unchanged,
            left_out: plan.left_out,
            forks: plan.forks.clone(),
            later: plan.later.clone(),
            unproven: plan.unproven.clone(),
            waiting: plan.waiting.clone(),
            adopted: plan.adopted.clone(),
            own_forks: plan.own_forks.clone(),
            redactions: plan.redactions,
            changes_the_past: plan.changes_the_past(),
            ..Learned::default()
        };
        if plan.mint {
            // Minted first: from here on the events after it belong to another writer.
            self.mint("its own chain goes on elsewhere")?;
        }
        learned.refilled_bodies = self.refill_bodies(bundle, &plan)?;
        for piece in &plan.pieces {
            let (origin, seq) = (piece.origin, piece.from_seq);
            if plan.forks.contains(&Fork { origin, seq }) {
                self.split_at(origin, seq)?;
            }
            self.write_piece(bundle, &plan, piece)?;
        }
        if new > 0 || learned.refilled_bodies > 0 {
            // The files of the own chain may have been replaced.
            let mut state = self.log.lock_state();
            state.hold.file = None;
            state.stamps = None;
            self.log.refresh_state(&mut state)?;
        }
        let held = self.log.held()?;
        let (ranges, only_imports) = unlearned(&held);
        let learnable: u64 = ranges.iter().map(ImportedRange::count).sum();
        let of_new: u64 = (plan.pieces.iter())
            // At a branch two ranges have the same seq.
            .map(|piece| learned_of(piece, &ranges).min(piece.count()))
            .sum();
        learned.refilled_events = new - of_new;
        if !only_imports {
            learned.events = learnable;
            learned.facts = in_events(ranges);
        }
        Ok(learned)
    }

    /// Writes lost payloads back to their records.
    fn refill_bodies(&self, bundle: &Bundle, plan: &Plan) -> Result<u64> {
        let mut refilled = 0;
        let mut origins: Vec<OriginId> = bundle.ranges().iter().map(|range| range.origin).collect();
        origins.dedup();
        for origin in origins {
            let runs = plan.held.runs.get(&origin).into_iter().flatten();
            let wanted: HashSet<EventId> = (runs.flat_map(|run| &run.ids))
                .filter(|id| plan.bodies.contains(id))
                .copied()
                .collect();
            if wanted.is_empty() {
                continue;
            }
            for segment in chain::segments(&*self.log.disk, &self.log.dir, origin)? {
                refilled += self.refill_segment(bundle, &segment, &wanted)?;
            }
        }
        Ok(refilled)
    }

    fn refill_segment(
        &self,
        bundle: &Bundle,
        segment: &chain::SegmentFile,
        wanted: &HashSet<EventId>,
    ) -> Result<u64> {
        let (disk, path) = (&*self.log.disk, &segment.path);
        let bytes = disk::read_all(disk, path, u64::MAX).map_err(at("reading", path))?;
        // Place, seq, id and `synced` of each record without a body.
        let mut lost: Vec<(Range<usize>, Seq, EventId, Seq)> = Vec::new();
        let mut origin = None;
        let mut scan = SegmentScan::open(disk, path, HEADER_LEN as u64, u64::MAX)?;
        while let Step::Record { offset, record, id } = scan.step()? {
            if wanted.contains(&id) && !matches!(record.body, Body::Present { .. }) {
                let start = offset as usize;
                lost.push((
                    start..start + record.bytes.len(),
                    record.seq(),
                    id,
                    record.synced,
                ));
                origin = Some(record.common().origin);
            }
        }
        let Some(origin) = origin else { return Ok(0) };
        let mut whole: Vec<Option<Vec<u8>>> = vec![None; lost.len()];
        for range in bundle
            .ranges()
            .iter()
            .filter(|range| range.origin == origin)
        {
            bundle.records(range, &mut |_, record, id| {
                if let Ok(index) = lost.binary_search_by_key(&record.seq(), |(_, seq, ..)| *seq)
                    && lost[index].2 == id
                {
                    let mut bytes = Vec::with_capacity(record.bytes.len());
                    record::encode(&mut bytes, lost[index].3, record.head, body_of(record));
                    whole[index] = Some(bytes);
                }
                Ok(())
            })?;
        }
        let mut out = Vec::with_capacity(bytes.len());
        let (mut from, mut refilled) = (0, 0);
        for ((place, ..), record) in lost.into_iter().zip(whole) {
            if let Some(record) = record {
                out.extend_from_slice(&bytes[from..place.start]);
                out.extend_from_slice(&record);
                from = place.end;
                refilled += 1;
            }
        }
        out.extend_from_slice(&bytes[from..]);
        disk::replace(disk, path, &out).map_err(at("writing", path))?;
        Ok(refilled)
    }

    /// Makes a segment start at event `seq`, so that the names of the segments show the branch.
    fn split_at(&self, origin: OriginId, seq: Seq) -> Result<()> {
        let disk = &*self.log.disk;
        for segment in chain::segments(disk, &self.log.dir, origin)? {
            let path = &segment.path;
            if segment.name.first_seq >= seq {
                continue;
            }
            let mut scan = SegmentScan::open(disk, path, HEADER_LEN as u64, u64::MAX)?;
            while let Step::Record { offset, record, id } = scan.step()? {
                if record.seq() != seq {
                    continue;
                }
                let bytes = disk::read_all(disk, path, u64::MAX).map_err(at("reading", path))?;
                let (before, after) = bytes.split_at(offset as usize);
                let filling = Filling {
                    bytes: after.to_vec(),
                    first: Some((seq, id)),
                };
                self.write_segment(origin, None, &filling)?;
                disk::replace(disk, path, before).map_err(at("writing", path))?;
                break;
            }
        }
        Ok(())
    }

    /// Appends new events to their chain in the store, or writes them to segments of their own.
    fn write_piece(&self, bundle: &Bundle, plan: &Plan, piece: &Piece) -> Result<()> {
        let mut target = self.target(plan, piece)?;
        let mut segment = Filling::default();
        let mut batch = Filling::default();
        let redactions = &plan.held.redactions;
        bundle.records(&piece.range(), &mut |_, record, id| {
            batch.push(record, id, redactions);
            let head = record.parse_head();
            let ends = head.is_ok_and(|head| head.batch_index() + 1 == head.batch_count());
            if ends {
                let begun = target
                    .as_ref()
                    .map_or(HEADER_LEN as u64, |target| target.end);
                let len = begun + (segment.bytes.len() + batch.bytes.len()) as u64;
                if len > SEGMENT_LEN_TARGET && !segment.bytes.is_empty() {
                    self.write_segment(piece.origin, target.take(), &std::mem::take(&mut segment))?;
                }
                segment.append(&mut batch);
            }
            Ok(())
        })?;
        // A batch before a hole may lack its end.
        segment.append(&mut batch);
        match segment.bytes.is_empty() {
            true => Ok(()),
            false => self.write_segment(piece.origin, target, &segment),
        }
    }

    /// Returns the segment to which a piece is appended, and cuts invalid bytes off its end. `None` if the piece must
    /// start a segment.
    fn target(&self, plan: &Plan, piece: &Piece) -> Result<Option<Target>> {
        if plan.held.part(piece.origin).is_some() || piece.from_seq == Seq(1) {
            return Ok(None);
        }
        // Pieces before this one may have been written since the plan was made.
        let (disk, dir) = (&*self.log.disk, &self.log.dir);
        let runs = runs::runs_of(disk, dir, piece.origin, None, &mut |_, _, _| {})?;
        let Some(last) = runs
            .iter()
            .find(|run| run.head() == piece.base)
            .and_then(|run| run.parts.last())
        else {
            return Ok(None);
        };
        let shared = |run: &Run| {
            let mut parts = run.parts.iter();
            parts.any(|part| part.path == last.path && part.start >= last.end)
        };
        if runs.iter().any(shared) || last.end >= SEGMENT_LEN_TARGET {
            return Ok(None);
        }
        let mut header = [0; HEADER_LEN];
        let file = disk.open(&last.path, OpenMode::Write);
        let file = file.map_err(at("opening", &last.path))?;
        let read = file.read_at(&mut header, 0);
        let read = read.map_err(at("reading", &last.path))?;
        match SegmentHeader::parse(&header[..read]) {
            Ok(header) if header.format <= FORMAT => {}
            _ => return Ok(None),
        }
        // The rest of an interrupted append is cut off. Whole records after it, or events that were learned already,
        // are damage and must not be cut here.
        let rest = disk::read_all(disk, &last.path, u64::MAX).map_err(at("reading", &last.path))?;
        let rest = rest.get(last.end as usize..).unwrap_or_default();
        let is_blank = rest.iter().all(|byte| *byte == 0);
        let mut learned = plan.held.learned.iter();
        let learned =
            learned.any(|range| range.origin == piece.origin && range.to_seq >= piece.from_seq);
        if !is_blank && (learned || holds_a_record(rest, piece.origin)) {
            return Ok(None);
        }
        file.truncate(last.end)
            .map_err(at("truncating", &last.path))?;
        Ok(Some(Target {
            path: last.path.clone(),
            end: last.end,
        }))
    }

    fn write_segment(
        &self,
        origin: OriginId,
        target: Option<Target>,
        filling: &Filling,
    ) -> Result<()> {
        let disk = &*self.log.disk;
        if let Some(Target { path, end }) = target {
            let file = disk.open(&path, OpenMode::Write);
            let file = file.map_err(at("opening", &path))?;
            file.write_at(&filling.bytes, end)
                .map_err(at("writing", &path))?;
            return file.sync().map_err(at("syncing", &path));
        }
        let (seq, event) = filling.first.expect("a segment has an event");
        let dir = layout::dir_of(&self.log.dir, origin);
        disk.create_dir_all(&dir).map_err(at("creating", &dir))?;
        let path = dir.join(SegmentName::new(seq, event).to_string());
        let mut contents = SegmentHeader::new(origin, seq).encode().to_vec();
        contents.extend_from_slice(&filling.bytes);
        disk::replace(disk, &path, &contents).map_err(at("writing", &path))?;
        self.log.sync_names(&dir, seq).map_err(at("syncing", &dir))
    }
}

/// Returns `true` if a whole record of a chain starts anywhere in these bytes.
fn holds_a_record(bytes: &[u8], origin: OriginId) -> bool {
    // The origin stands 8 bytes into the head.
    let at = FRAME_LEN + 8;
    let mut from = 0;
    while let Some(step) = recover::find(&bytes[from..], &origin.0) {
        let start = (from + step).checked_sub(at);
        let parsed = start.map(|start| record::parse(&bytes[start..]));
        if matches!(parsed, Some(Parsed::Record(_))) {
            return true;
        }
        from += step + 1;
    }
    false
}

/// Records that are about to be written to a segment.
#[derive(Default)]
struct Filling {
    bytes: Vec<u8>,
    first: Option<(Seq, EventId)>,
}

impl Filling {
    fn push(&mut self, record: &Record<'_>, id: EventId, redactions: &Redactions) {
        self.first.get_or_insert((record.seq(), id));
        let redacted = (record.parse_head()).is_ok_and(|head| redactions.names(&head, id));
        let body = body_of(record).filter(|_| !redacted);
        record::encode(&mut self.bytes, Seq(0), record.head, body);
    }

    fn append(&mut self, other: &mut Filling) {
        self.first = self.first.or(other.first.take());
        self.bytes.append(&mut other.bytes);
    }
}

/// Returns salt and payload, unless the body is withheld or damaged.
fn body_of<'r>(record: &Record<'r>) -> Option<(&'r [u8; SALT_LEN], &'r [u8])> {
    match record.body {
        Body::Present { salt, payload } => {
            let salt = salt.try_into().expect("a salt has its length");
            Some((salt, payload))
        }
        Body::Withheld | Body::Damaged => None,
    }
}

/// Returns the number of events of a piece that lie in these ranges.
fn learned_of(piece: &Piece, ranges: &[ImportedRange]) -> u64 {
    let of = ranges.iter().filter(|range| range.origin == piece.origin);
    of.map(|range| {
        let from = range.from_seq.max(piece.from_seq).0;
        let to = range.to_seq.min(piece.to_seq).0;
        (to + 1).saturating_sub(from)
    })
    .sum()
}

/// Returns the ranges of events that the store holds, can reach and never learned. The second part is `true` if all of
/// them are `log.imported` events of others.
pub(super) fn unlearned(held: &Held) -> (Vec<ImportedRange>, bool) {
    let mut ranges = Vec::new();
    let mut only_imports = true;
    for (origin, runs) in &held.runs {
        let part = held.part(*origin);
        if part.is_some_and(|part| part.until.is_none()) {
            continue; // the own chain
        }
        let runs = runs::connected(runs.clone(), *origin, &held.holes);
        let runs: Vec<Run> = runs.into_iter().filter_map(Run::trimmed).collect();
        let mut known: Vec<Vec<bool>> = runs.iter().map(|run| vec![false; run.ids.len()]).collect();
        if let Some(part) = part {
            let until = part.until.unwrap_or_default();
            mark(&runs, &mut known, Seq(1), until, part.event);
        }
        for range in held.learned.iter().filter(|range| range.origin == *origin) {
            mark(&runs, &mut known, range.from_seq, range.to_seq, range.head);
        }
        for (run, known) in runs.iter().zip(&known) {
            let mut at = 0;
            while at < known.len() {
                let len = known[at..].iter().take_while(|known| !**known).count();
                if len > 0 {
                    let ids = &run.ids[at..at + len];
                    only_imports &= ids.iter().all(|id| held.imports.contains(id));
                    ranges.push(ImportedRange {
                        origin: *origin,
                        base: at.checked_sub(1).map_or(run.base, |before| run.ids[before]),
                        head: *ids.last().expect("it has events"),
                        from_seq: Seq(run.from_seq.0 + at as u64),
                        to_seq: Seq(run.from_seq.0 + (at + len) as u64 - 1),
                    });
                }
                at += len.max(1);
            }
        }
    }
    ranges.sort_unstable();
    (ranges, only_imports)
}

/// Marks the events from `from` to `to` on the branch that ends with `head`, skipping missing ones. A learned range
/// stays learned.
fn mark(runs: &[Run], known: &mut [Vec<bool>], from: Seq, to: Seq, head: EventId) {
    for stretch in runs::leading_to(runs, from, to, head) {
        let first = runs[stretch.run].from_seq;
        let place = |seq: Seq| (seq.0 - first.0) as usize;
        known[stretch.run][place(stretch.from)..=place(stretch.to)].fill(true);
    }
}

/// Distributes ranges over events, as many as one event has room for.
pub(super) fn in_events(ranges: Vec<ImportedRange>) -> Vec<LogImported> {
    let mut facts: Vec<LogImported> = Vec::new();
    for range in ranges {
        let fits = |facts: &LogImported| {
            facts.ranges.len() < RANGES_MAX && facts.count() + range.count() <= POSITIONS_MAX
        };
        match facts.last_mut() {
            Some(last) if fits(last) => last.ranges.push(range),
            _ => facts.push(LogImported {
                ranges: vec![range],
            }),
        }
    }
    facts
}
