//! The search for feedback.

use icm_log::{Position, SubjectId};
use icm_projections::fold::{FEEDBACK, Family};
use icm_projections::{FactFilter, RecallQuery, TagQuery, Views};

use super::row::{hit, row};
use crate::recall::query::{LIMIT_DEFAULT, check_floor};
use crate::recall::question::notes;
use crate::recall::scopes::Scopes;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::RECALL_LIMIT_MAX;
use icm_api::{Caller, Feedback, FeedbackSearch, FeedbackSearchRequest};

impl Service {
    /// Returns one correction, by its whole id.
    ///
    /// # Errors
    /// `NotFound`, also for the id of a memory.
    pub fn feedback(&self, id: &str) -> Result<Feedback> {
        self.with_views(|views| {
            let entity = self.find_any(views, id)?;
            let version = views.version_at(entity, views.tally().position)?;
            let version = version.filter(|it| it.is_alive() && it.family() == Family::Feedback);
            let version = version.ok_or_else(|| ServiceError::NotFound {
                what: "correction",
                id: id.to_owned(),
                nearest: Vec::new(),
            })?;
            Ok(row(&version))
        })
    }

    /// Returns feedback that fits, by words and meaning, best first. A search is not recorded.
    ///
    /// # Errors
    /// `Invalid` for an empty query, a limit or a floor out of bounds, and for a scope.
    pub fn feedback_search(
        &self,
        caller: &Caller,
        request: &FeedbackSearchRequest,
    ) -> Result<FeedbackSearch> {
        if request.query.trim().is_empty() {
            return Err(ServiceError::invalid_with(
                "the query is empty",
                "give words to look for",
            ));
        }
        let limit = request.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=RECALL_LIMIT_MAX).contains(&limit) {
            return Err(ServiceError::invalid(format!(
                "the limit is {limit}, it must be from 1 to {RECALL_LIMIT_MAX}"
            )));
        }
        check_floor(request.floor)?;
        let scopes = Scopes::of(caller, request.scope.as_deref())?;
        let question = self.what_counts(&request.query)?;
        let asked = self.ask_model(&question.text);
        let topic = request.topic.as_deref().map(str::trim);
        let mut found = self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let [seen, own, kin] = scopes.asked();
            let others = match topic {
                Some(topic) => of_other_topics(views, topic, at.position)?,
                None => Vec::new(),
            };
            let ranking = asked.ranking(self.settings.ranking).alone();
            let query = RecallQuery {
                text: &question.text,
                topic: None,
                tags: TagQuery::default(),
                moment: None,
                scopes: &seen,
                own: &own,
                kin: &kin,
                facts: FactFilter {
                    family: Family::Feedback,
                    ..FactFilter::default()
                },
                excluded_topics: &[],
                excluded_memories: &others,
                limit,
                floor: request.floor.unwrap_or(self.settings.ranking.floor),
                ranking,
                model: asked.model(),
            };
            let found = views.recall(&query, at.position)?;
            Ok(FeedbackSearch {
                basis: at.to_basis(),
                results: found.hits.iter().map(hit).collect(),
                nearest: found.nearest.as_ref().map(hit),
                note: asked.note(),
            })
        })?;
        found.note = notes(question.note(), found.note);
        Ok(found)
    }
}

/// Returns the feedback of other topics, in the form that a query leaves out. The index of topics has memories alone, so
/// this reads the row of every feedback.
fn of_other_topics(views: &Views, topic: &str, position: Position) -> QueryResult<Vec<SubjectId>> {
    let mut others = Vec::new();
    for entity in views.members(FEEDBACK)? {
        if let Some(version) = views.version_at(entity, position)?
            && version.key.as_deref() != Some(topic)
        {
            others.extend([version.id, entity]);
        }
    }
    others.sort_unstable();
    Ok(others)
}
