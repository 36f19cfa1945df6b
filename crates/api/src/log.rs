//! The log for readers: events, heads, findings of `verify`.

use serde::{Deserialize, Serialize};

/// A selection of events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogRequest {
    /// Kind (`memory.stored`) or family (`memory`).
    pub kind: Option<String>,
    /// Memory id or prefix.
    pub id: Option<String>,
    /// Memories that are or were in this topic.
    pub topic: Option<String>,
    /// This memoir, by name or id, and all that is or was in it.
    pub memoir: Option<String>,
    /// Actor name.
    pub actor: Option<String>,
    /// Session id.
    pub session: Option<String>,
    /// Not before this time.
    pub since: Option<String>,
    /// Not after this time.
    pub until: Option<String>,
    /// `false`: newest first.
    pub oldest_first: bool,
    /// Most events; `None` for all.
    pub limit: Option<usize>,
    /// Continue before this position; after it if `oldest_first`.
    pub cursor: Option<u64>,
}

/// One event of the log, for people and scripts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Position: place in this machine's order of learning.
    pub position: u64,
    /// Event id (64 hex digits).
    pub event: String,
    /// For instance `memory.stored`.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
    /// Origin, hex.
    pub origin: String,
    /// Place in the origin's chain, from 1.
    pub seq: u64,
    /// Id of the row that the event is about, if any (for a memory, a ULID).
    pub subject: Option<String>,
    /// Name of the actor.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// Command id, hex; all events of one command share it.
    pub command: String,
    /// The event in one line for people.
    pub summary: String,
    /// The facts, decoded.
    pub facts: serde_json::Value,
    /// The payload, decoded; `null` when withheld or damaged.
    pub payload: serde_json::Value,
    /// State of the payload: `present`, `withheld` or `damaged`.
    pub body: String,
}

/// Everything about one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventDetail {
    /// The entry in the list of events.
    #[serde(flatten)]
    pub entry: LogEntry,
    /// Id of the event before it in its chain, hex.
    pub prev: String,
    /// Events that it observed, hex.
    pub refs: Vec<String>,
    /// Index in its batch, and size of the batch.
    pub batch: (u16, u16),
    /// Commitment, hex.
    pub commitment: String,
    /// Length of the head in bytes.
    pub head_len_bytes: u64,
    /// Length of the payload in bytes.
    pub payload_len_bytes: u64,
    /// Name of the segment file.
    pub segment: String,
    /// Offset in that segment, in bytes.
    pub offset_bytes: u64,
}

/// One thing that `verify` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Short stable code, for instance `damaged_head`.
    pub code: String,
    /// `damage`, or `notice` if no repair is needed.
    pub severity: String,
    /// One line: the place and what to do.
    pub message: String,
    /// File, relative to the store.
    pub file: Option<String>,
    /// Place in the chain.
    pub seq: Option<u64>,
}

/// The head of one origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OriginHead {
    /// Origin, hex.
    pub origin: String,
    /// Newest seq.
    pub seq: u64,
    /// Newest event id, hex.
    pub head: String,
    /// True for this machine's own chain.
    #[serde(default)]
    pub own: bool,
}

/// The report of `icm verify` and `icm log verify`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// `true` if there is neither damage nor disagreement.
    pub ok: bool,
    /// Events read.
    pub events: u64,
    /// Newest position.
    pub positions: u64,
    /// Heads of all origins.
    pub origins: Vec<OriginHead>,
    /// Hash over the living values, hex; `None` for `icm log verify`.
    pub state_hash: Option<String>,
    /// Events whose body is withheld or damaged.
    pub missing_bodies: u64,
    /// The findings.
    pub findings: Vec<Finding>,
}
