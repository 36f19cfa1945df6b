//! Redaction: request and answer.

use serde::{Deserialize, Serialize};

/// A request to take texts out of the store for good: those of named memories and events, or of every event with a
/// pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RedactRequest {
    /// Ids of memories (redacts all their events and every recall that showed them), event ids and positions (redact
    /// only that event).
    pub targets: Vec<String>,
    /// A literal text: redacts every event that holds it.
    pub pattern: Option<String>,
    /// The reason; it stays in the log.
    pub reason: Option<String>,
    /// Only return what would be redacted.
    pub dry_run: bool,
    /// The plan of an accepted preview; nothing is done if the plan has changed.
    pub plan: Option<String>,
}

/// A redaction that was done, or its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactAnswer {
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// Name of this plan: pass it as `plan` to do exactly this.
    pub plan: String,
    /// The event of the redaction (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// Number of events that lose their text.
    pub events: u64,
    /// Their share of all events with text, 0 to 1.
    pub share: f64,
    /// Memories of these events.
    pub memories: Vec<RedactMemory>,
    /// Number of events that are redacted one by one.
    pub single_events_total: u64,
    /// The first 100 of them.
    pub single_events: Vec<RedactEvent>,
    /// Summaries made from these memories. They stay, and may hold the same text.
    pub summaries: Vec<String>,
    /// Payloads that were taken out of the log's files.
    pub blanked_events: u64,
    /// Segments that were written anew.
    pub segments: u64,
    /// Files below `torn/` with the pattern; they are removed.
    pub torn: Vec<String>,
    /// Number of files below `torn/` that were removed.
    pub torn_removed: u64,
    /// Places where the text may still be.
    pub out_of_reach: Vec<String>,
}

/// A memory that loses text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactMemory {
    /// ULID.
    pub id: String,
    /// Its topic before the redaction.
    pub topic: String,
    /// `true` if all of its events are redacted.
    pub whole: bool,
    /// Number of its events that are redacted.
    pub events: u64,
}

/// An event that is redacted on its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactEvent {
    /// Event id.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
}
