//! What machines that did not know of each other wrote beside each other. One value is shown everywhere; the
//! row knows who else wrote the field, and the log what.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use icm_log::facts::{Facts, MemoryConsolidated, MemoryPruned, fields};
use icm_log::{ActorId, Event, EventId, Kind, Position};
use icm_projections::fold::{
    EntityId, Family, Stamp, Version, Writer, as_written, changed, written_by,
};
use icm_projections::{ALL_IDS, Views, topic_fits};
use serde_json::{Map, Value};

use super::write::{Choice, RequestKeyOf, receipt, settled, still_forgotten};
use super::{Ask, Service, graph};
use crate::api::{
    Action, Caller, Conflict, ConflictOf, ConflictValue, Conflicts, ConflictsRequest,
    SettleReceipt, SettleRequest,
};
use crate::error::{Result, ServiceError};
use crate::ids::id_text;
use crate::when::{rfc3339, rfc3339_signed};

/// Rows whose events are read together.
const ROWS: usize = 1_000;

/// What somebody can settle of a memory. A name is never in conflict (it makes one memory of two), and where a
/// text came from goes with the text.
const OF_MEMORY: u32 = fields::TOPIC
    | fields::CONTENT
    | fields::RAW_EXCERPT
    | fields::IMPORTANCE
    | fields::SCOPE
    | fields::OCCURRED_AT
    | fields::METADATA;

fn settleable(family: Family) -> u32 {
    match family {
        Family::Memory => OF_MEMORY,
        Family::Memoir => fields::CONTENT,
        Family::Concept => fields::CONTENT | fields::CONFIDENCE,
    }
}

/// Fields that more than one event holds, whether they say the same or not.
fn held_twice(version: &Version) -> u32 {
    let (mut once, mut twice) = (0, 0);
    for writer in &version.writers {
        twice |= once & writer.fields;
        once |= writer.fields;
    }
    twice & settleable(version.family())
}

/// The writes that whoever forgot it may not have known of: nothing came after them.
fn unseen(version: &Version) -> impl Iterator<Item = &Writer> {
    let heads = version.heads();
    let writers = version.writers.iter();
    writers.filter(move |writer| {
        heads.len() > 1
            && writer.fields & settleable(version.family()) != 0
            && heads.contains(&writer.stamp.event)
    })
}

/// Whether there may be a conflict: what was written tells.
fn may_conflict(version: &Version) -> bool {
    match version.is_alive() {
        true => held_twice(version) != 0,
        false => version.is_forgotten() && !version.is_part() && unseen(version).next().is_some(),
    }
}

/// What an event wrote, as a row.
struct Said {
    writer: Writer,
    actor: ActorId,
    row: Version,
    /// It stored the memory, so it speaks of every field.
    stores: bool,
}

impl Said {
    fn of(event: &Event<'_>, row: &Version) -> Said {
        let stamp = Stamp {
            time: event.head.time(),
            origin: event.head.origin(),
            event: event.id,
        };
        let held = row.writers.iter().find(|writer| writer.stamp == stamp);
        let writer = held.copied().unwrap_or(Writer { stamp, fields: 0 });
        Said {
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

    fn is_withheld(&self, field: u32) -> bool {
        self.row.withheld & field != 0
    }

    /// Whether it says nothing that can be told: what stored a memory does not even tell which fields it gave,
    /// but there was a text.
    fn is_mute(&self, field: u32) -> bool {
        self.is_withheld(field) && self.stores && field != fields::CONTENT
    }
}

/// A field of a row for which several values were written.
pub(super) struct Open {
    field: u32,
    shown: Said,
    others: Vec<Said>,
}

/// A row with what is open of it.
struct Disputed {
    entity: EntityId,
    row: Version,
    open: Vec<Open>,
}

impl Disputed {
    fn keys(&self) -> impl Iterator<Item = (EntityId, u32)> {
        self.open.iter().map(|open| (self.entity, open.field))
    }
}

impl Service {
    /// What concurrent writes left open, now or as of a moment; what was written last comes first.
    ///
    /// Costs a pass over the rows, and of those that several machines wrote the events.
    ///
    /// # Errors
    /// `Invalid` for a moment that is none.
    pub fn conflicts(&self, request: &ConflictsRequest) -> Result<Conflicts> {
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let mut conflicts: Vec<(Stamp, Conflict)> = Vec::new();
            let rows = self.rows_that_may(views, request.topic.as_deref(), at.position)?;
            for rows in rows.chunks(ROWS) {
                for disputed in self.open_of(views, rows, at.position)? {
                    let told = disputed
                        .open
                        .iter()
                        .map(|open| (open.newest(), self.conflict(views, &disputed.row, open)));
                    conflicts.extend(told);
                }
            }
            conflicts.sort_by(|(a, one), (b, other)| {
                b.cmp(a)
                    .then_with(|| (&one.id, &one.field).cmp(&(&other.id, &other.field)))
            });
            let total = conflicts.len() as u64;
            conflicts.truncate(request.limit.unwrap_or(usize::MAX));
            Ok(Conflicts {
                basis: at.to_basis(),
                conflicts: conflicts.into_iter().map(|(_, it)| it).collect(),
                total,
            })
        })
    }

