//! What machines wrote beside each other, and which of it holds.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory::{Basis, Receipt};

/// Asks what concurrent writes left open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConflictsRequest {
    /// Only memories that are in this topic; with `/` at its end, everything below it too. Memoirs and
    /// concepts are in none.
    pub topic: Option<String>,
    /// How many are told of; all are counted.
    pub limit: Option<usize>,
    /// As of.
    pub at: Option<String>,
}

/// What concurrent writes left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflicts {
    /// What it was computed at.
    pub basis: Basis,
    /// What was written last comes first.
    pub conflicts: Vec<Conflict>,
    /// How many there are.
    pub total: u64,
}

/// A field for which machines that did not know of each other wrote different values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// ULID.
    pub id: String,
    /// What it is the id of.
    pub of: ConflictOf,
    /// The topic of a memory, else the memoir's name.
    pub topic: String,
    /// The concept's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// `content`, `importance`, …; of a concept `definition` or `confidence`, of a memoir `description`;
    /// `forgotten` where it was forgotten on one machine while it was written on another.
    pub field: String,
    /// What is shown, on every machine that knows the same.
    pub shown: ConflictValue,
    /// What else was written, the newest first; what says the same is left out.
    pub others: Vec<ConflictValue>,
}

/// What a conflict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConflictOf {
    /// A memory.
    Memory,
    /// A memoir.
    Memoir,
    /// A concept.
    Concept,
}

/// One of the values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConflictValue {
    /// As the memory has it; `null` where nothing was given, or it is withheld. Of what was forgotten `true`,
    /// and beside it the fields that were written meanwhile.
    pub value: Value,
    /// The text was taken out or is damaged.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub withheld: bool,
    /// The event that wrote it (64 hex digits).
    pub event: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// The installation that wrote it.
    pub origin: String,
}

/// Says which of the values holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettleRequest {
    /// Full id; of a memory a unique prefix will do.
    pub id: String,
    /// These fields; all that conflict where none is named.
    pub fields: Vec<String>,
    /// The event whose values are taken, as an id, its beginning or a position; without it what is shown stays.
    pub take: Option<String>,
}

/// The receipt of a settled conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettleReceipt {
    /// As of an update; of a concept or a memoir the topic is the memoir's name.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The fields that are settled.
    pub settled: Vec<String>,
}
