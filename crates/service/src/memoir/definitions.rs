//! The definitions that concepts ever had: a function of the events about them, in any order of delivery.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::{Facts, fields};
use icm_log::{ActorId, Event, EventId, Kind, Position, SubjectId, payload};
use icm_projections::Views;
use icm_projections::fold::{EntityId, InChain, Stamp, Undos, Version, canonical_order};

use super::confidence;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::when::rfc3339;
use icm_api::{Definition, DefinitionStatus};

/// An event that defines a concept, or says how sure that is.
struct DefiningEvent {
    subject: SubjectId,
    stamp: Stamp,
    place: InChain,
    actor: ActorId,
    refs: Vec<EventId>,
    adds: bool,
    /// `true` if it gives a definition, not a confidence alone.
    defines: bool,
    text: Option<String>,
    confidence_ppm: Option<u32>,
}

impl DefiningEvent {
    fn of(event: &Event<'_>) -> Option<DefiningEvent> {
        let (written, confidence_ppm) = match Facts::of(&event.head) {
            Ok(Facts::ConceptAdded(facts)) => (facts.fields, facts.confidence_ppm),
            Ok(Facts::ConceptRefined(facts)) => (facts.fields, facts.confidence_ppm),
            _ => return None,
        };
        let adds = event.head.kind() == Kind::CONCEPT_ADDED;
        let bytes = event.body.payload();
        let text = match adds {
            true => bytes
                .and_then(|bytes| payload::decode::<payload::ConceptAdded<'_>>(bytes).ok())
                .map(|payload| payload.definition),
            false => bytes
                .and_then(|bytes| payload::decode::<payload::ConceptRefined<'_>>(bytes).ok())
                .and_then(|payload| payload.definition),
        };
        Some(DefiningEvent {
            subject: event.head.subject(),
            stamp: Stamp {
                time: event.head.time(),
                origin: event.head.origin(),
                event: event.id,
            },
            place: InChain::of(event),
            actor: event.head.actor(),
            refs: event.head.refs().collect(),
            adds,
            defines: written & fields::CONTENT != 0,
            text: text.map(str::to_owned),
            confidence_ppm: (written & fields::CONFIDENCE != 0).then_some(confidence_ppm),
        })
    }
}

impl Service {
    /// Returns the definitions of these concepts up to a position. Reads each of their events once. A concept that was
    /// only added is read from its row.
    pub(super) fn definitions(
        &self,
        views: &Views,
        concepts: &BTreeMap<EntityId, Version>,
        position: Position,
    ) -> QueryResult<BTreeMap<EntityId, Vec<Definition>>> {
        let mut definitions = BTreeMap::new();
        let mut positions = Vec::new();
        for (entity, version) in concepts {
            let is_new = version.graph.is_some_and(|graph| graph.revision == 1)
                && holder(version) == Some(version.stamp.event)
                && views.tally().undos == 0;
            // A concept that was added on two machines was defined twice.
            if is_new && views.ids_of(*entity)?.len() == 1 {
                definitions.insert(*entity, vec![self.as_added(views, version)]);
                continue;
            }
            positions.extend(views.touched(*entity)?);
        }
        positions.retain(|touched| *touched <= position);
        positions.sort_unstable();
        positions.dedup();
        let mut said = Vec::new();
        views.events_at(&self.log, &positions, &mut |event| {
            said.extend(DefiningEvent::of(event));
        })?;
        let mut by_concept: BTreeMap<EntityId, Vec<DefiningEvent>> = BTreeMap::new();
        for said in said {
            let entity = views.resolve(said.subject)?;
            by_concept.entry(entity).or_default().push(said);
        }
        let undos = match views.tally().undos {
            0 => Undos::default(),
            _ => views.undos()?.as_of(position),
        };
        for (entity, said) in by_concept {
            if let Some(version) = concepts.get(&entity) {
                let told = self.told(views, said, version, &undos);
                definitions.insert(entity, told);
            }
        }
        Ok(definitions)
    }

    /// Returns the one definition of a concept that was added and nothing else.
    fn as_added(&self, views: &Views, version: &Version) -> Definition {
        let confidence_ppm = version.graph.map_or(0, |graph| graph.confidence_ppm);
        Definition {
            revision: 1,
            definition: version.content.clone(),
            confidence: confidence(confidence_ppm),
            at: rfc3339(version.stamp.time.ms()),
            actor: self.actor_name(views, version.actor),
            event: version.stamp.event.to_string(),
            status: DefinitionStatus::Holds,
            undone_by: None,
        }
    }

    /// Returns the definitions that follow from the events about one concept.
    fn told(
        &self,
        views: &Views,
        said: Vec<DefiningEvent>,
        version: &Version,
        undos: &Undos,
    ) -> Vec<Definition> {
        let said = in_order(said);
        let undone_by: Vec<Option<EventId>> = said
            .iter()
            .map(|it| undos.in_force(&it.place))
            .map(|undos| undos.map(|undo| undo.event).min())
            .collect();
        // An event counts unless it is undone or refines a concept that was never added.
        let mut counts = Vec::with_capacity(said.len());
        let mut added = false;
        for (it, undone_by) in said.iter().zip(&undone_by) {
            added |= it.adds && undone_by.is_none();
            counts.push(added && undone_by.is_none());
        }
        let defining: BTreeMap<EventId, usize> = (0..said.len())
            .filter(|at| counts[*at] && said[*at].defines)
            .map(|at| (said[at].stamp.event, at))
            .collect();
        // The definition that each event was written upon.
        let upon: Vec<Option<usize>> = said.iter().map(|it| upon(it, &said, &defining)).collect();
        let replaced: BTreeSet<usize> = defining.values().filter_map(|at| upon[*at]).collect();
        let holder = holder(version).and_then(|event| defining.get(&event).copied());

        let mut definitions: Vec<Definition> = Vec::with_capacity(said.len());
        let (mut revision, mut sure, mut newest, mut holds) = (0, 0, None, None);
        for (at, it) in said.iter().enumerate() {
            let speaks_of = match it.defines {
                true => Some(at),
                false => upon[at].or(newest),
            };
            let here = match it.adds {
                true => revision.max(1),
                false => revision + 1,
            };
            let sure_here = it.confidence_ppm.unwrap_or(sure);
            if counts[at] {
                (revision, sure) = (here, sure_here);
                if it.defines {
                    newest = Some(at);
                }
                if speaks_of == holder {
                    holds = Some(at);
                }
            }
            let status = match (undone_by[at].is_some(), counts[at]) {
                (true, _) => DefinitionStatus::Undone,
                (_, true) if speaks_of == holder => DefinitionStatus::Replaced,
                (_, true) if speaks_of.is_some_and(|of| replaced.contains(&of)) => {
                    DefinitionStatus::Replaced
                }
                _ => DefinitionStatus::Lost,
            };
            definitions.push(Definition {
                revision: here,
                definition: speaks_of.and_then(|of| said[of].text.clone()),
                confidence: confidence(sure_here),
                at: rfc3339(it.stamp.time.ms()),
                actor: self.actor_name(views, it.actor),
                event: it.stamp.event.to_string(),
                status,
                undone_by: undone_by[at].map(|undo| undo.to_string()),
            });
        }
        if let Some(at) = holds {
            definitions[at].status = DefinitionStatus::Holds;
        }
        definitions
    }
}

fn in_order(said: Vec<DefiningEvent>) -> Vec<DefiningEvent> {
    let stamps: Vec<Stamp> = said.iter().map(|it| it.stamp).collect();
    let places: BTreeMap<EventId, usize> = stamps.iter().map(|it| it.event).zip(0..).collect();
    let named = |it: &DefiningEvent| {
        let named: BTreeSet<usize> = it
            .refs
            .iter()
            .filter_map(|event| places.get(event).copied())
            .collect();
        named.into_iter().collect()
    };
    let before: Vec<Vec<usize>> = said.iter().map(named).collect();
    let mut said: Vec<Option<DefiningEvent>> = said.into_iter().map(Some).collect();
    let order = canonical_order(&stamps, &before);
    order.into_iter().filter_map(|at| said[at].take()).collect()
}

/// Returns the definition that the author of an event had seen: the largest of those that the event names, unless
/// another of them replaced it.
fn upon(
    it: &DefiningEvent,
    said: &[DefiningEvent],
    defining: &BTreeMap<EventId, usize>,
) -> Option<usize> {
    let seen = it.refs.iter().filter_map(|event| defining.get(event));
    let seen: Vec<usize> = seen.copied().collect();
    let replaced = |at: &usize| {
        let event = said[*at].stamp.event;
        seen.iter().any(|other| said[*other].refs.contains(&event))
    };
    let shown = seen.iter().filter(|at| !replaced(at));
    shown.max_by_key(|at| said[**at].stamp).copied()
}

/// Returns the event whose definition a concept shows.
fn holder(version: &Version) -> Option<EventId> {
    let writers = version.writers.iter();
    let writers = writers.filter(|writer| writer.fields & fields::CONTENT != 0);
    let shown = writers.map(|writer| writer.stamp).max();
    shown.map(|stamp| stamp.event)
}
