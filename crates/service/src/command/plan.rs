//! Plans: a preview names one, a person agrees to it, and the command then does exactly that.

use icm_projections::Views;
use icm_projections::fold::Version;

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::Memory;
use icm_api::error::{Result, ServiceError};

/// Returns the name of a plan by a digest of all that it does.
pub(crate) fn plan_name(digest: &blake3::Hash) -> String {
    digest.to_hex()[..16].to_owned()
}

/// Returns the name of the plan that changes these versions of memories.
pub(crate) fn plan_for(names: &[&str], versions: &[Version]) -> String {
    let mut digest = blake3::Hasher::new();
    for name in names {
        digest.update(name.as_bytes()).update(&[0]);
    }
    for version in versions {
        digest.update(&version.id.0).update(&version.stamp.event.0);
    }
    plan_name(&digest.finalize())
}

/// Refuses a plan if another one was agreed to.
///
/// # Errors
/// `OtherPlan`.
pub(crate) fn refuse_other_plan(agreed: Option<&str>, plan: &str) -> Result<()> {
    match agreed.is_some_and(|agreed| agreed != plan) {
        true => Err(ServiceError::OtherPlan),
        false => Ok(()),
    }
}

impl Service {
    /// Returns the last `most` of these versions as memories, the last one first.
    pub(crate) fn last_of(
        &self,
        views: &Views,
        versions: &[Version],
        most: usize,
    ) -> QueryResult<Vec<Memory>> {
        let newest = views.tally().position;
        let last = versions.iter().rev().take(most);
        last.map(|version| self.memory_at(views, version, newest))
            .collect()
    }
}
