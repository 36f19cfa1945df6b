//! Memories that are shown to a session which has not asked: what may be shown, and the record of it.

use icm_log::facts::{Front, Importance};
use icm_log::{Position, SubjectId};
use icm_projections::fold::Version;
use icm_projections::{FactFilter, StandsOut, TopicTag};

use crate::recall::scopes::Scopes;
use crate::service::{PendingRecall, Service, locked};
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_range;
use icm_api::{Basis, Caller, Memory, RecallRequest};

/// Memories that stand out, by one of these.
pub struct Wanted<'a> {
    /// At least so important; pinned ones always are.
    pub importance: Importance,
    /// In a topic that this takes.
    pub topic: &'a dyn Fn(&str) -> bool,
    /// Changed after this position of the log.
    pub after: Option<u64>,
}

impl Service {
    /// Returns the living memories that are seen from where the caller is, that stand out and that `worth` gives a number,
    /// those worth most first, at most `most`, each with the name of who last changed it; and the basis of the answer.
    /// Reads the short record of every memory, and those that stand out.
    ///
    /// # Errors
    /// As [`Service::list`].
    pub fn seen_from(
        &self,
        caller: &Caller,
        most: usize,
        wanted: &Wanted<'_>,
        worth: &dyn Fn(&Version) -> Option<f64>,
    ) -> Result<(Basis, Vec<(Memory, String)>)> {
        let scopes = Scopes::of(caller, None)?;
        self.with_views(|views| {
            let at = self.now(views);
            let sees = |version: &Version| scopes.sees(&version.scope_text());
            let topics = views.topics()?.into_iter().map(|topic| topic.topic);
            let topics = topics.filter(|topic| (wanted.topic)(topic));
            let stands_out = StandsOut {
                importance: wanted.importance,
                topics: topics.map(|topic| TopicTag::named(&topic)).collect(),
                after: wanted.after.map(Position),
            };
            let mut versions: Vec<(f64, Version)> = Vec::new();
            views.each_that_stands_out(&stands_out, &mut |version| {
                if let Some(worth) = worth(version)
                    && sees(version)
                {
                    versions.push((worth, version.clone()));
                }
                // Sorting now and then bounds the memory.
                if versions.len() >= most.saturating_mul(2) {
                    keep_best(&mut versions, most);
                }
                Ok(())
            })?;
            keep_best(&mut versions, most);
            let mut memories = Vec::with_capacity(versions.len());
            for (_, version) in &versions {
                let links = self.links_of(views, version, at.position, &sees)?;
                let memory = self.memory_with(views, version, &links, at.position)?;
                memories.push((memory, self.actor_name(views, version.actor)));
            }
            Ok((at.to_basis(), memories))
        })
    }

    /// Records that these memories were shown, best first, by a front that nobody had asked. `query`: the words that
    /// counted, if there were any. [`Service::record_recalls`] writes the record.
    ///
    /// # Errors
    /// `Invalid` for a text that is no id of a memory.
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
                    return Err(ServiceError::invalid(format!(
                        "`{id}` is no id of a memory"
                    )));
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
            results,
            fits: Vec::new(),
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            whole_len: None,
            read: self.log.rewritten(),
        });
        Ok(())
    }
}

/// Keeps those that are worth most, in that order; of equal ones those that came first.
fn keep_best(versions: &mut Vec<(f64, Version)>, most: usize) {
    versions.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    versions.truncate(most);
}
