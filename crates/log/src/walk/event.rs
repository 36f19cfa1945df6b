//! An event as a walk hands it out.

use std::path::Path;

use super::cursor::Cursor;
use crate::chain::SegmentFile;
use crate::error::{LogError, Result};
use icm_event::head::Head;
use icm_event::id::{EventId, Position, Seq};
use icm_event::record::{Body, Record};

/// An event, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The head.
    pub head: Head<'a>,
    /// Id of the event.
    pub id: EventId,
    /// Place in this machine's order of learning. The position in the head is the author's.
    pub position: Position,
    /// The body.
    pub body: Body<'a>,
    /// Place of the record in the files.
    pub place: Place<'a>,
    /// `true` for an event of a walked chain, `false` for an imported one.
    pub own: bool,
}

/// The place of a record.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Path of the segment.
    pub path: &'a Path,
    /// First seq of the segment.
    pub segment: Seq,
    /// Offset of the record in bytes.
    pub offset: u64,
    /// Length of the record in bytes.
    pub len: usize,
}

impl Event<'_> {
    /// Returns the place after an own event, or the place of an imported one.
    pub(super) fn cursor(&self) -> Cursor {
        Cursor {
            position: self.position,
            event: self.id,
            origin: self.head.origin(),
            seq: self.head.seq(),
            segment: self.place.segment,
            offset: self.place.offset,
        }
    }
}

pub(super) fn newer(seq: Seq) -> LogError {
    LogError::NewerFormat {
        what: format!("event {seq} has a newer format"),
    }
}

pub(super) fn read_head<'a>(record: &Record<'a>) -> Result<Head<'a>> {
    record.parse_head().map_err(|error| LogError::NewerFormat {
        what: error.to_string(),
    })
}

pub(super) fn place_of<'a>(
    segment: &'a SegmentFile,
    offset: u64,
    record: &Record<'_>,
) -> Place<'a> {
    Place {
        path: &segment.path,
        segment: segment.name.first_seq,
        offset,
        len: record.bytes.len(),
    }
}

pub(super) fn event_of<'a>(
    record: &Record<'a>,
    head: Head<'a>,
    id: EventId,
    position: Position,
    place: Place<'a>,
    own: bool,
) -> Event<'a> {
    Event {
        head,
        id,
        position,
        body: record.body,
        place,
        own,
    }
}
