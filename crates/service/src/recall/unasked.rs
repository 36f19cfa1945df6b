//! Memories that are shown to a session without a question: the choice of them, and their record.

use icm_log::facts::{Front, Importance};
use icm_log::{Position, SubjectId};
use icm_projections::fold::Version;
use icm_projections::{FactFilter, StandsOut, TopicTag};

use crate::memory::expiry::Expired;
use crate::recall::scopes::Scopes;
use crate::service::{PendingRecall, Service, locked};
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_range;
use icm_api::{Basis, Caller, Memory, RecallRequest};

/// Conditions for memories that stand out. One of importance, topic and change is enough.
pub struct StandOutConditions<'a> {
    /// Memories of at least this importance. Pinned ones always count.
    pub importance: Importance,
    /// Memories of a topic for which this returns `true`.
    pub topic: &'a dyn Fn(&str) -> bool,
    /// Memories that changed after this position of the log.
    pub after: Option<u64>,
}

impl Service {
    /// Returns the living memories that the caller sees, that stand out and that `worth` gives a number, the highest
    /// first, `most` at most, each with the name of the actor who last changed it. The basis of the answer comes with
    /// them. Reads the short record of every memory, and the memories that stand out.
    ///
    /// # Errors
    /// As [`Service::list`].
    pub fn seen_from(
        &self,
        caller: &Caller,
        most: usize,
        wanted: &StandOutConditions<'_>,
        worth: &dyn Fn(&Version) -> Option<f64>,
    ) -> Result<(Basis, Vec<(Memory, String)>)> {
        let scopes = Scopes::of(caller, None)?;
        self.with_views(|views| {
            let at = self.now(views);
            let views = &*self.views_at(views, &at)?;
            let expired = Expired::at(self, views, &at);
            let sees =
                |version: &Version| scopes.sees(&version.scope_text()) && !expired.hides(version);
            let topics = views.topics()?.into_iter().map(|topic| topic.topic);
            let topics = topics.filter(|topic| (wanted.topic)(topic));
            let stands_out = StandsOut {
                importance: wanted.importance,
                topics: topics.map(|topic| TopicTag::named(&topic)).collect(),
                after: wanted.after.map(Position),
            };
            let mut versions: Vec<(f64, Version)> = Vec::new();
            views.each_that_stands_out(&stands_out, expired.moment(), &mut |version| {
                if let Some(worth) = worth(version)
                    && sees(version)
                {
                    versions.push((worth, version.clone()));
                }
                // The list is sorted now and then, so that it stays short.
                if versions.len() >= most.saturating_mul(2) {
                    keep_best(&mut versions, most);
                }
                Ok(())
            })?;
            keep_best(&mut versions, most);
            versions.retain(|(_, version)| !expired.hides_shown(version));
            expired.checked()?;
            let mut memories = Vec::with_capacity(versions.len());
            for (_, version) in &versions {
                let links = self.links_of(views, version, at.position, &sees)?;
                let memory = self.memory_with(views, version, &links, at.position)?;
                memories.push((memory, self.actor_name(views, version.actor)));
            }
            Ok((at.to_basis(), memories))
        })
    }

    /// Queues the record that a front showed these memories, best first, without being asked. `query`: the words that
    /// counted, if any. [`Service::record_recalls`] writes the record.
    ///
    /// # Errors
    /// `Invalid` for a text that is no memory id.
    pub fn shown_unasked(
        &self,
        caller: &Caller,
        front: Front,
        query: &str,
        ids: &[&str],
        tokens: usize,
    ) -> Result<()> {
        let scopes = Scopes::of(caller, None)?;
        let mut results: Vec<SubjectId> = Vec::with_capacity(ids.len());
        for id in ids {
            match id_range(id) {
                Some((first, last)) if first == last => results.push(first),
                _ => {
                    return Err(ServiceError::invalid_with(
                        format!("`{id}` is no id of a memory"),
                        "give the whole id, as `icm get` shows it",
                    ));
                }
            }
        }
        let at = self.with_views(|views| Ok(self.now(views)))?;
        locked(&self.pending_recalls).push(PendingRecall {
            caller: caller.clone(),
            request: RecallRequest {
                query: query.to_owned(),
                front,
                no_links: true,
                ..RecallRequest::default()
            },
            facts: FactFilter::default(),
            scopes: scopes.to_record(),
            basis: (at.position, at.event),
            moment_ms: at.moment_to_name(),
            results,
            conditions: Vec::new(),
            fits: Vec::new(),
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            whole_len: None,
            read: self.log.rewritten(),
        });
        Ok(())
    }
}

/// Keeps the `most` memories of highest worth, highest first. Memories of one worth keep their order.
fn keep_best(versions: &mut Vec<(f64, Version)>, most: usize) {
    versions.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    versions.truncate(most);
}
