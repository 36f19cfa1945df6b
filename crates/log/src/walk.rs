//! This machine's order of learning: a walk of its own chain (and the chains that it continues)
//! with the ranges it imported spliced in directly before the `log.imported` that names them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cases::Case;
use crate::chain::{self, SegmentFile};
use crate::disk::Disk;
use crate::error::{LogError, Result};
use crate::facts::{Continues, Facts, ImportedRange};
use crate::head::Head;
use crate::id::{EventId, OriginId, Position, Seq, Time};
use crate::kind::Kind;
use crate::log::Log;
use crate::record::{Body, Record};
use crate::recover::{TipPlace, tip_of};
use crate::scan::{SegmentScan, Step, read_one};
use crate::segment::HEADER_LEN;

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
    /// Offset of the record in bytes.
    pub offset: u64,
    /// Length of the record in bytes.
    pub len: usize,
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

/// The chains that the walk of `origin` goes through, oldest first.
pub(crate) fn parts(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    pending: Option<Continues>,
) -> Result<Vec<Part>> {
    let mut parts = vec![Part {
        origin,
        until: None,
        event: EventId::ZERO,
    }];
    let mut next = continued_by(disk, store, origin)?.or(pending);
    while let Some(continues) = next {
        if parts.iter().any(|part| part.origin == continues.origin) {
            break;
        }
        parts.push(Part {
            origin: continues.origin,
            until: Some(continues.seq),
            event: continues.event,
        });
        next = continued_by(disk, store, continues.origin)?;
    }
    parts.reverse();
    Ok(parts)
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
            record.common.time
        })?;
        best = best.max(time.map(|time| (time, origin)));
    }
    Ok(best.map(|(_, origin)| origin))
}

