//! Taking texts out for good.

use serde::{Deserialize, Serialize};

/// Asks to take texts out of the store for good: of memories and events that are named, or of every
/// event that holds a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RedactRequest {
    /// Ids of memories (all of their events go, and every recall that showed them), event ids and
    /// positions (they alone go).
    pub targets: Vec<String>,
    /// Every event whose text holds this, as it stands here.
    pub pattern: Option<String>,
    /// Why; it stays in the log.
    pub reason: Option<String>,
    /// Only say what would go.
    pub dry_run: bool,
    /// The plan of the preview that was agreed to: with another one nothing is done.
    pub plan: Option<String>,
}

/// What a redaction took out, or would take out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// Names this plan: give it back to do just what was shown.
    pub plan: String,
    /// The event that redacts (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// Events that lose their text.
    pub events: u64,
    /// Their part of all events that have one, 0 to 1.
    pub share: f64,
    /// Memories that they are about.
    pub memories: Vec<RedactMemory>,
    /// How many events are redacted one by one.
    pub single_events_total: u64,
    /// The first 100 of them.
    pub single_events: Vec<RedactEvent>,
    /// Summaries that were made from these memories: they stay, and may hold the same text.
    pub summaries: Vec<String>,
    /// Bodies that were taken out of the log's files.
    pub blanked_events: u64,
    /// Segments that were written anew.
    pub segments: u64,
    /// Files below `torn/` that hold the text that was looked for: they go.
    pub torn: Vec<String>,
    /// Files of `torn/` that were removed.
    pub torn_removed: u64,
    /// Where the text may still be.
    pub out_of_reach: Vec<String>,
}

/// A memory that a redaction touches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactMemory {
    /// ULID.
    pub id: String,
    /// Its topic, before.
    pub topic: String,
    /// All of its events go, not only some.
    pub whole: bool,
    /// Its events that go.
    pub events: u64,
}

/// An event that is redacted by itself.
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
