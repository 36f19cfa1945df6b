//! Decay and prune: requests, receipts and the policy.

use serde::{Deserialize, Serialize};

use super::memory::Memory;

/// Days after a recall for which a prune keeps a memory, whatever it weighs. Raised, a memory that is needed seldom
/// stays longer; at 0, a prune takes what was just recalled.
pub const KEPT_AFTER_RECALL_DAYS: u64 = 30;

/// The rates at which memories fade, and the threshold of a prune. Shares are in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DecayPolicy {
    /// Weight that a memory of medium importance loses a day, at most 1,000,000.
    pub rate_ppm: u32,
    /// Multiple of `rate_ppm` for critical memories, at most 100,000,000 like the next three.
    pub critical_ppm: u32,
    /// Multiple for memories of high importance.
    pub high_ppm: u32,
    /// Multiple for memories of medium importance.
    pub medium_ppm: u32,
    /// Multiple for memories of low importance.
    pub low_ppm: u32,
    /// `true` if the first recorded recall of a day writes the day's tick.
    pub auto: bool,
    /// Weight below which a prune forgets, at most 1,000,000.
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

/// A request to write today's tick.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecayRequest {
    /// Weight that a memory of medium importance loses a day, 0 to 1. Default: the policy's.
    pub rate: Option<f64>,
    /// Only return what would be written.
    pub dry_run: bool,
}

/// The outcome of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecayAction {
    /// The tick was written, or would be.
    Decayed,
    /// Memories fade at these rates already.
    Unchanged,
}

/// The receipt of a tick.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecayReceipt {
    /// The outcome.
    pub action: DecayAction,
    /// `true` if nothing was written because only a preview was asked for.
    pub dry_run: bool,
    /// The UTC day up to which memories fade (`2026-11-23`).
    pub day: String,
    /// Weight that a memory of medium importance loses a day, 0 to 1.
    pub rate: f64,
    /// Living memories that can fade at these rates. Memories stored today begin tomorrow.
    pub memories: u64,
    /// The rate of an earlier tick of today that this tick replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces_rate: Option<f64>,
    /// Ticks for days in the future.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<TickAhead>,
    /// The event (64 hex digits), if one was written.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
}

/// A tick for days in the future, written while a clock was ahead. Memories stored until those days fade by it, unless
/// it is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickAhead {
    /// The event, 64 hex digits.
    pub event: String,
    /// Its last UTC day.
    pub day: String,
}

/// Memories that go only because of a stretch of days without any event: the store rested, or a clock was behind before
/// the stretch or ahead after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrunedPause {
    /// The last UTC day with an event before the stretch.
    pub from: String,
    /// The first UTC day with an event after it.
    pub to: String,
    /// The memories, lightest first.
    pub ids: Vec<String>,
}

/// A request to forget faded memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PruneRequest {
    /// Forget memories of medium and low importance below this weight, 0 to 1. Default: the policy's.
    pub threshold: Option<f64>,
    /// Only return what would be forgotten.
    pub dry_run: bool,
    /// Show all memories, not only the first ten.
    pub all: bool,
    /// The plan of an accepted preview; nothing is done if the plan has changed.
    pub plan: Option<String>,
}

/// A prune that was done, or its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PruneAnswer {
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// Name of this plan: pass it as `plan` to do exactly this.
    pub plan: String,
    /// The weight below which memories go, 0 to 1.
    pub threshold: f64,
    /// Number of memories to forget.
    pub memories: u64,
    /// Their ids, lightest first.
    pub ids: Vec<String>,
    /// The first ten of them; all if all were asked for.
    pub first: Vec<Memory>,
    /// Number of other memories below the weight: they stay because a recall showed them in the last
    /// [`KEPT_AFTER_RECALL_DAYS`] days.
    #[serde(default)]
    pub recalled: u64,
    /// Ticks for days in the future; without them fewer memories might go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<TickAhead>,
    /// Memories among these that go because of a pause of the log, which a wrong clock may have caused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PrunedPause>,
    /// The event that forgot them (64 hex digits; the last of several), if one was written.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
}
