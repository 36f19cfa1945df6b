//! The rules of a single memory: the row that a write, a forget or a revive makes of the row before.

mod values;
mod written;

use icm_log::facts::{Alive, Covered, Facts, MemoryStored, MemoryUpdated, fields};
use icm_log::{Event, EventId, Kind, Name, hash, payload};

use super::expiry::{expiry_of, put_expired, put_expiry};
use super::feedback;
use super::graph;
use super::record::{Carried, Keyword, Stamp, Version, Writer, changed};
use super::texts::Texts;

use values::{IN_PAYLOAD, Values, given, own_stored, put, updated_values};
use written::{put_confidence, put_pin, put_stored_facts, put_updated_facts};

pub(super) use written::show;
pub use written::{as_written, written_by};

/// Weight of a fresh memory, in parts per million.
const WEIGHT_FULL_PPM: u32 = 1_000_000;

pub(super) fn stamp_of(event: &Event<'_>) -> Stamp {
    Stamp {
        time: event.head.time(),
        origin: event.head.origin(),
        event: event.id,
    }
}

/// Returns the name in the facts. For an imported line without a key, the name is made of its payload.
fn name_of(facts: &MemoryStored, payload: Option<&payload::MemoryStored<'_>>) -> Name {
    let line = payload.and_then(|payload| Some((payload, payload.nth_line?)));
    match line {
        Some((payload, nth)) if facts.name.is_zero() => hash::line_name(
            facts.scope_kind.code(),
            facts.scope_id,
            payload.topic,
            payload.content,
            nth,
        ),
        _ => facts.name,
    }
}

/// Returns the fields of a row that have a value, as bits.
pub(super) fn given_in<T>(version: &Version<T>) -> u32 {
    let optional = [
        (fields::RAW_EXCERPT, version.raw_excerpt.is_some()),
        (fields::KEY, version.key.is_some()),
        (fields::SCOPE, version.scope.is_some()),
        (fields::SOURCE, !version.source.is_empty()),
        (fields::OCCURRED_AT, version.occurred_at_ms.is_some()),
        (fields::METADATA, version.metadata.is_some()),
        (fields::PINNED, version.pinned_until_ms.is_some()),
        (fields::EXPIRES, version.expiry.is_some()),
        (fields::EXPIRED, version.expired.is_some()),
        (changed::KEYWORDS, !version.keywords.is_empty()),
        (changed::ALIVE, !version.is_alive()),
    ];
    let always = fields::TOPIC | fields::CONTENT | fields::IMPORTANCE | fields::TRUST;
    optional
        .iter()
        .filter(|(_, given)| *given)
        .fold(always, |all, (field, _)| all | field)
}

/// Returns the first version of a memory.
pub(super) fn first<X: Texts>(
    texts: &mut X,
    event: &Event<'_>,
    facts: &MemoryStored,
) -> Version<X::Text> {
    let mut room = String::new();
    let payload = graph::stored_texts(event, &mut room);
    let values = own_stored(texts, payload.as_ref());
    let stamp = stamp_of(event);
    let name = name_of(facts, payload.as_ref());
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
            | bit(changed::KEYWORDS, facts.keyword_count > 0)
            | bit(fields::EXPIRES, facts.expiry.is_some()),
        id: event.head.subject(),
        id_stamp: stamp,
        author: event.head.actor(),
        name,
        causal_length: facts.causal_length.max(1),
        length_seen: facts.causal_length.max(1),
        hidden: false,
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
        pinned_until_ms: None,
        expiry: (facts.expiry).map(|facts| Box::new(expiry_of(event, facts))),
        expired: None,
        metadata: values.metadata,
        keywords: additions(event.id, facts.keyword_count, values.keywords),
        created_ms: stamp.time.ms(),
        updated_ms: stamp.time.ms(),
        carried: values.carried,
        weight_ppm: WEIGHT_FULL_PPM,
        withheld,
        writers: vec![Writer {
            stamp,
            fields: facts.fields,
        }],
        heads: Vec::new(),
        graph: graph::row_of(event),
        feedback: feedback::row_of(event),
    }
}

