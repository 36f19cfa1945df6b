//! What was: history, reasons, differences.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::graph::GraphDiff;
use super::memory::{Basis, Memory, Source};

/// One step in the life of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Position of the event that made it.
    pub position: u64,
    /// The position at which it was replaced.
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
    /// The memory as it stood from then on.
    pub memory: Memory,
    /// The text that the event wrote, where another value is shown: one that was written beside it,
    /// or that came with it in an import.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_shown: Option<String>,
    /// The same of other fields, by name.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub not_shown_fields: Map<String, Value>,
    /// Position of the undo that took the event back, while that undo is in force.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undone_at: Option<u64>,
}

impl Version {
    /// Whether it is an event that made no version: another value is shown.
    pub fn is_not_shown(&self) -> bool {
        self.not_shown.is_some() || !self.not_shown_fields.is_empty()
    }

    /// Why the text of the event is not shown.
    pub fn why_not_shown(&self) -> &'static str {
        match self.undone_at.is_some() {
            true => "not shown: its event is undone",
            false => "not shown: another value holds",
        }
    }
}

/// Where a memory came from and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// As it stands now.
    pub memory: Memory,
    /// Where it came from.
    pub from: WhyFrom,
    /// Id of the summary that stands for it, if one does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub covered_by: Option<String>,
    /// The events that made and changed it, oldest first.
    pub events: Vec<WhyEvent>,
    /// The recalls that showed it to somebody, newest first; as many as were asked for.
    pub recalls: Vec<WhyRecall>,
    /// How many there were in all.
    pub recalls_total: u64,
    /// The times that hooks and wake-up packs showed it unasked, newest first; as many as recalls were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub injections: Vec<WhyRecall>,
    /// How many there were in all.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub injections_total: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Who or what a memory is from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyFrom {
    /// Name of the actor that stored it.
    pub actor: String,
    /// What the writer said of it: agent, client, session, project, file.
    #[serde(flatten)]
    pub source: Source,
    /// Ids of the memories that it is the summary of.
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
    /// Names of the fields that it changed.
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
    /// Who asked.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// What was asked; `null` when it was taken out or is damaged.
    pub query: Option<String>,
    /// The memory's place among the results, from 1.
    pub rank: u16,
    /// The way on which it was shown: `recall`, `context`, `wake-up` or `hook`; older events do not say it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub front: Option<String>,
    /// The recall was undone: it no longer counts.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undone: bool,
}

/// Asks what became of memories and memoirs between two moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiffRequest {
    /// The earlier moment, as every `--at`.
    pub from: String,
    /// The later one; `None` for now.
    pub to: Option<String>,
    /// Memories that were or are in this topic; `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Memories that an event of this session changed in between.
    pub session: Option<String>,
    /// Only this memoir, by name or id, with its concepts and links, and no memories; not together with a
    /// topic or a session.
    pub memoir: Option<String>,
}

/// How the memories at one moment differ from those at an earlier one. Lists are by topic, then id.
/// What came and went in between is no difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// The earlier moment.
    pub from: Basis,
    /// The later one.
    pub to: Basis,
    /// Memories that there were not.
    pub added: Vec<Memory>,
    /// Memories that say something else.
    pub changed: Vec<MemoryChange>,
    /// Memories that are tombstones now.
    pub forgotten: Vec<Memory>,
    /// Tombstones that live again; in `changed`, too, when they say something else.
    pub revived: Vec<Memory>,
    /// Links between memories that there are now and were not.
    #[serde(default)]
    pub linked: Vec<MemoryLink>,
    /// Links between memories that are gone, though both memories are not.
    #[serde(default)]
    pub unlinked: Vec<MemoryLink>,
    /// Memoirs, concepts and their links; not where a topic or a session is asked for.
    #[serde(skip_serializing_if = "GraphDiff::is_empty", default)]
    pub graph: GraphDiff,
    /// How many other memories have another weight, through ticks of decay in between; not counted
    /// for a session.
    #[serde(default)]
    pub faded: u64,
}

/// A link between two memories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemoryLink {
    /// The memory that it goes out from (ULID).
    pub from: String,
    /// For instance `supersedes`.
    pub relation: String,
    /// The memory that it goes to (ULID).
    pub to: String,
    /// The event that added it (64 hex digits).
    pub event: String,
}

/// What differs in one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryChange {
    /// ULID.
    pub id: String,
    /// Topic it is in now.
    pub topic: String,
    /// Names of the fields that differ.
    pub fields: Vec<String>,
    /// Those fields as they were.
    pub before: serde_json::Map<String, serde_json::Value>,
    /// And as they are.
    pub after: serde_json::Map<String, serde_json::Value>,
    /// The content word by word; empty unless both texts are there and differ.
    pub content_diff: Vec<DiffPiece>,
}

/// A stretch of text that stayed, went or came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPiece {
    /// What became of it.
    pub op: DiffOp,
    /// The words, with the white space around them.
    pub text: String,
}

/// What became of a stretch of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffOp {
    /// In both.
    Equal,
    /// Only in the old one.
    Delete,
    /// Only in the new one.
    Insert,
}
