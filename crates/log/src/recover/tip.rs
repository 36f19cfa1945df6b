//! The end of a chain.

use crate::chain::SegmentFile;
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};

/// The newest event of a chain that belongs to a whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// Author.
    pub origin: OriginId,
    /// Place in the chain.
    pub seq: Seq,
    /// The event.
    pub event: EventId,
    /// Its position.
    pub position: Position,
    /// Its time.
    pub time: Time,
}

/// Where a tip lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TipPlace {
    pub(crate) tip: Tip,
    pub(crate) segment: SegmentFile,
    /// Where its record starts.
    pub(crate) offset: u64,
    /// Where its record ends, and the next batch goes.
    pub(crate) end: u64,
    /// Largest `synced` seen.
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
