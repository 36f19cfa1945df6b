//! Embedding with a model.

use serde::{Deserialize, Serialize};

/// How far a model is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedStatus {
    /// The model's id, or `none`.
    pub model: String,
    /// Numbers in a vector; 0 where there is no model.
    pub dim: usize,
    /// Versions of memories that can be recalled now or as of an earlier moment.
    pub versions: u64,
    /// Those that have a vector.
    pub embedded: u64,
}

/// What was embedded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedReport {
    /// Versions that got a vector now, from the model or the cache.
    pub new: u64,
    /// How far the model is now.
    #[serde(flatten)]
    pub status: EmbedStatus,
}
