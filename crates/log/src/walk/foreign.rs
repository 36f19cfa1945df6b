//! Hands out imported ranges, as far as the store holds their events.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::event::{event_of, place_of, read_head};
use super::waypoint::Waypoint;
use super::{Each, Splice, Walk};
use crate::chain::{self, SegmentFile};
use crate::error::Result;
use crate::runs;
use crate::scan::{SegmentScan, Step, read_one};
use icm_event::facts::ImportedRange;
use icm_event::id::{EventId, OriginId, Position, Seq};
use icm_event::segment::HEADER_LEN;

/// The end of the last range of each chain. The next range of a chain is likely to continue there.
#[derive(Default)]
pub(super) struct Reached(HashMap<OriginId, (EventId, Seq, u64)>);

/// A stretch of a segment in which a range is looked for.
struct Stretch<'s> {
    segment: &'s SegmentFile,
    start: u64,
    end: u64,
    /// Last seq of the stretch. Later events belong to another branch.
    until: Seq,
}

impl Walk<'_> {
    /// Hands out the events of an imported range, oldest first. Missing events keep their positions.
    pub(super) fn foreign(
        &self,
        range: &ImportedRange,
        position: &mut Position,
        reached: &mut Reached,
        each: Each<'_>,
    ) -> Result<ControlFlow<()>> {
        let before = position.0;
        let at = |seq: Seq| Position(before + 1 + (seq.0 - range.from_seq.0));
        *position = Position(before + range.count());
        let hint = match self.splice {
            Splice::Nothing => return Ok(ControlFlow::Continue(())),
            Splice::From(first, _) if *position < first => return Ok(ControlFlow::Continue(())),
            // The last waypoint before the position, if it lies in this range.
            Splice::From(first, known) => known.last_imported(first).filter(|hint| {
                let cursor = &hint.cursor;
                let within = range.from_seq <= cursor.seq && cursor.seq <= range.to_seq;
                cursor.origin == range.origin && within && cursor.position == at(cursor.seq)
            }),
            Splice::All => None,
        };
        let segments = chain::segments(self.disk, self.store, range.origin)?;
        let Some(first) = chain::holding(&segments, range.from_seq) else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut next = (range.from_seq, range.base);
        let mut stretches = self.stretches(&segments, first, range, reached)?;
        if let Some((prev, skipped)) = self.skip_to(hint, &mut stretches)? {
            next = (skipped, prev);
        }
        for stretch in stretches {
            let segment = stretch.segment;
            let mut scan = SegmentScan::open(self.disk, &segment.path, stretch.start, stretch.end)?;
            while let Step::Record { offset, record, id } = scan.step()? {
                let seq = record.seq();
                if seq > range.to_seq {
                    return Ok(ControlFlow::Continue(()));
                }
                if seq > stretch.until {
                    break;
                }
                let other_branch = seq == next.0
                    && record.prev() != next.1
                    && !self.is_bridged(range.origin, next, id)?;
                if seq < next.0 || other_branch || !record.is_of(range.origin) {
                    continue;
                }
                next = (Seq(seq.0 + 1), id);
                let head = read_head(&record)?;
                let place = place_of(segment, offset, &record);
                let after = offset + record.bytes.len() as u64;
                let event = event_of(&record, head, id, at(seq), place, false);
                if each(&event).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if seq == range.to_seq {
                    let place = (id, segment.name.first_seq, after);
                    reached.0.insert(range.origin, place);
                    return Ok(ControlFlow::Continue(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Skips the events before a waypoint, if its event is in the place that it names. Returns the id of the event
    /// before that event, and its seq.
    fn skip_to(
        &self,
        hint: Option<Waypoint>,
        stretches: &mut Vec<Stretch<'_>>,
    ) -> Result<Option<(EventId, Seq)>> {
        let Some(Waypoint { cursor, .. }) = hint else {
            return Ok(None);
        };
        let holds = |stretch: &Stretch<'_>| {
            let same = stretch.segment.name.first_seq == cursor.segment;
            same && (stretch.start..stretch.end).contains(&cursor.offset)
        };
        // If branches share a segment, the waypoint may belong to any of them.
        let [place] = *(0..stretches.len())
            .filter(|place| holds(&stretches[*place]))
            .collect::<Vec<_>>()
        else {
            return Ok(None);
        };
        let path = &stretches[place].segment.path;
        let prev = read_one(self.disk, path, cursor.offset, |record| {
            let same = record.seq() == cursor.seq
                && icm_event::hash::event_id(record.head) == cursor.event;
            same.then(|| record.prev())
        })?;
        let Some(prev) = prev.flatten() else {
            return Ok(None);
        };
        stretches.drain(..place);
        stretches[0].start = cursor.offset;
        Ok(Some((prev, cursor.seq)))
    }

    /// Returns the stretches in which the events of a range can lie, in the order of the chain.
    fn stretches<'s>(
        &self,
        segments: &'s [SegmentFile],
        first: usize,
        range: &ImportedRange,
        reached: &Reached,
    ) -> Result<Vec<Stretch<'s>>> {
        if chain::branches(segments) {
            return self.branch(segments, range);
        }
        let known = reached.0.get(&range.origin);
        let known = known.filter(|(event, ..)| *event == range.base);
        Ok(segments[first..]
            .iter()
            .map(|segment| Stretch {
                segment,
                start: match known {
                    Some((_, in_segment, offset)) if *in_segment == segment.name.first_seq => {
                        *offset
                    }
                    _ => HEADER_LEN as u64,
                },
                end: u64::MAX,
                until: range.to_seq,
            })
            .collect())
    }

    /// Returns the stretches for a chain that branches: the records that lead to the head of the range.
    fn branch<'s>(
        &self,
        segments: &'s [SegmentFile],
        range: &ImportedRange,
    ) -> Result<Vec<Stretch<'s>>> {
        let all = runs::runs_of(self.disk, self.store, range.origin, None, &mut |_, _, _| {})?;
        let (mut to, mut head) = (range.to_seq, range.head);
        let mut path = Vec::new();
        while let Some(run) = all.iter().find(|run| run.id_at(to) == Some(head)) {
            path.push((run, to));
            if run.from_seq <= range.from_seq {
                break;
            }
            (to, head) = (Seq(run.from_seq.0 - 1), run.base);
        }
        let path = path.into_iter().rev();
        let parts = path.flat_map(|(run, to)| run.parts.iter().map(move |part| (part, to)));
        Ok(parts
            .filter_map(|(part, until)| {
                let segment = segments.iter().find(|segment| segment.path == part.path)?;
                Some(Stretch {
                    segment,
                    start: part.start,
                    end: part.end,
                    until,
                })
            })
            .collect())
    }
}
