//! Tokens that agents were shown, by time.

use std::collections::BTreeMap;

use icm_log::facts::MemoryRecalled;

/// Milliseconds of a stretch of time by which tokens are counted: a quarter of an hour. Days of every time zone begin at
/// one. Raised, a day of some zones would begin within one.
const QUARTER_MS: u64 = 15 * 60 * 1_000;

/// Tokens that agents were shown, by time.
#[derive(Default)]
pub(crate) struct Tokens(BTreeMap<u64, Shown>);

/// Recalls and injections, with their memories and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) times: u64,
    pub(crate) memories: u64,
    pub(crate) tokens: u64,
}

impl Tokens {
    pub(super) fn take(&mut self, ms: u64, facts: &MemoryRecalled) {
        if let Some((memories, tokens)) = shown_by(facts) {
            let sum = self.0.entry(ms / QUARTER_MS).or_default();
            sum.times += 1;
            sum.memories += memories;
            sum.tokens += tokens;
        }
    }

    /// Returns the sums since a time, which begins a quarter of an hour.
    pub(crate) fn since(&self, ms: u64) -> Shown {
        let mut sum = Shown::default();
        for (_, shown) in self.0.range(ms / QUARTER_MS..) {
            sum.times += shown.times;
            sum.memories += shown.memories;
            sum.tokens += shown.tokens;
        }
        sum
    }
}

/// Tokens of a recall, and the number of memories that it showed; `None` for an injection without memories, which nobody
/// counts.
fn shown_by(facts: &MemoryRecalled) -> Option<(u64, u64)> {
    let memories = facts.results.len() as u64;
    let tokens = facts.shown.map_or(0, |shown| u64::from(shown.tokens));
    (facts.is_asked() || memories > 0).then_some((memories, tokens))
}
