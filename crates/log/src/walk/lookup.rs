//! Finds one event of a chain by its seq.

use std::path::Path;

use crate::chain;
use crate::disk::Disk;
use crate::error::Result;
use crate::recover::{Tip, TipPlace, tip_of};
use crate::scan::{SegmentScan, Step};
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::segment::HEADER_LEN;

/// Returns the last event that all branches of a chain share; `None` if the chain does not branch.
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

/// Returns the place of event `seq` of a chain. If `event` is given, the event must have that id, so a branch can be
/// chosen.
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
