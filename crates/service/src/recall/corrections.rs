//! Corrections beside the results of a recall: feedback whose context fits the question.

use icm_projections::fold::Family;
use icm_projections::{FactFilter, RecallHit, RecallQuery, TagQuery, Views};

use crate::feedback::row::hit;
use crate::history::basis::At;
use crate::snapshot::QueryResult;
use icm_api::FeedbackHit;

/// Corrections of an answer, 2. Raised, they take more of a prompt's room from memories.
const CORRECTIONS_MAX: usize = 2;
/// Feedback that is looked at for an answer, 8. Raised, a search takes longer.
const CANDIDATES: usize = 8;
/// Least fit of a correction, 0.5. A correction for the situation of a question has 0.8 and more, one that shares a
/// common word with it 0.35 and less. Raised, fewer questions bring a correction.
const FIT_MIN: f64 = 0.5;
/// Least share of the question's words in a correction that has only one of them, 0.5. Raised, a question of two words
/// brings a correction only if both are in it.
const ONE_WORD_COVERAGE_MIN: f64 = 0.5;

/// Returns the corrections that fit the question of a recall, best first, two at most. They pass the floor and the
/// scopes of the recall, and are none of the ids that it leaves out; its other filters are about memories. Nobody asked
/// for corrections, so the floor is never below [`FIT_MIN`], and one common word is not enough. Only the first page of an
/// answer has any.
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
        limit: CANDIDATES,
        floor: recall.floor.max(FIT_MIN),
        // Feedback does not follow one another as the sentences of a talk do.
        ranking: recall.ranking.alone(),
        ..*recall
    };
    let found = views.recall(&query, at.position)?;
    let is_like = |found: &&RecallHit| {
        found.matched.len() > 1 || found.features.coverage >= ONE_WORD_COVERAGE_MIN
    };
    let like = found.hits.iter().filter(is_like);
    Ok(like.take(CORRECTIONS_MAX).map(hit).collect())
}

#[cfg(test)]
mod tests {
    use icm_api::{Caller, FeedbackRequest, RecallRequest, StoreRequest};

    use crate::service::tests::service;

    const CORRECTIONS: [(&str, &str, &str); 8] = [
        (
            "a flaky test in the payment pipeline",
            "run it again",
            "freeze the clock of the test",
        ),
        (
            "the user asks for the port of staging",
            "8080",
            "9090 since the move",
        ),
        (
            "formatting dates in the invoice template",
            "use the locale",
            "always ISO 8601",
        ),
        (
            "naming a new database migration",
            "a counter",
            "a timestamp and a verb",
        ),
        (
            "choosing a queue for background jobs",
            "Redis",
            "RabbitMQ, which the team runs",
        ),
        (
            "writing the changelog of a release",
            "list the commits",
            "tell users what changes",
        ),
        (
            "an error in the parser of the config file",
            "ignore it",
            "name the line",
        ),
        (
            "deploying on a Friday afternoon",
            "go on",
            "wait for Monday",
        ),
    ];

    /// A question, and the context of the correction that fits.
    const FITTING: [(&str, usize); 10] = [
        ("what to do about a flaky test in the pipeline", 0),
        ("the payment pipeline has a flaky test again", 0),
        ("which port does staging use", 1),
        ("format the date in an invoice", 2),
        ("name for a database migration", 3),
        ("which queue do we take for background jobs", 4),
        ("write the changelog for the next release", 5),
        ("the parser fails with an error in the config file", 6),
        ("can we deploy on Friday", 7),
        ("flaky test", 0),
    ];

    /// Questions that share a word with a correction, and nothing else.
    const OTHER: [&str; 10] = [
        "how do I test a new database driver for the billing service",
        "which users may see the invoice archive of last year",
        "where is the config of the staging proxy for customers",
        "why does the release notes page load so slowly in the browser",
        "who wrote the parser for the query language of the search box",
        "what did the team decide about the budget for the office move",
        "is there a template for the letter to new customers",
        "how many jobs did the company offer in the spring",
        "what is the name of the dog in the office photo",
        "the error budget of the search service for this quarter",
    ];

    #[test]
    fn a_correction_is_shown_for_its_situation_and_not_for_one_common_word() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(&folder.path().join("store"));
        let caller = Caller::default();
        for (context, predicted, correct) in CORRECTIONS {
            let request = FeedbackRequest {
                context: context.to_owned(),
                predicted: predicted.to_owned(),
                correct: correct.to_owned(),
                ..FeedbackRequest::default()
            };
            service
                .feedback_record(&caller, &request)
                .expect("recorded");
        }
        for n in 0..20 {
            let text = format!("The search service of customer {n} has an index of its own");
            let stored = service.store(&caller, StoreRequest::new("notes", text));
            stored.expect("stored");
        }
        let corrections = |question: &str| {
            let answer = service.recall(&caller, &RecallRequest::new(question));
            answer.expect("an answer").corrections
        };
        let mut wrong = Vec::new();
        for (question, place) in FITTING {
            let shown = corrections(question);
            let first = shown
                .first()
                .and_then(|hit| hit.feedback.context.as_deref());
            if first != Some(CORRECTIONS[place].0) || shown.len() > 1 {
                wrong.push(format!("{question}: {:?}", told(&shown)));
            }
        }
        for question in OTHER {
            let shown = corrections(question);
            if !shown.is_empty() {
                wrong.push(format!("{question}: {:?}", told(&shown)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn told(shown: &[icm_api::FeedbackHit]) -> Vec<String> {
        let told = |hit: &icm_api::FeedbackHit| {
            let context = hit.feedback.context.as_deref().unwrap_or_default();
            format!("{:.3} {:?} {context}", hit.fit, hit.matched)
        };
        shown.iter().map(told).collect()
    }
}
