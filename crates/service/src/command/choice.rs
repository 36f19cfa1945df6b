//! The events that settle conflicts. They name all the newest events as observed, so they win against them.

use icm_log::facts::{Alive, ConceptRefined, MemoirDescribed, MemoryUpdated, fields};
use icm_log::{Kind, Name, NewEvent, ScopeId, payload};
use icm_projections::fold::{Family, Version};

use super::change::{Change, scope_id_of};
use crate::command::expires::NewExpiry;
use crate::command::validated::{Scope, source_text};

/// The fields that follow a text because no command settles them alone: its source and its trust.
const WITH_CONTENT: u32 = fields::SOURCE | fields::TRUST;

/// A value that is to hold.
pub(crate) struct Choice<'a> {
    /// The bit of the field.
    pub(crate) field: u32,
    /// A row that has the value.
    pub(crate) row: &'a Version,
    /// The fields that the writer of the row wrote.
    pub(crate) written: u32,
}

impl Choice<'_> {
    /// Returns the fields that are written for this choice.
    fn fields(&self) -> u32 {
        match self.field {
            fields::CONTENT => fields::CONTENT | self.written & WITH_CONTENT,
            field => field,
        }
    }
}

/// Returns the event after which these values hold, and the memory's name after that. The name is zero if the event
/// leaves it as it is.
pub(crate) fn settled(before: &Version, choices: &[Choice<'_>]) -> (NewEvent, Name) {
    match before.family() {
        // Feedback has no field that can be settled.
        Family::Memory | Family::Feedback => updated(before, choices),
        Family::Memoir => (described(before, choices), Name::ZERO),
        Family::Concept => (refined(before, choices), Name::ZERO),
    }
}

fn updated(before: &Version, choices: &[Choice<'_>]) -> (NewEvent, Name) {
    let mut payload = payload::MemoryUpdated::default();
    let mut facts = MemoryUpdated {
        fields: choices.iter().fold(0, |all, it| all | it.fields()),
        scope_kind: None,
        importance: None,
        trust: None,
        keywords_added: 0,
        name: Name::ZERO,
        scope_id: ScopeId::ZERO,
        removed: Vec::new(),
        expiry: None,
    };
    let mut moved = Change::default();
    let mut expires = None;
    for choice in choices {
        let row = choice.row;
        match choice.field {
            fields::TOPIC => {
                payload.topic = row.topic.as_deref();
                moved.topic.clone_from(&row.topic);
            }
            fields::CONTENT => payload.content = row.content.as_deref(),
            fields::RAW_EXCERPT => payload.raw_excerpt = row.raw_excerpt.as_deref(),
            fields::OCCURRED_AT => payload.occurred_at_ms = row.occurred_at_ms,
            fields::METADATA => payload.metadata = row.metadata.as_deref(),
            fields::EXPIRES => expires = row.expiry.as_deref().map(NewExpiry::of_row),
            fields::IMPORTANCE => facts.importance = Some(row.importance),
            fields::SCOPE => {
                let (kind, id) = (row.scope_kind, scope_id_of(row));
                payload.scope = row.scope.as_deref();
                facts.scope_kind = Some(kind);
                facts.scope_id = id;
                moved.scope = Some(Scope {
                    kind,
                    id,
                    text: row.scope.clone(),
                });
            }
            _ => {}
        }
        if choice.fields() & fields::SOURCE != 0 {
            payload.source = source_text(&row.source);
        }
        if choice.fields() & fields::TRUST != 0 {
            facts.trust = Some(row.trust);
        }
    }
    if let Some(expires) = &expires {
        facts.expiry = Some(expires.facts());
        payload.expires = expires.texts();
    }
    if facts.fields & (fields::TOPIC | fields::SCOPE) != 0 {
        facts.name = moved.name_after(before);
    }
    let event = NewEvent {
        kind: Kind::MEMORY_UPDATED,
        subject: before.id,
        refs: before.observed(),
        facts: facts.encode(),
        payload: payload::encode(&payload),
    };
    (event, facts.name)
}

fn described(before: &Version, choices: &[Choice<'_>]) -> NewEvent {
    let description = choices.iter().find_map(|it| it.row.content.as_deref());
    NewEvent {
        kind: Kind::MEMOIR_DESCRIBED,
        subject: before.id,
        refs: before.observed(),
        facts: MemoirDescribed {
            fields: fields::CONTENT,
        }
        .encode(),
        payload: payload::encode(&payload::MemoirDescribed { description }),
    }
}

fn refined(before: &Version, choices: &[Choice<'_>]) -> NewEvent {
    let of = |field| choices.iter().find(|it| it.field == field);
    let (text, sure) = (of(fields::CONTENT), of(fields::CONFIDENCE));
    let sure = sure.map_or(before, |it| it.row);
    let written = choices.iter().fold(0, |all, it| all | it.fields());
    NewEvent {
        kind: Kind::CONCEPT_REFINED,
        subject: before.id,
        refs: before.observed(),
        facts: ConceptRefined {
            fields: written & !fields::TRUST,
            confidence_ppm: sure.graph.map_or(0, |row| row.confidence_ppm),
        }
        .encode(),
        payload: payload::encode(&payload::ConceptRefined {
            definition: text.and_then(|it| it.row.content.as_deref()),
            source: match text {
                Some(it) if written & fields::SOURCE != 0 => source_text(&it.row.source),
                _ => payload::SourceText::default(),
            },
        }),
    }
}

/// Returns the event that forgets a forgotten row once more, with knowledge of what was written meanwhile.
pub(crate) fn still_forgotten(before: &Version) -> NewEvent {
    let next = before.length_seen.max(before.causal_length) + 1;
    NewEvent {
        kind: match before.family() {
            Family::Memory | Family::Feedback => Kind::MEMORY_FORGOTTEN,
            Family::Memoir => Kind::MEMOIR_FORGOTTEN,
            Family::Concept => Kind::CONCEPT_FORGOTTEN,
        },
        subject: before.id,
        refs: before.observed(),
        facts: Alive {
            causal_length: next + next % 2,
        }
        .encode(),
        payload: payload::encode(&payload::MemoryForgotten::default()),
    }
}
