//! The topics of a store, as a list and as a tree.

use serde::{Deserialize, Serialize};

use super::basis::Basis;

/// A request for topics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicsRequest {
    /// Only this topic and those below it.
    pub prefix: Option<String>,
    /// Levels to show below `prefix`, from 1; memories of deeper levels are still counted.
    pub depth: Option<u32>,
    /// `true` for topics with memories of their own only, without the levels above them.
    pub flat: bool,
    /// Start of the page: the last topic of the page before.
    pub after: Option<String>,
    /// Most topics; `None` for all.
    pub limit: Option<usize>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
}

/// A page of topics, or of levels: each stands right behind the level above it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Topics {
    /// The basis of the answer.
    pub basis: Basis,
    /// The page.
    pub topics: Vec<TopicNode>,
    /// Number of all topics or levels, on all pages.
    pub total: u64,
    /// `true` if more pages follow.
    pub more: bool,
}

/// A topic, or a level above several topics or above topics that are not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicNode {
    /// Its whole name.
    pub topic: String,
    /// Living memories in it; 0 for a level that only has others below it.
    pub memories: u64,
    /// Newest change of a memory in it, or else below it, RFC 3339.
    pub updated_at: String,
    /// Mean weight of the memories in it, 0 to 1; `None` without memories.
    pub mean_weight: Option<f64>,
    /// Number of levels above it.
    pub level: u32,
    /// Sums over this topic and all below it.
    pub with_below: TopicSum,
}

/// Sums over a topic and all topics below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicSum {
    /// Topics with memories.
    pub topics: u64,
    /// Their living memories.
    pub memories: u64,
    /// Mean weight of these memories, 0 to 1.
    pub mean_weight: f64,
    /// Newest change, RFC 3339.
    pub updated_at: String,
}
