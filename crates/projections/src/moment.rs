//! The moment of a question, at which expired memories are hidden, and facts before their time.

use icm_log::Position;

use crate::fold::EntityId;
use crate::rows::RowFacts;

/// A closer look at conditions that row facts do not decide.
pub trait LooksCloser {
    /// Returns `true` if the version of a memory that holds from a position is expired.
    fn is_expired(&self, entity: EntityId, from: Position) -> bool;
}

/// A moment at which expired memories are hidden, and facts whose value is not valid yet.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// The moment, in milliseconds since the epoch.
    pub ms: u64,
    /// Decides about the versions whose row facts do not decide.
    pub closer: &'a dyn LooksCloser,
}

impl Moment<'_> {
    /// Returns `true` if the version with these facts is hidden at the moment.
    pub fn hides(&self, facts: &RowFacts, entity: EntityId, from: Position) -> bool {
        let is_early = facts.is_planned && i128::from(facts.time_ms) > i128::from(self.ms);
        is_early
            || facts.expires_ms <= self.ms
            || facts.expires_by_more && self.closer.is_expired(entity, from)
    }
}

impl std::fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Moment").field(&self.ms).finish()
    }
}
