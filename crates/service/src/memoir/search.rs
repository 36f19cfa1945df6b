//! The search for concepts: by words, by meaning, by label.

use std::collections::BTreeSet;

use icm_projections::fold::{EntityId, Family, Version};
use icm_projections::{FactFilter, RecallQuery, TagQuery, TopicTag, Views};

use super::{Memoirs, concept, labels};
use crate::history::basis::At;
use crate::recall::query::{LIMIT_DEFAULT, check_floor, thousandths};
use crate::recall::question::notes;
use crate::service::Service;
use crate::snapshot::QueryResult;
use crate::upkeep::embed::QueryVector;
use icm_api::cursor::Cursor;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::RECALL_LIMIT_MAX;
use icm_api::{ConceptHit, ConceptSearch, ConceptSearchRequest, NearestConcept};

impl Service {
    /// Returns concepts that fit, in one memoir or in all. Only recalls of memories are recorded.
    ///
    /// # Errors
    /// `Invalid` for an empty search, an empty label and a limit out of bounds; `NotFound` for the memoir.
    pub fn concept_search(&self, request: &ConceptSearchRequest) -> Result<ConceptSearch> {
        let by_label = request.query.trim().is_empty();
        let label = request.label.as_deref().unwrap_or_default();
        if request.label.is_some() && label.trim().is_empty() && !by_label {
            return Err(ServiceError::invalid_with(
                "the label is empty",
                "name one, or leave it out",
            ));
        }
        if by_label && label.trim().is_empty() {
            return Err(ServiceError::invalid_with(
                "the query is empty",
                "give words to look for, or a label",
            ));
        }
        let limit = request.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=RECALL_LIMIT_MAX).contains(&limit) {
            return Err(ServiceError::invalid(format!(
                "the limit is {limit}, it must be from 1 to {RECALL_LIMIT_MAX}"
            )));
        }
        check_floor(request.floor)?;
        if let Some(memoir) = &request.memoir {
            self.refuse_no_memoirs(memoir)?;
        }
        let page = Page::of(request, limit)?;
        if by_label {
            return self.with_views(|views| self.labelled_so(views, request, &page));
        }
        let question = self.what_counts(&request.query)?;
        let asked = self.ask_model(&question.text);
        let request = &ConceptSearchRequest {
            query: question.text.to_string(),
            ..request.clone()
        };
        let mut found = self.with_views(|views| self.search_in(views, request, &page, &asked))?;
        found.note = notes(question.note(), found.note);
        Ok(found)
    }

    fn search_in(
        &self,
        views: &Views,
        request: &ConceptSearchRequest,
        page: &Page,
        asked: &QueryVector,
    ) -> QueryResult<ConceptSearch> {
        let at = self.at(views, page.at.as_deref(), None)?;
        let memoir = match &request.memoir {
            Some(given) => Some(self.memoir_at(views, given, at.position)?),
            None => None,
        };
        let all = self.all_memoirs_at(views, at.position)?;
        let (living, gone): (Memoirs, Memoirs) =
            all.into_iter().partition(|(_, memoir)| memoir.is_alive());
        let without = tags_without(&living, &gone);
        // Concepts do not follow one another as the sentences of a talk do.
        let ranking = asked.ranking(self.settings.ranking).alone();
        let query = |limit| RecallQuery {
            text: &request.query,
            topic: memoir
                .as_ref()
                .and_then(|(_, memoir)| memoir.topic.as_deref()),
            tags: TagQuery {
                all: request.label.as_slice(),
                ..TagQuery::default()
            },
            scopes: &[],
            own: &[],
            kin: &[],
            facts: FactFilter {
                family: Family::Concept,
                ..FactFilter::default()
            },
            excluded_topics: &without,
            excluded_memories: &[],
            moment: None,
            limit,
            // The usual floor is measured on memories.
            floor: request.floor.unwrap_or(0.0),
            ranking,
            model: asked.model(),
        };
        // With more candidates the order of the best changes. So the first `candidates` results are ranked as one page
        // of them, and all others follow, whatever the page.
        let first = ranking.candidates.max(1);
        let found = views.recall(&query(page.end().min(first)), at.position)?;
        let mut hits = found.hits;
        if page.end() > first && hits.len() == first {
            let mut all = 0;
            for entity in living.keys() {
                all += self.concept_count(views, *entity, at.position)?;
            }
            let known: BTreeSet<_> = hits.iter().map(|hit| hit.version.id).collect();
            let more = views.recall(&query(all as usize), at.position)?.hits;
            hits.extend(
                more.into_iter()
                    .filter(|hit| !known.contains(&hit.version.id)),
            );
        }
        let memoir_of = |version: &Version| match version.graph.and_then(|row| row.memoir) {
            Some(id) => views.resolve(id).map(|entity| living.get(&entity)),
            None => Ok(None),
        };
        let mut results = Vec::with_capacity(hits.len());
        for hit in &hits {
            if let Some(memoir) = memoir_of(&hit.version)? {
                results.push(ConceptHit {
                    score: f64::from(hit.score),
                    fit: thousandths(hit.fit),
                    matched: hit.matched.clone(),
                    concept: concept(memoir, &hit.version),
                });
            }
        }
        let mut nearest = None;
        if let Some(hit) = &found.nearest
            && let Some(memoir) = memoir_of(&hit.version)?
        {
            let concept = concept(memoir, &hit.version);
            nearest = Some(NearestConcept {
                id: concept.id,
                fit: thousandths(hit.fit),
                memoir: concept.memoir,
                name: concept.name,
            });
        }
        Ok(ConceptSearch {
            nearest,
            note: asked.note(),
            ..page.cut(at, results)
        })
    }

    /// Returns the concepts with a label, by memoir and name.
    fn labelled_so(
        &self,
        views: &Views,
        request: &ConceptSearchRequest,
        page: &Page,
    ) -> QueryResult<ConceptSearch> {
        let at = self.at(views, page.at.as_deref(), None)?;
        let memoirs: Vec<(EntityId, Version)> = match &request.memoir {
            Some(given) => vec![self.memoir_at(views, given, at.position)?],
            None => self.memoirs_at(views, at.position)?.into_iter().collect(),
        };
        let wanted = request
            .label
            .as_deref()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        let mut results = Vec::new();
        for (entity, memoir) in &memoirs {
            for (_, version) in self.concepts_at(views, *entity, at.position)? {
                let has = |label: &String| label.to_lowercase() == wanted;
                if labels(&version).iter().any(has) {
                    results.push(ConceptHit {
                        score: 1.0,
                        fit: 1.0,
                        matched: Vec::new(),
                        concept: concept(memoir, &version),
                    });
                }
            }
        }
        results.sort_by(|a, b| {
            let key = |hit: &ConceptHit| (hit.concept.memoir.clone(), hit.concept.name.clone());
            key(a).cmp(&key(b))
        });
        Ok(page.cut(at, results))
    }
}