/// The place of event `seq` of a chain.
pub(crate) fn find_seq(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    seq: Seq,
) -> Result<Option<TipPlace>> {
    let segments = chain::segments(disk, store, origin)?;
    let Some(index) = chain::holding(&segments, seq) else {
        return Ok(None);
    };
    let segment = &segments[index];
    let mut scan = SegmentScan::open(disk, &segment.path, HEADER_LEN as u64, u64::MAX)?;
    while let Step::Record { offset, record, id } = scan.step()? {
        if record.common.seq == seq {
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
struct Walk<'a> {
    disk: &'a dyn Disk,
    store: &'a Path,
    parts: Vec<Part>,
    tip: Option<TipPlace>,
}

impl Log {
    fn walk(&self) -> Walk<'_> {
        let state = self.lock_state();
        Walk {
            disk: &*self.disk,
            store: &self.dir,
            parts: state.parts.clone(),
            tip: state.tip.clone(),
        }
    }

    /// Hands out every event after `from`, in the order of positions, up to the tip as of the last
    /// refresh. Stops when `each` breaks. Returns the place after the last own event handed out,
    /// so a break within an imported range is taken up again from the range's start.
    ///
    /// # Errors
    /// `StaleCursor` when the log no longer holds what `from` names, `Damaged` and `NewerFormat`
    /// at an event that cannot be read; what is before it was handed out.
    pub fn scan(
        &self,
        from: &Cursor,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<Cursor> {
        self.walk().forward(from, each)
    }

    /// As [`Log::scan`], but says how far it came and, apart from that, why it stopped early.
    pub fn scan_whole(
        &self,
        from: &Cursor,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> (Cursor, Option<LogError>) {
        let mut cursor = *from;
        let stopped = self.walk().forward_to(&mut cursor, each).err();
        (cursor, stopped)
    }

    /// Hands out every event at or before `from` (the tip when `None`), newest first. Costs one
    /// pass over each segment that it touches.
    pub fn scan_back(
        &self,
        from: Option<Position>,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.walk()
            .backward(from.unwrap_or(Position(u64::MAX)), each)
    }

    /// The place before the own event that holds `position` or brought it; a scan from there hands
    /// out `position` and perhaps some events before it.
    pub fn cursor_before(&self, position: Position) -> Result<Cursor> {
        self.walk().cursor_before(position)
    }

    /// Whether the log still holds the event that `cursor` names, where it names it.
    pub fn holds(&self, cursor: &Cursor) -> Result<bool> {
        self.walk().holds(cursor)
    }

    /// The place after the tip.
    pub fn end(&self) -> Cursor {
        self.walk().end()
    }

    /// The last event of the walked chains with a time at or before `ms` (milliseconds since the
    /// epoch), widened to the end of its batch; searched newest chain first. `None` when all are
    /// later.
    pub fn at_time(&self, ms: u64) -> Result<Option<crate::Tip>> {
        self.walk().at_time(ms)
    }

    /// The event at the end that `position` means: the last of its batch, or the `log.imported`
    /// that brought it. `None` beyond the tip and for 0.
    pub fn at_position(&self, position: Position) -> Result<Option<crate::Tip>> {
        self.walk().at_position(position)
    }
}

impl Walk<'_> {
    fn end(&self) -> Cursor {
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

    fn holds(&self, cursor: &Cursor) -> Result<bool> {
        if cursor.is_start() {
            return Ok(true);
        }
        if self
            .tip
            .as_ref()
            .is_none_or(|place| place.tip.position < cursor.position)
            || !self.parts.iter().any(|part| part.origin == cursor.origin)
        {
            return Ok(false);
        }
        let segments = chain::segments(self.disk, self.store, cursor.origin)?;
        let Some(segment) = segments.iter().find(|s| s.name.first_seq == cursor.segment) else {
            return Ok(false);
        };
        let same = read_one(self.disk, &segment.path, cursor.offset, |record| {
            record.common.seq == cursor.seq && crate::hash::event_id(record.head) == cursor.event
        })?;
        Ok(same == Some(true))
    }

    /// Where the walk of a segment has to stop: the tip's end in the tip's segment.
    fn limit(&self, origin: OriginId, segment: &SegmentFile) -> u64 {
        match &self.tip {
            Some(place) if place.tip.origin == origin && place.segment.name == segment.name => {
                place.end
            }
            _ => u64::MAX,
        }
    }

    /// Segments of a part that belong to the walk.
    fn segments(&self, part: Part) -> Result<Vec<SegmentFile>> {
        let mut segments = chain::segments(self.disk, self.store, part.origin)?;
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

    fn forward(&self, from: &Cursor, each: Each<'_>) -> Result<Cursor> {
        let mut cursor = *from;
        self.forward_to(&mut cursor, each)?;
        Ok(cursor)
    }

    /// As `forward`; where it fails the cursor stands after the last own event handed out.
    fn forward_to(&self, cursor: &mut Cursor, each: Each<'_>) -> Result<()> {
        let from = *cursor;
        if self.tip.is_none() && from.is_start() {
            return Ok(());
        }
        if !self.holds(&from)? {
            return Err(LogError::StaleCursor {
                position: from.position.0,
            });
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
                let resumes = cursor.origin == part.origin && cursor.seq >= segment.name.first_seq;
                if resumes && cursor.segment != segment.name.first_seq {
                    continue;
                }
                let mut offset = HEADER_LEN as u64;
                if resumes {
                    offset = cursor.offset;
                    expected = cursor.seq;
                }
                let flow =
                    self.forward_segment(*part, &segment, offset, &mut expected, cursor, each)?;
                if flow.is_break() {
                    return Ok(());
                }
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

    fn forward_segment(
        &self,
        part: Part,
        segment: &SegmentFile,
        offset: u64,
        expected: &mut Seq,
        cursor: &mut Cursor,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let limit = self.limit(part.origin, segment);
        let damaged = |case, seq, offset_bytes, what: &str| LogError::Damaged {
            case,
            file: chain::relative(self.store, &segment.path),
            seq,
            offset_bytes,
            what: what.to_owned(),
        };
        let mut scan = SegmentScan::open(self.disk, &segment.path, offset, limit)?;
        loop {
            let (offset, record, id) = match scan.step()? {
                Step::Record { offset, record, id } => (offset, record, id),
                Step::End => return Ok(ControlFlow::Continue(())),
                Step::Newer { .. } => {
                    let what = format!("event {expected} was written by a newer version of icm");
                    return Err(LogError::NewerFormat { what });
                }
                Step::Bad { offset } => {
                    return Err(damaged(
                        Case::C,
                        *expected,
                        offset,
                        "bytes that are no record",
                    ));
                }
            };
            let tip = self
                .tip
                .as_ref()
                .filter(|place| place.tip.origin == part.origin);
            let end = tip.map(|place| place.tip.seq);
            if part
                .until
                .or(end)
                .is_some_and(|end| record.common.seq > end)
            {
                return Ok(ControlFlow::Continue(()));
            }
            if record.common.seq != *expected || record.common.origin != part.origin {
                return Err(damaged(
                    Case::E,
                    *expected,
                    offset,
                    "the next event is missing",
                ));
            }
            *expected = Seq(expected.0 + 1);
            if record.common.seq == cursor.seq && part.origin == cursor.origin {
                continue; // the event that the cursor names
            }
            let head = read_head(&record)?;
            if head.kind() == Kind::LOG_IMPORTED
                && let Ok(Facts::Imported(facts)) = Facts::of(&head)
            {
                let mut position = cursor.position;
                for range in &facts.ranges {
                    if self.foreign(range, &mut position, each)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            let event = event_of(
                &record,
                head,
                id,
                head.position(),
                &segment.path,
                offset,
                true,
            );
            let flow = each(&event);
            *cursor = Cursor {
                position: event.position,
                event: id,
                origin: part.origin,
                seq: head.seq(),
                segment: segment.name.first_seq,
                offset,
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// Hands out an imported range, ascending; what is missing of it takes up its positions.
    fn foreign(
        &self,
        range: &ImportedRange,
        position: &mut Position,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let base = position.0;
        let at = |seq: Seq| Position(base + 1 + (seq.0 - range.from_seq.0));
        *position = Position(base + range.count());
        let mut next = (range.from_seq, range.base);
        let segments = chain::segments(self.disk, self.store, range.origin)?;
        let Some(start) = chain::holding(&segments, range.from_seq) else {
            return Ok(ControlFlow::Continue(()));
        };
        for segment in &segments[start..] {
            let mut scan =
                SegmentScan::open(self.disk, &segment.path, HEADER_LEN as u64, u64::MAX)?;
            while let Step::Record { offset, record, id } = scan.step()? {
                let seq = record.common.seq;
                if seq > range.to_seq {
                    return Ok(ControlFlow::Continue(()));
                }
                let other_branch = seq == next.0 && record.common.prev != next.1;
                if seq < next.0 || other_branch || record.common.origin != range.origin {
                    continue;
                }
                next = (Seq(seq.0 + 1), id);
                let head = read_head(&record)?;
                let event = event_of(&record, head, id, at(seq), &segment.path, offset, false);
                if each(&event).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn backward(&self, from: Position, each: Each<'_>) -> Result<()> {
        for part in self.parts.iter().rev() {
            if self.tip_is_before(*part) {
                continue;
            }
            for segment in self.segments(*part)?.iter().rev() {
                // Positions rise along the chain; only an import brings some from before itself.
                let later = self.first_of(segment, |head| {
                    head.position() > from && head.kind() != Kind::LOG_IMPORTED
                })?;
                if later == Some(true) {
                    continue;
                }
                let mut offsets = Vec::new();
                let limit = self.limit(part.origin, segment);
                let mut scan =
                    SegmentScan::open(self.disk, &segment.path, HEADER_LEN as u64, limit)?;
                while let Step::Record { offset, record, id } = scan.step()? {
                    if part.until.is_none_or(|until| record.common.seq <= until) {
                        offsets.push((offset, id));
                    }
                }
                for (offset, id) in offsets.into_iter().rev() {
                    if self
                        .one_backward(segment, offset, id, from, each)?
                        .is_break()
                    {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn one_backward(
        &self,
        segment: &SegmentFile,
        offset: u64,
        id: EventId,
        from: Position,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let imported = read_one(self.disk, &segment.path, offset, |record| {
            let head = read_head(record)?;
            if head.position() <= from {
                let event = event_of(
                    record,
                    head,
                    id,
                    head.position(),
                    &segment.path,
                    offset,
                    true,
                );
                if each(&event).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok::<_, LogError>(match Facts::of(&head) {
                Ok(Facts::Imported(facts)) => ControlFlow::Continue(Some((head.position(), facts))),
                _ => ControlFlow::Continue(None),
            })
        })?;
        let (position, facts) = match imported {
            Some(Ok(ControlFlow::Continue(Some(found)))) => found,
            Some(Ok(ControlFlow::Break(()))) => return Ok(ControlFlow::Break(())),
            Some(Err(error)) => return Err(error),
            _ => return Ok(ControlFlow::Continue(())),
        };
        let mut before = Position(position.0.saturating_sub(1 + facts.count()));
        let mut places: Vec<(PathBuf, u64, EventId, Position)> = Vec::new();
        for range in &facts.ranges {
            let _ = self.foreign(range, &mut before, &mut |event| {
                places.push((
                    event.place.path.to_owned(),
                    event.place.offset,
                    event.id,
                    event.position,
                ));
                ControlFlow::Continue(())
            })?;
        }
        for (path, offset, id, position) in places.into_iter().rev() {
            if position > from {
                continue;
            }
            let flow = read_one(self.disk, &path, offset, |record| {
                let head = read_head(record)?;
                Ok::<_, LogError>(each(&event_of(
                    record, head, id, position, &path, offset, false,
                )))
            })?;
            if flow.transpose()?.is_some_and(|flow| flow.is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The first head of a segment.
    fn first_of<T>(
        &self,
        segment: &SegmentFile,
        read: impl FnOnce(&Head<'_>) -> T,
    ) -> Result<Option<T>> {
        read_one(self.disk, &segment.path, HEADER_LEN as u64, |record| {
            record.parse_head().ok().map(|head| read(&head))
        })
        .map(Option::flatten)
    }

    /// The place at the start of the last segment whose first event fits `before`.
    fn last_segment_where(&self, before: impl Fn(&Head<'_>) -> bool) -> Result<Cursor> {
        let mut found = Cursor::START;
        for part in self.parts.iter().rev() {
            if self.tip_is_before(*part) {
                continue;
            }
            let segments = self.segments(*part)?;
            let mut low = 0;
            let mut high = segments.len();
            while low < high {
                let middle = (low + high) / 2;
                if self.first_of(&segments[middle], &before)?.unwrap_or(false) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if let Some(index) = low.checked_sub(1) {
                let segment = &segments[index];
                if let Some((position, event, seq)) =
                    self.first_of(segment, |head| (head.position(), head.id(), head.seq()))?
                {
                    found = Cursor {
                        position,
                        event,
                        origin: part.origin,
                        seq,
                        segment: segment.name.first_seq,
                        offset: HEADER_LEN as u64,
                    };
                }
                break;
            }
        }
        Ok(found)
    }

    fn cursor_before(&self, position: Position) -> Result<Cursor> {
        // Strictly before, so that the scan that follows hands the event itself out.
        let start = self.last_segment_where(|head| head.position() < position)?;
        if start.position >= position {
            return Ok(Cursor::START);
        }
        let mut last = start;
        // Segments are short enough for a pass; events are handed out only from here on.
        self.forward(&start, &mut |event| {
            if event.own && event.position >= position {
                return ControlFlow::Break(());
            }
            if event.own {
                last = Cursor {
                    position: event.position,
                    event: event.id,
                    origin: event.head.origin(),
                    seq: event.head.seq(),
                    segment: Seq(0),
                    offset: event.place.offset,
                };
            }
            ControlFlow::Continue(())
        })?;
        if last.segment == Seq(0) && !last.is_start() {
            let segments = chain::segments(self.disk, self.store, last.origin)?;
            let index = chain::holding(&segments, last.seq);
            last.segment = index.map_or(Seq(0), |index| segments[index].name.first_seq);
        }
        Ok(last)
    }

    fn at_time(&self, ms: u64) -> Result<Option<crate::Tip>> {
        self.last_own(|head| head.time().ms() <= ms)
    }

    fn at_position(&self, position: Position) -> Result<Option<crate::Tip>> {
        let beyond = self
            .tip
            .as_ref()
            .is_none_or(|place| place.tip.position < position);
        if beyond || position.0 == 0 {
            return Ok(None);
        }
        // The first own event at or after the position: it is the event, or what brought it.
        let mut found: Option<crate::Tip> = None;
        let from = self.cursor_before(position)?;
        self.forward(&from, &mut |event| {
            if !event.own || event.position < position {
                return ControlFlow::Continue(());
            }
            found = Some(tip_of(&event.head, event.id));
            if event.head.batch_index() + 1 == event.head.batch_count() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(found)
    }

    /// The last own event that fits, widened to the end of its batch. What fits must be a prefix
    /// of each chain.
    fn last_own(&self, fits: impl Fn(&Head<'_>) -> bool) -> Result<Option<crate::Tip>> {
        let start = self.last_segment_where(&fits)?;
        if start.is_start() {
            return Ok(None);
        }
        let mut found = None;
        let mut open = true;
        // The cursor names the segment's first event itself, which fits.
        self.forward_from_event(&start, &mut |event| {
            if !event.own {
                return ControlFlow::Continue(());
            }
            if event.head.origin() != start.origin {
                return ControlFlow::Break(());
            }
            if !fits(&event.head) && !open {
                return ControlFlow::Break(());
            }
            found = Some(tip_of(&event.head, event.id));
            open = event.head.batch_index() + 1 != event.head.batch_count();
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// As `forward`, but hands out the event that the cursor names, too.
    fn forward_from_event(&self, cursor: &Cursor, each: Each<'_>) -> Result<()> {
        let segments = chain::segments(self.disk, self.store, cursor.origin)?;
        let Some(segment) = segments.iter().find(|s| s.name.first_seq == cursor.segment) else {
            return Err(LogError::StaleCursor {
                position: cursor.position.0,
            });
        };
        let flow = read_one(self.disk, &segment.path, cursor.offset, |record| {
            let head = read_head(record)?;
            let id = cursor.event;
            let event = event_of(
                record,
                head,
                id,
                head.position(),
                &segment.path,
                cursor.offset,
                true,
            );
            Ok::<_, LogError>(each(&event))
        })?;
        if flow.transpose()?.is_some_and(|flow| flow.is_continue()) {
            self.forward(cursor, each)?;
        }
        Ok(())
    }
}

fn read_head<'a>(record: &Record<'a>) -> Result<Head<'a>> {
    record.parse_head().map_err(|error| LogError::NewerFormat {
        what: error.to_string(),
    })
}

fn event_of<'a>(
    record: &Record<'a>,
    head: Head<'a>,
    id: EventId,
    position: Position,
    path: &'a Path,
    offset: u64,
    own: bool,
) -> Event<'a> {
    let place = Place {
        path,
        offset,
        len: record.bytes.len(),
    };
    Event {
        head,
        id,
        position,
        body: record.body,
        place,
        own,
    }
}