/// Returns the bit if `is_set`, else 0.
fn bit(bit: u32, is_set: bool) -> u32 {
    if is_set { bit } else { 0 }
}

fn additions<T>(event: EventId, count: u16, words: Vec<T>) -> Vec<Keyword<T>> {
    let mut words = words.into_iter();
    (0..count)
        .map(|index| Keyword {
            event,
            index,
            text: words.next(),
        })
        .collect()
}

/// The writers of a row that an event has seen.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen<'a> {
    /// All writers: the event names all the newest events of the memory.
    All,
    /// Only these writers.
    Only(&'a [EventId]),
}

impl Seen<'_> {
    fn holds(&self, event: EventId) -> bool {
        match self {
            Seen::All => true,
            Seen::Only(events) => events.contains(&event),
        }
    }
}

/// Returns the version that follows `before`; `None` if the event comes before any `stored`. If `in_force` is `false`,
/// the event is undone and affects only the id and the next causal length.
pub(super) fn next<X: Texts>(
    texts: &mut X,
    event: &Event<'_>,
    facts: &Facts,
    before: Option<&Version<X::Text>>,
    seen: Seen<'_>,
    in_force: bool,
) -> Option<Version<X::Text>> {
    match (facts, before) {
        (Facts::Stored(facts), before) => {
            let first = first(texts, event, facts);
            Some(stored(event, facts, first, before, seen, in_force))
        }
        (Facts::Updated(facts), Some(before)) if in_force && !before.hidden => {
            Some(updated(texts, event, facts, before, seen))
        }
        (Facts::Forgotten(facts) | Facts::Revived(facts), Some(before)) => {
            Some(alive(event, facts, before, in_force))
        }
        (_, before) => before.map(|before| follow(event, before)),
    }
}

/// Returns the facts for a memory that a summary or a prune covers; `None` if the memory stays as it is.
pub(super) fn covering(covered: &Covered) -> Option<Facts> {
    let causal_length = covered.causal_length;
    (causal_length != 0).then_some(Facts::Forgotten(Alive { causal_length }))
}

/// Returns the version that a `stored` makes; `first` is the version that it makes without earlier events.
pub(super) fn stored<T: Clone>(
    event: &Event<'_>,
    facts: &MemoryStored,
    mut first: Version<T>,
    before: Option<&Version<T>>,
    seen: Seen<'_>,
    in_force: bool,
) -> Version<T> {
    let Some(before) = before else {
        first.hidden = !in_force;
        return first;
    };
    let carried = first.carried;
    let mut version = match (in_force, before.hidden) {
        (true, false) => stored_again(event, facts, first, before, seen),
        (true, true) => Version {
            id: before.id,
            id_stamp: before.id_stamp,
            author: before.author,
            ..first
        },
        (false, _) => follow(event, before),
    };
    take_id(event, carried, &mut version);
    version.length_seen = before.length_seen.max(facts.causal_length);
    version
}

/// Takes over the id of the `stored` if it is the earliest one, in force or not.
fn take_id<T>(event: &Event<'_>, carried: Option<Carried>, version: &mut Version<T>) {
    let stamp = stamp_of(event);
    if stamp < version.id_stamp {
        version.id = event.head.subject();
        version.id_stamp = stamp;
        version.author = event.head.actor();
        version.created_ms = stamp.time.ms();
        version.carried = carried;
    }
}

/// Returns the version after an event that only changes whether the memory is alive.
fn alive<T: Clone>(
    event: &Event<'_>,
    facts: &Alive,
    before: &Version<T>,
    in_force: bool,
) -> Version<T> {
    let counts = in_force && !before.hidden && facts.causal_length > before.causal_length;
    let was = before.is_alive();
    let mut version = follow(event, before);
    version.length_seen = before.length_seen.max(facts.causal_length);
    if counts {
        version.causal_length = facts.causal_length;
    }
    version.changed = if was == version.is_alive() {
        0
    } else {
        changed::ALIVE
    };
    version
}

