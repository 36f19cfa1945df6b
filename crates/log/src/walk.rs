//! This machine's order of learning: a walk of its own chain (and the chains that it continues)
//! with the ranges it imported spliced in directly before the `log.imported` that names them.

mod back;
mod branch;
mod foreign;
mod seek;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::chain::{self, SegmentFile};
use crate::disk::{Disk, DiskFile};
use crate::error::{LogError, Result};
use crate::holes::{Explainer, Gap};
use crate::layout;
use crate::recover::{Tip, TipPlace, tip_of};
use crate::scan::{SegmentScan, Step, read_one};
use crate::store_file::StoreFile;
use icm_event::facts::{Continues, Facts};
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};
use icm_event::kind::Kind;
use icm_event::record::{Body, Record};
use icm_event::segment::HEADER_LEN;

use foreign::Reached;

pub(crate) use branch::{OwnBranches, Walked};

pub use seek::{Waypoint, Waypoints};

/// A chain of the walk, and where it ends when another one carries on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) origin: OriginId,
    pub(crate) until: Option<Seq>,
    /// The event there; zero when nothing carries on.
    pub(crate) event: EventId,
}

/// An event, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The head.
    pub head: Head<'a>,
    /// Its id.
    pub id: EventId,
    /// Place in this machine's order of learning. The head's own position is its author's.
    pub position: Position,
    /// The body.
    pub body: Body<'a>,
    /// Where it lies.
    pub place: Place<'a>,
    /// Of a walked chain, not of an imported range.
    pub own: bool,
}

/// Where an event lies.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Segment file.
    pub path: &'a Path,
    /// First seq of the segment.
    pub segment: Seq,
    /// Offset of the record in bytes.
    pub offset: u64,
    /// Length of the record in bytes.
    pub len: usize,
}

impl Event<'_> {
    /// The place after an own event; where an imported one lies.
    fn cursor(&self) -> Cursor {
        Cursor {
            position: self.position,
            event: self.id,
            origin: self.head.origin(),
            seq: self.head.seq(),
            segment: self.place.segment,
            offset: self.place.offset,
        }
    }
}

/// A place between two events of the walk: after the event it names. Stored with a view, it lets
/// the view go on from there; checked against the log before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// Position of the event before; 0 at the start.
    pub position: Position,
    /// The event before; zero at the start.
    pub event: EventId,
    origin: OriginId,
    seq: Seq,
    segment: Seq,
    offset: u64,
}

impl Cursor {
    /// Before the first event.
    pub const START: Cursor = Cursor {
        position: Position(0),
        event: EventId::ZERO,
        origin: OriginId::ZERO,
        seq: Seq(0),
        segment: Seq(0),
        offset: 0,
    };

    /// Whether nothing is before it.
    pub fn is_start(&self) -> bool {
        self.position.0 == 0
    }
}

/// The chains that the walk of `origin` goes through, oldest first; `known` may say what their first
/// events no longer do.
pub(crate) fn parts(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    known: Option<&StoreFile>,
) -> Result<Vec<Part>> {
    // What the first event of a chain says counts; where that is lost, what was noted of it.
    parts_by(origin, &mut |origin| {
        let said = continued_by(disk, store, origin)?;
        Ok(said.or_else(|| known.and_then(|known| known.noted(origin))))
    })
}

/// The same, by what somebody else knows each chain to carry on from.
pub(crate) fn parts_by(
    origin: OriginId,
    continued: &mut dyn FnMut(OriginId) -> Result<Option<Continues>>,
) -> Result<Vec<Part>> {
    let mut parts = vec![Part {
        origin,
        until: None,
        event: EventId::ZERO,
    }];
    let mut next = continued(origin)?;
    while let Some(continues) = next {
        if parts.iter().any(|part| part.origin == continues.origin) {
            break;
        }
        parts.push(Part {
            origin: continues.origin,
            until: Some(continues.seq),
            event: continues.event,
        });
        next = continued(continues.origin)?;
    }
    parts.reverse();
    Ok(parts)
}

/// The origins of chains, in their order.
pub(crate) fn origins_of(parts: &[Part]) -> Vec<OriginId> {
    parts.iter().map(|part| part.origin).collect()
}

fn continued_by(disk: &dyn Disk, store: &Path, origin: OriginId) -> Result<Option<Continues>> {
    let segments = chain::segments(disk, store, origin)?;
    let Some(first) = segments
        .first()
        .filter(|segment| segment.name.first_seq == Seq(1))
    else {
        return Ok(None);
    };
    let continues = read_one(disk, &first.path, HEADER_LEN as u64, |record| {
        let head = record.parse_head().ok()?;
        match Facts::of(&head) {
            Ok(Facts::OriginStarted(facts)) => facts.continues,
            _ => None,
        }
    })?;
    Ok(continues.flatten())
}

