//! The past: history, reasons for a memory, differences between moments.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::basis::Basis;
use super::feedback::FeedbackDiff;
use super::graph::GraphDiff;
use super::memory::{Memory, Source};

/// A version of a memory, or an event that made none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Position of the event that made it.
    pub position: u64,
    /// The position at which the next version replaced it.
    pub until: Option<u64>,
    /// The event (64 hex digits).
    pub event: String,
    /// Kind of that event, for instance `memory.updated`.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// Names of the fields that changed.
    pub changed: Vec<String>,
    /// The memory as it stood from this event on.
    pub memory: Memory,
    /// The text of an event whose text is not shown: another value, concurrent or from an import, is shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_shown: Option<String>,
    /// Values of other fields that are not shown, by name.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub not_shown_fields: Map<String, Value>,
    /// Position of the undo that took the event back, while that undo is in force.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undone_at: Option<u64>,
}

impl Version {
    /// Returns `true` if the event made no version because another value is shown.
    pub fn is_not_shown(&self) -> bool {
        self.not_shown.is_some() || !self.not_shown_fields.is_empty()
    }

    /// Returns why the text of the event is not shown.
    pub fn why_not_shown(&self) -> &'static str {
        match self.undone_at.is_some() {
            true => "not shown: its event is undone",
            false => "not shown: another value holds",
        }
    }
}

/// The source of a memory and everything that happened to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// The memory as it stands now.
    pub memory: Memory,
    /// Its source.
    pub from: WhyFrom,
    /// Id of the summary that stands for it; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub covered_by: Option<String>,
    /// The events that made and changed it, oldest first.
    pub events: Vec<WhyEvent>,
    /// The recalls that showed it, newest first, as many as were asked for.
    pub recalls: Vec<WhyRecall>,
    /// Number of all recalls that showed it.
    pub recalls_total: u64,
    /// The hooks and wake-up packs that showed it unasked, newest first, as many as recalls were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub injections: Vec<WhyRecall>,
    /// Number of all of those.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub injections_total: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The source of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyFrom {
    /// Name of the actor that stored it.
    pub actor: String,
    /// The writer's own words: agent, client, session, project, file.
    #[serde(flatten)]
    pub source: Source,
    /// Ids of the memories that it summarises.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub consolidated_from: Vec<String>,
}

/// An event in the life of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyEvent {
    /// Its position.
    pub position: u64,
    /// Its id (64 hex digits).
    pub event: String,
    /// For instance `memory.updated`.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// Names of the fields that the event changed.
    pub changed: Vec<String>,
}

/// A recall that showed a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyRecall {
    /// Position of the recall.
    pub position: u64,
    /// Its event (64 hex digits).
    pub event: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// The query; `null` if the text was taken out or is damaged.
    pub query: Option<String>,
    /// The memory's place among the results, from 1.
    pub rank: u16,
    /// The front that showed it: `recall`, `context`, `wake-up` or `hook`; `None` in older events.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub front: Option<String>,
    /// `true` if the recall was undone, so it does not count.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undone: bool,
}

/// A request to compare two moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiffRequest {
    /// The earlier moment, as `--at`.
    pub from: String,
    /// The later moment, as `--at`; `None` for now.
    pub to: Option<String>,
    /// Only memories that were or are in this topic; `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Only memories that an event of this session changed in between.
    pub session: Option<String>,
    /// Only this memoir, by name or id, with its concepts and links, and no memories. Excludes a topic and a session.
    pub memoir: Option<String>,
    /// Most memories in each list; the others are counted in [`Diff::left_out`]. `None` for all.
    pub limit: Option<usize>,
}

/// The differences between two moments. Lists are by topic, then id. Memories that came and went in between are not
/// listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// The earlier moment.
    pub from: Basis,
    /// The later moment.
    pub to: Basis,
    /// Memories that are new.
    pub added: Vec<Memory>,
    /// Memories with other values.
    pub changed: Vec<MemoryChange>,
    /// Memories that became tombstones.
    pub forgotten: Vec<Memory>,
    /// Tombstones that were revived; with other values, also in `changed`.
    pub revived: Vec<Memory>,
    /// Links between memories that are new.
    #[serde(default)]
    pub linked: Vec<MemoryLink>,
    /// Links that are gone although both memories are there.
    #[serde(default)]
    pub unlinked: Vec<MemoryLink>,
    /// Changes of memoirs, concepts and their links; empty if a topic or a session was given.
    #[serde(skip_serializing_if = "GraphDiff::is_empty", default)]
    pub graph: GraphDiff,
    /// Changes of feedback and of marks; empty if a topic or a session was given.
    #[serde(skip_serializing_if = "FeedbackDiff::is_empty", default)]
    pub feedback: FeedbackDiff,
    /// Number of other memories whose weight changed by ticks of decay; not counted for a session.
    #[serde(default)]
    pub faded: u64,
    /// Numbers of memories beyond the limit of the request.
    #[serde(skip_serializing_if = "DiffLeftOut::is_none", default)]
    pub left_out: DiffLeftOut,
}

/// Numbers of memories that a limit left out of each list of a [`Diff`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLeftOut {
    /// Of those that are new.
    pub added: u64,
    /// Of those with other values.
    pub changed: u64,
    /// Of those that became tombstones.
    pub forgotten: u64,
    /// Of the tombstones that were revived.
    pub revived: u64,
}

impl DiffLeftOut {
    /// Returns `true` if every list is whole.
    pub fn is_none(&self) -> bool {
        *self == DiffLeftOut::default()
    }
}

/// A link between two memories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemoryLink {
    /// Id of the memory at its start (ULID).
    pub from: String,
    /// For instance `supersedes`.
    pub relation: String,
    /// Id of the memory at its end (ULID).
    pub to: String,
    /// The event that added it (64 hex digits).
    pub event: String,
}

/// The differences in one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryChange {
    /// ULID.
    pub id: String,
    /// Its topic at the later moment.
    pub topic: String,
    /// Names of the fields that differ.
    pub fields: Vec<String>,
    /// The old values of those fields.
    pub before: serde_json::Map<String, serde_json::Value>,
    /// Their new values.
    pub after: serde_json::Map<String, serde_json::Value>,
    /// The content, word by word; empty unless both texts are readable and differ.
    pub content_diff: Vec<DiffPiece>,
}

/// A part of a text that stayed, went or came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPiece {
    /// Its change.
    pub op: DiffOp,
    /// The words, with the white space around them.
    pub text: String,
}

/// The change of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffOp {
    /// In both texts.
    Equal,
    /// Only in the old text.
    Delete,
    /// Only in the new text.
    Insert,
}
