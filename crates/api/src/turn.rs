//! Forgetting a whole topic, and bringing it back.

use serde::{Deserialize, Serialize};

use super::memory::{Memory, Receipt};

/// What is to become of memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turn {
    /// Those that live become tombstones.
    #[default]
    Forget,
    /// Tombstones live again.
    Revive,
}

/// Asks to forget or revive a topic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnTopicRequest {
    /// The topic; with `/` at its end, everything below it too.
    pub topic: String,
    /// What is to become of it.
    pub to: Turn,
    /// Only say which memories it would be.
    pub dry_run: bool,
    /// Do just what was shown: the `plan` of an earlier answer.
    pub plan: Option<String>,
    /// How many of the memories a look shows.
    pub shown: usize,
}

/// What was forgotten or revived, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnTopicAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// The topic.
    pub topic: String,
    /// Names what would be done: give it back to do just that.
    pub plan: String,
    /// How many memories it is about.
    pub memories: u64,
    /// How many topics they are in.
    pub topics: u64,
    /// The newest of them; nothing once it is done.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shown: Vec<Memory>,
    /// The last of the events, once it is done: an undo of it takes all of them back.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// A receipt each, once it is done.
    pub receipts: Vec<Receipt>,
}
