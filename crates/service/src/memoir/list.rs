//! Memoirs as lists: all of them, one with its concepts, and one written out whole.

use std::collections::BTreeMap;

use icm_log::Position;
use icm_projections::Views;
use icm_projections::fold::{EntityId, Version};

use super::concept;
use super::link::named;
use crate::history::basis::At;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::memoir_text;
use icm_api::{
    ConceptLink, GraphFormat, Memoir, MemoirGraph, MemoirList, MemoirShow, MemoirText, ShowRequest,
    WholeConcept,
};

/// The concepts of a memoir, and the links between them with the positions of their events.
type Whole = (BTreeMap<EntityId, Version>, Vec<(Position, ConceptLink)>);

impl Service {
    /// Returns every memoir by name, now or as of a moment.
    ///
    /// # Errors
    /// `Invalid` for a text that is no moment.
    pub fn memoir_list(&self, at: Option<&str>) -> Result<MemoirList> {
        self.with_views(|views| {
            let at = self.at(views, at, None)?;
            let mut memoirs = Vec::new();
            for (entity, version) in self.memoirs_at(views, at.position)? {
                memoirs.push(self.memoir(views, (entity, &version), at.position)?);
            }
            memoirs.sort_by(|a: &Memoir, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
            Ok(MemoirList {
                basis: at.to_basis(),
                memoirs,
            })
        })
    }

    /// Returns a memoir with its numbers and a page of its concepts.
    ///
    /// # Errors
    /// `NotFound`, and `Nothing` for a deleted memoir.
    pub fn memoir_show(&self, request: &ShowRequest) -> Result<MemoirShow> {
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let (entity, version) = self.memoir_at(views, &request.name, at.position)?;
            let (concepts, links) = self.whole(views, entity, at)?;
            let mut labels: BTreeMap<String, u64> = BTreeMap::new();
            let mut sure = 0.0;
            let mut list = Vec::with_capacity(concepts.len());
            for held in concepts.values() {
                let concept = concept(&version, held);
                sure += concept.confidence;
                for label in &concept.labels {
                    *labels.entry(label.clone()).or_default() += 1;
                }
                list.push(concept);
            }
            list.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
            let count = list.len();
            if let Some(after) = &request.after {
                list.retain(|concept| concept.name > *after);
            }
            let limit = request.limit.unwrap_or(usize::MAX);
            let more = list.len() > limit;
            list.truncate(limit);
            let mut labels: Vec<_> = labels.into_iter().collect();
            labels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            Ok(MemoirShow {
                basis: at.to_basis(),
                memoir: self.memoir(views, (entity, &version), at.position)?,
                links: links.len() as u64,
                confidence: (count > 0).then(|| sure / count as f64),
                labels,
                next: match list.last() {
                    Some(last) if more => Some(last.name.clone()),
                    _ => None,
                },
                concept_list: list,
            })
        })
    }

    /// Returns a whole memoir.
    ///
    /// # Errors
    /// As [`Service::memoir_show`].
    pub fn memoir_graph(&self, name: &str, at: Option<&str>) -> Result<MemoirGraph> {
        self.with_views(|views| {
            let at = self.at(views, at, None)?;
            let (entity, version) = self.memoir_at(views, name, at.position)?;
            let (held, mut links) = self.whole(views, entity, at)?;
            let mut definitions = self.definitions(views, &held, at.position)?;
            let mut concepts = Vec::with_capacity(held.len());
            for (entity, held) in &held {
                concepts.push(WholeConcept {
                    concept: concept(&version, held),
                    sources: self.sources_of(views, *entity, at.position)?,
                    definitions: definitions.remove(entity).unwrap_or_default(),
                });
            }
            let by_name = |it: &WholeConcept| (it.concept.name.clone(), it.concept.id.clone());
            concepts.sort_by_cached_key(by_name);
            let mut places: Vec<_> = links.iter_mut().map(|(at, link)| (*at, link)).collect();
            self.put_reasons(views, &mut places)?;
            let links = links.into_iter().map(|(_, link)| link).collect();
            Ok(MemoirGraph {
                basis: at.to_basis(),
                memoir: self.memoir(views, (entity, &version), at.position)?,
                concepts,
                links,
            })
        })
    }

    /// Returns a whole memoir as text of a format.
    ///
    /// # Errors
    /// As [`Service::memoir_show`].
    pub fn memoir_export(
        &self,
        name: &str,
        format: GraphFormat,
        at: Option<&str>,
    ) -> Result<MemoirText> {
        let graph = self.memoir_graph(name, at)?;
        Ok(MemoirText {
            text: memoir_text::write(&graph, format),
            basis: graph.basis,
        })
    }

    /// Returns the living concepts of a memoir, and the links between them in order, each with the position of its
    /// event.
    pub(super) fn whole(&self, views: &Views, memoir: EntityId, at: At) -> QueryResult<Whole> {
        let concepts: BTreeMap<_, _> = self
            .concepts_at(views, memoir, at.position)?
            .into_iter()
            .collect();
        let mut links = Vec::new();
        for (entity, from) in &concepts {
            for edge in self.edges_at(views, *entity, at.position)? {
                if edge.from == *entity
                    && let Some(to) = concepts.get(&edge.to)
                {
                    links.push((edge.position, named(&edge, from, to)));
                }
            }
        }
        links.sort_by(|(_, a), (_, b)| a.cmp(b));
        Ok((concepts, links))
    }
}
