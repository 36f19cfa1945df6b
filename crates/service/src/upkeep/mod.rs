//! Upkeep: fading, pruning, summaries, health, counts, and vectors of other models.

pub(crate) mod consolidate;
pub(crate) mod decay;
pub(crate) mod embed;
pub(crate) mod health;
mod near_pairs;
pub(crate) mod partial_summaries;
pub(crate) mod prune;
pub(crate) mod stats;
pub(crate) mod summary;
pub(crate) mod tags;
pub(crate) mod topics;
mod weights;
