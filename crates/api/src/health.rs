//! What of the memories wants a look.

use serde::{Deserialize, Serialize};

use super::memory::Basis;

/// Asks what wants a look.
#[derive(Debug, Clone, PartialEq)]
pub struct HealthRequest {
    /// Only this topic; with `/` at its end, everything below it too.
    pub topic: Option<String>,
    /// As of.
    pub at: Option<String>,
    /// Days after which a memory that nothing changed or recalled is stale.
    pub stale_days: u32,
    /// How many of each finding are named; all are counted.
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

/// What wants a look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// What it was computed at.
    pub basis: Basis,
    /// Living memories that were looked at: all of the topic, or of the store.
    pub memories: u64,
    /// What was found, always in the order of [`FindingKind`]; those of which there is nothing too.
    pub findings: Vec<HealthFinding>,
}

/// What can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Of medium or low importance, and for long neither changed nor recalled.
    Stale,
    /// Pairs that say nearly the same: linked as similar, or found by their words.
    NearDuplicates,
    /// Pairs that are linked as contradicting each other.
    Contradictions,
    /// Older than 30 days, and no recall ever showed it.
    NeverRecalled,
    /// Topics with so many memories of one scope that one summary in their place would help.
    OverFull,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HealthFinding {
    /// What.
    pub finding: FindingKind,
    /// How many memories, pairs or topics.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Found>,
    /// The command that helps.
    pub command: String,
}

/// A memory, a pair or a topic that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The topic.
    pub topic: String,
    /// The memory, or both of a pair, the older one first; none of a topic.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ids: Vec<String>,
    /// How alike they are, 0 to 1, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub score: Option<f64>,
    /// How many memories the topic has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memories: Option<u64>,
    /// The scope that they are of, where the topic has memories of others, too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scope: Option<String>,
}
