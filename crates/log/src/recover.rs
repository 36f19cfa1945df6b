//! Looking at the end of a chain: where its last whole batch ends, and which row of the case table
//! what follows falls under. Reads only; the writer acts on it.

use std::path::{Path, PathBuf};

use crate::acked::Slot;
use crate::cases::{self, Case, Observation, RecordState, SlotState};
use crate::chain::{self, SegmentFile};
use crate::disk::{Disk, OpenMode};
use crate::error::{Result, at};
use crate::holes::{Explainer, Gap};
use crate::layout;
use crate::scan::{self, SegmentScan, Step};
use icm_event::hash;
use icm_event::head::{Head, HeadError};
use icm_event::id::{EventId, OriginId, Position, Seq, Time};
use icm_event::kind::Kind;
use icm_event::record::{self, Body, FRAME_LEN, Parsed, RECORD_LEN_MAX};
use icm_event::segment::{HEADER_LEN, HeaderError, SegmentHeader};

/// The newest event of a chain that belongs to a whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// Author.
    pub origin: OriginId,
    /// Place in the chain.
    pub seq: Seq,
    /// The event.
    pub event: EventId,
    /// Its position.
    pub position: Position,
    /// Its time.
    pub time: Time,
}

/// Where a tip lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TipPlace {
    pub(crate) tip: Tip,
    pub(crate) segment: SegmentFile,
    /// Where its record starts.
    pub(crate) offset: u64,
    /// Where its record ends, and the next batch goes.
    pub(crate) end: u64,
    /// Largest `synced` seen.
    pub(crate) synced: Seq,
}

/// What follows the tip and is not a whole batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) case: Case,
    pub(crate) file: PathBuf,
    /// From here on the file is not part of the chain; 0 for the whole file.
    pub(crate) cut: u64,
    /// First event that cannot be trusted.
    pub(crate) seq: Seq,
    pub(crate) what: String,
}

/// The end of a chain, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Examined {
    pub(crate) tip: Option<TipPlace>,
    pub(crate) trouble: Option<Trouble>,
    /// Where the slot's event was found: first seq of the segment, and offset.
    pub(crate) slot_place: Option<(Seq, u64)>,
    /// The segments that there are.
    pub(crate) segments: Vec<SegmentFile>,
}

/// A place that is believed to hold an event; checked before it is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hint {
    pub(crate) seq: Seq,
    pub(crate) event: EventId,
    pub(crate) segment: Seq,
    pub(crate) offset: u64,
}

impl From<&Slot> for Hint {
    fn from(slot: &Slot) -> Hint {
        Hint {
            seq: slot.seq,
            event: slot.event,
            segment: slot.segment,
            offset: slot.offset,
        }
    }
}

impl From<&TipPlace> for Hint {
    fn from(place: &TipPlace) -> Hint {
        Hint {
            seq: place.tip.seq,
            event: place.tip.event,
            segment: place.segment.name.first_seq,
            offset: place.offset,
        }
    }
}

fn holds(disk: &dyn Disk, segments: &[SegmentFile], hint: &Hint) -> Result<bool> {
    let Some(segment) = segments.iter().find(|s| s.name.first_seq == hint.segment) else {
        return Ok(false);
    };
    let same = scan::read_one(disk, &segment.path, hint.offset, |record| {
        record.seq() == hint.seq && hash::event_id(record.head) == hint.event
    })?;
    Ok(same == Some(true))
}

/// Where the slot's event lies: where the slot says, or elsewhere in the segment that holds its seq,
/// because a redaction moves what it shortens and a repair splits segments.
fn find_slot(disk: &dyn Disk, segments: &[SegmentFile], slot: &Slot) -> Result<Option<Hint>> {
    let hint = Hint::from(slot);
    if holds(disk, segments, &hint)? {
        return Ok(Some(hint));
    }
    let Some(index) = chain::holding(segments, hint.seq) else {
        return Ok(None);
    };
    let segment = &segments[index];
    let mut scan = SegmentScan::open(disk, &segment.path, HEADER_LEN as u64, u64::MAX)?;
    while let Step::Record { offset, record, .. } = scan.step()? {
        if record.seq() == hint.seq {
            let same = hash::event_id(record.head) == hint.event;
            return Ok(same.then_some(Hint {
                offset,
                segment: segment.name.first_seq,
                ..hint
            }));
        }
    }
    Ok(None)
}

