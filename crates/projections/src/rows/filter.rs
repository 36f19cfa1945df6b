//! The filter by facts of rows.

use icm_log::facts::{Importance, Trust};

use super::record::RowFacts;
use crate::fold::Family;

/// Facts that a row must have; `None` accepts any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FactFilter {
    /// The kind of thing; a memory by default.
    pub family: Family,
    /// The least importance.
    pub importance: Option<Importance>,
    /// The least trust: a user ranks above an agent, an agent above an outside source.
    pub trust: Option<Trust>,
    /// The earliest time.
    pub since_ms: Option<i64>,
    /// The latest time.
    pub until_ms: Option<i64>,
}

impl FactFilter {
    /// Returns `true` if the facts pass the filter.
    pub fn fits(&self, facts: &RowFacts) -> bool {
        self.family == facts.family
            && self
                .importance
                .is_none_or(|least| facts.importance >= least)
            && self.trust.is_none_or(|least| facts.trust <= least)
            && self.since_ms.is_none_or(|since| facts.time_ms >= since)
            && self.until_ms.is_none_or(|until| facts.time_ms <= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_asks_for_the_least_and_its_times_are_part_of_the_range() {
        let facts = RowFacts {
            importance: Importance::High,
            trust: Trust::Agent,
            family: Family::Memory,
            is_pinned: false,
            expires_ms: u64::MAX,
            expires_by_more: false,
            is_fact: false,
            is_planned: false,
            time_ms: 10,
        };
        let fits = |filter: FactFilter| filter.fits(&facts);
        let any = FactFilter::default();
        assert!(fits(any));
        assert!(!fits(FactFilter {
            family: Family::Concept,
            ..any
        }));
        for (importance, trust, since_ms, until_ms, expected) in [
            (Some(Importance::Medium), None, None, None, true),
            (Some(Importance::High), None, None, None, true),
            (Some(Importance::Critical), None, None, None, false),
            (None, Some(Trust::External), None, None, true),
            (None, Some(Trust::Agent), None, None, true),
            (None, Some(Trust::User), None, None, false),
            (None, None, Some(10), Some(10), true),
            (None, None, Some(11), None, false),
            (None, None, None, Some(9), false),
        ] {
            let filter = FactFilter {
                importance,
                trust,
                since_ms,
                until_ms,
                ..any
            };
            assert_eq!(fits(filter), expected, "{filter:?}");
        }
    }
}
