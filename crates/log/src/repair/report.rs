//! The input of a repair, and its report.

use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::DiskFile;
use icm_event::id::{EventId, OriginId, Position, Seq, SubjectId, Time};
use icm_event::kind::Kind;

/// Records from elsewhere that can replace lost events: consecutive records of one chain, back to back from `start` to
/// `end` of a file.
#[derive(Clone)]
pub struct Spare {
    /// The file that holds the records.
    pub file: Arc<dyn DiskFile>,
    /// Path of the file, for messages.
    pub path: PathBuf,
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first record.
    pub from_seq: Seq,
    /// Seq of the last record.
    pub to_seq: Seq,
    /// Offset of the first record.
    pub start: u64,
    /// Offset of the end of the last record.
    pub end: u64,
}

/// Bytes that are set aside in `torn/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Segment, relative to the store.
    pub file: PathBuf,
    /// Offset in the segment.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub len_bytes: u64,
    /// Description of the bytes.
    pub what: String,
}

/// A known event beside lost ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Position of the event, as its author counted.
    pub position: Position,
    /// Time of the event.
    pub time: Time,
}

/// A range of lost events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first lost event.
    pub from_seq: Seq,
    /// Seq of the last lost event. `from_seq - 1` if no event is lost, but the chain does not hold together.
    pub to_seq: Seq,
    /// The newest event before the lost ones.
    pub after: Option<Beside>,
    /// The oldest event after the lost ones.
    pub before: Option<Beside>,
}

impl Gone {
    /// Returns the number of lost events.
    pub fn count(&self) -> u64 {
        (self.to_seq.0 + 1).saturating_sub(self.from_seq.0)
    }
}

/// An event that is there without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadGone {
    /// The chain.
    pub origin: OriginId,
    /// Place of the event in its chain.
    pub seq: Seq,
    /// Id of the event.
    pub event: EventId,
    /// Position of the event, as its author counted.
    pub position: Position,
    /// Time of the event.
    pub time: Time,
    /// Kind of the event.
    pub kind: Kind,
    /// Subject of the event.
    pub subject: SubjectId,
}

/// The work of a repair, done or planned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Bytes that are damaged or do not fit.
    pub set_aside: Vec<SetAside>,
    /// Lost events that no repair has named yet.
    pub gone: Vec<Gone>,
    /// Events that lose their payload.
    pub payloads: Vec<PayloadGone>,
    /// Events whose payload was taken out by a redaction that is lost. The repair appends the redaction again.
    pub redacted: Vec<PayloadGone>,
    /// Events of other machines whose payload is withheld without an explanation: a lost event may have been the
    /// redaction. If it was, redact them again; if not, an import brings the payloads back.
    pub unexplained: Vec<PayloadGone>,
    /// Number of events that come from elsewhere.
    pub refilled_events: u64,
    /// Number of payloads that come from elsewhere.
    pub refilled_payloads: u64,
    /// Number of segments that are rewritten.
    pub segments_written: u64,
    /// Number of segments that are removed because their events lie elsewhere.
    pub segments_removed: u64,
    /// The reason for which a new origin continues the chain, if one does.
    pub new_origin: Option<String>,
    /// `true` if the store's secret could not be read, so that a new one is made.
    pub new_secret: bool,
    /// `true` if this repair finishes an earlier one.
    pub resumed: bool,
}

impl Report {
    /// Returns `true` if nothing is to be repaired.
    pub fn is_empty(&self) -> bool {
        *self == Report::default()
    }
}
