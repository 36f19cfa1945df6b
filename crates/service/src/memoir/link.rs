//! Links between the concepts of a memoir.

use std::collections::BTreeMap;

use icm_log::facts::{MemoryLinked, Relation};
use icm_log::head::REFS_MAX;
use icm_log::{EventId, Kind, NewEvent, Position, payload};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Link, Version};

use super::{receipt, shown, unchanged};
use crate::command::RequestKeyOf;
use crate::command::secrets::Guard;
use crate::memory::link::{CheckedLink, observed, relation_text};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::{Action, Caller, ConceptLink, ConceptLinkRequest, GraphReceipt};

/// A link whose ends are resolved.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) from: EntityId,
    pub(super) to: EntityId,
    pub(super) relation: String,
    pub(super) event: EventId,
    pub(super) position: Position,
}

impl Edge {
    /// Returns the identity of the link, whichever event added it.
    pub(super) fn key(&self) -> (EntityId, EntityId, &str) {
        (self.from, self.to, &self.relation)
    }
}

impl Service {
    /// Links a concept to another one of its memoir. A link that is there already stays as it is. Links may form
    /// circles.
    ///
    /// # Errors
    /// `Invalid` for an unknown relation, and for a concept and itself; `NotFound`.
    pub fn concept_link(
        &self,
        caller: &Caller,
        request: &ConceptLinkRequest,
    ) -> Result<GraphReceipt> {
        let (relation, reason, told) = self.check_concept_link(request)?;
        let mut answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let newest = views.tally().position;
            let memoir = self.memoir_at(views, &request.memoir, newest)?;
            let (from_entity, from) = self.concept_at(views, &memoir, &request.from, newest)?;
            let (to_entity, to) = self.concept_at(views, &memoir, &request.to, newest)?;
            refuse_self(&from, &to)?;
            let there = links_between(views, from_entity, to_entity, relation)?;
            let mut warnings = Vec::new();
            if relation == Relation::SUPERSEDED_BY
                && !links_between(views, to_entity, from_entity, relation)?.is_empty()
            {
                warnings.push(both_superseded(&memoir.1, &from, &to));
            }
            if let Some(link) = there.first() {
                let event = (link.event.to_string(), link.position.0);
                let receipt = receipt(&memoir.1, Some(&from), event, Action::Unchanged);
                return Ok(GraphReceipt {
                    warnings,
                    ..linked(receipt, &to, relation)
                });
            }
            let event = NewEvent {
                kind: Kind::CONCEPT_LINKED,
                subject: from.id,
                refs: observed(&[&from, &to]),
                facts: MemoryLinked {
                    other: to.id,
                    relation,
                }
                .encode(),
                payload: payload::encode(&payload::MemoryLinked {
                    relation: None,
                    reason: reason.as_deref(),
                    score_ppm: None,
                    request_digest: None,
                }),
            };
            let appended = command.append(views, vec![event])?;
            let event = (appended[0].event.to_string(), appended[0].position.0);
            let receipt = receipt(&memoir.1, Some(&from), event, Action::Linked);
            Ok(GraphReceipt {
                warnings,
                ..linked(receipt, &to, relation)
            })
        })?;
        answer.warnings.extend(told);
        Ok(answer)
    }

    /// Removes the links of a relation from a concept to another one.
    ///
    /// # Errors
    /// As [`Service::concept_link`], except that the concepts may be deleted.
    pub fn concept_unlink(
        &self,
        caller: &Caller,
        request: &ConceptLinkRequest,
    ) -> Result<GraphReceipt> {
        let (relation, reason, told) = self.check_concept_link(request)?;
        let mut answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let newest = views.tally().position;
            let memoir = self.memoir_at(views, &request.memoir, newest)?;
            let (from_entity, from) = self.any_concept_at(views, &memoir, &request.from, newest)?;
            let (to_entity, to) = self.any_concept_at(views, &memoir, &request.to, newest)?;
            refuse_self(&from, &to)?;
            let there = links_between(views, from_entity, to_entity, relation)?;
            let named: Vec<EventId> = there.iter().map(|link| link.event).collect();
            if named.is_empty() {
                return Ok(linked(unchanged(&memoir.1, Some(&from)), &to, relation));
            }
            let events = named.chunks(REFS_MAX).map(|named| NewEvent {
                kind: Kind::CONCEPT_UNLINKED,
                subject: from.id,
                refs: named.to_vec(),
                facts: Vec::new(),
                payload: payload::encode(&payload::MemoryForgotten {
                    reason: reason.as_deref(),
                }),
            });
            let appended = command.append(views, events.collect())?;
            let event = (appended[0].event.to_string(), appended[0].position.0);
            Ok(linked(
                receipt(&memoir.1, Some(&from), event, Action::Unlinked),
                &to,
                relation,
            ))
        })?;
        answer.warnings.extend(told);
        Ok(answer)
    }

    /// Returns the relation, the reason as it is written, and the warnings for the receipt.
    fn check_concept_link(&self, request: &ConceptLinkRequest) -> Result<CheckedLink> {
        let relation = relation_of(&request.relation)?;
        if let Some(reason) = &request.reason {
            limits::text("the reason", reason, limits::RAW_EXCERPT_LEN_MAX)?;
        }
        self.refuse_no_memoirs(&request.memoir)?;
        let mut reason = request.reason.clone();
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.reason(reason.as_mut())?;
        Ok((relation, reason, guard.warnings()))
    }

    /// Fills in the reasons of links, given with the positions of their events.
    pub(super) fn put_reasons(
        &self,
        views: &Views,
        links: &mut [(Position, &mut ConceptLink)],
    ) -> QueryResult<()> {
        links.sort_unstable_by_key(|(position, _)| *position);
        let positions: Vec<Position> = links.iter().map(|(position, _)| *position).collect();
        let mut reasons: BTreeMap<Position, String> = BTreeMap::new();
        views.events_at(&self.log, &positions, &mut |event| {
            if let Some(bytes) = event.body.payload()
                && let Ok(linked) = payload::decode::<payload::MemoryLinked<'_>>(bytes)
                && let Some(reason) = linked.reason
            {
                reasons.insert(event.position, reason.to_owned());
            }
        })?;
        for (position, link) in links {
            link.reason = reasons.get(position).cloned();
        }
        Ok(())
    }

    /// Returns the links between a concept and others as of a position, each once a relation and direction. The caller
    /// checks if the other concept is alive.
    pub(super) fn edges_at(
        &self,
        views: &Views,
        concept: EntityId,
        position: Position,
    ) -> QueryResult<Vec<Edge>> {
        let mut links = views.links_at(concept, position)?;
        // If several events say the same, every machine shows the same one.
        links.sort_unstable_by_key(|link| (link.origin, link.seq, link.event));
        let mut edges: BTreeMap<(EntityId, String, EntityId), Edge> = BTreeMap::new();
        for link in links {
            let (from, to) = (views.resolve(link.from)?, views.resolve(link.to)?);
            if from == to || link.relation == Relation::DERIVED_FROM {
                // Two concepts turned out to be one, or the link goes to a memory.
                continue;
            }
            let relation = relation_text(&link);
            let key = (from, relation.clone(), to);
            edges.entry(key).or_insert(Edge {
                from,
                to,
                relation,
                event: link.event,
                position: link.position,
            });
        }
        Ok(edges.into_values().collect())
    }
}

