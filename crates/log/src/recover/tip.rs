//! The tip: the end of a chain.

use crate::chain::SegmentFile;
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};

/// The newest event of a chain that belongs to a whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// Origin of the event.
    pub origin: OriginId,
    /// Place of the event in its chain.
    pub seq: Seq,
    /// Id of the event.
    pub event: EventId,
    /// Position of the event.
    pub position: Position,
    /// Time of the event.
    pub time: Time,
}

/// The place of a tip in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TipPlace {
    pub(crate) tip: Tip,
    pub(crate) segment: SegmentFile,
    /// Offset of the start of its record.
    pub(crate) offset: u64,
    /// Offset of the end of its record, at which the next batch starts.
    pub(crate) end: u64,
    /// Largest `synced` of the records read so far.
    pub(crate) synced: Seq,
}

pub(crate) fn tip_of(head: &Head<'_>, id: EventId) -> Tip {
    Tip {
        origin: head.origin(),
        seq: head.seq(),
        event: id,
        position: head.position(),
        time: head.time(),
    }
}
