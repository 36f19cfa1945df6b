//! Translates events of memoirs and concepts, and pins, to the facts of memories, whose rules they follow.

use icm_log::facts::{Facts, Importance, MemoryStored, MemoryUpdated, ScopeKind, Trust, fields};
use icm_log::{Event, Kind, Name, ScopeId, payload};

use super::feedback;
use super::record::GraphRow;

/// Returns the facts of a graph event as facts about a memory's row; other facts are returned unchanged.
pub(super) fn as_of_a_row(facts: Facts) -> Facts {
    let stored = |fields, causal_length, keyword_count, name| {
        Facts::Stored(MemoryStored {
            fields,
            causal_length,
            scope_kind: ScopeKind::Global,
            importance: Importance::Medium,
            trust: Trust::Agent,
            keyword_count,
            name,
            scope_id: ScopeId::ZERO,
            expiry: None,
        })
    };
    let updated = |fields, keywords_added, removed| {
        Facts::Updated(MemoryUpdated {
            fields,
            scope_kind: None,
            importance: None,
            trust: None,
            keywords_added,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
            removed,
            expiry: None,
        })
    };
    match facts {
        Facts::MemoirCreated(facts) => stored(
            facts.fields & OF_MEMOIRS,
            facts.causal_length,
            0,
            facts.name,
        ),
        Facts::ConceptAdded(facts) => stored(
            facts.fields & OF_CONCEPTS,
            facts.causal_length,
            facts.label_count,
            facts.name,
        ),
        Facts::MemoirDescribed(facts) => updated(facts.fields & fields::CONTENT, 0, Vec::new()),
        Facts::ConceptRefined(facts) => updated(facts.fields & REFINABLE, 0, Vec::new()),
        Facts::Pinned(_) | Facts::Unpinned => updated(fields::PINNED, 0, Vec::new()),
        Facts::Expired(_) => updated(fields::EXPIRED, 0, Vec::new()),
        // Only the events of their own kinds may write these fields.
        Facts::Updated(mut facts) => {
            facts.fields &= !(fields::PINNED | fields::EXPIRED);
            Facts::Updated(facts)
        }
        Facts::Stored(mut facts) => {
            facts.fields &= !(fields::PINNED | fields::EXPIRED);
            Facts::Stored(facts)
        }
        Facts::ConceptLabelled(facts) => updated(0, facts.label_count, Vec::new()),
        Facts::ConceptUnlabelled(facts) => updated(0, 0, facts.removed),
        facts => facts,
    }
}

const OF_MEMOIRS: u32 = fields::TOPIC | fields::CONTENT | fields::SOURCE;
const OF_CONCEPTS: u32 = OF_MEMOIRS | fields::KEY | fields::CONFIDENCE;
const REFINABLE: u32 = fields::CONTENT | fields::SOURCE | fields::CONFIDENCE;

/// Returns the fields of a stored row that a memory's row does not have; `None` for a memory.
pub(super) fn row_of(event: &Event<'_>) -> Option<GraphRow> {
    match Facts::of(&event.head) {
        Ok(Facts::MemoirCreated(_)) => Some(GraphRow {
            memoir: None,
            confidence_ppm: 0,
            revision: 0,
        }),
        Ok(Facts::ConceptAdded(facts)) => Some(GraphRow {
            memoir: Some(facts.memoir),
            confidence_ppm: facts.confidence_ppm,
            revision: 1,
        }),
        _ => None,
    }
}

/// Returns the confidence that an event gives a concept.
pub(super) fn confidence_of(event: &Event<'_>) -> Option<u32> {
    match Facts::of(&event.head) {
        Ok(Facts::ConceptAdded(facts)) => Some(facts.confidence_ppm),
        Ok(Facts::ConceptRefined(facts)) => Some(facts.confidence_ppm),
        _ => None,
    }
}

/// Returns the end of the pin that an event sets, in milliseconds since the epoch; 0 means until it is unpinned.
pub(super) fn pin_of(event: &Event<'_>) -> Option<u64> {
    match Facts::of(&event.head) {
        Ok(Facts::Pinned(facts)) => Some(facts.until_ms),
        _ => None,
    }
}

/// Returns the texts of an event that stores a memoir, a concept or feedback, as the texts of a memory. `room` holds a
/// text that is made of several.
pub(super) fn stored_texts<'a>(
    event: &Event<'a>,
    room: &'a mut String,
) -> Option<payload::MemoryStored<'a>> {
    let bytes = event.body.payload()?;
    match event.head.kind() {
        Kind::FEEDBACK_RECORDED => feedback::stored_texts(bytes, room),
        Kind::MEMOIR_CREATED => {
            let payload: payload::MemoirCreated<'_> = payload::decode(bytes).ok()?;
            Some(payload::MemoryStored {
                topic: payload.name,
                content: payload.description,
                source: payload.source,
                ..payload::MemoryStored::default()
            })
        }
        Kind::CONCEPT_ADDED => {
            let payload: payload::ConceptAdded<'_> = payload::decode(bytes).ok()?;
            Some(payload::MemoryStored {
                topic: payload.memoir,
                key: Some(payload.name),
                content: payload.definition,
                keywords: payload.labels,
                source: payload.source,
                ..payload::MemoryStored::default()
            })
        }
        _ => payload::decode(bytes).ok(),
    }
}

/// Returns the texts of an event that changes a memoir or concept, as the texts of a memory.
pub(super) fn updated_texts<'a>(event: &Event<'a>) -> Option<payload::MemoryUpdated<'a>> {
    let bytes = event.body.payload()?;
    match event.head.kind() {
        Kind::MEMOIR_DESCRIBED => {
            let payload: payload::MemoirDescribed<'_> = payload::decode(bytes).ok()?;
            Some(payload::MemoryUpdated {
                content: payload.description,
                ..payload::MemoryUpdated::default()
            })
        }
        Kind::CONCEPT_REFINED => {
            let payload: payload::ConceptRefined<'_> = payload::decode(bytes).ok()?;
            Some(payload::MemoryUpdated {
                content: payload.definition,
                source: payload.source,
                ..payload::MemoryUpdated::default()
            })
        }
        Kind::CONCEPT_LABELLED => {
            let payload: payload::ConceptLabelled<'_> = payload::decode(bytes).ok()?;
            Some(payload::MemoryUpdated {
                keywords_added: payload.labels,
                ..payload::MemoryUpdated::default()
            })
        }
        _ => payload::decode(bytes).ok(),
    }
}
