//! The walk of a log, newest event first.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::event::{Place, event_of, newer, place_of, read_head};
use super::foreign::Reached;
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
    /// Hands out every event at or before `from`, newest first. Of a damaged segment, the records before the damage are
    /// handed out, and then the error is returned: the records after the damage cannot be reached.
    pub(crate) fn backward(&self, from: Position, each: Each<'_>) -> Result<()> {
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
                let mut offsets = Vec::new();
                let mut scan = self.scan(part.origin, segment, HEADER_LEN as u64)?;
                let mut expected = segment.name.first_seq;
                let broken = loop {
                    match scan.step()? {
                        Step::Record { offset, record, id } => {
                            expected = Seq(record.seq().0.saturating_add(1));
                            if record.seq() < below {
                                offsets.push((offset, id));
                            }
                        }
                        Step::End => break None,
                        Step::Newer { .. } => break Some(newer(expected)),
                        Step::Bad { offset } => {
                            let what = "bytes that are no record";
                            let place = (segment, expected, offset);
                            break Some(self.damaged(Case::C, place, what));
                        }
                    }
                };
                for (offset, id) in offsets.into_iter().rev() {
                    if self
                        .one_backward((segment, &mut scan), offset, id, from, each)?
                        .is_break()
                    {
                        return broken.map_or(Ok(()), Err);
                    }
                }
                if let Some(error) = broken {
                    return Err(error);
                }
            }
        }
        Ok(())
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
