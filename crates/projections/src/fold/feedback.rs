//! Translates events of feedback to the facts of memories, whose rules they follow.
//!
//! `feedback.recorded` stores a row of its own family. `feedback.applied` links the memory that it judges to itself, as a
//! confirmation does.

use icm_log::facts::{Facts, Importance, MemoryLinked, MemoryStored, Relation, Verdict, fields};
use icm_log::{Event, Name, SubjectId, payload};

use super::record::{BEFORE_CORRECT, BEFORE_PREDICTED, FEEDBACK, FeedbackRow};

/// The fields that `feedback.recorded` writes.
const OF_FEEDBACK: u32 = fields::TOPIC
    | fields::CONTENT
    | fields::RAW_EXCERPT
    | fields::KEY
    | fields::SCOPE
    | fields::SOURCE
    | fields::TRUST;

/// Returns the facts of an event of feedback as facts about a memory's row; other facts are returned unchanged.
pub(super) fn as_of_a_row(subject: SubjectId, facts: Facts) -> Facts {
    match facts {
        Facts::FeedbackRecorded(facts) => Facts::Stored(MemoryStored {
            fields: OF_FEEDBACK,
            causal_length: facts.causal_length,
            scope_kind: facts.scope_kind,
            importance: Importance::Medium,
            trust: facts.trust,
            keyword_count: 0,
            name: Name::ZERO,
            scope_id: facts.scope_id,
            expiry: None,
        }),
        Facts::FeedbackApplied(facts) => match relation_of(facts.verdict) {
            Some(relation) => Facts::Linked(MemoryLinked {
                other: subject,
                relation,
            }),
            // A later version knows what it means.
            None => Facts::Opaque,
        },
        facts => facts,
    }
}

fn relation_of(verdict: Verdict) -> Option<Relation> {
    match verdict {
        Verdict::USEFUL => Some(Relation::USEFUL),
        Verdict::WRONG => Some(Relation::WRONG),
        _ => None,
    }
}

/// Returns the fields of a stored row that only feedback has; `None` for another event.
pub(super) fn row_of(event: &Event<'_>) -> Option<FeedbackRow> {
    let Ok(Facts::FeedbackRecorded(facts)) = Facts::of(&event.head) else {
        return None;
    };
    let bytes = event.body.payload();
    let texts =
        bytes.and_then(|bytes| payload::decode::<payload::FeedbackRecorded<'_>>(bytes).ok());
    let texts = texts.unwrap_or_default();
    let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
    Some(FeedbackRow {
        memory: (!facts.memory.is_zero()).then_some(facts.memory),
        verdict: facts.verdict.0,
        context_len: len(texts.context),
        predicted_len: len(texts.predicted),
    })
}

/// Returns the texts of `feedback.recorded` as the texts of a memory; the content is made in `room`.
pub(super) fn stored_texts<'a>(
    bytes: &'a [u8],
    room: &'a mut String,
) -> Option<payload::MemoryStored<'a>> {
    let texts: payload::FeedbackRecorded<'_> = payload::decode(bytes).ok()?;
    *room = [
        texts.context,
        BEFORE_PREDICTED,
        texts.predicted,
        BEFORE_CORRECT,
        texts.correct,
    ]
    .concat();
    Some(payload::MemoryStored {
        topic: FEEDBACK,
        content: room,
        raw_excerpt: texts.reason,
        key: texts.topic,
        scope: texts.scope,
        source: texts.source,
        ..payload::MemoryStored::default()
    })
}