/// A gap or overlap that the names of the segments show. Foreign chains may branch.
fn gap_between(
    holes: &Explainer<'_>,
    origin: OriginId,
    segments: &[SegmentFile],
) -> Result<Option<Trouble>> {
    let seen = Observation {
        segment_gap: true,
        ..Observation::CLEAN
    };
    let first = segments
        .first()
        .filter(|first| first.name.first_seq != Seq(1));
    let first = match first {
        Some(first) if starts_explained(holes, origin, first)? => None,
        first => first,
    };
    let twice = segments
        .windows(2)
        .find(|pair| pair[0].name.first_seq == pair[1].name.first_seq)
        .map(|pair| &pair[1]);
    let (segment, what) = match (first, twice) {
        (Some(first), _) => (first, "the segments before this one are missing"),
        (None, Some(second)) => (second, "two segments start with the same event"),
        (None, None) => return Ok(None),
    };
    Ok(Some(Trouble {
        case: cases::decide(&seen),
        file: layout::relative(holes.store, &segment.path),
        cut: 0,
        seq: segment.name.first_seq,
        what: what.to_owned(),
    }))
}

/// Whether a repair has said that what was before the first segment of a chain is gone.
fn starts_explained(holes: &Explainer<'_>, origin: OriginId, first: &SegmentFile) -> Result<bool> {
    let next = scan::read_one(holes.disk, &first.path, HEADER_LEN as u64, |record| {
        hash::event_id(record.head)
    })?;
    let gap = Gap {
        origin,
        last: EventId::ZERO,
        next: next.unwrap_or(EventId::ZERO),
        from: Seq(1),
        to: Seq(first.name.first_seq.0.saturating_sub(1)),
    };
    Ok(holes.holes()?.explain(&gap).is_some())
}

