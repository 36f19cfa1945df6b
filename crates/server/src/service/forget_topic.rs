//! Forgetting a whole topic: shown first, then done as it was shown.

use icm_log::Kind;
use icm_projections::Views;
use icm_projections::fold::Version;

use super::write::{RequestKeyOf, newest_of_topic, turn_all};
use super::{Ask, Service};
use crate::api::{Caller, ForgetTopicAnswer, ForgetTopicRequest};
use crate::error::{Result, ServiceError};
use crate::limits::{TOPIC_LEN_MAX, text};

impl Service {
    /// Forgets all living memories of a topic in one command, however many they are, or says which they
    /// would be.
    ///
    /// # Errors
    /// `OtherPlan` where what would be forgotten is no longer what was shown.
    pub fn forget_topic_as_shown(
        &self,
        caller: &Caller,
        request: &ForgetTopicRequest,
    ) -> Result<ForgetTopicAnswer> {
        // With a `/` more than a topic can be long.
        text("the topic", &request.topic, TOPIC_LEN_MAX + 1)?;
        let look = |views: &Views| -> std::result::Result<_, Ask> {
            let mut versions = newest_of_topic(views, &request.topic)?;
            versions.retain(Version::is_alive);
            versions.sort_by_key(|version| version.id);
            let answer = self.forgetting(views, request, &versions)?;
            Ok((answer, versions))
        };
        if request.dry_run || self.is_empty()? {
            return self.with_views(|views| Ok(look(views)?.0));
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (mut answer, versions) = look(views)?;
            let other = |plan: &String| *plan != answer.plan;
            if request.plan.as_ref().is_some_and(other) {
                return Err(ServiceError::OtherPlan.into());
            }
            answer.receipts = turn_all(command, views, &versions, Kind::MEMORY_FORGOTTEN)?;
            Ok(answer)
        })
    }

    fn forgetting(
        &self,
        views: &Views,
        request: &ForgetTopicRequest,
        versions: &[Version],
    ) -> std::result::Result<ForgetTopicAnswer, Ask> {
        let mut plan = blake3::Hasher::new();
        plan.update(request.topic.as_bytes());
        let mut topics = std::collections::BTreeSet::new();
        for version in versions {
            plan.update(&version.id.0);
            plan.update(&version.stamp.event.0);
            topics.insert(version.topic.as_deref());
        }
        let shown = match request.dry_run {
            true => request.shown,
            false => 0,
        };
        let newest = views.tally().position;
        let shown = versions.iter().rev().take(shown);
        let shown: std::result::Result<Vec<_>, Ask> = shown
            .map(|version| self.memory_at(views, version, newest))
            .collect();
        Ok(ForgetTopicAnswer {
            dry_run: request.dry_run,
            topic: request.topic.clone(),
            plan: plan.finalize().to_hex()[..16].to_owned(),
            memories: versions.len() as u64,
            topics: topics.len() as u64,
            shown: shown?,
            receipts: Vec::new(),
        })
    }
}
