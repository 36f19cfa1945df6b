//! What a repair is given, and what it says.

use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::DiskFile;
use icm_event::id::{EventId, OriginId, Position, Seq, SubjectId, Time};
use icm_event::kind::Kind;

/// Records from elsewhere that may stand in for what is gone: of one chain, consecutive, back to
/// back from `start` to `end` of a file.
#[derive(Clone)]
pub struct Spare {
    /// The file.
    pub file: Arc<dyn DiskFile>,
    /// Its name, for messages.
    pub path: PathBuf,
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first record.
    pub from_seq: Seq,
    /// Seq of the last one.
    pub to_seq: Seq,
    /// Where the first record starts.
    pub start: u64,
    /// Where the last one ends.
    pub end: u64,
}

/// Bytes that are set aside in `torn/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Segment, relative to the store.
    pub file: PathBuf,
    /// Where in it.
    pub offset_bytes: u64,
    /// How many.
    pub len_bytes: u64,
    /// What they are.
    pub what: String,
}

/// A known event beside those that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beside {
    /// Its position, as its author counted.
    pub position: Position,
    /// Its time.
    pub time: Time,
}

/// Events that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// The chain.
    pub origin: OriginId,
    /// First and last seq; the last one is one less where no event is gone, but the chain does not
    /// hold together.
    pub from_seq: Seq,
    /// See there.
    pub to_seq: Seq,
    /// The newest event before them.
    pub after: Option<Beside>,
    /// The oldest event after them.
    pub before: Option<Beside>,
}

impl Gone {
    /// Number of events.
    pub fn count(&self) -> u64 {
        (self.to_seq.0 + 1).saturating_sub(self.from_seq.0)
    }
}

/// An event that is there, but without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadGone {
    /// The chain.
    pub origin: OriginId,
    /// Its place.
    pub seq: Seq,
    /// The event.
    pub event: EventId,
    /// Its position, as its author counted.
    pub position: Position,
    /// Its time.
    pub time: Time,
    /// Its kind.
    pub kind: Kind,
    /// What it is about.
    pub subject: SubjectId,
}

/// What a repair does, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What is damaged, or does not fit.
    pub set_aside: Vec<SetAside>,
    /// What is gone, and nothing says so yet.
    pub gone: Vec<Gone>,
    /// Events that lose their payload.
    pub payloads: Vec<PayloadGone>,
    /// Events whose payload was taken out by a redaction that is gone: it is said again.
    pub redacted: Vec<PayloadGone>,
    /// Events of other machines whose payload is withheld, and nothing that is left says why: one of
    /// the events that are gone may have been a redaction. Whoever knows that it was says it again; an
    /// import brings back what it was not.
    pub unexplained: Vec<PayloadGone>,
    /// Events that are taken from elsewhere.
    pub refilled_events: u64,
    /// Payloads that are.
    pub refilled_payloads: u64,
    /// Segments that are written anew.
    pub segments_written: u64,
    /// Segments that are no longer there, as what they held lies elsewhere.
    pub segments_removed: u64,
    /// Why a new origin carries on, if one does.
    pub new_origin: Option<String>,
    /// The store's secret could not be read: a new one is made.
    pub new_secret: bool,
    /// A repair that was begun before is finished.
    pub resumed: bool,
}

impl Report {
    /// Whether there is nothing to repair.
    pub fn is_empty(&self) -> bool {
        *self == Report::default()
    }
}