/// Looks at the end of this machine's chain `origin`. With a `known` place (or a slot that is
/// found where it says) only what comes after it is read. What explains a gap is asked for only
/// where one is met.
pub(crate) fn examine(
    holes: &Explainer<'_>,
    origin: OriginId,
    slot: Option<&Slot>,
    known: Option<&TipPlace>,
) -> Result<Examined> {
    let (disk, store) = (holes.disk, holes.store);
    let slot = slot.filter(|slot| slot.origin == origin);
    let all = chain::segments(disk, store, origin)?;
    let mut segments = all.clone();
    let mut start = match slot {
        Some(slot) => find_slot(disk, &segments, slot)?,
        None => None,
    };
    let slot_start = start;
    let slot_place = start.map(|hint| (hint.segment, hint.offset));
    let slot_present = start.is_some();
    if let Some(known) = known {
        let hint = Hint::from(known);
        if start.is_none_or(|start| start.seq < hint.seq) && holds(disk, &segments, &hint)? {
            start = Some(hint);
        }
    }
    let slot_state = match (slot, slot_present) {
        (None, _) => SlotState::None,
        (Some(_), true) => SlotState::Present,
        // It was acknowledged, and a repair has said that it is gone.
        (Some(slot), false) if holes.holes()?.covering(origin, slot.seq).is_some() => {
            SlotState::None
        }
        (Some(_), false) => SlotState::Missing,
    };
    let mut evidence_seq = slot.map_or(Seq(0), |slot| slot.seq);
    let gap = gap_between(holes, origin, &segments)?;
    let mut hidden: Option<Trouble> = None;
    loop {
        let Some(newest) = segments.last().cloned() else {
            let missing = slot_state == SlotState::Missing && hidden.is_none();
            let trouble = missing.then(|| Trouble {
                case: Case::M,
                file: layout::relative(store, &layout::dir_of(store, origin)),
                cut: 0,
                seq: Seq(1),
                what: format!("the acknowledged event {} is not there", evidence_seq.0),
            });
            return Ok(Examined {
                tip: None,
                trouble: gap.or(hidden).or(trouble),
                slot_place,
                segments: all,
            });
        };
        let look_from = |start| look(holes, origin, &newest, evidence_seq, slot_state, start);
        let mut looked = look_from(start)?;
        for earlier in [slot_start, None] {
            // The event at which the look began may be the one that is damaged.
            if looked.tip.is_none() && start.is_some() {
                start = earlier;
                looked = look_from(start)?;
            }
        }
        match looked {
            Looked {
                tip: None,
                trouble: Some(trouble),
            } if trouble.case == Case::D => {
                segments.pop();
                // A segment is made only once all before it is durable.
                evidence_seq = evidence_seq.max(Seq(trouble.seq.0.saturating_sub(1)));
                hidden = Some(trouble);
            }
            Looked { tip, trouble } => {
                let cut_short = hidden.as_ref().filter(|hidden| {
                    let end = tip.as_ref().map_or(0, |place| place.tip.seq.0);
                    end.saturating_add(1) != hidden.seq.0
                });
                let gap = gap.or(cut_short.map(|hidden| Trouble {
                    case: Case::E,
                    what: "events are missing before this segment".to_owned(),
                    ..hidden.clone()
                }));
                let newer = trouble.as_ref().is_some_and(|found| found.case == Case::G);
                let trouble = match (newer, gap) {
                    (false, Some(gap)) => Some(gap),
                    _ => trouble.or(hidden),
                };
                return Ok(Examined {
                    tip,
                    trouble,
                    slot_place,
                    segments: all,
                });
            }
        }
    }
}

struct Looked {
    tip: Option<TipPlace>,
    trouble: Option<Trouble>,
}

/// What a scan of the newest segment has seen so far.
struct Seen {
    tip: Option<TipPlace>,
    /// The next record should have this seq.
    expected: Seq,
    /// Event before it, where known.
    prev: Option<EventId>,
    /// An open batch: where it starts, its first seq, events seen, events in all.
    batch: Option<(u64, Seq, u16, u16)>,
    /// The first record with a bad body: seq, where its batch starts.
    bad_body: Option<(Seq, u64, Seq)>,
    /// The tip before the batch of that record.
    tip_before_bad: Option<TipPlace>,
    /// Largest `synced` of the records after it.
    synced_after_bad: Seq,
    synced: Seq,
    /// The first event of a kind that only a newer version understands.
    newer: Option<(u64, Seq, String)>,
    /// The segment starts behind a hole, which may cut a batch.
    cut_before: bool,
    /// The newest event and where its record lies, be its batch whole or not.
    last: Option<(Tip, u64, u64)>,
}

