//! The open conflicts of a row: from its writers, and the values in their events.

use std::collections::BTreeMap;

use icm_log::facts::{Facts, fields};
use icm_log::{ActorId, Event, EventId, Kind};
use icm_projections::fold::{Family, Stamp, Version, Writer, as_written, changed, written_by};
use serde_json::{Map, Value};

use crate::command::condition_text;
use crate::memoir as graph;
use icm_api::when::rfc3339_signed;

/// The fields of a memory that can be settled. A name is never in conflict, as it makes one memory of two. A source
/// follows its text.
pub(super) const OF_MEMORY: u32 = fields::TOPIC
    | fields::CONTENT
    | fields::RAW_EXCERPT
    | fields::IMPORTANCE
    | fields::SCOPE
    | fields::OCCURRED_AT
    | fields::METADATA
    | fields::EXPIRES;

/// The fields of a fact that are its value.
pub(super) const OF_VALUE: u32 = fields::CONTENT | fields::OCCURRED_AT;

pub(super) fn settleable(family: Family) -> u32 {
    match family {
        Family::Memory => OF_MEMORY,
        Family::Memoir => fields::CONTENT,
        // No event changes feedback.
        Family::Feedback => 0,
        Family::Concept => fields::CONTENT | fields::CONFIDENCE,
    }
}

/// Returns the fields that more than one event holds, with equal values or not.
pub(super) fn held_twice(version: &Version) -> u32 {
    let (mut once, mut twice) = (0, 0);
    for writer in &version.writers {
        twice |= once & writer.fields;
        once |= writer.fields;
    }
    twice & settleable(version.family())
}

/// Returns the writes that the event which forgot the row may not have known of: nothing came after them.
pub(super) fn unseen(version: &Version) -> impl Iterator<Item = &Writer> {
    let heads = version.heads();
    let writers = version.writers.iter();
    writers.filter(move |writer| {
        heads.len() > 1
            && writer.fields & settleable(version.family()) != 0
            && heads.contains(&writer.stamp.event)
    })
}

/// Returns `true` if a row may have a conflict, by its writers alone.
pub(super) fn may_conflict(version: &Version) -> bool {
    match version.is_alive() {
        true => held_twice(version) != 0,
        false => version.is_forgotten() && !version.is_part() && unseen(version).next().is_some(),
    }
}

/// The values that an event wrote, as a row.
pub(super) struct WrittenValues {
    pub(super) writer: Writer,
    pub(super) actor: ActorId,
    pub(super) row: Version,
    /// `true` if the event stored the memory, so that it wrote every field.
    pub(super) stores: bool,
}

impl WrittenValues {
    pub(super) fn of(event: &Event<'_>, row: &Version) -> WrittenValues {
        let stamp = Stamp {
            time: event.head.time(),
            origin: event.head.origin(),
            event: event.id,
        };
        let held = row.writers.iter().find(|writer| writer.stamp == stamp);
        let writer = held.copied().unwrap_or(Writer { stamp, fields: 0 });
        WrittenValues {
            writer,
            actor: event.head.actor(),
            row: as_written(row, writer.fields, event),
            stores: matches!(
                event.head.kind(),
                Kind::MEMORY_STORED
                    | Kind::MEMORY_CONSOLIDATED
                    | Kind::MEMOIR_CREATED
                    | Kind::CONCEPT_ADDED
            ),
        }
    }

    pub(super) fn is_withheld(&self, field: u32) -> bool {
        self.row.withheld & field != 0
    }

    /// Returns `true` if the value that was written is unknown. A withheld event that stored a memory does not tell
    /// which fields it wrote, only that there was a text.
    pub(super) fn is_mute(&self, field: u32) -> bool {
        self.is_withheld(field) && self.stores && field != fields::CONTENT
    }
}

/// A field of a row for which several values were written.
pub(crate) struct Open {
    pub(super) field: u32,
    pub(super) shown: WrittenValues,
    pub(super) others: Vec<WrittenValues>,
}

impl Open {
    pub(super) fn all(&self) -> impl Iterator<Item = &WrittenValues> {
        std::iter::once(&self.shown).chain(&self.others)
    }

    pub(super) fn by(&self, event: EventId) -> Option<&WrittenValues> {
        self.all().find(|said| said.writer.stamp.event == event)
    }

    pub(super) fn newest(&self) -> Stamp {
        let stamps = self.others.iter().map(|said| said.writer.stamp);
        stamps.fold(self.shown.writer.stamp, Stamp::max)
    }
}

impl WrittenValues {
    /// Returns the values that the event wrote, by the names of the fields.
    pub(super) fn values(&self) -> Map<String, Value> {
        let family = self.row.family();
        let mut values = Map::new();
        for field in bits(self.writer.fields & settleable(family)) {
            let value = value_of(&self.row, field);
            if !value.is_null() {
                values.insert(field_name(family, field).to_owned(), value);
            }
        }
        values
    }
}

/// Returns the events that may hold values of a row's conflicts.
pub(super) fn asked(row: &Version) -> Vec<EventId> {
    match row.is_alive() {
        false => row.heads().to_vec(),
        true => {
            let twice = held_twice(row);
            let writers = row.writers.iter().filter(|it| it.fields & twice != 0);
            writers.map(|writer| writer.stamp.event).collect()
        }
    }
}

