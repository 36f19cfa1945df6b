//! The walk: the events of a log in this machine's order of learning.
//!
//! It follows this machine's chain and the chains that it continues. Imported ranges come directly before the
//! `log.imported` that names them.

mod back;
mod branch;
mod cursor;
mod event;
mod foreign;
mod forward;
mod lookup;
mod part;
mod seek;
mod waypoint;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::cases::Case;
use crate::chain::{self, SegmentFile};
use crate::disk::{Disk, DiskFile};
use crate::error::{LogError, Result};
use crate::holes::{Explainer, Gap};
use crate::layout;
use crate::recover::TipPlace;
use crate::scan::{SegmentScan, read_one};
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Position, Seq};

pub(crate) use branch::{OwnBranches, Walked};
pub use cursor::Cursor;
pub use event::{Event, Place};
pub(crate) use lookup::{before_branches, find_seq};
pub(crate) use part::{Part, newest_origin, origins_of, parts, parts_by};
pub use waypoint::{Waypoint, Waypoints};

/// The function that receives the events of a walk.
type Each<'f> = &'f mut dyn FnMut(&Event<'_>) -> ControlFlow<()>;

/// A walk of the log in the state in which the walk was made. Later appends do not show.
pub(crate) struct Walk<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) store: &'a Path,
    pub(crate) parts: Vec<Part>,
    pub(crate) tip: Option<TipPlace>,
    /// The segments of the tip's chain, if known.
    pub(crate) segments: Option<Arc<[SegmentFile]>>,
    /// The tip's segment, if it is open.
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    /// Explains gaps that the walk meets.
    pub(crate) holes: Explainer<'a>,
    pub(crate) branches: &'a OwnBranches,
    pub(crate) splice: Splice<'a>,
}

/// The imported events that a walk hands out.
#[derive(Clone, Copy)]
pub(crate) enum Splice<'a> {
    All,
    Nothing,
    /// The events at or after this position, perhaps after some earlier ones.
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

    /// Returns `true` if the walk can pass `cursor`: it is not beyond the tip, and its chain is walked.
    fn reaches(&self, cursor: &Cursor) -> bool {
        let end = self.tip.as_ref().map(|place| place.tip.position);
        end.is_some_and(|end| cursor.position <= end)
            && self.parts.iter().any(|part| part.origin == cursor.origin)
    }

    /// Returns `true` if the event that `cursor` names is in that place, and its head `fits`.
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

    /// Opens a segment at `offset`, up to the end of the walk.
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

    /// Returns the segments of a part that belong to the walk.
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

    /// Returns `true` if the tip lies in an older part. This is so while the newest origin has no event yet.
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

    /// Returns `true` if a repair explains that `id` follows `last` although it names another event.
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
