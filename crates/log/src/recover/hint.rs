//! Hints: places where an event is expected.

use super::tip::TipPlace;
use crate::acked::Slot;
use crate::chain::{self, SegmentFile};
use crate::disk::Disk;
use crate::error::Result;
use crate::scan::{self, SegmentScan, Step};
use icm_event::hash;
use icm_event::id::{EventId, Seq};
use icm_event::segment::HEADER_LEN;

/// A place where an event is expected. Checked before it is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint {
    pub(super) seq: Seq,
    pub(super) event: EventId,
    pub(super) segment: Seq,
    pub(super) offset: u64,
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

pub(super) fn holds(disk: &dyn Disk, segments: &[SegmentFile], hint: &Hint) -> Result<bool> {
    let Some(segment) = segments.iter().find(|s| s.name.first_seq == hint.segment) else {
        return Ok(false);
    };
    let same = scan::read_one(disk, &segment.path, hint.offset, |record| {
        record.seq() == hint.seq && hash::event_id(record.head) == hint.event
    })?;
    Ok(same == Some(true))
}

/// Returns the place of the slot's event. A redaction moves records and a repair splits segments, so the whole segment
/// with its seq is searched if the event is not where the slot says.
pub(super) fn find_slot(
    disk: &dyn Disk,
    segments: &[SegmentFile],
    slot: &Slot,
) -> Result<Option<Hint>> {
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
