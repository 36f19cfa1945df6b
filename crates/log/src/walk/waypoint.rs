//! Waypoints: known places of the walk, with which a search reads less.

use super::cursor::Cursor;
use super::event::Event;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};

/// A place that was recorded when the walk passed it. A search with waypoints reads a few events; without one it reads
/// a segment from its start. The result is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waypoint {
    /// The place after an own event, or the place of an imported one.
    pub cursor: Cursor,
    /// Time of that event.
    pub time: Time,
}

impl Waypoint {
    /// Number of own events between two waypoints. Raised, waypoints take less room and a search reads more events.
    pub const EVERY: u64 = 64;

    /// Bytes of an encoded waypoint.
    pub const LEN: usize = 96;

    /// Returns the encoded waypoint, with a check.
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

    /// Reads an encoded waypoint; `None` if it is not whole.
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

    /// Returns waypoints for a walk back from a position: the last one at or before it, and earlier ones at
    /// growing distances.
    pub fn back_from(position: Position, known: &dyn Waypoints) -> Vec<Waypoint> {
        let (mut before, mut distance) = (position.0, 2 * Waypoint::EVERY);
        let mut found: Vec<Waypoint> = Vec::new();
        while let Some(waypoint) = known.last(&|waypoint| waypoint.cursor.position.0 <= before) {
            found.push(waypoint);
            before = match waypoint.cursor.position.0.checked_sub(distance) {
                Some(before) => before,
                None => break,
            };
            distance *= 4;
        }
        found.reverse();
        found
    }

    /// Returns the waypoint at an event, own or imported.
    pub fn of(event: &Event<'_>) -> Waypoint {
        Waypoint {
            cursor: event.cursor(),
            time: event.head.time(),
        }
    }

    /// Returns the waypoint at an event if one is due there. Waypoints of imported events must be kept apart: their
    /// times do not rise.
    pub fn at(event: &Event<'_>) -> Option<Waypoint> {
        let due = event.head.seq().0.is_multiple_of(Waypoint::EVERY);
        due.then(|| Waypoint::of(event))
    }
}

/// Waypoints that a caller keeps, in the order of the walk. They are hints: the walk checks that the event is in its
/// place.
pub trait Waypoints {
    /// Returns the last waypoint for which `before` is true. `before` is true up to some place, and false after it.
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint>;

    /// Returns the last waypoint of an imported event at or before a position.
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
