//! The values that a write gives to fields, read from its payload.

use icm_log::facts::fields;
use icm_log::{Event, payload};

use crate::fold::graph;
use crate::fold::record::{Carried, Source, Version};
use crate::fold::texts::Texts;

/// The values of a write's fields; empty if the payload is absent.
pub(super) struct Values<T> {
    pub(super) topic: Option<T>,
    pub(super) content: Option<T>,
    pub(super) raw_excerpt: Option<T>,
    pub(super) key: Option<T>,
    pub(super) scope: Option<T>,
    pub(super) source: Source<T>,
    pub(super) occurred_at_ms: Option<i64>,
    pub(super) metadata: Option<T>,
    pub(super) keywords: Vec<T>,
    pub(super) carried: Option<Carried>,
    /// `true` if the payload was present and readable.
    pub(super) present: bool,
}

impl<T> Values<T> {
    fn withheld() -> Self {
        Values {
            topic: None,
            content: None,
            raw_excerpt: None,
            key: None,
            scope: None,
            source: Source::default(),
            occurred_at_ms: None,
            metadata: None,
            keywords: Vec::new(),
            carried: None,
            present: false,
        }
    }
}

pub(super) fn own_stored<X: Texts>(
    texts: &mut X,
    payload: Option<&payload::MemoryStored<'_>>,
) -> Values<X::Text> {
    let Some(payload) = payload else {
        return Values::withheld();
    };
    Values {
        topic: Some(texts.keep(payload.topic)),
        content: Some(texts.keep(payload.content)),
        raw_excerpt: own(texts, payload.raw_excerpt),
        key: own(texts, payload.key),
        scope: own(texts, payload.scope),
        source: own_source(texts, &payload.source),
        occurred_at_ms: payload.occurred_at_ms,
        metadata: own(texts, payload.metadata),
        keywords: payload
            .keywords
            .iter()
            .map(|word| texts.keep(word))
            .collect(),
        carried: payload.carried_created_at_ms.map(|created_ms| Carried {
            created_ms,
            updated_ms: payload.carried_updated_at_ms.unwrap_or(created_ms),
        }),
        present: true,
    }
}

pub(super) fn updated_values<X: Texts>(texts: &mut X, event: &Event<'_>) -> Values<X::Text> {
    let Some(payload) = graph::updated_texts(event) else {
        return Values::withheld();
    };
    Values {
        topic: own(texts, payload.topic),
        content: own(texts, payload.content),
        raw_excerpt: own(texts, payload.raw_excerpt),
        key: own(texts, payload.key),
        scope: own(texts, payload.scope),
        source: own_source(texts, &payload.source),
        occurred_at_ms: payload.occurred_at_ms,
        metadata: own(texts, payload.metadata),
        keywords: payload
            .keywords_added
            .iter()
            .map(|word| texts.keep(word))
            .collect(),
        carried: None,
        present: true,
    }
}

/// The fields whose values stand in the payload, not in the facts.
pub(super) const IN_PAYLOAD: u32 = fields::ALL & !(fields::IMPORTANCE | fields::TRUST);

/// Returns the fields that have a value: the visible changes of a first version.
pub(super) fn given<T>(values: &Values<T>) -> u32 {
    let optional = [
        (fields::RAW_EXCERPT, values.raw_excerpt.is_some()),
        (fields::KEY, values.key.is_some()),
        (fields::SCOPE, values.scope.is_some()),
        (fields::SOURCE, !values.source.is_empty()),
        (fields::OCCURRED_AT, values.occurred_at_ms.is_some()),
        (fields::METADATA, values.metadata.is_some()),
    ];
    let always = fields::TOPIC | fields::CONTENT | fields::IMPORTANCE | fields::TRUST;
    optional
        .iter()
        .filter(|(_, given)| *given)
        .fold(always, |all, (field, _)| all | field)
}

/// Takes over the values of `shown` fields; without a payload the fields are withheld.
pub(super) fn put<T>(version: &mut Version<T>, shown: u32, values: Values<T>) {
    let has = |field| shown & field != 0;
    if has(fields::TOPIC) {
        version.topic = values.topic;
    }
    if has(fields::CONTENT) {
        version.content = values.content;
    }
    if has(fields::RAW_EXCERPT) {
        version.raw_excerpt = values.raw_excerpt;
    }
    if has(fields::KEY) {
        version.key = values.key;
    }
    if has(fields::SCOPE) {
        version.scope = values.scope;
    }
    if has(fields::SOURCE) {
        version.source = values.source;
    }
    if has(fields::OCCURRED_AT) {
        version.occurred_at_ms = values.occurred_at_ms;
    }
    if has(fields::METADATA) {
        version.metadata = values.metadata;
    }
    if values.present {
        version.withheld &= !shown;
    } else {
        version.withheld |= shown & IN_PAYLOAD;
    }
}

fn own<X: Texts>(texts: &mut X, text: Option<&str>) -> Option<X::Text> {
    text.map(|text| texts.keep(text))
}

fn own_source<X: Texts>(texts: &mut X, text: &payload::SourceText<'_>) -> Source<X::Text> {
    Source {
        agent: own(texts, text.agent),
        client: own(texts, text.client),
        session: own(texts, text.session),
        project: own(texts, text.project),
        file: own(texts, text.file),
    }
}