/// Returns the version after an update.
fn updated<X: Texts>(
    texts: &mut X,
    event: &Event<'_>,
    facts: &MemoryUpdated,
    before: &Version<X::Text>,
    seen: Seen<'_>,
) -> Version<X::Text> {
    let mut values = updated_values(texts, event);
    let keywords = std::mem::take(&mut values.keywords);
    let mut version = follow(event, before);
    let shown = take_fields(&mut version, facts.fields, seen);
    put(&mut version, shown, values);
    put_updated_facts(&mut version, shown, facts);
    put_expiry(&mut version, shown, event, facts.expiry);
    put_expired(&mut version, shown, event);
    put_confidence(&mut version, shown, event);
    put_pin(&mut version, shown, event);
    if let (Some(row), Kind::CONCEPT_REFINED) = (&mut version.graph, event.head.kind()) {
        row.revision = row.revision.saturating_add(1);
    }
    for removal in &facts.removed {
        let Some(added_by) = event.head.refs().nth(usize::from(removal.reference)) else {
            continue;
        };
        version
            .keywords
            .retain(|word| (word.event, word.index) != (added_by, removal.index));
    }
    version
        .keywords
        .extend(additions(event.id, facts.keywords_added, keywords));
    version.changed = facts.fields;
    if !facts.removed.is_empty() || facts.keywords_added > 0 {
        version.changed |= changed::KEYWORDS;
    }
    // A pin or a condition that came true changes nothing else of the memory, so the time of the last change stays.
    if !matches!(version.changed, fields::PINNED | fields::EXPIRED) {
        version.updated_ms = version.updated_ms.max(version.stamp.time.ms());
    }
    version
}

/// Returns the version after a `stored` that names an existing memory. The writes of both stand, and the earlier id is
/// shown. `again` is the version that the event makes without earlier events.
fn stored_again<T: Clone>(
    event: &Event<'_>,
    facts: &MemoryStored,
    again: Version<T>,
    before: &Version<T>,
    seen: Seen<'_>,
) -> Version<T> {
    let mut version = follow(event, before);
    let shown = take_fields(&mut version, facts.fields, seen);
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
        carried: None,
        present: again.withheld == 0,
    };
    put(&mut version, shown, values);
    put_stored_facts(&mut version, shown, facts);
    put_expiry(&mut version, shown, event, facts.expiry);
    put_confidence(&mut version, shown, event);
    version.keywords.extend(again.keywords);
    version.causal_length = version.causal_length.max(facts.causal_length);
    version.changed = facts.fields | changed::KEYWORDS;
    version.updated_ms = version.updated_ms.max(version.stamp.time.ms());
    version
}

/// Returns a copy of the version before, made by this event.
pub(super) fn follow<T: Clone>(event: &Event<'_>, before: &Version<T>) -> Version<T> {
    Version {
        from: event.position,
        stamp: stamp_of(event),
        kind: event.head.kind().0,
        actor: event.head.actor(),
        changed: 0,
        ordinal: None,
        heads: Vec::new(),
        ..before.clone()
    }
}

/// Records the writer of the fields in `written`, and returns the fields whose value it shows. A write beats every
/// write that it has seen; among the rest the largest stamp is shown.
fn take_fields<T>(version: &mut Version<T>, written: u32, seen: Seen<'_>) -> u32 {
    let stamp = version.stamp;
    for writer in &mut version.writers {
        if seen.holds(writer.stamp.event) {
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

/// Returns the facts of an event about a memory, or `Opaque` if this fold does not know them.
pub(super) fn facts_of(event: &Event<'_>) -> Facts {
    // `verify` reports facts that cannot be read as damage; the fold ignores them.
    let facts = Facts::of(&event.head).unwrap_or(Facts::Opaque);
    graph::as_of_a_row(feedback::as_of_a_row(event.head.subject(), facts))
}

/// Returns `true` if an event needs a newer version of this program.
pub(super) fn needs_newer(kind: Kind, version: u16) -> bool {
    kind.is_critical() && !kind.is_understood(version)
}