pub(super) fn forgets(event: &Event<'_>) -> bool {
    matches!(
        Facts::of(&event.head),
        Ok(Facts::Forgotten(_) | Facts::Pruned(_) | Facts::Consolidated(_))
    )
}

/// Returns the open conflicts of a row, from the values in its events.
pub(super) fn open_in(row: &Version, said: &BTreeMap<Stamp, WrittenValues>) -> Vec<Open> {
    if !row.is_alive() {
        return forgotten_beside(row, said).into_iter().collect();
    }
    let mut open: Vec<Open> = bits(held_twice(row))
        .filter_map(|field| {
            let holds = |it: &&WrittenValues| it.writer.fields & field != 0 && !it.is_mute(field);
            // The value with the largest stamp is shown.
            let mut said = said.values().rev().filter(holds);
            let shown = said.next()?;
            let others: Vec<WrittenValues> = said
                .filter(|other| differ(shown, other, field))
                .map(WrittenValues::again)
                .collect();
            (!others.is_empty()).then(|| Open {
                field,
                shown: shown.again(),
                others,
            })
        })
        .collect();
    // Text and valid time of a fact are one value.
    if row.is_fact() && open.iter().any(|open| open.field == fields::CONTENT) {
        open.retain(|open| open.field != fields::OCCURRED_AT);
    }
    open
}

/// Returns the conflict of a row that was forgotten while another machine wrote it.
pub(super) fn forgotten_beside(
    row: &Version,
    said: &BTreeMap<Stamp, WrittenValues>,
) -> Option<Open> {
    let unseen: Vec<EventId> = unseen(row).map(|writer| writer.stamp.event).collect();
    let wrote = |it: &&WrittenValues| unseen.contains(&it.writer.stamp.event);
    let shown = said.values().rev().find(|it| it.writer.fields == 0)?;
    let others: Vec<WrittenValues> = said
        .values()
        .rev()
        .filter(wrote)
        .map(WrittenValues::again)
        .collect();
    (!others.is_empty()).then(|| Open {
        field: changed::ALIVE,
        shown: shown.again(),
        others,
    })
}

impl WrittenValues {
    fn again(&self) -> WrittenValues {
        WrittenValues {
            row: self.row.clone(),
            ..*self
        }
    }
}

/// Returns `true` if two events wrote different values of a field. Two withheld texts leave nothing to choose.
pub(super) fn differ(one: &WrittenValues, other: &WrittenValues, field: u32) -> bool {
    match (one.is_withheld(field), other.is_withheld(field)) {
        (true, true) => false,
        (false, false) => value_of(&one.row, field) != value_of(&other.row, field),
        _ => true,
    }
}

/// Returns the values of an event that none of these rows shows: the text, and other fields by name. Withheld values
/// are left out.
pub(crate) fn not_shown(
    event: &Event<'_>,
    held: &Version,
    shown: &[&Version],
) -> (Option<String>, Map<String, Value>) {
    let family = held.family();
    let wrote = written_by(event) & settleable(family);
    let row = as_written(held, wrote, event);
    let is_shown = |field| {
        let value = value_of(&row, field);
        value.is_null() || shown.iter().any(|it| value_of(it, field) == value)
    };
    let mut text = None;
    let mut others = Map::new();
    for field in bits(wrote).filter(|field| !is_shown(*field)) {
        match field {
            fields::CONTENT => text = row.content.clone(),
            _ => _ = others.insert(field_name(family, field).to_owned(), value_of(&row, field)),
        }
    }
    (text, others)
}

pub(super) fn bits(set: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS)
        .map(|bit| 1 << bit)
        .filter(move |bit| set & bit != 0)
}

/// Returns the name of a field of a memory, a memoir or a concept.
pub(super) fn field_name(family: Family, field: u32) -> &'static str {
    match (family, field) {
        (_, changed::ALIVE) => icm_api::FORGOTTEN,
        (Family::Memoir, fields::CONTENT) => "description",
        (Family::Concept, fields::CONTENT) => "definition",
        (_, fields::CONFIDENCE) => "confidence",
        _ => {
            let name = fields::NAMES.iter().find(|(bit, _)| *bit == field);
            name.map_or("", |(_, name)| name)
        }
    }
}

/// Returns a field of a row as JSON; `null` if it is withheld.
pub(super) fn value_of(row: &Version, field: u32) -> Value {
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::String);
    if row.withheld & field != 0 {
        return Value::Null;
    }
    match field {
        fields::TOPIC => text(&row.topic),
        fields::CONTENT => text(&row.content),
        fields::RAW_EXCERPT => text(&row.raw_excerpt),
        fields::IMPORTANCE => {
            Value::String(icm_api::Importance::from(row.importance).name().to_owned())
        }
        fields::SCOPE => Value::String(row.scope_text()),
        fields::OCCURRED_AT => text(&row.occurred_at_ms.map(rfc3339_signed)),
        fields::EXPIRES => text(&condition_text(row)),
        fields::METADATA => (row.metadata.as_deref())
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default(),
        fields::CONFIDENCE => {
            let ppm = row.graph.map_or(0, |graph| graph.confidence_ppm);
            graph::confidence(ppm).into()
        }
        _ => Value::Null,
    }
}
