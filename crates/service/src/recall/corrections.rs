//! Corrections beside the results of a recall: feedback whose context fits the question.

use icm_projections::fold::Family;
use icm_projections::{FactFilter, RecallQuery, TagQuery, Views};

use crate::feedback::row::hit;
use crate::history::basis::At;
use crate::snapshot::QueryResult;
use icm_api::FeedbackHit;

/// Corrections of an answer, 2. Raised, they take more of a prompt's room from memories.
const CORRECTIONS_MAX: usize = 2;

/// Returns the corrections that fit the question of a recall, best first, two at most. They pass the floor and the
/// scopes of the recall, and are none of the ids that it leaves out; its other filters are about memories. Only the first
/// page of an answer has any.
///
/// Cost: one search; nothing in a store without feedback.
pub(super) fn fitting(
    views: &Views,
    recall: &RecallQuery<'_>,
    at: &At,
    offset: usize,
) -> QueryResult<Vec<FeedbackHit>> {
    if views.tally().feedback == 0 || offset > 0 {
        return Ok(Vec::new());
    }
    let query = RecallQuery {
        topic: None,
        tags: TagQuery::default(),
        moment: None,
        facts: FactFilter {
            family: Family::Feedback,
            ..FactFilter::default()
        },
        limit: CORRECTIONS_MAX,
        // Feedback does not follow one another as the sentences of a talk do.
        ranking: recall.ranking.alone(),
        ..*recall
    };
    let found = views.recall(&query, at.position)?;
    Ok(found.hits.iter().map(hit).collect())
}
