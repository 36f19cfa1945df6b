//! Forgetting a whole topic.

use serde::{Deserialize, Serialize};

use super::memory::{Memory, Receipt};

/// Asks to forget a topic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForgetTopicRequest {
    /// The topic; with `/` at its end, everything below it too.
    pub topic: String,
    /// Only say what would be forgotten.
    pub dry_run: bool,
    /// Do just what was shown: the `plan` of an earlier answer.
    pub plan: Option<String>,
    /// How many of the memories a look shows.
    pub shown: usize,
}

/// What was forgotten, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForgetTopicAnswer {
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
    pub shown: Vec<Memory>,
    /// A receipt each, once it is done.
    pub receipts: Vec<Receipt>,
}
