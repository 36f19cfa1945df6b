//! The recalls that a memory with a condition `usage` has left.

use icm_log::Position;
use icm_log::facts::Condition;
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::service::Service;
use crate::snapshot::QueryResult;

impl Service {
    /// Returns how many recalls after a position show a living memory before it expires. `None` if no number of recalls
    /// decides, or none is left.
    pub(crate) fn recalls_left(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<Option<u64>> {
        let expiry = version.expiry.as_deref().filter(|_| version.is_alive());
        let Some(expiry) = expiry.filter(|it| it.facts.condition == Condition::USAGE) else {
            return Ok(None);
        };
        let facts = &expiry.facts;
        let entity = views.resolve(version.id)?;
        let (recalls, _) = views.accesses_at(&self.log, entity, position)?;
        let least = (facts.second.saturating_add(facts.first)).saturating_sub(recalls);
        let mut writers = version.writers.iter();
        let set = writers.find(|writer| writer.stamp.event == expiry.set_by);
        // Some of the recalls may be older than the condition, which counts none of those.
        let since = match set {
            Some(set) => {
                let since = (set.stamp.time, expiry.set_by);
                views.recalls_since(&self.log, (entity, position), since, facts.first)?
            }
            None => facts.first,
        };
        let left = least
            .max(facts.first.saturating_sub(since))
            .min(facts.first);
        Ok(Some(left).filter(|left| *left > 0))
    }
}