    /// Settles what is open of a memory, a memoir or a concept: an ordinary change that names all that was
    /// written, so it holds on every machine that learns of it, and can be undone.
    ///
    /// # Errors
    /// `NotFound`; `Nothing` where nothing is in conflict, or what is chosen is withheld.
    pub fn settle_conflict(
        &self,
        caller: &Caller,
        request: &SettleRequest,
    ) -> Result<SettleReceipt> {
        self.refuse_unknown(&request.id)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let entity = self.find_any(views, &request.id)?;
            let newest = views.tally().position;
            let disputed = self.open_of(views, &[entity], newest)?.pop();
            let Some(Disputed { row, mut open, .. }) = disputed else {
                return Err(self.no_conflict(views, entity)?.into());
            };
            let name = |open: &Open| field_name(row.family(), open.field);
            if let Some(unknown) = (request.fields.iter())
                .find(|field| open.iter().all(|open| name(open) != field.as_str()))
            {
                let names: Vec<_> = open.iter().map(name).collect();
                return Err(ServiceError::nothing(
                    format!("`{unknown}` of {} is in no conflict", id_text(row.id)),
                    format!("in conflict: {}; see `icm conflicts`", names.join(", ")),
                )
                .into());
            }
            if !request.fields.is_empty() {
                open.retain(|open| request.fields.iter().any(|field| name(open) == field));
            }
            let taken = match &request.take {
                Some(given) => Some(self.taken(views, &open, given)?),
                None => None,
            };
            // What the event did not write stays open.
            if let Some(event) = taken {
                open.retain(|open| open.by(event).is_some());
            }
            let mut choices = Vec::with_capacity(open.len());
            for open in &open {
                let said = taken.and_then(|event| open.by(event));
                let said = said.unwrap_or(&open.shown);
                if open.field == changed::ALIVE && said.writer.stamp != open.shown.writer.stamp {
                    return Err(forgotten(&row).into());
                }
                if said.is_withheld(open.field) {
                    return Err(withheld(&row, open, said).into());
                }
                choices.push(Choice {
                    field: open.field,
                    row: &said.row,
                    written: said.writer.fields,
                });
            }
            let (event, action) = match open[0].field {
                changed::ALIVE => (still_forgotten(&row), Action::Forgotten),
                _ => {
                    let (event, digest) = settled(&row, &choices);
                    if digest != row.name {
                        self.refuse_taken_name(views, &row, digest)?;
                    }
                    (event, Action::Updated)
                }
            };
            let moved = choices.iter().find(|choice| choice.field == fields::TOPIC);
            let topic = moved.and_then(|choice| choice.row.topic.clone());
            let appended = command.append(views, vec![event])?;
            Ok(SettleReceipt {
                receipt: receipt(&row, appended[0], action, topic),
                settled: open.iter().map(|open| name(open).to_owned()).collect(),
            })
        })
    }

    /// Names of the fields of a row that are in conflict.
    pub(super) fn conflicting(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> std::result::Result<Vec<String>, Ask> {
        let open = self.open_fields(views, version, position)?;
        let names = bits(open).map(|field| field_name(version.family(), field).to_owned());
        Ok(names.collect())
    }

    /// The same as bits; [`changed::ALIVE`] where it was forgotten while somebody wrote it.
    pub(super) fn open_fields(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> std::result::Result<u32, Ask> {
        if !may_conflict(version) {
            return Ok(0);
        }
        let entity = views.resolve(version.id)?;
        let disputed = self.open_of(views, &[entity], position)?;
        let open = disputed.iter().flat_map(|it| &it.open);
        Ok(open.fold(0, |all, open| all | open.field))
    }

    /// How many conflicts the events after a position opened, of rows that they are about.
    pub(super) fn opened_since(
        &self,
        views: &Views,
        before: Position,
    ) -> std::result::Result<u64, Ask> {
        let newest = views.tally().position;
        let positions: Vec<Position> = (before.0 + 1..=newest.0).map(Position).collect();
        let mut ids = BTreeSet::new();
        views.events_at(&self.log, &positions, &mut |event| {
            ids.insert(event.head.subject());
            if let Ok(
                Facts::Consolidated(MemoryConsolidated { covers, .. })
                | Facts::Pruned(MemoryPruned { covers, .. }),
            ) = Facts::of(&event.head)
            {
                ids.extend(covers.iter().map(|covered| covered.id));
            }
        })?;
        let mut entities = BTreeSet::new();
        for id in ids {
            entities.insert(views.resolve(id)?);
        }
        let entities: Vec<EntityId> = entities.into_iter().collect();
        let mut was: BTreeSet<(EntityId, u32)> = BTreeSet::new();
        for disputed in self.open_of(views, &entities, before)? {
            was.extend(disputed.keys());
        }
        let now = self.open_of(views, &entities, newest)?;
        let keys = now.iter().flat_map(Disputed::keys);
        Ok(keys.filter(|key| !was.contains(key)).count() as u64)
    }

    /// Rows that may be in conflict, of which the log has to say whether they are.
    fn rows_that_may(
        &self,
        views: &Views,
        topic: Option<&str>,
        position: Position,
    ) -> std::result::Result<Vec<EntityId>, Ask> {
        let mut rows = Vec::new();
        // Who was never told anything has seen everything.
        if views.tally().imports == 0 {
            return Ok(rows);
        }
        if let Some(topic) = topic {
            for entity in views.members(topic)? {
                if let Some(version) = views.version_at(entity, position)?
                    && topic_fits(topic, version.topic.as_deref().unwrap_or_default())
                    && may_conflict(&version)
                {
                    rows.push(entity);
                }
            }
            return Ok(rows);
        }
        views.each_at(ALL_IDS, position, false, &mut |entity, version| {
            if may_conflict(version) {
                rows.push(entity);
            }
            Ok(true)
        })?;
        for (memoir, version) in self.all_memoirs_at(views, position)? {
            if may_conflict(&version) {
                rows.push(memoir);
            }
            // What is in a deleted memoir is hidden with it.
            if version.is_alive() {
                let concepts = self.all_concepts_at(views, memoir, position)?;
                let open = concepts.into_iter().filter(|(_, it)| may_conflict(it));
                rows.extend(open.map(|(entity, _)| entity));
            }
        }
        Ok(rows)
    }

    /// What is open of these rows at a position; those of which nothing is are left out. Reads their events in
    /// one go.
    fn open_of(
        &self,
        views: &Views,
        entities: &[EntityId],
        position: Position,
    ) -> std::result::Result<Vec<Disputed>, Ask> {
        let (mut found, mut rows) = (Vec::new(), Vec::new());
        let mut positions = Vec::new();
        for entity in entities {
            if let Some(row) = views.version_at(*entity, position)?.filter(may_conflict) {
                positions.extend(views.touched(*entity)?);
                found.push(*entity);
                rows.push(row);
            }
        }
        positions.retain(|touched| *touched <= position);
        positions.sort_unstable();
        positions.dedup();
        // One event may forget several memories.
        let mut wanted: HashMap<EventId, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            for event in asked(row) {
                wanted.entry(event).or_default().push(at);
            }
        }
        let mut said: Vec<BTreeMap<Stamp, Said>> = rows.iter().map(|_| BTreeMap::new()).collect();
        views.events_at(&self.log, &positions, &mut |event| {
            for at in wanted.get(&event.id).into_iter().flatten() {
                let row = &rows[*at];
                let writes = row.writers.iter().any(|it| it.stamp.event == event.id);
                if writes || forgets(event) {
                    let it = Said::of(event, row);
                    said[*at].insert(it.writer.stamp, it);
                }
            }
        })?;
        let open = found.into_iter().zip(rows).zip(said);
        let open = open.map(|((entity, row), said)| Disputed {
            entity,
            open: open_in(&row, &said),
            row,
        });
        Ok(open.filter(|it| !it.open.is_empty()).collect())
    }

    fn conflict(&self, views: &Views, row: &Version, open: &Open) -> Conflict {
        let withheld = || "(withheld)".to_owned();
        let family = row.family();
        let value = |said: &Said, is_shown: bool| ConflictValue {
            value: match (open.field, is_shown) {
                (changed::ALIVE, true) => Value::Bool(true),
                (changed::ALIVE, false) => Value::Object(said.values()),
                _ => value_of(&said.row, open.field),
            },
            withheld: match open.field {
                changed::ALIVE => said.row.withheld & said.writer.fields & fields::CONTENT != 0,
                field => said.is_withheld(field),
            },
            event: said.writer.stamp.event.to_string(),
            at: rfc3339(said.writer.stamp.time.ms()),
            actor: self.actor_name(views, said.actor),
            origin: said.writer.stamp.origin.to_string(),
        };
        Conflict {
            id: id_text(row.id),
            of: match family {
                Family::Memory => ConflictOf::Memory,
                Family::Memoir => ConflictOf::Memoir,
                Family::Concept => ConflictOf::Concept,
            },
            topic: row.topic.clone().unwrap_or_else(withheld),
            name: (family == Family::Concept).then(|| row.key.clone().unwrap_or_else(withheld)),
            field: field_name(family, open.field).to_owned(),
            shown: value(&open.shown, true),
            others: open.others.iter().map(|said| value(said, false)).collect(),
        }
    }

    /// The one of the events that wrote what is open which a user means.
    fn taken(
        &self,
        views: &Views,
        open: &[Open],
        given: &str,
    ) -> std::result::Result<EventId, Ask> {
        let prefix = given.trim().to_ascii_lowercase();
        let mut events: Vec<EventId> = (open.iter().flat_map(Open::all))
            .map(|said| said.writer.stamp.event)
            .collect();
        events.sort_unstable();
        events.dedup();
        let mut fit = events
            .iter()
            .filter(|event| event.to_string().starts_with(&prefix));
        if let (Some(event), None) = (fit.next().filter(|_| !prefix.is_empty()), fit.next()) {
            return Ok(*event);
        }
        let position = self.event_named(views, given)?;
        let mut named = None;
        views.events_at(&self.log, &[position], &mut |event| named = Some(event.id))?;
        let found = named.filter(|event| events.contains(event));
        found.ok_or_else(|| {
            ServiceError::nothing(
                format!("event {given} wrote nothing of what is in conflict"),
                "`icm conflicts` shows the events that did",
            )
            .into()
        })
    }

    fn no_conflict(
        &self,
        views: &Views,
        entity: EntityId,
    ) -> std::result::Result<ServiceError, Ask> {
        let row = views.version_at(entity, views.tally().position)?;
        let id = id_text(row.map_or(entity, |row| row.id));
        Ok(ServiceError::nothing(
            format!("nothing of {id} is in conflict"),
            "`icm conflicts` lists what is",
        ))
    }
}