fn look(
    holes: &Explainer<'_>,
    origin: OriginId,
    newest: &SegmentFile,
    evidence_seq: Seq,
    slot: SlotState,
    start: Option<Hint>,
) -> Result<Looked> {
    let (disk, store) = (holes.disk, holes.store);
    let file = layout::relative(store, &newest.path);
    let first_seq = newest.name.first_seq;
    let base = Observation {
        slot,
        ..Observation::CLEAN
    };
    let trouble = |observation: &Observation, cut: u64, seq: Seq, what: String| Trouble {
        case: cases::decide(observation),
        file: file.clone(),
        cut,
        seq,
        what,
    };

    let header = {
        let handle = disk
            .open(&newest.path, OpenMode::Read)
            .map_err(at("reading", &newest.path))?;
        let mut bytes = [0; HEADER_LEN];
        let read = handle
            .read_at(&mut bytes, 0)
            .map_err(at("reading", &newest.path))?;
        SegmentHeader::parse(&bytes[..read])
    };
    match header {
        Ok(header) if header.origin == origin && header.first_seq == first_seq => {}
        Err(error @ (HeaderError::NewerFormat { .. } | HeaderError::Field { .. })) => {
            let seen = Observation {
                record: RecordState::Newer,
                ..base
            };
            let trouble = trouble(&seen, 0, first_seq, error.to_string());
            return Ok(Looked {
                tip: None,
                trouble: Some(trouble),
            });
        }
        other => {
            let evidence = evidence_seq >= first_seq
                || later_synced(disk, &newest.path, 0, origin, first_seq)? >= first_seq;
            let seen = Observation {
                record: RecordState::FirstCheckBad,
                evidence,
                starts_newest_segment: true,
                ..base
            };
            let what = match other {
                Ok(_) => "the header names another origin or event than the file's name".to_owned(),
                Err(error) => error.to_string(),
            };
            return Ok(Looked {
                tip: None,
                trouble: Some(trouble(&seen, 0, first_seq, what)),
            });
        }
    }

    let start = start.filter(|hint| hint.segment == first_seq);
    let offset = start.map_or(HEADER_LEN as u64, |hint| hint.offset);
    let mut seen = Seen {
        tip: None,
        expected: start.map_or(first_seq, |hint| hint.seq),
        prev: None,
        batch: None,
        bad_body: None,
        tip_before_bad: None,
        synced_after_bad: Seq(0),
        synced: Seq(0),
        newer: None,
        cut_before: false,
        last: None,
    };
    // Ids are hashed: taken from the next record's `prev` they would always fit it.
    let mut records = SegmentScan::open(disk, &newest.path, offset, u64::MAX)?.hashing();
    let ended = loop {
        match records.step()? {
            Step::Record { offset, record, id } => {
                let from_hint = start.is_some_and(|hint| hint.offset == offset);
                if offset == HEADER_LEN as u64 && !from_hint {
                    let begun = record.parse_head().is_ok_and(|head| head.batch_index() > 0);
                    seen.cut_before = begun && holes.holes()?.touches(origin, first_seq);
                }
                match seen.take(origin, newest, offset, &record, id, from_hint) {
                    Ok(()) => {}
                    Err((state, what)) => break Some((offset, state, what)),
                }
            }
            Step::End => break None,
            Step::Bad { offset } => {
                break Some((
                    offset,
                    RecordState::FirstCheckBad,
                    "bytes that are no record".into(),
                ));
            }
            Step::Newer { offset } => {
                let what = "a newer version of icm wrote this record".to_owned();
                break Some((offset, RecordState::Newer, what));
            }
        }
    };

    if ended.is_none()
        && seen.batch.is_some()
        && let Some((tip, offset, end)) = seen.last
        && holes.holes()?.at_end(origin, tip.seq).is_some()
    {
        // The rest of the batch is gone: what is there of it counts.
        seen.batch = None;
        seen.tip = Some(TipPlace {
            tip,
            segment: newest.clone(),
            offset,
            end,
            synced: seen.synced,
        });
    }
    let synced_later = match &ended {
        Some((offset, RecordState::FirstCheckBad, _)) => {
            later_synced(disk, &newest.path, offset + 1, origin, seen.expected)?
        }
        _ => Seq(0),
    };
    let best_synced = seen.synced_after_bad.max(synced_later);

    // A payload that is damaged: torn when nothing says that it was durable.
    if let Some((seq, cut, batch_seq)) = seen.bad_body {
        let evidence = evidence_seq >= seq || best_synced >= seq;
        let observation = Observation {
            record: RecordState::SecondCheckBad,
            evidence,
            starts_newest_segment: batch_seq == first_seq,
            ..base
        };
        if !evidence {
            let what = format!("the payload of event {} is not what was written", seq.0);
            let trouble = trouble(&observation, cut, batch_seq, what);
            return Ok(Looked {
                tip: seen.tip_before_bad,
                trouble: Some(whole_file_if_begun(trouble)),
            });
        }
    }
    if let Some((offset, state, what)) = ended {
        let (cut, seq) = match seen.batch {
            Some((start, first, ..)) => (start, first),
            None => (offset, seen.expected),
        };
        let observation = Observation {
            record: state,
            evidence: evidence_seq >= seq || best_synced >= seq,
            starts_newest_segment: seen.tip.is_none() && start.is_none(),
            ..base
        };
        return Ok(Looked {
            tip: seen.tip,
            trouble: Some(whole_file_if_begun(trouble(&observation, cut, seq, what))),
        });
    }
    if let Some((offset, seq, what)) = seen.newer.filter(|_| seen.batch.is_none()) {
        let observation = Observation {
            record: RecordState::Newer,
            ..base
        };
        return Ok(Looked {
            tip: seen.tip,
            trouble: Some(trouble(&observation, offset, seq, what)),
        });
    }
    let (cut, seq, what, batch_open) = match seen.batch {
        Some((start, first, have, count)) => (
            start,
            first,
            format!("the last batch has {have} of its {count} events"),
            true,
        ),
        None => {
            let what = format!("the acknowledged event {} is not there", evidence_seq.0);
            (0, seen.expected, what, false)
        }
    };
    let observation = Observation {
        batch_open,
        slot,
        evidence: evidence_seq >= seq,
        record: if !batch_open && seen.tip.is_none() {
            // A header without a first record.
            RecordState::FirstCheckBad
        } else {
            RecordState::Good
        },
        starts_newest_segment: seen.tip.is_none() && start.is_none(),
        ..base
    };
    let found = trouble(&observation, cut, seq, what);
    // An open batch that is all there is of a segment: the segment was never begun.
    let found = match found.case {
        Case::K if seen.tip.is_none() && start.is_none() => Trouble {
            case: Case::D,
            ..found
        },
        _ => found,
    };
    Ok(Looked {
        tip: seen.tip,
        trouble: (found.case != Case::A).then(|| whole_file_if_begun(found)),
    })
}

