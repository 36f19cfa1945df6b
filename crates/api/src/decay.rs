//! Decay and prune.

use serde::{Deserialize, Serialize};

use super::memory::Memory;

/// How memories fade, and what becomes of those that have faded. Shares are in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DecayPolicy {
    /// What a memory of medium importance loses a day, at most 1,000,000.
    pub rate_ppm: u32,
    /// How many times that a critical one loses, at most 100,000,000; so of the others.
    pub critical_ppm: u32,
    /// One of high importance.
    pub high_ppm: u32,
    /// One of medium importance.
    pub medium_ppm: u32,
    /// One of low importance.
    pub low_ppm: u32,
    /// A recall that is recorded writes the tick of a day that has none.
    pub auto: bool,
    /// The weight below which a prune forgets, at most 1,000,000.
    pub prune_threshold_ppm: u32,
}

impl Default for DecayPolicy {
    fn default() -> Self {
        DecayPolicy {
            rate_ppm: 50_000,
            critical_ppm: 0,
            high_ppm: 500_000,
            medium_ppm: 1_000_000,
            low_ppm: 2_000_000,
            auto: true,
            prune_threshold_ppm: 100_000,
        }
    }
}

/// Asks for the tick of today.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecayRequest {
    /// What a memory of medium importance loses a day, 0 to 1; the policy's unless it is given.
    pub rate: Option<f64>,
    /// Only say what would be written.
    pub dry_run: bool,
}

/// What a tick came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecayAction {
    /// It was written, or would be.
    Decayed,
    /// Memories fade so already.
    Unchanged,
}

/// The receipt of a tick.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecayReceipt {
    /// What was done.
    pub action: DecayAction,
    /// Nothing was written: it was only asked what would be.
    pub dry_run: bool,
    /// The UTC day up to which memories fade (`2026-11-23`).
    pub day: String,
    /// What a memory of medium importance loses a day, 0 to 1.
    pub rate: f64,
    /// Living memories that can fade at these rates; those that were stored today begin tomorrow.
    pub memories: u64,
    /// The rate that another tick has set for today, where this one takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces_rate: Option<f64>,
    /// Ticks for days that have not come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<TickAhead>,
    /// The event (64 hex digits), if one was written.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
}

/// A tick for days that have not come: it was written while a clock stood in the future, and what is
/// stored meanwhile fades by it until it is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickAhead {
    /// The event, 64 hex digits.
    pub event: String,
    /// The last UTC day that it is for.
    pub day: String,
}

/// Memories that would not go, were it not for a stretch of days without any event. The store rested, or a clock was
/// behind before it or ahead after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedPause {
    /// The last UTC day with an event before it.
    pub from: String,
    /// The first one after it.
    pub to: String,
    /// The memories, the lightest first.
    pub ids: Vec<String>,
}

/// Asks to forget what has faded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PruneRequest {
    /// Memories of medium and low importance whose weight is below this, 0 to 1; the policy's unless
    /// it is given.
    pub threshold: Option<f64>,
    /// Only say what would be forgotten.
    pub dry_run: bool,
    /// The plan of the preview that was agreed to: with another one nothing is done.
    pub plan: Option<String>,
}

/// What a prune did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PruneAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// Names this plan: give it back to do just what was shown.
    pub plan: String,
    /// The weight below which memories go, 0 to 1.
    pub threshold: f64,
    /// How many memories go.
    pub memories: u64,
    /// Their ids, the lightest first.
    pub ids: Vec<String>,
    /// The first ten of them.
    pub first: Vec<Memory>,
    /// Ticks for days that have not come: without them fewer memories may go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<TickAhead>,
    /// Memories of these that go because of a pause of the log, which a wrong clock may have made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PrunedPause>,
    /// The event that forgot them (64 hex digits; the last one of several), if one was written.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
}
