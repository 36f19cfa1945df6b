//! The walk of a log, oldest event first.

use std::ops::ControlFlow;

use super::cursor::Cursor;
use super::event::{event_of, newer, place_of, read_head};
use super::foreign::Reached;
use super::part::Part;
use super::{Each, Walk};
use crate::cases::Case;
use crate::chain::SegmentFile;
use crate::error::{LogError, Result};
use crate::holes::Gap;
use crate::scan::{SegmentScan, Step};
use icm_event::facts::Facts;
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Position, Seq};
use icm_event::kind::Kind;
use icm_event::segment::HEADER_LEN;

impl Walk<'_> {
    pub(crate) fn forward(&self, from: &Cursor, each: Each<'_>) -> Result<Cursor> {
        let mut cursor = *from;
        self.forward_to(&mut cursor, each)?;
        Ok(cursor)
    }

    /// Like `forward`. After an error the cursor stands after the last own event handed out.
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
        let mut scan = self.scan_after(part, segment, cursor, expected)?;
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
                // The segment repeats the end of the one before: a division of that one was interrupted.
                return Ok(ControlFlow::Continue(()));
            }
            if begins && record.seq() > *expected && record.is_of(part.origin) {
                self.pass_hole(part.origin, cursor, (record.seq(), id), expected)?;
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
            if self
                .imported_by(&head, cursor.position, reached, each)?
                .is_break()
            {
                return Ok(ControlFlow::Break(()));
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

    /// Opens a segment, after the cursor's event if that lies in it.
    fn scan_after(
        &self,
        part: Part,
        segment: &SegmentFile,
        cursor: &Cursor,
        expected: &mut Seq,
    ) -> Result<SegmentScan> {
        if cursor.origin != part.origin || cursor.segment != segment.name.first_seq {
            return self.scan(part.origin, segment, HEADER_LEN as u64);
        }
        let mut scan = self.scan(part.origin, segment, cursor.offset)?;
        let holds = match scan.step()? {
            Step::Record { record, .. } => {
                record.seq() == cursor.seq && icm_event::hash::event_id(record.head) == cursor.event
            }
            _ => false,
        };
        if !holds {
            return Err(LogError::StaleCursor {
                position: cursor.position.0,
            });
        }
        *expected = Seq(cursor.seq.0 + 1);
        Ok(scan)
    }

    /// Expects the event `next` if a repair declares the events before it lost.
    fn pass_hole(
        &self,
        origin: OriginId,
        cursor: &Cursor,
        next: (Seq, EventId),
        expected: &mut Seq,
    ) -> Result<()> {
        let gap = Gap {
            origin,
            last: match cursor.origin == origin && cursor.seq.0 + 1 == expected.0 {
                true => cursor.event,
                false => EventId::ZERO,
            },
            next: next.1,
            from: *expected,
            to: Seq(next.0.0 - 1),
        };
        if self.holes.holes()?.explain(&gap).is_some() {
            *expected = next.0;
        }
        Ok(())
    }

    /// Hands out the events that a `log.imported` names; nothing for other kinds.
    fn imported_by(
        &self,
        head: &Head<'_>,
        mut position: Position,
        reached: &mut Reached,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        if head.kind() == Kind::LOG_IMPORTED
            && let Ok(Facts::Imported(facts)) = Facts::of(head)
        {
            for range in &facts.ranges {
                if self
                    .foreign(range, &mut position, reached, each)?
                    .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
