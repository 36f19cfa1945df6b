//! Embedding with a model: progress and report.

use icm_projections::Embeds;
use serde::{Deserialize, Serialize};

/// The progress of a model on the memories of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedStatus {
    /// The model's id, or `none`.
    pub model: String,
    /// Dimensions of a vector; 0 without a model.
    pub dim: usize,
    /// The texts that the model embeds, and that are counted here.
    pub embeds: Embeds,
    /// Passages, or whole texts, of the row versions that can be recalled now or as of an earlier moment. The name of the
    /// field is older than passages.
    pub versions: u64,
    /// Row versions that have a vector.
    pub embedded: u64,
}

/// The report of an embedding run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedReport {
    /// Passages, or whole texts, that got a vector now, from the model or the cache.
    pub new: u64,
    /// The progress of the model now.
    #[serde(flatten)]
    pub status: EmbedStatus,
}
