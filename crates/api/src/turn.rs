//! Forgetting and reviving whole topics: request and answer.

use serde::{Deserialize, Serialize};

use super::memory::{Memory, Receipt};

/// The direction of a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turn {
    /// Living memories become tombstones.
    #[default]
    Forget,
    /// Tombstones become living memories.
    Revive,
}

/// A request to forget or revive a topic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnTopicRequest {
    /// The topic; `a/` for `a` and everything below it.
    pub topic: String,
    /// The direction.
    pub to: Turn,
    /// The condition under which revived memories expire from now on.
    pub expires: Option<String>,
    /// Only return which memories would change.
    pub dry_run: bool,
    /// The `plan` of an earlier answer: do exactly that.
    pub plan: Option<String>,
    /// Most memories to show in a preview.
    pub shown: usize,
}

/// A topic that was forgotten or revived, or the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnTopicAnswer {
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// The topic.
    pub topic: String,
    /// Name of this plan: pass it as `plan` to do exactly this.
    pub plan: String,
    /// Number of memories that change.
    pub memories: u64,
    /// Number of their topics.
    pub topics: u64,
    /// The newest of these memories; empty once it is done.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub shown: Vec<Memory>,
    /// The last event, once it is done; undoing it takes all of the events back.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// One receipt per memory, once it is done.
    pub receipts: Vec<Receipt>,
}
