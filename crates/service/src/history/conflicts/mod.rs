//! Conflicts: values that machines wrote without knowing of each other. One value is shown everywhere; the row knows
//! who else wrote the field, and the log has the other values.

mod open;
mod settle;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use icm_log::facts::{Facts, MemoryConsolidated, MemoryPruned, fields};
use icm_log::{EventId, Position};
use icm_projections::fold::{EntityId, Family, Stamp, Version, changed};
use icm_projections::{ALL_IDS, Views, topic_fits};
use serde_json::Value;

pub(crate) use self::open::not_shown;
use self::open::{
    OF_VALUE, Open, WrittenValues, asked, field_name, forgets, held_twice, may_conflict, open_in,
    value_of,
};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::when::{rfc3339, rfc3339_signed};
use icm_api::{Conflict, ConflictOf, ConflictValue, Conflicts, ConflictsRequest};

/// Rows whose events are read together. Raised, the pass takes more memory.
const ROWS: usize = 1_000;

/// A row with its open conflicts.
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
    /// Returns the open conflicts, now or as of a moment, the one written last first.
    ///
    /// Costs a pass over the rows, and the events of rows that several machines wrote.
    ///
    /// # Errors
    /// `Invalid` for a text that is no moment.
    pub fn conflicts(&self, request: &ConflictsRequest) -> Result<Conflicts> {
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let mut conflicts: Vec<(Stamp, Conflict)> = Vec::new();
            let topic = self.topic_filter_if_any(views, request.topic.as_deref())?;
            let rows = self.rows_that_may(views, topic.as_deref(), at.position)?;
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

    /// Returns the names of the fields of a row that are in conflict.
    pub(crate) fn conflicting(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<Vec<String>> {
        let open = self.open_fields_of(views, version, position)?;
        let names = open.map(|field| field_name(version.family(), field).to_owned());
        Ok(names.collect())
    }

    /// Returns the fields in conflict as bits; [`changed::ALIVE`] for a row that was forgotten while another machine
    /// wrote it. The text of a fact comes with the time from which it is valid.
    pub(crate) fn open_fields(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<u32> {
        let open = self.open_fields_of(views, version, position)?;
        let open = open.fold(0, |all, field| all | field);
        let of_value = match version.is_fact() && open & OF_VALUE != 0 {
            true => held_twice(version) & OF_VALUE,
            false => 0,
        };
        Ok(open | of_value)
    }

    fn open_fields_of(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<impl Iterator<Item = u32>> {
        let disputed = match may_conflict(version) {
            true => self.open_of(views, &[views.resolve(version.id)?], position)?,
            false => Vec::new(),
        };
        let open = disputed.into_iter().flat_map(|it| it.open);
        Ok(open.map(|open| open.field))
    }

    /// Returns how many conflicts the events after a position opened in the rows that they are about.
    pub(crate) fn opened_since(&self, views: &Views, before: Position) -> QueryResult<u64> {
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

    /// Returns the rows that may be in conflict; the log has to say which are.
    fn rows_that_may(
        &self,
        views: &Views,
        topic: Option<&str>,
        position: Position,
    ) -> QueryResult<Vec<EntityId>> {
        let mut rows = Vec::new();
        // A store that never imported anything knew of every event.
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
            // The concepts of a deleted memoir are hidden with it.
            if version.is_alive() {
                let concepts = self.all_concepts_at(views, memoir, position)?;
                let open = concepts.into_iter().filter(|(_, it)| may_conflict(it));
                rows.extend(open.map(|(entity, _)| entity));
            }
        }
        Ok(rows)
    }

    /// Returns the rows that have open conflicts at a position, with these. Reads the events of all rows in one go.
    fn open_of(
        &self,
        views: &Views,
        entities: &[EntityId],
        position: Position,
    ) -> QueryResult<Vec<Disputed>> {
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
        let mut said: Vec<BTreeMap<Stamp, WrittenValues>> =
            rows.iter().map(|_| BTreeMap::new()).collect();
        views.events_at(&self.log, &positions, &mut |event| {
            for at in wanted.get(&event.id).into_iter().flatten() {
                let row = &rows[*at];
                let writes = row.writers.iter().any(|it| it.stamp.event == event.id);
                if writes || forgets(event) {
                    let it = WrittenValues::of(event, row);
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
        let value = |said: &WrittenValues, is_shown: bool| ConflictValue {
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
            valid_from: (said.row.occurred_at_ms)
                .filter(|_| row.is_fact() && open.field == fields::CONTENT)
                .map(rfc3339_signed),
        };
        Conflict {
            id: id_text(row.id),
            of: match family {
                Family::Memory | Family::Feedback => ConflictOf::Memory,
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
}

#[cfg(test)]
mod tests;