/// A page of the results, and its basis.
struct Page {
    at: Option<String>,
    offset: usize,
    limit: usize,
}

impl Page {
    fn of(request: &ConceptSearchRequest, limit: usize) -> Result<Page> {
        let Some(after) = &request.after else {
            let at = request.at.clone();
            return Ok(Page {
                at,
                offset: 0,
                limit,
            });
        };
        let cursor = Cursor::parse(after, "after", "a search")?;
        Ok(Page {
            at: Some(cursor.at()),
            offset: cursor.offset,
            limit,
        })
    }

    /// Returns how many results are needed to fill this page and to know if another one follows.
    fn end(&self) -> usize {
        self.offset + self.limit + 1
    }

    /// Returns the page of all results, counted from the first.
    fn cut(&self, at: At, mut results: Vec<ConceptHit>) -> ConceptSearch {
        let more = results.len() >= self.end();
        results.truncate(self.offset + self.limit);
        results.drain(..self.offset.min(results.len()));
        let mut found = ConceptSearch {
            basis: at.to_basis(),
            offset: self.offset,
            results,
            nearest: None,
            next: None,
            note: None,
        };
        found.next = more.then(|| found.after(found.results.len()));
        found
    }
}

/// Returns the topic tags of deleted memoirs, except names that a living memoir has.
fn tags_without(living: &Memoirs, gone: &Memoirs) -> Vec<TopicTag> {
    let kept: Vec<TopicTag> = living.values().map(TopicTag::of).collect();
    let gone = gone.values().map(TopicTag::of);
    gone.filter(|tag| !kept.contains(tag)).collect()
}