/// A torn creation takes the whole file, so that no header without a record stays behind.
fn whole_file_if_begun(trouble: Trouble) -> Trouble {
    match trouble.case {
        Case::D => Trouble { cut: 0, ..trouble },
        _ => trouble,
    }
}

impl Seen {
    fn take(
        &mut self,
        origin: OriginId,
        segment: &SegmentFile,
        offset: u64,
        record: &record::Record<'_>,
        id: EventId,
        from_hint: bool,
    ) -> std::result::Result<(), (RecordState, String)> {
        let head = match record.parse_head() {
            Ok(head) => head,
            Err(error @ (HeadError::NewerFormat { .. } | HeadError::Field { .. })) => {
                return Err((RecordState::Newer, error.to_string()));
            }
            Err(error) => return Err((RecordState::FirstCheckBad, error.to_string())),
        };
        let broken = |what: &str| Err((RecordState::ChainBroken, what.to_owned()));
        if head.origin() != origin {
            return broken("the event is another origin's");
        }
        if head.seq() != self.expected {
            return broken("the event is out of sequence");
        }
        if self.prev.is_some_and(|prev| prev != head.prev()) {
            return broken("the event names another one before it than there is");
        }
        if offset == HEADER_LEN as u64 && segment.name.first_event[..] != id.0[..8] {
            return broken("the first event is not the one that the file's name says");
        }
        self.take_batch(&head, offset, from_hint).or_else(broken)?;
        if self.bad_body.is_some() {
            self.synced_after_bad = self.synced_after_bad.max(record.synced);
        } else if record.body == Body::Damaged {
            let (start, first, ..) = self.batch.expect("the record's batch was just noted");
            self.bad_body = Some((head.seq(), start, first));
            self.tip_before_bad = self.tip.clone();
        }
        let (kind, version) = (head.kind(), head.kind_version());
        if kind.is_critical() && !kind.is_understood(version) && self.newer.is_none() {
            let what = newer_kind(kind, version);
            self.newer = Some((offset, head.seq(), what));
        }
        self.synced = self.synced.max(record.synced);
        self.prev = Some(id);
        self.expected = Seq(head.seq().0 + 1);
        self.last = Some((
            tip_of(&head, id),
            offset,
            offset + record.bytes.len() as u64,
        ));
        if self.batch.is_some_and(|(_, _, have, count)| have == count) {
            self.batch = None;
            self.tip = Some(TipPlace {
                tip: tip_of(&head, id),
                segment: segment.clone(),
                offset,
                end: offset + record.bytes.len() as u64,
                synced: self.synced,
            });
        }
        Ok(())
    }

