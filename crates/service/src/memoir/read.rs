//! A concept with its earlier definitions and its neighbourhood.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::Position;
use icm_projections::Views;
use icm_projections::fold::{EntityId, Family, Version};

use super::link::{Edge, named, relation_of};
use super::{concept, shown};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::cursor::Cursor;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::{Around, AroundLink, Direction, InspectRequest, Inspected, Sources};

/// Steps along links that may be walked.
const DEPTH_MAX: usize = 10;
/// Concepts of a neighbourhood if the request gives no limit.
const AROUND_DEFAULT: usize = 1_000;
/// The largest such limit.
const AROUND_MAX: usize = 100_000;

/// A walk along links, and the concepts that it met.
struct Walk<'a> {
    views: &'a Views,
    memoir: EntityId,
    position: Position,
    /// Concepts of the memoir by id; `None` for one that is not to be seen.
    known: BTreeMap<EntityId, Option<Version>>,
}

impl Walk<'_> {
    /// Returns a concept if it is alive and in this memoir.
    fn look(&mut self, entity: EntityId) -> QueryResult<Option<&Version>> {
        if !self.known.contains_key(&entity) {
            let version = self.views.version_at(entity, self.position)?;
            let version = version.filter(|version| version.is_alive());
            let version = match version {
                Some(version) if version.family() == Family::Concept => {
                    let memoir = version.graph.and_then(|row| row.memoir);
                    let inside = match memoir {
                        Some(id) => self.views.resolve(id)? == self.memoir,
                        None => false,
                    };
                    inside.then_some(version)
                }
                _ => None,
            };
            self.known.insert(entity, version);
        }
        Ok(self.known.get(&entity).and_then(Option::as_ref))
    }
}

impl Service {
    /// Returns a concept with its history and its neighbourhood: the concepts within so many steps along links, in both
    /// directions, breadth first, a page at a time. A later page costs the walk up to it.
    ///
    /// # Errors
    /// `NotFound`, `Nothing` for a deleted concept, `Invalid` for numbers out of bounds.
    pub fn inspect(&self, request: &InspectRequest) -> Result<Inspected> {
        let depth = request.depth.unwrap_or(1);
        if depth > DEPTH_MAX {
            return Err(ServiceError::invalid(format!(
                "the depth is {depth}, it must be from 0 to {DEPTH_MAX}"
            )));
        }
        let limit = request.limit.unwrap_or(AROUND_DEFAULT);
        if !(1..=AROUND_MAX).contains(&limit) {
            return Err(ServiceError::invalid(format!(
                "the limit is {limit}, it must be from 1 to {AROUND_MAX}"
            )));
        }
        let relation = match &request.relation {
            Some(given) => relation_of(given)?.name(),
            None => None,
        };
        let (at, offset) = match &request.after {
            Some(after) => {
                let cursor = Cursor::parse(after, "after", "what is around a concept")?;
                (Some(cursor.at()), cursor.offset)
            }
            None => (request.at.clone(), 0),
        };
        self.refuse_no_memoirs(&request.memoir)?;
        self.with_views(|views| {
            let at = self.at(views, at.as_deref(), None)?;
            let memoir = self.memoir_at(views, &request.memoir, at.position)?;
            let (entity, version) = self.concept_at(views, &memoir, &request.name, at.position)?;
            let mut walk = Walk {
                views,
                memoir: memoir.0,
                position: at.position,
                known: BTreeMap::from([(entity, Some(version.clone()))]),
            };
            let start = (entity, &memoir.1);
            let (mut around, mut edges, truncated) =
                self.walk(&mut walk, start, depth, offset + limit, relation)?;
            if offset > 0 {
                // Links of the pages before are left out.
                let (_, told, _) = self.walk(&mut walk, start, depth, offset, relation)?;
                let told: BTreeSet<_> = told.iter().map(Edge::key).collect();
                edges.retain(|edge| !told.contains(&edge.key()));
                around.drain(..offset.min(around.len()));
            }
            let next = Cursor {
                position: at.position.0,
                offset: offset + around.len(),
                moment_ms: None,
            };
            let mut links = Vec::with_capacity(edges.len());
            for edge in &edges {
                let ends = [edge.from, edge.to].map(|end| walk.known.get(&end));
                if let [Some(Some(from)), Some(Some(to))] = ends {
                    links.push(named(edge, from, to));
                }
            }
            let own = shown(version.key.as_ref());
            let places = edges.iter().map(|edge| edge.position);
            let mut places: Vec<_> = places.zip(&mut links).collect();
            places.retain(|(_, link)| link.from == own || link.to == own);
            self.put_reasons(views, &mut places)?;
            links.sort();
            let concepts = BTreeMap::from([(entity, version.clone())]);
            let mut definitions = self.definitions(views, &concepts, at.position)?;
            let definitions = definitions.remove(&entity).unwrap_or_default();
            Ok(Inspected {
                basis: at.to_basis(),
                concept: concept(&memoir.1, &version),
                sources: self.sources_of(views, entity, at.position)?,
                definitions,
                offset,
                around,
                links,
                truncated,
                next: truncated.then(|| next.to_string()),
            })
        })
    }

