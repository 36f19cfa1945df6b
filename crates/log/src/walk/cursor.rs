//! A place in the walk that can be kept.

use serde::{Deserialize, Serialize};

use icm_event::id::{EventId, OriginId, Position, Seq};

/// A place between two events of the walk: after the event it names. Stored with a view, it lets
/// the view go on from there; checked against the log before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// Position of the event before; 0 at the start.
    pub position: Position,
    /// The event before; zero at the start.
    pub event: EventId,
    pub(super) origin: OriginId,
    pub(super) seq: Seq,
    pub(super) segment: Seq,
    pub(super) offset: u64,
}

impl Cursor {
    /// Before the first event.
    pub const START: Cursor = Cursor {
        position: Position(0),
        event: EventId::ZERO,
        origin: OriginId::ZERO,
        seq: Seq(0),
        segment: Seq(0),
        offset: 0,
    };

    /// Whether nothing is before it.
    pub fn is_start(&self) -> bool {
        self.position.0 == 0
    }
}
