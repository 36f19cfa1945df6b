//! The topics, as a list and as a tree.

use serde::{Deserialize, Serialize};

use super::memory::Basis;

/// Asks for topics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicsRequest {
    /// Only this topic and what lies below it.
    pub prefix: Option<String>,
    /// Levels to show, 1 for the first ones only, counted below `prefix`; deeper ones still count.
    pub depth: Option<u32>,
    /// Only topics that have memories themselves, without the levels above them.
    pub flat: bool,
    /// Only what comes after this topic in the answer.
    pub after: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
    /// As of.
    pub at: Option<String>,
}

/// Topics, or levels of them: each comes right after the one above it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Topics {
    /// What it was computed at.
    pub basis: Basis,
    /// As many as were asked for.
    pub topics: Vec<TopicNode>,
    /// How many there are, whatever was asked for by `after` and `limit`.
    pub total: u64,
    /// Some are left.
    pub more: bool,
}

/// One topic, or a level above some: where several ways go on, or where what is below is not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicNode {
    /// Its whole name.
    pub topic: String,
    /// Living memories in it; 0 for a level that has only others below it.
    pub memories: u64,
    /// RFC 3339, newest change of a memory in it, or below it where it has none.
    pub updated_at: String,
    /// The mean of the weights of the memories in it, 0 to 1; `None` where it has none.
    pub mean_weight: Option<f64>,
    /// Levels above it.
    pub level: u32,
    /// It and all below it.
    pub with_below: TopicSum,
}

/// A topic and all below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicSum {
    /// Topics that have memories.
    pub topics: u64,
    /// Their living memories.
    pub memories: u64,
    /// The mean of their weights, 0 to 1.
    pub mean_weight: f64,
    /// RFC 3339, newest change.
    pub updated_at: String,
}
