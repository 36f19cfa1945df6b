//! Rows that show the fields of an event as the event wrote them.

use icm_log::Event;
use icm_log::facts::{Facts, MemoryStored, MemoryUpdated, fields};

use super::facts_of;
use super::values::{own_stored, put, updated_values};
use crate::fold::expiry::{put_expired, put_expiry};
use crate::fold::graph;
use crate::fold::record::Version;
use crate::fold::texts::{Owned, Texts};

/// Shows the values of these fields as an event wrote them, regardless of the values before.
pub(in crate::fold) fn show<X: Texts>(
    texts: &mut X,
    version: &mut Version<X::Text>,
    shown: u32,
    event: &Event<'_>,
    facts: &Facts,
) {
    put_confidence(version, shown, event);
    put_pin(version, shown, event);
    put_expired(version, shown, event);
    match facts {
        Facts::Stored(facts) => {
            let mut room = String::new();
            let payload = graph::stored_texts(event, &mut room);
            let values = own_stored(texts, payload.as_ref());
            put(version, shown, values);
            put_stored_facts(version, shown, facts);
            put_expiry(version, shown, event, facts.expiry);
        }
        Facts::Updated(facts) => {
            put(version, shown, updated_values(texts, event));
            put_updated_facts(version, shown, facts);
            put_expiry(version, shown, event, facts.expiry);
        }
        _ => {}
    }
}

/// Returns the row with `fields` as an event wrote them. Fields that the event does not write stay. Fields whose
/// payload is absent are withheld.
pub fn as_written(row: &Version, fields: u32, event: &Event<'_>) -> Version {
    let mut written = row.clone();
    let facts = said_of(event);
    let shown = fields & fields_of(&facts);
    show(&mut Owned, &mut written, shown, event, &facts);
    written
}

/// Returns the fields that an event writes in the row of its subject.
pub fn written_by(event: &Event<'_>) -> u32 {
    fields_of(&said_of(event))
}

/// Returns the facts of an event about its own subject.
fn said_of(event: &Event<'_>) -> Facts {
    match facts_of(event) {
        Facts::Consolidated(facts) => Facts::Stored(facts.stored),
        facts => facts,
    }
}

fn fields_of(facts: &Facts) -> u32 {
    match facts {
        Facts::Stored(facts) => facts.fields,
        Facts::Updated(facts) => facts.fields,
        _ => 0,
    }
}

pub(super) fn put_stored_facts<T>(version: &mut Version<T>, shown: u32, facts: &MemoryStored) {
    if shown & fields::IMPORTANCE != 0 {
        version.importance = facts.importance;
    }
    if shown & fields::TRUST != 0 {
        version.trust = facts.trust;
    }
    if shown & fields::SCOPE != 0 {
        version.scope_kind = facts.scope_kind;
    }
}

pub(super) fn put_updated_facts<T>(version: &mut Version<T>, shown: u32, facts: &MemoryUpdated) {
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
    if shown & (fields::TOPIC | fields::SCOPE | fields::KEY) != 0 {
        version.name = facts.name;
    }
}

/// Sets the confidence of a concept, which stands in the facts of its events.
pub(super) fn put_confidence<T>(version: &mut Version<T>, shown: u32, event: &Event<'_>) {
    if shown & fields::CONFIDENCE != 0
        && let Some(row) = &mut version.graph
        && let Some(confidence_ppm) = graph::confidence_of(event)
    {
        row.confidence_ppm = confidence_ppm;
    }
}

/// Sets the end of a memory's pin, which stands in the facts of its events.
pub(super) fn put_pin<T>(version: &mut Version<T>, shown: u32, event: &Event<'_>) {
    if shown & fields::PINNED != 0 {
        version.pinned_until_ms = graph::pin_of(event);
    }
}
