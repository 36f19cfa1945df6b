//! The basis of an answer.

use serde::{Deserialize, Serialize};

/// A basis: the moment that an answer was computed at. Passing `event` or `@position` as `--at` repeats the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Position: place in this machine's order of learning; 0 in an empty store.
    pub position: u64,
    /// Id of the event there (64 hex digits); empty in an empty store.
    pub event: String,
    /// Time of that event, RFC 3339.
    pub at: String,
    /// Moment at which expired memories are hidden and values of facts are valid, RFC 3339. Present if a memory of the store
    /// has or had a condition, or a planned value.
    /// Passing it as `--at` repeats the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moment: Option<String>,
}
