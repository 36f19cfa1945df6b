//! Finds a moment of the walk, by position or time.

use std::ops::ControlFlow;

use super::cursor::Cursor;
use super::event::{event_of, place_of, read_head};
use super::waypoint::{Waypoint, Waypoints};
use super::{Each, Walk};
use crate::chain::{SegmentFile, holding};
use crate::error::{LogError, Result};
use crate::recover::{Tip, tip_of};
use crate::scan::read_one;
use icm_event::head::Head;
use icm_event::id::{OriginId, Position, Seq};
use icm_event::segment::HEADER_LEN;

/// Returns `true` if an event belongs to the batch of `before`, which comes earlier.
fn same_batch(before: &Tip, head: &Head<'_>) -> bool {
    head.origin() == before.origin
        && head.batch_index() > 0
        && head.seq().0 <= before.seq.0 + u64::from(head.batch_index())
}

impl Walk<'_> {
    /// Reads the first head of a segment.
    pub(super) fn first_of<T>(
        &self,
        segment: &SegmentFile,
        read: impl FnOnce(&Head<'_>) -> T,
    ) -> Result<Option<T>> {
        read_one(self.disk, &segment.path, HEADER_LEN as u64, |record| {
            record.parse_head().ok().map(|head| read(&head))
        })
        .map(Option::flatten)
    }

    /// Returns the place at the start of the last segment whose first event fits `before`.
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

    /// Returns a place strictly before `position`: the last valid waypoint, or the start of a segment.
    pub(crate) fn start_before(&self, position: Position, known: &dyn Waypoints) -> Result<Cursor> {
        if let Some(waypoint) = known.last(&|waypoint| waypoint.cursor.position < position)
            && waypoint.cursor.position < position
            && self.holds(&waypoint.cursor)?
        {
            return Ok(waypoint.cursor);
        }
        let start = self.last_segment_where(|head| head.position() < position)?;
        Ok(match start.position < position {
            true => start,
            false => Cursor::START,
        })
    }

    pub(crate) fn cursor_before(
        &self,
        position: Position,
        known: &dyn Waypoints,
    ) -> Result<Cursor> {
        let start = self.start_before(position, known)?;
        let mut last = start;
        self.forward(&start, &mut |event| {
            if event.own && event.position >= position {
                return ControlFlow::Break(());
            }
            if event.own {
                last = event.cursor();
            }
            ControlFlow::Continue(())
        })?;
        Ok(last)
    }

    pub(crate) fn at_position(
        &self,
        position: Position,
        known: &dyn Waypoints,
    ) -> Result<Option<Tip>> {
        let beyond = self
            .tip
            .as_ref()
            .is_none_or(|place| place.tip.position < position);
        if beyond || position.0 == 0 {
            return Ok(None);
        }
        // The first own event at or after the position is the event itself, or the one that imported it.
        let mut found: Option<Tip> = None;
        let from = self.start_before(position, known)?;
        self.forward(&from, &mut |event| {
            if !event.own || event.position < position {
                return ControlFlow::Continue(());
            }
            // A hole may have taken the end of the batch.
            if found.is_some_and(|tip| !same_batch(&tip, &event.head)) {
                return ControlFlow::Break(());
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

    pub(crate) fn position_of(
        &self,
        origin: OriginId,
        seq: Seq,
        known: &dyn Waypoints,
    ) -> Result<Option<Position>> {
        let part = self.parts.iter().find(|part| part.origin == origin);
        let Some(part) = part.filter(|part| part.until.is_none_or(|until| seq <= until)) else {
            return Ok(None);
        };
        let segments = self.segments(*part)?;
        let Some(index) = holding(&segments, seq) else {
            return Ok(None);
        };
        let segment = &segments[index];
        let first = self.first_of(segment, |head| (head.position(), head.id(), head.seq()))?;
        let Some((position, event, first_seq)) = first else {
            return Ok(None);
        };
        let mut from = Cursor {
            position,
            event,
            origin,
            seq: first_seq,
            segment: segment.name.first_seq,
            offset: HEADER_LEN as u64,
        };
        let nearer = known.last(&|waypoint| {
            waypoint.cursor.position <= from.position
                || (waypoint.cursor.origin == origin && waypoint.cursor.seq <= seq)
        });
        if let Some(Waypoint { cursor, .. }) = nearer
            && cursor.position > from.position
            && cursor.origin == origin
            && cursor.seq <= seq
            && self.holds(&cursor)?
        {
            from = cursor;
        }
        if from.seq == seq {
            return Ok(Some(from.position));
        }
        let mut found = None;
        self.forward(&from, &mut |event| {
            if event.own && event.head.seq() == seq && event.head.origin() == origin {
                found = Some(event.position);
            }
            match found.is_some() || (event.own && event.head.origin() != origin) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(found)
    }

    /// Returns the last own event with a time at or before `ms`, or the end of its batch. Times rise along a chain.
    pub(crate) fn at_time(&self, ms: u64, known: &dyn Waypoints) -> Result<Option<Tip>> {
        let fits = |head: &Head<'_>| head.time().ms() <= ms;
        let mut start = self.last_segment_where(fits)?;
        if start.is_start() {
            return Ok(None);
        }
        let nearer = known.last(&|waypoint| {
            waypoint.cursor.position <= start.position
                || (waypoint.cursor.origin == start.origin && waypoint.time.ms() <= ms)
        });
        if let Some(Waypoint { cursor, .. }) = nearer
            && cursor.position > start.position
            && cursor.origin == start.origin
            && self.holds_and(&cursor, fits)?
        {
            start = cursor;
        }
        let mut found: Option<Tip> = None;
        let mut open = true;
        // The cursor names an event that fits.
        self.forward_from_event(&start, &mut |event| {
            if !event.own {
                return ControlFlow::Continue(());
            }
            if event.head.origin() != start.origin {
                return ControlFlow::Break(());
            }
            let goes_on = |tip: &Tip| open && same_batch(tip, &event.head);
            if !fits(&event.head) && !found.as_ref().is_none_or(goes_on) {
                return ControlFlow::Break(());
            }
            found = Some(tip_of(&event.head, event.id));
            open = event.head.batch_index() + 1 != event.head.batch_count();
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Like `forward`, but hands out the cursor's event first.
    fn forward_from_event(&self, cursor: &Cursor, each: Each<'_>) -> Result<()> {
        let segments = self.segments_of(cursor.origin)?;
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
                place_of(segment, cursor.offset, record),
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