    /// Returns the concepts around one, the links that were met, and `true` if there are more concepts.
    fn walk(
        &self,
        walk: &mut Walk<'_>,
        (start, memoir): (EntityId, &Version),
        depth: usize,
        limit: usize,
        relation: Option<&str>,
    ) -> QueryResult<(Vec<Around>, Vec<Edge>, bool)> {
        // The place of each concept that was met, except the first.
        let mut met: BTreeMap<EntityId, Option<usize>> = BTreeMap::from([(start, None)]);
        let mut truncated = false;
        let mut seen_edges = BTreeSet::new();
        let (mut around, mut edges): (Vec<Around>, Vec<Edge>) = (Vec::new(), Vec::new());
        let mut rim = vec![start];
        for depth in 1..=depth {
            let mut next = Vec::new();
            for at in std::mem::take(&mut rim) {
                if truncated {
                    return Ok((around, edges, true));
                }
                let nearer = walk.look(at)?.map(|version| shown(version.key.as_ref()));
                let nearer = nearer.unwrap_or_default();
                for edge in self.edges_at(walk.views, at, walk.position)? {
                    if relation.is_some_and(|relation| relation != edge.relation) {
                        continue;
                    }
                    let (other, direction) = match edge.from == at {
                        true => (edge.to, Direction::Out),
                        false => (edge.from, Direction::In),
                    };
                    if around.len() == limit && !met.contains_key(&other) {
                        truncated |= walk.look(other)?.is_some();
                        // The links of the concepts on the page are complete, as far as this concept leads to them.
                        continue;
                    }
                    let Some(version) = walk.look(other)? else {
                        continue;
                    };
                    let link = AroundLink {
                        relation: edge.relation.clone(),
                        direction,
                        with: nearer.clone(),
                    };
                    match met.get(&other) {
                        Some(place) => {
                            // A concept that is already listed at this distance gets the link alone.
                            let known = place.and_then(|place| around.get_mut(place));
                            let known = known.filter(|it: &&mut Around| it.depth == depth);
                            if let Some(known) = known.filter(|it| !it.relations.contains(&link)) {
                                known.relations.push(link);
                            }
                        }
                        None => {
                            met.insert(other, Some(around.len()));
                            next.push(other);
                            around.push(Around {
                                depth,
                                relation: link.relation.clone(),
                                direction,
                                relations: vec![link],
                                concept: concept(memoir, version),
                            });
                        }
                    }
                    if seen_edges.insert((edge.from, edge.to, edge.relation.clone())) {
                        edges.push(edge);
                    }
                }
            }
            rim = next;
        }
        Ok((around, edges, truncated))
    }

    /// Returns the living memories that a concept is derived from.
    pub(super) fn sources_of(
        &self,
        views: &Views,
        concept: EntityId,
        position: Position,
    ) -> QueryResult<Sources> {
        let mut sources = Sources::default();
        for source in self.source_ids(views, concept, position)? {
            let version = views.version_at(source, position)?;
            let Some(version) = version.filter(Version::is_alive) else {
                continue;
            };
            match version.content {
                Some(_) => sources.sources.push(id_text(version.id)),
                None => sources.sources_withheld.push(id_text(version.id)),
            }
        }
        Ok(sources)
    }
}
