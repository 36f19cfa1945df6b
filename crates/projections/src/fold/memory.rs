//! The rules of one memory: what a write, a forget or a revive makes of its row.

use icm_log::facts::{Alive, Facts, MemoryStored, MemoryUpdated, fields};
use icm_log::{Event, EventId, Kind, Name, hash, payload};

use super::record::{Keyword, Source, Stamp, Version, Writer, changed};

/// Weight of a fresh memory.
const WEIGHT_FULL_PPM: u32 = 1_000_000;

pub(super) fn stamp_of(event: &Event<'_>) -> Stamp {
    Stamp {
        time: event.head.time(),
        origin: event.head.origin(),
        event: event.id,
    }
}

/// Values of the fields that a write names, as far as its payload is there.
#[derive(Default)]
struct Values {
    topic: Option<String>,
    content: Option<String>,
    raw_excerpt: Option<String>,
    key: Option<String>,
    scope: Option<String>,
    source: Source,
    occurred_at_ms: Option<i64>,
    metadata: Option<String>,
    keywords: Vec<String>,
    /// The payload was there and readable.
    present: bool,
}

fn own(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn source_of(text: &payload::SourceText<'_>) -> Source {
    Source {
        agent: own(text.agent),
        client: own(text.client),
        session: own(text.session),
        project: own(text.project),
        file: own(text.file),
    }
}

fn stored_values(event: &Event<'_>) -> (Values, Option<u32>) {
    let decoded = event
        .body
        .payload()
        .and_then(|bytes| payload::decode::<payload::MemoryStored<'_>>(bytes).ok());
    let Some(payload) = decoded else {
        return (Values::default(), None);
    };
    let values = Values {
        topic: Some(payload.topic.to_owned()),
        content: Some(payload.content.to_owned()),
        raw_excerpt: own(payload.raw_excerpt),
        key: own(payload.key),
        scope: own(payload.scope),
        source: source_of(&payload.source),
        occurred_at_ms: payload.occurred_at_ms,
        metadata: own(payload.metadata),
        keywords: payload
            .keywords
            .iter()
            .map(|word| (*word).to_owned())
            .collect(),
        present: true,
    };
    (values, payload.nth_line)
}

fn updated_values(event: &Event<'_>) -> Values {
    let decoded = event
        .body
        .payload()
        .and_then(|bytes| payload::decode::<payload::MemoryUpdated<'_>>(bytes).ok());
    let Some(payload) = decoded else {
        return Values::default();
    };
    Values {
        topic: own(payload.topic),
        content: own(payload.content),
        raw_excerpt: own(payload.raw_excerpt),
        key: own(payload.key),
        scope: own(payload.scope),
        source: source_of(&payload.source),
        occurred_at_ms: payload.occurred_at_ms,
        metadata: own(payload.metadata),
        keywords: payload
            .keywords_added
            .iter()
            .map(|word| (*word).to_owned())
            .collect(),
        present: true,
    }
}

/// Fields whose value stands in the payload, not in the facts.
const IN_PAYLOAD: u32 = fields::ALL & !(fields::IMPORTANCE | fields::TRUST);

/// The name that a `stored` gives its memory: the one in the facts, or for an imported line
/// without a key one made of its payload.
fn name_of(facts: &MemoryStored, values: &Values, nth_line: Option<u32>) -> Name {
    match (nth_line, &values.topic, &values.content) {
        (Some(nth), Some(topic), Some(content)) if facts.name.is_zero() => {
            hash::line_name(facts.scope_kind.code(), facts.scope_id, topic, content, nth)
        }
        _ => facts.name,
    }
}

/// The fields that have a value: what a first version changed, in the eyes of people.
fn given(values: &Values) -> u32 {
    let optional = [
        (fields::RAW_EXCERPT, values.raw_excerpt.is_some()),
        (fields::KEY, values.key.is_some()),
        (fields::SCOPE, values.scope.is_some()),
        (fields::SOURCE, values.source != Source::default()),
        (fields::OCCURRED_AT, values.occurred_at_ms.is_some()),
        (fields::METADATA, values.metadata.is_some()),
    ];
    let always = fields::TOPIC | fields::CONTENT | fields::IMPORTANCE | fields::TRUST;
    optional
        .iter()
        .filter(|(_, given)| *given)
        .fold(always, |all, (field, _)| all | field)
}

/// The first version of a memory.
pub(super) fn first(event: &Event<'_>, facts: &MemoryStored) -> Version {
    let (values, nth_line) = stored_values(event);
    let stamp = stamp_of(event);
    let name = name_of(facts, &values, nth_line);
    let withheld = if values.present {
        0
    } else {
        facts.fields & IN_PAYLOAD
    };
    Version {
        from: event.position,
        stamp,
        kind: event.head.kind().0,
        actor: event.head.actor(),
        changed: facts.fields & given(&values)
            | if facts.keyword_count > 0 {
                changed::KEYWORDS
            } else {
                0
            },
        id: event.head.subject(),
        id_stamp: stamp,
        name,
        causal_length: facts.causal_length.max(1),
        ordinal: None,
        topic: values.topic,
        content: values.content,
        raw_excerpt: values.raw_excerpt,
        key: values.key,
        scope_kind: facts.scope_kind,
        scope: values.scope,
        importance: facts.importance,
        trust: facts.trust,
        source: values.source,
        occurred_at_ms: values.occurred_at_ms,
        metadata: values.metadata,
        keywords: additions(event.id, facts.keyword_count, values.keywords),
        created_ms: stamp.time.ms(),
        updated_ms: stamp.time.ms(),
        weight_ppm: WEIGHT_FULL_PPM,
        withheld,
        writers: vec![Writer {
            stamp,
            fields: facts.fields,
        }],
    }
}

fn additions(event: EventId, count: u16, words: Vec<String>) -> Vec<Keyword> {
    let mut words = words.into_iter();
    (0..count)
        .map(|index| Keyword {
            event,
            index,
            text: words.next(),
        })
        .collect()
}

/// The version that follows `before`, where the event only says that the memory lives or not; `None`
/// when it changes nothing that is seen.
pub(super) fn alive(event: &Event<'_>, facts: &Alive, before: &Version) -> Option<Version> {
    if facts.causal_length <= before.causal_length {
        return None;
    }
    let was = before.is_alive();
    let mut version = follow(event, before);
    version.causal_length = facts.causal_length;
    version.changed = if was == version.is_alive() {
        0
    } else {
        changed::ALIVE
    };
    Some(version)
}

/// The version that follows `before` through an update.
pub(super) fn updated(event: &Event<'_>, facts: &MemoryUpdated, before: &Version) -> Version {
    let values = updated_values(event);
    let mut version = follow(event, before);
    let observed: Vec<EventId> = event.head.refs().collect();
    let shown = take_fields(&mut version, facts.fields, &observed);
    put(&mut version, shown, values.present, &values);
    if shown & fields::IMPORTANCE != 0
        && let Some(importance) = facts.importance
    {
        version.importance = importance;
    }
    if shown & fields::TRUST != 0
        && let Some(trust) = facts.trust
    {
        version.trust = trust;
    }
    if shown & fields::SCOPE != 0
        && let Some(kind) = facts.scope_kind
    {
        version.scope_kind = kind;
    }
    if facts.fields & (fields::TOPIC | fields::SCOPE | fields::KEY) != 0 {
        version.name = facts.name;
    }
    for removal in &facts.removed {
        let Some(added_by) = observed.get(usize::from(removal.reference)) else {
            continue;
        };
        version
            .keywords
            .retain(|word| (word.event, word.index) != (*added_by, removal.index));
    }
    version
        .keywords
        .extend(additions(event.id, facts.keywords_added, values.keywords));
    version.changed = facts.fields;
    if !facts.removed.is_empty() || facts.keywords_added > 0 {
        version.changed |= changed::KEYWORDS;
    }
    version.updated_ms = version.updated_ms.max(version.stamp.time.ms());
    version
}

/// A `stored` that names a memory which is there already: the writes of both stand, and the id of
/// the earlier one is shown.
pub(super) fn stored_again(event: &Event<'_>, facts: &MemoryStored, before: &Version) -> Version {
    let again = first(event, facts);
    let mut version = follow(event, before);
    let observed: Vec<EventId> = event.head.refs().collect();
    let shown = take_fields(&mut version, facts.fields, &observed);
    let values = Values {
        topic: again.topic,
        content: again.content,
        raw_excerpt: again.raw_excerpt,
        key: again.key,
        scope: again.scope,
        source: again.source,
        occurred_at_ms: again.occurred_at_ms,
        metadata: again.metadata,
        keywords: Vec::new(),
        present: again.withheld == 0,
    };
    put(&mut version, shown, values.present, &values);
    if shown & fields::IMPORTANCE != 0 {
        version.importance = facts.importance;
    }
    if shown & fields::TRUST != 0 {
        version.trust = facts.trust;
    }
    version.keywords.extend(again.keywords);
    version.causal_length = version.causal_length.max(facts.causal_length);
    version.changed = facts.fields | changed::KEYWORDS;
    version.updated_ms = version.updated_ms.max(version.stamp.time.ms());
    if version.stamp < version.id_stamp {
        version.id = event.head.subject();
        version.id_stamp = version.stamp;
        version.created_ms = version.stamp.time.ms();
    }
    version
}

/// A version that starts as the one before and is made by this event.
fn follow(event: &Event<'_>, before: &Version) -> Version {
    Version {
        from: event.position,
        stamp: stamp_of(event),
        kind: event.head.kind().0,
        actor: event.head.actor(),
        changed: 0,
        ordinal: None,
        ..before.clone()
    }
}

/// Notes the writer of `written` and returns those of the fields whose value it shows: a write beats
/// every write that it observed, and among the rest the largest stamp is shown.
fn take_fields(version: &mut Version, written: u32, observed: &[EventId]) -> u32 {
    let stamp = version.stamp;
    for writer in &mut version.writers {
        if observed.contains(&writer.stamp.event) {
            writer.fields &= !written;
        }
    }
    version.writers.retain(|writer| writer.fields != 0);
    let beaten = version
        .writers
        .iter()
        .filter(|writer| writer.stamp > stamp)
        .fold(0, |fields, writer| fields | writer.fields);
    version.writers.push(Writer {
        stamp,
        fields: written,
    });
    written & !beaten
}

/// Takes over the values of `shown` fields; without a payload they show as withheld.
fn put(version: &mut Version, shown: u32, present: bool, values: &Values) {
    let has = |field| shown & field != 0;
    if has(fields::TOPIC) {
        version.topic.clone_from(&values.topic);
    }
    if has(fields::CONTENT) {
        version.content.clone_from(&values.content);
    }
    if has(fields::RAW_EXCERPT) {
        version.raw_excerpt.clone_from(&values.raw_excerpt);
    }
    if has(fields::KEY) {
        version.key.clone_from(&values.key);
    }
    if has(fields::SCOPE) {
        version.scope.clone_from(&values.scope);
    }
    if has(fields::SOURCE) {
        version.source = values.source.clone();
    }
    if has(fields::OCCURRED_AT) {
        version.occurred_at_ms = values.occurred_at_ms;
    }
    if has(fields::METADATA) {
        version.metadata.clone_from(&values.metadata);
    }
    if present {
        version.withheld &= !shown;
    } else {
        version.withheld |= shown & IN_PAYLOAD;
    }
}

/// Facts of an event about a memory, or nothing this fold knows.
pub(super) fn facts_of(event: &Event<'_>) -> Facts {
    // Facts that cannot be read are damage that `verify` names; here they fold as nothing.
    Facts::of(&event.head).unwrap_or(Facts::Opaque)
}

/// Whether an event asks for a newer version of this program.
pub(super) fn needs_newer(kind: Kind, version: u16) -> bool {
    // The walk knows imports; folding what they bring comes with importing.
    (kind.is_critical() && !kind.is_understood(version)) || kind == Kind::LOG_IMPORTED
}
