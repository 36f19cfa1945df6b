//! Memoirs and concepts: knowledge as a graph, beside the memories.
//!
//! Their rows follow the same rules as those of memories, but are found by name.

mod definitions;
mod diff;
mod label;
mod link;
mod list;
mod read;
mod row;
mod search;
mod undo;
mod write;

use std::collections::BTreeMap;

use icm_log::{Position, SubjectId, hash};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Family, MEMOIRS, Version, concepts_of};

pub(crate) use row::{graph_fields, graph_row};

use crate::recall::topic_filter::{one_of, same_but_for_case};
use crate::service::Service;
use crate::snapshot::{QueryError, QueryResult};
use icm_api::error::ServiceError;
use icm_api::ids::{id_range, id_text};
use icm_api::limits::{KEY_LEN_MAX, TOPIC_LEN_MAX, name};
use icm_api::when::rfc3339;
use icm_api::{Action, Concept, GraphReceipt, Memoir};

/// Memoirs by the ids that key their rows.
pub(crate) type Memoirs = BTreeMap<EntityId, Version>;

/// Returns a name as it is shown.
fn shown(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "(withheld)".to_owned())
}

pub(crate) fn confidence(ppm: u32) -> f64 {
    f64::from(ppm) / 1e6
}

fn concept(memoir: &Version, version: &Version) -> Concept {
    let row = version.graph.as_ref();
    Concept {
        id: id_text(version.id),
        memoir: shown(memoir.topic.as_ref()),
        name: shown(version.key.as_ref()),
        definition: version.content.clone(),
        labels: labels(version),
        confidence: confidence(row.map_or(0, |row| row.confidence_ppm)),
        revision: row.map_or(0, |row| row.revision),
        created_at: rfc3339(version.created_ms),
        updated_at: rfc3339(version.updated_ms),
        forgotten: version.is_forgotten(),
    }
}

