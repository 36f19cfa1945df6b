//! The walk of a log, newest event first.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::event::{Place, event_of, newer, place_of, read_head};
use super::foreign::Reached;
use super::part::Part;
use super::waypoint::Waypoints;
use super::{Each, Walk};
use crate::cases::Case;
use crate::chain::SegmentFile;
use crate::error::{LogError, Result};
use crate::scan::{SegmentScan, Step, read_one};
use icm_event::facts::Facts;
use icm_event::id::{EventId, Position, Seq};
use icm_event::kind::Kind;
use icm_event::segment::HEADER_LEN;

impl Walk<'_> {
    /// Hands out every event at or before `from`, newest first. Of a damaged stretch, the records before the damage are
    /// handed out, and then the error is returned: the records after the damage cannot be reached. A stretch is a segment,
    /// or the part of one between two waypoints; it ends at the first record later than `from`.
    pub(crate) fn backward(
        &self,
        from: Position,
        known: &dyn Waypoints,
        each: Each<'_>,
    ) -> Result<()> {
        for part in self.parts.iter().rev() {
            if self.tip_is_before(*part) {
                continue;
            }
            // Events that the next segment repeats were handed out with that segment.
            let mut next = part.until.map_or(Seq(u64::MAX), |until| Seq(until.0 + 1));
            for segment in self.segments(*part)?.iter().rev() {
                let below = std::mem::replace(&mut next, segment.name.first_seq);
                // Positions rise along the chain; only an import brings events of smaller positions.
                let later = self.first_of(segment, |head| {
                    head.position() > from && head.kind() != Kind::LOG_IMPORTED
                })?;
                if later == Some(true) {
                    continue;
                }
                if self
                    .segment_backward((*part, segment), (from, below), known, each)?
                    .is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn segment_backward(
        &self,
        (part, segment): (Part, &SegmentFile),
        (from, below): (Position, Seq),
        known: &dyn Waypoints,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut broken = None;
        let (mut before, mut end) = (from, u64::MAX);
        loop {
            let start = known.last(&|waypoint| waypoint.cursor.position <= before);
            let start = match start.map(|waypoint| waypoint.cursor) {
                Some(cursor)
                    if (cursor.origin, cursor.segment) == (part.origin, segment.name.first_seq)
                        && cursor.offset < end
                        && self.holds(&cursor)? =>
                {
                    Some(cursor)
                }
                _ => None,
            };
            let first = start.map_or((segment.name.first_seq, HEADER_LEN as u64), |cursor| {
                (cursor.seq, cursor.offset)
            });
            let mut scan = self.scan(part.origin, segment, first.1)?;
            let mut offsets = Vec::new();
            let mut note = |offset, id, seq| {
                if seq < below {
                    offsets.push((offset, id));
                }
            };
            let ends = self.stretch(segment, &mut scan, (first.0, end), from, &mut note)?;
            broken = ends.err().or(broken);
            for (offset, id) in offsets.into_iter().rev() {
                if self
                    .one_backward((segment, &mut scan), offset, id, from, each)?
                    .is_break()
                {
                    return broken.map_or(Ok(ControlFlow::Break(())), Err);
                }
            }
            let Some(cursor) = start else {
                return broken.map_or(Ok(ControlFlow::Continue(())), Err);
            };
            end = cursor.offset;
            before = Position(cursor.position.0.saturating_sub(1));
        }
    }

    /// Notes the records of a scan up to the offset `end`, or up to the first one that is later than `from`. Returns
    /// the damage at which the scan ended.
    fn stretch(
        &self,
        segment: &SegmentFile,
        scan: &mut SegmentScan,
        (mut expected, end): (Seq, u64),
        from: Position,
        note: &mut dyn FnMut(u64, EventId, Seq),
    ) -> Result<Result<()>> {
        loop {
            match scan.step()? {
                Step::Record { offset, .. } if offset >= end => return Ok(Ok(())),
                Step::Record { offset, record, id } => {
                    expected = Seq(record.seq().0.saturating_add(1));
                    note(offset, id, record.seq());
                    // An import brings events of smaller positions, but none smaller than those before it.
                    let is_later = from.0 < u64::MAX
                        && record.parse_head().is_ok_and(|head| head.position() > from);
                    if is_later {
                        return Ok(Ok(()));
                    }
                }
                Step::End => return Ok(Ok(())),
                Step::Newer { .. } => return Ok(Err(newer(expected))),
                Step::Bad { offset } => {
                    let what = "bytes that are no record";
                    let place = (segment, expected, offset);
                    return Ok(Err(self.damaged(Case::C, place, what)));
                }
            }
        }
    }

    fn one_backward(
        &self,
        (segment, scan): (&SegmentFile, &mut SegmentScan),
        offset: u64,
        id: EventId,
        from: Position,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let imported = scan.back_at(offset, |record| {
            let head = read_head(record)?;
            if head.position() <= from {
                let event = event_of(
                    record,
                    head,
                    id,
                    head.position(),
                    place_of(segment, offset, record),
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
        let mut places: Vec<(PathBuf, Seq, u64, EventId, Position)> = Vec::new();
        for range in &facts.ranges {
            let _ = self.foreign(range, &mut before, &mut Reached::default(), &mut |event| {
                places.push((
                    event.place.path.to_owned(),
                    event.place.segment,
                    event.place.offset,
                    event.id,
                    event.position,
                ));
                ControlFlow::Continue(())
            })?;
        }
        for (path, segment, offset, id, position) in places.into_iter().rev() {
            if position > from {
                continue;
            }
            let flow = read_one(self.disk, &path, offset, |record| {
                let head = read_head(record)?;
                let place = Place {
                    path: &path,
                    segment,
                    offset,
                    len: record.bytes.len(),
                };
                Ok::<_, LogError>(each(&event_of(record, head, id, position, place, false)))
            })?;
            if flow.transpose()?.is_some_and(|flow| flow.is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
