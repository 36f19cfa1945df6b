//! Cursors: places in a walk that can be stored.

use serde::{Deserialize, Serialize};

use icm_event::id::{EventId, OriginId, Position, Seq};

/// A place in the walk, just after the event that it names. A view stores its cursor and continues from there. The
/// cursor is checked against the log before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// Position of the event before the place; 0 at the start.
    pub position: Position,
    /// Id of the event before the place; zero at the start.
    pub event: EventId,
    pub(super) origin: OriginId,
    pub(super) seq: Seq,
    pub(super) segment: Seq,
    pub(super) offset: u64,
}

impl Cursor {
    /// The place before the first event.
    pub const START: Cursor = Cursor {
        position: Position(0),
        event: EventId::ZERO,
        origin: OriginId::ZERO,
        seq: Seq(0),
        segment: Seq(0),
        offset: 0,
    };

    /// Returns `true` for the place before the first event.
    pub fn is_start(&self) -> bool {
        self.position.0 == 0
    }
}
