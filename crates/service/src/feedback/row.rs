//! Feedback as answers show it.

use icm_projections::RecallHit;
use icm_projections::fold::Version;

use icm_api::ids::id_text;
use icm_api::when::rfc3339;
use icm_api::{Feedback, FeedbackHit};

/// Returns the feedback of a row.
pub(crate) fn row(version: &Version) -> Feedback {
    let content = version.content.as_deref();
    let parts = content.and_then(|content| version.feedback?.parts(content));
    let [context, predicted, correct] = match parts {
        Some(parts) => parts.map(|part| Some(part.to_owned())),
        None => [None, None, None],
    };
    Feedback {
        id: id_text(version.id),
        topic: version.key.clone(),
        context,
        predicted,
        correct,
        reason: version.raw_excerpt.clone(),
        memory: version.feedback.and_then(|row| row.memory).map(id_text),
        scope: version.scope_text(),
        trust: version.trust.into(),
        created_at: rfc3339(version.created_ms),
    }
}

/// Returns the feedback that a search found.
pub(crate) fn hit(found: &RecallHit) -> FeedbackHit {
    FeedbackHit {
        score: f64::from(found.score),
        fit: (found.fit * 1e3).round() / 1e3,
        matched: found.matched.clone(),
        feedback: row(&found.version),
    }
}
