//! Gaps in a chain that the names of its segments show.

use super::Trouble;
use crate::cases::{self, Observation};
use crate::chain::SegmentFile;
use crate::error::Result;
use crate::holes::{Explainer, Gap};
use crate::layout;
use crate::scan;
use icm_event::hash;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::segment::HEADER_LEN;

/// Returns a gap or overlap that the names of the segments show. Foreign chains may branch.
pub(super) fn gap_between(
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

/// Returns `true` if a repair declared the events before the first segment of a chain lost.
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