/// Returns the labels of a concept, each once.
fn labels(version: &Version) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in version.keyword_texts() {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// An event and its position.
type Place = (String, u64);

/// Returns the receipt of a change of a memoir, or of one of its concepts.
fn receipt(
    memoir: &Version,
    concept: Option<&Version>,
    event: Place,
    action: Action,
) -> GraphReceipt {
    let id = concept.unwrap_or(memoir).id;
    let name = concept.map(|concept| shown(concept.key.as_ref()));
    receipt_of(id, shown(memoir.topic.as_ref()), name, event, action)
}

/// Returns the receipt of an event on the memoir `memoir`, or on its concept `name`, without warnings.
fn receipt_of(
    id: SubjectId,
    memoir: String,
    name: Option<String>,
    (event, position): Place,
    action: Action,
) -> GraphReceipt {
    GraphReceipt {
        id: id_text(id),
        event,
        position,
        action,
        memoir,
        name,
        relation: None,
        to: None,
        revision: None,
        confidence: None,
        concepts: None,
        warnings: Vec::new(),
    }
}

/// Returns the receipt of a command that changes nothing. It names the event that made the newest version.
fn unchanged(memoir: &Version, concept: Option<&Version>) -> GraphReceipt {
    let version = concept.unwrap_or(memoir);
    let event = (version.stamp.event.to_string(), version.from.0);
    receipt(memoir, concept, event, Action::Unchanged)
}

fn no_memoir(name: &str, nearest: Vec<String>) -> QueryError {
    QueryError::Service(ServiceError::NotFound {
        what: "memoir",
        id: name.to_owned(),
        nearest,
    })
}

impl Service {
    /// Returns the memoirs that are alive at a position.
    fn memoirs_at(&self, views: &Views, position: Position) -> QueryResult<Memoirs> {
        let mut memoirs = self.all_memoirs_at(views, position)?;
        memoirs.retain(|_, memoir| memoir.is_alive());
        Ok(memoirs)
    }

    /// Returns the memoirs at a position, deleted ones too.
    pub(crate) fn all_memoirs_at(&self, views: &Views, position: Position) -> QueryResult<Memoirs> {
        let mut memoirs = Memoirs::new();
        for entity in views.members(MEMOIRS)? {
            if views.resolve(entity)? == entity
                && let Some(version) = views.version_at(entity, position)?
            {
                memoirs.insert(entity, version);
            }
        }
        Ok(memoirs)
    }

    /// Returns the memoir of this name or id that is alive at a position.
    fn memoir_at(
        &self,
        views: &Views,
        given: &str,
        position: Position,
    ) -> QueryResult<(EntityId, Version)> {
        let (entity, version) = self.any_memoir_at(views, given, position)?;
        if version.is_alive() {
            return Ok((entity, version));
        }
        let name = shown(version.topic.as_ref());
        let message = match version.hidden {
            true => format!("memoir `{name}` was undone"),
            false => format!("memoir `{name}` was deleted"),
        };
        let hint = match version.hidden {
            true => "undo the undo: see `icm log --kind log.undone`".to_owned(),
            false => format!("bring it back with its concepts: `icm memoir revive '{name}'`"),
        };
        Err(ServiceError::nothing(message, hint).into())
    }

    /// Returns the memoir of this name or id, deleted or not.
    fn any_memoir_at(
        &self,
        views: &Views,
        given: &str,
        position: Position,
    ) -> QueryResult<(EntityId, Version)> {
        let wanted = name("the memoir's name", given, TOPIC_LEN_MAX)?;
        let entity = match views.named(hash::memoir_name(&wanted))? {
            Some(entity) => Some(entity),
            None => self.by_id(views, given, Family::Memoir)?,
        };
        if let Some(entity) = entity
            && let Some(version) = views.version_at(entity, position)?
        {
            return Ok((entity, version));
        }
        let memoirs = self.memoirs_at(views, position)?;
        let names = || {
            memoirs
                .values()
                .filter_map(|memoir| memoir.topic.as_deref())
        };
        let fits = names().filter(|name| same_but_for_case(name, &wanted));
        let named = one_of("memoir", wanted.clone(), fits.map(str::to_owned).collect())?;
        let mut found = memoirs.iter();
        match found.find(|(_, memoir)| memoir.topic.as_ref() == Some(&named)) {
            Some((entity, version)) => Ok((*entity, version.clone())),
            None => Err(no_memoir(given, near(&wanted, names()))),
        }
    }

    /// Returns the row of a full id, if it is of this family.
    fn by_id(&self, views: &Views, given: &str, family: Family) -> QueryResult<Option<EntityId>> {
        let Some((id, _)) = id_range(given).filter(|(low, high)| low == high) else {
            return Ok(None);
        };
        let entity = views.resolve(id)?;
        let version = views.version_at(entity, views.tally().position)?;
        let fits = version.is_some_and(|version| version.family() == family);
        Ok(fits.then_some(entity))
    }

    /// Returns the concept of this name or id in a memoir that is alive at a position.
    fn concept_at(
        &self,
        views: &Views,
        memoir: &(EntityId, Version),
        given: &str,
        position: Position,
    ) -> QueryResult<(EntityId, Version)> {
        let (entity, version) = self.any_concept_at(views, memoir, given, position)?;
        if version.is_alive() {
            return Ok((entity, version));
        }
        let (memoir, name) = (shown(memoir.1.topic.as_ref()), shown(version.key.as_ref()));
        let (message, hint) = match version.hidden {
            true => (
                format!("concept `{name}` was undone"),
                "undo the undo: see `icm log --kind log.undone`".to_owned(),
            ),
            false => (
                format!("concept `{name}` was deleted"),
                format!("bring it back: `icm memoir revive-concept -m '{memoir}' -n '{name}'`"),
            ),
        };
        Err(ServiceError::nothing(message, hint).into())
    }

    /// Returns the concept of this name or id in a memoir, deleted or not.
    fn any_concept_at(
        &self,
        views: &Views,
        memoir: &(EntityId, Version),
        given: &str,
        position: Position,
    ) -> QueryResult<(EntityId, Version)> {
        if let Some(entity) = self.concept_named(views, memoir, given)?
            && let Some(version) = views.version_at(entity, position)?
        {
            return Ok((entity, version));
        }
        let mut names = Vec::new();
        for (_, version) in self
            .concepts_at(views, memoir.0, position)?
            .into_iter()
            .take(NEAR_LOOK)
        {
            names.extend(version.key);
        }
        Err(QueryError::Service(ServiceError::NotFound {
            what: "concept",
            id: given.to_owned(),
            nearest: near(given.trim(), names.iter().map(String::as_str)),
        }))
    }

    /// Returns the concept of a memoir that ever had this name, or has this id.
    fn concept_named(
        &self,
        views: &Views,
        memoir: &(EntityId, Version),
        given: &str,
    ) -> QueryResult<Option<EntityId>> {
        let wanted = name("the concept's name", given, KEY_LEN_MAX)?;
        let memoir_name = memoir.1.topic.as_deref().unwrap_or_default();
        if let Some(entity) = views.named(hash::concept_name(memoir_name, &wanted))? {
            return Ok(Some(entity));
        }
        let Some(entity) = self.by_id(views, given, Family::Concept)? else {
            return Ok(None);
        };
        let version = views.version_at(entity, views.tally().position)?;
        let inside = match version.and_then(|version| version.graph?.memoir) {
            Some(id) => views.resolve(id)? == memoir.0,
            None => false,
        };
        Ok(inside.then_some(entity))
    }

    /// Returns the concepts of a memoir that are alive at a position, by id.
    fn concepts_at(
        &self,
        views: &Views,
        memoir: EntityId,
        position: Position,
    ) -> QueryResult<Vec<(EntityId, Version)>> {
        let mut concepts = self.all_concepts_at(views, memoir, position)?;
        concepts.retain(|(_, concept)| concept.is_alive());
        Ok(concepts)
    }

    /// Returns the concepts of a memoir, deleted or not.
    pub(crate) fn all_concepts_at(
        &self,
        views: &Views,
        memoir: EntityId,
        position: Position,
    ) -> QueryResult<Vec<(EntityId, Version)>> {
        let mut concepts = Vec::new();
        for id in views.ids_of(memoir)? {
            for entity in views.members(&concepts_of(id))? {
                if views.resolve(entity)? == entity
                    && let Some(version) = views.version_at(entity, position)?
                {
                    concepts.push((entity, version));
                }
            }
        }
        concepts.sort_by_key(|(entity, _)| *entity);
        concepts.dedup_by_key(|(entity, _)| *entity);
        Ok(concepts)
    }

    /// Returns the number of living concepts of a memoir. It is known for now, and counted for earlier moments.
    fn concept_count(
        &self,
        views: &Views,
        memoir: EntityId,
        position: Position,
    ) -> QueryResult<u64> {
        if position < views.tally().position {
            return Ok(self.concepts_at(views, memoir, position)?.len() as u64);
        }
        let mut count = 0;
        for id in views.ids_of(memoir)? {
            count += views.listed(&concepts_of(id))?.0;
        }
        Ok(count)
    }

    /// Returns the numbers of living memoirs at a position, and of living concepts in them.
    pub(crate) fn graph_counts(
        &self,
        views: &Views,
        position: Position,
    ) -> QueryResult<(u64, u64)> {
        let memoirs = self.memoirs_at(views, position)?;
        let mut concepts = 0;
        for entity in memoirs.keys() {
            concepts += self.concept_count(views, *entity, position)?;
        }
        Ok((memoirs.len() as u64, concepts))
    }

    /// Returns when a memoir or a concept in it last changed (milliseconds since the epoch), as far as this machine
    /// knows. An undo is a change, too. For now the list of its concepts has the time; for earlier moments their
    /// versions are read.
    fn changed_ms(
        &self,
        views: &Views,
        (entity, version): (EntityId, &Version),
        position: Position,
    ) -> QueryResult<u64> {
        let mut last = version.updated_ms.max(version.stamp.time.ms());
        if position < views.tally().position {
            for (concept, _) in self.all_concepts_at(views, entity, position)? {
                let versions = views.versions(concept, position)?;
                let times = versions.iter().map(|version| version.stamp.time.ms());
                last = times.fold(last, u64::max);
            }
            return Ok(last);
        }
        for id in views.ids_of(entity)? {
            last = last.max(views.listed(&concepts_of(id))?.1);
        }
        Ok(last)
    }

    fn memoir(
        &self,
        views: &Views,
        (entity, version): (EntityId, &Version),
        position: Position,
    ) -> QueryResult<Memoir> {
        Ok(Memoir {
            id: id_text(version.id),
            name: shown(version.topic.as_ref()),
            description: version.content.clone(),
            concepts: self.concept_count(views, entity, position)?,
            created_at: rfc3339(version.created_ms),
            updated_at: rfc3339(self.changed_ms(views, (entity, version), position)?),
            forgotten: version.is_forgotten(),
        })
    }
}

/// Concepts that are compared to find a mistyped one. Raised, an unknown name costs more time.
const NEAR_LOOK: usize = 10_000;

/// Returns up to three names that look like `given`.
fn near<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted: Vec<char> = given.to_lowercase().chars().collect();
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let lower: Vec<char> = name.to_lowercase().chars().collect();
            let off = crate::memory::present::edits(&wanted, &lower);
            (off <= (wanted.len() / 4).max(2) && off < lower.len()).then_some((off, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}