    fn take_batch(
        &mut self,
        head: &Head<'_>,
        offset: u64,
        from_hint: bool,
    ) -> std::result::Result<(), &'static str> {
        let (index, count) = (head.batch_index(), head.batch_count());
        self.batch = match self.batch {
            // A hint names the last event of a batch.
            None if from_hint && index + 1 == count => Some((offset, head.seq(), count, count)),
            None if index == 0 => Some((offset, head.seq(), 1, count)),
            None if self.cut_before && offset == HEADER_LEN as u64 => {
                Some((offset, head.seq(), index + 1, count))
            }
            Some((start, first, have, all)) if index == have && count == all => {
                Some((start, first, have + 1, count))
            }
            _ => return Err("the event is out of place in its batch"),
        };
        Ok(())
    }
}

pub(crate) fn tip_of(head: &Head<'_>, id: EventId) -> Tip {
    Tip {
        origin: head.origin(),
        seq: head.seq(),
        event: id,
        position: head.position(),
        time: head.time(),
    }
}

/// Says that an event is of a kind that only a newer version understands.
pub(crate) fn newer_kind(kind: Kind, version: u16) -> String {
    format!(
        "{} version {version} is newer than this version of icm",
        kind.name()
    )
}

/// The largest `synced` of the valid records of `origin` that start at or after `offset` and come
/// after event `after` in the chain; 0 when there are none.
fn later_synced(
    disk: &dyn Disk,
    path: &Path,
    offset: u64,
    origin: OriginId,
    after: Seq,
) -> Result<Seq> {
    // The origin stands 8 bytes into the head, which follows the frame.
    const ORIGIN_AT: usize = FRAME_LEN + 8;
    const STRIDE: usize = 4 * 1_024 * 1_024;
    let file = disk
        .open(path, OpenMode::Read)
        .map_err(at("reading", path))?;
    let len = file.len().map_err(at("reading", path))?;
    let mut best = Seq(0);
    let mut bytes = Vec::new();
    let mut base = offset;
    while base < len {
        // Records that start within the stride are seen whole.
        let room = (len - base).min((STRIDE + RECORD_LEN_MAX) as u64) as usize;
        bytes.resize(room, 0);
        let read = file
            .read_at(&mut bytes, base)
            .map_err(at("reading", path))?;
        bytes.truncate(read);
        let mut start = 0;
        while let Some(found) = bytes
            .get(start + ORIGIN_AT..)
            .and_then(|rest| find(rest, &origin.0))
        {
            start += found;
            if start >= STRIDE {
                break;
            }
            if let Parsed::Record(shape) = record::parse(&bytes[start..]) {
                let record = shape.view(&bytes[start..]);
                let (seq, synced) = (record.seq(), record.synced);
                // What is durable when a record is written is before it.
                if seq >= after && synced < seq {
                    best = best.max(synced);
                }
            }
            start += 1;
        }
        base += STRIDE as u64;
    }
    Ok(best)
}

/// Where `needle` first stands in `haystack`.
pub(crate) fn find(haystack: &[u8], needle: &[u8; 16]) -> Option<usize> {
    let mut from = 0;
    while let Some(step) = haystack[from..].iter().position(|byte| *byte == needle[0]) {
        let at = from + step;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}