/// Returns the receipt of a link.
fn linked(receipt: GraphReceipt, to: &Version, relation: Relation) -> GraphReceipt {
    GraphReceipt {
        relation: relation.name().map(str::to_owned),
        to: Some(shown(to.key.as_ref())),
        ..receipt
    }
}

/// Returns the warning for two concepts that supersede each other.
fn both_superseded(memoir: &Version, from: &Version, to: &Version) -> String {
    let [memoir, from, to] = [memoir.topic.as_ref(), from.key.as_ref(), to.key.as_ref()].map(shown);
    format!(
        "`{to}` is superseded by `{from}`, too: if only one is, take the other link away with \
         `icm memoir unlink -m '{memoir}' --from '{to}' --to '{from}' -r superseded_by`"
    )
}

/// Returns a link by the names of its ends.
pub(super) fn named(edge: &Edge, from: &Version, to: &Version) -> ConceptLink {
    ConceptLink {
        memoir: shown(from.topic.as_ref()),
        from: shown(from.key.as_ref()),
        relation: edge.relation.clone(),
        to: shown(to.key.as_ref()),
        event: edge.event.to_string(),
        reason: None,
    }
}

pub(super) fn relation_of(given: &str) -> Result<Relation> {
    Relation::parse_of_concepts(given.trim()).ok_or_else(|| {
        let names = Relation::OF_CONCEPTS.iter().map(|(_, name)| *name);
        ServiceError::invalid_with(
            format!("`{}` is no relation", given.trim()),
            format!("relations: {}", names.collect::<Vec<_>>().join(", ")),
        )
    })
}

fn refuse_self(from: &Version, to: &Version) -> Result<()> {
    match from.id == to.id {
        false => Ok(()),
        true => Err(ServiceError::invalid_with(
            format!("`{}` cannot be linked to itself", shown(from.key.as_ref())),
            "name two concepts",
        )),
    }
}

/// Returns the links in force from a concept to another one that have this relation, oldest first.
fn links_between(
    views: &Views,
    from: EntityId,
    to: EntityId,
    relation: Relation,
) -> QueryResult<Vec<Link>> {
    let mut links = Vec::new();
    for link in views.links_at(from, views.tally().position)? {
        let ends = (views.resolve(link.from)?, views.resolve(link.to)?);
        if ends == (from, to) && link.relation == relation {
            links.push(link);
        }
    }
    Ok(links)
}