/// The chain that no other one continues; of several the one with the latest first event.
pub(crate) fn newest_origin(disk: &dyn Disk, store: &Path) -> Result<Option<OriginId>> {
    let origins = chain::origins(disk, store)?;
    let mut continued = Vec::new();
    for origin in &origins {
        continued.extend(continued_by(disk, store, *origin)?.map(|continues| continues.origin));
    }
    let mut best: Option<(Time, OriginId)> = None;
    for origin in origins
        .into_iter()
        .filter(|origin| !continued.contains(origin))
    {
        let segments = chain::segments(disk, store, origin)?;
        let Some(first) = segments.first() else {
            continue;
        };
        let time = read_one(disk, &first.path, HEADER_LEN as u64, |record| {
            record.common().time
        })?;
        best = best.max(time.map(|time| (time, origin)));
    }
    Ok(best.map(|(_, origin)| origin))
}

/// The last event of a chain that is on all of its branches; `None` where it does not branch.
pub(crate) fn before_branches(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
) -> Result<Option<Tip>> {
    let branches = chain::first_branches(&chain::segments(disk, store, origin)?);
    let Some(before) = branches.and_then(|seq| seq.0.checked_sub(1)) else {
        return Ok(None);
    };
    let place = find_seq(disk, store, origin, Seq(before), None)?;
    Ok(place.map(|place| place.tip))
}

/// The place of event `seq` of a chain: where it branches that of `event`, if one is given.
pub(crate) fn find_seq(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    seq: Seq,
    event: Option<EventId>,
) -> Result<Option<TipPlace>> {
    let segments = chain::segments(disk, store, origin)?;
    let Some(index) = chain::holding(&segments, seq) else {
        return Ok(None);
    };
    let branches = chain::branches(&segments);
    let (first, rest) = segments[..=index].split_last().expect("it has one");
    let rest = rest.iter().rev().filter(|_| branches);
    for segment in std::iter::once(first).chain(rest) {
        let mut scan = SegmentScan::open(disk, &segment.path, HEADER_LEN as u64, u64::MAX)?;
        while let Step::Record { offset, record, id } = scan.step()? {
            if record.seq() < seq {
                continue;
            }
            if record.seq() > seq || event.is_some_and(|event| event != id) {
                break;
            }
            let Ok(head) = record.parse_head() else {
                return Ok(None);
            };
            return Ok(Some(TipPlace {
                tip: tip_of(&head, id),
                segment: segment.clone(),
                offset,
                end: offset + record.bytes.len() as u64,
                synced: record.synced,
            }));
        }
    }
    Ok(None)
}

/// What a walk hands out.
type Each<'f> = &'f mut dyn FnMut(&Event<'_>) -> ControlFlow<()>;

/// A walk as it was when it was taken: later appends do not show.
pub(crate) struct Walk<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) store: &'a Path,
    pub(crate) parts: Vec<Part>,
    pub(crate) tip: Option<TipPlace>,
    /// The segments of the tip's chain, where they are known.
    pub(crate) segments: Option<Arc<[SegmentFile]>>,
    /// The tip's segment, where it is open.
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    /// What explains a gap, where one is met.
    pub(crate) holes: Explainer<'a>,
    pub(crate) branches: &'a OwnBranches,
    pub(crate) splice: Splice<'a>,
}

/// How much of the imported ranges a walk hands out.
#[derive(Clone, Copy)]
pub(crate) enum Splice<'a> {
    All,
    Nothing,
    /// What is at this position or after it, and perhaps some events before it.
    From(Position, &'a dyn Waypoints),
}

