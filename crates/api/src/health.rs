//! Health: memories that need attention.

use serde::{Deserialize, Serialize};

use super::basis::Basis;

/// A request for the health of a store or a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct HealthRequest {
    /// Only this topic; `a/` for `a` and everything below it.
    pub topic: Option<String>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
    /// Age in days, without change and recall, from which a memory is stale.
    pub stale_days: u32,
    /// Most memories, pairs or topics to name per finding; all are counted.
    pub named: usize,
}

impl Default for HealthRequest {
    fn default() -> Self {
        HealthRequest {
            topic: None,
            at: None,
            stale_days: 90,
            named: 5,
        }
    }
}

/// The health of a store or a topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// The basis of the answer.
    pub basis: Basis,
    /// Living memories that were checked: all of the topic or the store.
    pub memories: u64,
    /// One finding per kind, in the order of [`FindingKind`], also if its count is 0.
    pub findings: Vec<HealthFinding>,
}

/// A kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Memories of medium or low importance, not pinned, that were long neither changed nor recalled.
    Stale,
    /// Pairs of memories that say nearly the same, by a link or by their words.
    NearDuplicates,
    /// Pairs of memories with a link that says they contradict each other.
    Contradictions,
    /// Memories of medium or low importance, not pinned, older than 30 days, that no recall has shown.
    NeverRecalled,
    /// Topics with so many memories of one scope that a summary in their place would help.
    #[serde(rename = "over_full")]
    Crowded,
    /// Memories that a time makes expire within seven days. Absent in a store whose memories have no condition.
    ExpireSoon,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthFinding {
    /// Its kind.
    pub finding: FindingKind,
    /// Number of memories, pairs or topics.
    pub count: u64,
    /// The first of them, at most `named`.
    pub first: Vec<FindingItem>,
    /// The command that helps.
    pub command: String,
}

/// A memory, a pair of memories or a topic, as part of a finding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingItem {
    /// The topic.
    pub topic: String,
    /// Id of the memory, or of both of a pair, the older first; empty for a topic.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ids: Vec<String>,
    /// Similarity of a pair, 0 to 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// Number of memories in the topic.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memories: Option<u64>,
    /// Their scope, if the topic has memories of other scopes, too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scope: Option<String>,
    /// The condition under which the memory expires, of one that expires soon.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<String>,
    /// The text of that memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub content: Option<String>,
}