impl Open {
    fn all(&self) -> impl Iterator<Item = &Said> {
        std::iter::once(&self.shown).chain(&self.others)
    }

    fn by(&self, event: EventId) -> Option<&Said> {
        self.all().find(|said| said.writer.stamp.event == event)
    }

    fn newest(&self) -> Stamp {
        let stamps = self.others.iter().map(|said| said.writer.stamp);
        stamps.fold(self.shown.writer.stamp, Stamp::max)
    }
}

impl Said {
    /// What it wrote, by the names of the fields.
    fn values(&self) -> Map<String, Value> {
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

/// The events that may say something of what is open in a row.
fn asked(row: &Version) -> Vec<EventId> {
    match row.is_alive() {
        false => row.heads().to_vec(),
        true => {
            let twice = held_twice(row);
            let writers = row.writers.iter().filter(|it| it.fields & twice != 0);
            writers.map(|writer| writer.stamp.event).collect()
        }
    }
}

fn forgets(event: &Event<'_>) -> bool {
    matches!(
        Facts::of(&event.head),
        Ok(Facts::Forgotten(_) | Facts::Pruned(_) | Facts::Consolidated(_))
    )
}

/// What is open in a row, from what its events say.
fn open_in(row: &Version, said: &BTreeMap<Stamp, Said>) -> Vec<Open> {
    if !row.is_alive() {
        return forgotten_beside(row, said).into_iter().collect();
    }
    bits(held_twice(row))
        .filter_map(|field| {
            let holds = |it: &&Said| it.writer.fields & field != 0 && !it.is_mute(field);
            // The largest stamp is shown.
            let mut said = said.values().rev().filter(holds);
            let shown = said.next()?;
            let others: Vec<Said> = said
                .filter(|other| differ(shown, other, field))
                .map(Said::again)
                .collect();
            (!others.is_empty()).then(|| Open {
                field,
                shown: shown.again(),
                others,
            })
        })
        .collect()
}

/// Of a row that was forgotten while somebody else wrote it.
fn forgotten_beside(row: &Version, said: &BTreeMap<Stamp, Said>) -> Option<Open> {
    let unseen: Vec<EventId> = unseen(row).map(|writer| writer.stamp.event).collect();
    let wrote = |it: &&Said| unseen.contains(&it.writer.stamp.event);
    let shown = said.values().rev().find(|it| it.writer.fields == 0)?;
    let others: Vec<Said> = said.values().rev().filter(wrote).map(Said::again).collect();
    (!others.is_empty()).then(|| Open {
        field: changed::ALIVE,
        shown: shown.again(),
        others,
    })
}

impl Said {
    fn again(&self) -> Said {
        Said {
            row: self.row.clone(),
            ..*self
        }
    }
}

/// Whether two events say different things of a field. Of two texts that are gone nothing can be chosen.
fn differ(one: &Said, other: &Said, field: u32) -> bool {
    match (one.is_withheld(field), other.is_withheld(field)) {
        (true, true) => false,
        (false, false) => value_of(&one.row, field) != value_of(&other.row, field),
        _ => true,
    }
}

/// What an event wrote that none of these rows shows: the text, and other fields by name. What is withheld is
/// not told.
pub(super) fn not_shown(
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

fn bits(set: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS)
        .map(|bit| 1 << bit)
        .filter(move |bit| set & bit != 0)
}

/// What a field is called, of a memory, a memoir or a concept.
fn field_name(family: Family, field: u32) -> &'static str {
    match (family, field) {
        (_, changed::ALIVE) => "forgotten",
        (Family::Memoir, fields::CONTENT) => "description",
        (Family::Concept, fields::CONTENT) => "definition",
        (_, fields::CONFIDENCE) => "confidence",
        _ => {
            let name = fields::NAMES.iter().find(|(bit, _)| *bit == field);
            name.map_or("", |(_, name)| name)
        }
    }
}

/// A field of a row as JSON; `null` where it is withheld.
fn value_of(row: &Version, field: u32) -> Value {
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::String);
    if row.withheld & field != 0 {
        return Value::Null;
    }
    match field {
        fields::TOPIC => text(&row.topic),
        fields::CONTENT => text(&row.content),
        fields::RAW_EXCERPT => text(&row.raw_excerpt),
        fields::IMPORTANCE => Value::String(
            crate::api::Importance::from(row.importance)
                .name()
                .to_owned(),
        ),
        fields::SCOPE => Value::String(row.scope_text()),
        fields::OCCURRED_AT => text(&row.occurred_at_ms.map(rfc3339_signed)),
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

fn withheld(row: &Version, open: &Open, said: &Said) -> ServiceError {
    let id = id_text(row.id);
    let name = field_name(row.family(), open.field);
    let event = said.writer.stamp.event.to_string();
    let other = open.all().find(|it| !it.is_withheld(open.field));
    let hint = match other {
        Some(other) => format!(
            "take another one: `icm conflicts settle {id} --field {name} --take {}`",
            &other.writer.stamp.event.to_string()[..12]
        ),
        None => "write it anew: `icm update`".to_owned(),
    };
    ServiceError::nothing(
        format!(
            "the {name} of {id} that event {} wrote is withheld",
            &event[..12]
        ),
        hint,
    )
}

/// That what was written meanwhile is not taken as long as it is forgotten.
fn forgotten(row: &Version) -> ServiceError {
    let id = id_text(row.id);
    let shown = |text: &Option<String>| text.clone().unwrap_or_default();
    let way = match row.family() {
        Family::Memory => format!("icm revive {id}"),
        Family::Memoir => format!("icm memoir revive '{}'", shown(&row.topic)),
        Family::Concept => format!(
            "icm memoir revive-concept -m '{}' -n '{}'",
            shown(&row.topic),
            shown(&row.key)
        ),
    };
    ServiceError::nothing(
        format!("{id} is forgotten"),
        format!("`{way}` brings it back with what was written meanwhile"),
    )
}