impl Walk<'_> {
    pub(crate) fn end(&self) -> Cursor {
        match &self.tip {
            None => Cursor::START,
            Some(place) => Cursor {
                position: place.tip.position,
                event: place.tip.event,
                origin: place.tip.origin,
                seq: place.tip.seq,
                segment: place.segment.name.first_seq,
                offset: place.offset,
            },
        }
    }

    pub(crate) fn holds(&self, cursor: &Cursor) -> Result<bool> {
        self.holds_and(cursor, |_| true)
    }

    /// Whether the walk may come by `cursor`: it is not beyond the tip, and of a walked chain.
    fn reaches(&self, cursor: &Cursor) -> bool {
        let end = self.tip.as_ref().map(|place| place.tip.position);
        end.is_some_and(|end| cursor.position <= end)
            && self.parts.iter().any(|part| part.origin == cursor.origin)
    }

    /// Whether the event that `cursor` names is where it says, and `fits`.
    fn holds_and(&self, cursor: &Cursor, fits: impl Fn(&Head<'_>) -> bool) -> Result<bool> {
        if cursor.is_start() {
            return Ok(true);
        }
        if !self.reaches(cursor) {
            return Ok(false);
        }
        let segments = self.segments_of(cursor.origin)?;
        let Some(segment) = segments.iter().find(|s| s.name.first_seq == cursor.segment) else {
            return Ok(false);
        };
        let same = read_one(self.disk, &segment.path, cursor.offset, |record| {
            record.seq() == cursor.seq
                && icm_event::hash::event_id(record.head) == cursor.event
                && record.parse_head().is_ok_and(|head| fits(&head))
        })?;
        Ok(same == Some(true))
    }

    fn segments_of(&self, origin: OriginId) -> Result<Vec<SegmentFile>> {
        let of_tip = self
            .tip
            .as_ref()
            .is_some_and(|place| place.tip.origin == origin);
        match &self.segments {
            Some(segments) if of_tip => Ok(segments.to_vec()),
            _ => {
                let all = chain::segments(self.disk, self.store, origin)?;
                let part = self.parts.iter().find(|part| part.origin == origin);
                match part {
                    Some(part) => self.branches.among(self.disk, self.store, *part, all),
                    None => Ok(all),
                }
            }
        }
    }

    /// A segment from `offset` on, as far as the walk goes.
    fn scan(&self, origin: OriginId, segment: &SegmentFile, offset: u64) -> Result<SegmentScan> {
        let of_tip = self
            .tip
            .as_ref()
            .filter(|place| place.tip.origin == origin && place.segment.name == segment.name);
        match (of_tip, &self.file) {
            (Some(place), Some(file)) => Ok(SegmentScan::of(
                Arc::clone(file),
                &segment.path,
                offset,
                place.end,
            )),
            (Some(place), None) => SegmentScan::open(self.disk, &segment.path, offset, place.end),
            (None, _) => SegmentScan::open(self.disk, &segment.path, offset, u64::MAX),
        }
    }

    /// Segments of a part that belong to the walk.
    fn segments(&self, part: Part) -> Result<Vec<SegmentFile>> {
        let mut segments = self.segments_of(part.origin)?;
        if let Some(until) = part.until {
            segments.retain(|segment| segment.name.first_seq <= until);
        }
        if let Some(place) = self
            .tip
            .as_ref()
            .filter(|place| place.tip.origin == part.origin)
        {
            segments.retain(|segment| segment.name.first_seq <= place.segment.name.first_seq);
        }
        Ok(segments)
    }

    pub(crate) fn forward(&self, from: &Cursor, each: Each<'_>) -> Result<Cursor> {
        let mut cursor = *from;
        self.forward_to(&mut cursor, each)?;
        Ok(cursor)
    }

    /// As `forward`; where it fails the cursor stands after the last own event handed out.
    pub(crate) fn forward_to(&self, cursor: &mut Cursor, each: Each<'_>) -> Result<()> {
        let from = *cursor;
        let mut reached = Reached::default();
        if self.tip.is_none() && from.is_start() {
            return Ok(());
        }
        let stale = LogError::StaleCursor {
            position: from.position.0,
        };
        let mut resumed = from.is_start();
        if !resumed && !self.reaches(&from) {
            return Err(stale);
        }
        let first = self
            .parts
            .iter()
            .position(|part| part.origin == from.origin)
            .unwrap_or(0);
        for part in &self.parts[first..] {
            if self.tip_is_before(*part) {
                break;
            }
            let mut expected = Seq(1);
            for segment in self.segments(*part)? {
                let within = cursor.origin == part.origin && cursor.seq >= segment.name.first_seq;
                if within && cursor.segment != segment.name.first_seq {
                    continue;
                }
                resumed |= within;
                let flow = self.forward_segment(
                    *part,
                    &segment,
                    &mut expected,
                    cursor,
                    &mut reached,
                    each,
                )?;
                if flow.is_break() {
                    return Ok(());
                }
            }
            if !resumed {
                return Err(stale); // its segment is gone
            }
        }
        Ok(())
    }

    /// The tip may lie in an older part while the newest origin has no event yet.
    fn tip_is_before(&self, part: Part) -> bool {
        let index = |origin| self.parts.iter().position(|part| part.origin == origin);
        let tip = self.tip.as_ref().and_then(|place| index(place.tip.origin));
        tip < index(part.origin)
    }

    fn damaged(&self, case: Case, place: (&SegmentFile, Seq, u64), what: &str) -> LogError {
        let (segment, seq, offset_bytes) = place;
        LogError::Damaged {
            case,
            file: layout::relative(self.store, &segment.path),
            seq,
            offset_bytes,
            what: what.to_owned(),
        }
    }

    fn forward_segment(
        &self,
        part: Part,
        segment: &SegmentFile,
        expected: &mut Seq,
        cursor: &mut Cursor,
        reached: &mut Reached,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let damaged =
            |case, seq, offset, what: &str| self.damaged(case, (segment, seq, offset), what);
        let mut scan = self.scan(part.origin, segment, HEADER_LEN as u64)?;
        if cursor.origin == part.origin && cursor.segment == segment.name.first_seq {
            scan = self.scan(part.origin, segment, cursor.offset)?;
            let holds = match scan.step()? {
                Step::Record { record, .. } => {
                    record.seq() == cursor.seq
                        && icm_event::hash::event_id(record.head) == cursor.event
                }
                _ => false,
            };
            if !holds {
                return Err(LogError::StaleCursor {
                    position: cursor.position.0,
                });
            }
            *expected = Seq(cursor.seq.0 + 1);
        }
        let end = part.until.or(self
            .tip
            .as_ref()
            .filter(|place| place.tip.origin == part.origin)
            .map(|place| place.tip.seq));
        loop {
            let (offset, record, id) = match scan.step()? {
                Step::Record { offset, record, id } => (offset, record, id),
                Step::End => return Ok(ControlFlow::Continue(())),
                Step::Newer { .. } => return Err(newer(*expected)),
                Step::Bad { offset } => {
                    return Err(damaged(
                        Case::C,
                        *expected,
                        offset,
                        "bytes that are no record",
                    ));
                }
            };
            if end.is_some_and(|end| record.seq() > end) {
                return Ok(ControlFlow::Continue(()));
            }
            let begins = offset == HEADER_LEN as u64;
            if begins && part.until.is_some() && record.seq() < *expected {
                // It repeats the end of the one before: a segment was being divided.
                return Ok(ControlFlow::Continue(()));
            }
            if begins && record.seq() > *expected && record.is_of(part.origin) {
                let gap = Gap {
                    origin: part.origin,
                    last: match cursor.origin == part.origin && cursor.seq.0 + 1 == expected.0 {
                        true => cursor.event,
                        false => EventId::ZERO,
                    },
                    next: id,
                    from: *expected,
                    to: Seq(record.seq().0 - 1),
                };
                if self.holes.holes()?.explain(&gap).is_some() {
                    *expected = record.seq();
                }
            }
            if record.seq() != *expected || !record.is_of(part.origin) {
                return Err(damaged(
                    Case::E,
                    *expected,
                    offset,
                    "the next event is missing",
                ));
            }
            *expected = Seq(expected.0 + 1);
            let head = read_head(&record)?;
            if head.kind() == Kind::LOG_IMPORTED
                && let Ok(Facts::Imported(facts)) = Facts::of(&head)
            {
                let mut position = cursor.position;
                for range in &facts.ranges {
                    if self
                        .foreign(range, &mut position, reached, each)?
                        .is_break()
                    {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            let event = event_of(
                &record,
                head,
                id,
                head.position(),
                place_of(segment, offset, &record),
                true,
            );
            let flow = each(&event);
            *cursor = event.cursor();
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

impl Walk<'_> {
    /// Whether a repair has said that `id` goes on from `last` although it names another event.
    fn is_bridged(
        &self,
        origin: OriginId,
        (seq, last): (Seq, EventId),
        id: EventId,
    ) -> Result<bool> {
        let gap = Gap {
            origin,
            last,
            next: id,
            from: seq,
            to: Seq(seq.0 - 1),
        };
        Ok(self.holes.holes()?.explain(&gap).is_some())
    }
}

fn newer(seq: Seq) -> LogError {
    LogError::NewerFormat {
        what: format!("event {seq} was written by a newer version of icm"),
    }
}

fn read_head<'a>(record: &Record<'a>) -> Result<Head<'a>> {
    record.parse_head().map_err(|error| LogError::NewerFormat {
        what: error.to_string(),
    })
}

fn place_of<'a>(segment: &'a SegmentFile, offset: u64, record: &Record<'_>) -> Place<'a> {
    Place {
        path: &segment.path,
        segment: segment.name.first_seq,
        offset,
        len: record.bytes.len(),
    }
}

fn event_of<'a>(
    record: &Record<'a>,
    head: Head<'a>,
    id: EventId,
    position: Position,
    place: Place<'a>,
    own: bool,
) -> Event<'a> {
    Event {
        head,
        id,
        position,
        body: record.body,
        place,
        own,
    }
}
