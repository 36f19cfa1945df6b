//! Places of the walk that somebody keeps, so that a search reads less.

use super::cursor::Cursor;
use super::event::Event;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};

/// A place that was noted when the walk came by. With some of them a search reads a few events,
/// without one it reads a segment from its start; the answer is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waypoint {
    /// The place after an own event; of an imported one, where it lies.
    pub cursor: Cursor,
    /// The time of that event.
    pub time: Time,
}

impl Waypoint {
    /// Own events from one waypoint to the next.
    pub const EVERY: u64 = 64;

    /// Bytes of an encoded waypoint.
    pub const LEN: usize = 96;

    /// Encodes it, with a check.
    pub fn encode(&self) -> [u8; Waypoint::LEN] {
        let cursor = &self.cursor;
        let mut bytes = [0; Waypoint::LEN];
        let numbers = [
            cursor.position.0,
            self.time.0,
            cursor.seq.0,
            cursor.segment.0,
            cursor.offset,
        ];
        for (number, place) in numbers.iter().zip(bytes[8..48].chunks_exact_mut(8)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[48..64].copy_from_slice(&cursor.origin.0);
        bytes[64..].copy_from_slice(&cursor.event.0);
        let check = crc32c::crc32c(&bytes[8..]);
        bytes[..4].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads an encoded waypoint; `None` when it is not whole.
    pub fn parse(bytes: &[u8; Waypoint::LEN]) -> Option<Waypoint> {
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        let check = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if crc32c::crc32c(&bytes[8..]) != check {
            return None;
        }
        let (mut origin, mut event) = ([0; 16], [0; 32]);
        origin.copy_from_slice(&bytes[48..64]);
        event.copy_from_slice(&bytes[64..]);
        Some(Waypoint {
            cursor: Cursor {
                position: Position(number(8)),
                event: EventId(event),
                origin: OriginId(origin),
                seq: Seq(number(24)),
                segment: Seq(number(32)),
                offset: number(40),
            },
            time: Time(number(16)),
        })
    }

    /// The waypoint at an event, own or imported.
    pub fn of(event: &Event<'_>) -> Waypoint {
        Waypoint {
            cursor: event.cursor(),
            time: event.head.time(),
        }
    }

    /// The same, if one belongs there. Those of imported events are kept by themselves: their times do not rise.
    pub fn at(event: &Event<'_>) -> Option<Waypoint> {
        let due = event.head.seq().0.is_multiple_of(Waypoint::EVERY);
        due.then(|| Waypoint::of(event))
    }
}

/// Waypoints that somebody keeps, in the order of the walk. They are hints: a place that does not
/// hold its event is not used.
pub trait Waypoints {
    /// The last waypoint for which `before` holds; it holds for all up to some place, then for none.
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint>;

    /// The last waypoint of an imported event at or before a position.
    fn last_imported(&self, _: Position) -> Option<Waypoint> {
        None
    }
}

/// No waypoints.
impl Waypoints for () {
    fn last(&self, _: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        None
    }
}

/// Waypoints in memory.
impl Waypoints for Vec<Waypoint> {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        let index = self.partition_point(before);
        Some(self[index.checked_sub(1)?])
    }
}
