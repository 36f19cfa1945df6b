//! Recall: the search that the log records.

use icm_log::facts::{MemoryRecalled, Recalled};
use icm_log::{EventId, Kind, NewEvent, Position, Rewritten, SubjectId, payload};
use icm_projections::fold::Family;
use icm_projections::ranking::Ranking;
use icm_projections::vectors::{Plan, Searched};
use icm_projections::{FactFilter, RecallQuery, Recalled as Found, Views};
use serde_json::{Value, json};

use super::basis::At;
use super::embed::Asked;
use super::write::Scope;
use super::{Ask, Service, locked};
use crate::api::{Caller, Importance, RecallAnswer, RecallHit, RecallRequest, Trust};
use crate::error::{Result, ServiceError};
use crate::limits::{self, QUERY_LEN_MAX, RECALL_LIMIT_MAX};
use crate::when::{DayMeans, parse_moment, rfc3339_signed};

/// Results of a recall that says nothing of their number.
pub(super) const LIMIT_DEFAULT: usize = 10;

/// A recall whose answer is out and that is not in the log yet.
pub(super) struct Pending {
    caller: Caller,
    request: RecallRequest,
    facts: FactFilter,
    basis: (Position, EventId),
    results: Vec<SubjectId>,
    /// What the log's files were like.
    read: Rewritten,
}

impl Service {
    /// Recall with another ranking than the measured one.
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Service {
        self.ranking = ranking;
        self
    }

    /// Memories that fit the query, best first, now or as of a moment. With `request.record` the
    /// recall is noted; [`Service::record_recalls`] writes it once the answer is out.
    pub fn recall(&self, caller: &Caller, request: &RecallRequest) -> Result<RecallAnswer> {
        limits::text("the query", &request.query, QUERY_LEN_MAX)?;
        let limit = request.limit.unwrap_or(LIMIT_DEFAULT);
        if !(1..=RECALL_LIMIT_MAX).contains(&limit) {
            return Err(ServiceError::invalid(format!(
                "the limit is {limit}, it must be from 1 to {RECALL_LIMIT_MAX}"
            )));
        }
        if let Some(scope) = &request.scope {
            Scope::parse(Some(scope))?;
        }
        let facts = self.fact_filter(request)?;
        let asked = self.ask_model(&request.query);
        let (answer, at, ids) =
            self.with_views(|views| self.recall_in(views, request, limit, facts, &asked))?;
        if request.record && at.position.0 > 0 && !self.options.read_only {
            locked(&self.pending).push(Pending {
                caller: caller.clone(),
                request: self.without_secrets(request),
                facts,
                basis: (at.position, at.event),
                results: ids,
                read: self.log.rewritten(),
            });
        }
        Ok(answer)
    }

    /// Of which memories the facts will do. Bounds given as dates are of whole days.
    fn fact_filter(&self, request: &RecallRequest) -> Result<FactFilter> {
        let moment = |text: &Option<String>, day| match text {
            Some(text) => parse_moment(text, self.now_ms(), &self.zone(), day).map(Some),
            None => Ok(None),
        };
        let filter = FactFilter {
            family: Family::Memory,
            importance: request.importance.map(Into::into),
            trust: request.trust.map(Into::into),
            since_ms: moment(&request.since, DayMeans::Start)?,
            until_ms: moment(&request.until, DayMeans::End)?,
        };
        match (filter.since_ms, filter.until_ms) {
            (Some(since), Some(until)) if since > until => Err(ServiceError::invalid(format!(
                "nothing is at or after {} and at or before {}",
                rfc3339_signed(since),
                rfc3339_signed(until),
            ))),
            _ => Ok(filter),
        }
    }

    /// The request as the log may keep it.
    fn without_secrets(&self, request: &RecallRequest) -> RecallRequest {
        let mut request = request.clone();
        let mask = |text: &mut String| {
            if let Some(masked) = self.secrets.masked(text) {
                *text = masked;
            }
        };
        mask(&mut request.query);
        for text in [&mut request.topic, &mut request.keyword, &mut request.scope] {
            text.iter_mut().for_each(mask);
        }
        request
    }

    pub(super) fn recall_in(
        &self,
        views: &Views,
        request: &RecallRequest,
        limit: usize,
        facts: FactFilter,
        asked: &Asked,
    ) -> std::result::Result<(RecallAnswer, At, Vec<SubjectId>), Ask> {
        let at = self.at(views, request.at.as_deref(), request.happened_by.as_deref())?;
        let query = RecallQuery {
            text: &request.query,
            topic: request.topic.as_deref(),
            keyword: request.keyword.as_deref(),
            scope: request.scope.as_deref(),
            facts,
            without: &[],
            limit,
            rarest: None,
            ranking: asked.ranking(self.ranking),
            model: asked.model(),
        };
        let found = views.recall(&query, at.position)?;
        let mut results = Vec::with_capacity(found.hits.len());
        let mut ids = Vec::with_capacity(found.hits.len());
        for hit in &found.hits {
            ids.push(hit.version.id);
            results.push(RecallHit {
                score: f64::from(hit.score),
                matched: hit.matched.clone(),
                memory: self.memory_at(views, &hit.version, at.position)?,
            });
        }
        let explain = request.explain.then(|| explain(&found, &query, views, &at));
        Ok((
            RecallAnswer {
                basis: at.to_basis(),
                results,
                note: asked.note(),
                explain,
            },
            at,
            ids,
        ))
    }

    /// Writes the `memory.recalled` events of answers that are out, unless another process keeps
    /// the lock: an answer never waits for its record, and a record is no reason to fail.
    pub fn record_recalls(&self) {
        let pending = std::mem::take(&mut *locked(&self.pending));
        if pending.is_empty() {
            return;
        }
        // With the first of them: the views do not follow in between.
        let mut tick = self.tick_due();
        for recall in pending {
            if let Err(error) = self.record(&recall, tick.take()) {
                tracing::debug!(%error, "a recall was not recorded");
            }
        }
    }

    fn record(&self, recall: &Pending, tick: Option<NewEvent>) -> Result<()> {
        let results = (1u16..)
            .zip(&recall.results)
            .map(|(rank, id)| Recalled { id: *id, rank })
            .collect();
        let facts = MemoryRecalled {
            basis_position: recall.basis.0,
            basis_event: recall.basis.1,
            results,
        };
        let request = &recall.request;
        let payload = payload::MemoryRecalled {
            query: &request.query,
            topic: request.topic.as_deref(),
            keyword: request.keyword.as_deref(),
            scope: request.scope.as_deref(),
            limit: request.limit.and_then(|limit| u32::try_from(limit).ok()),
            importance: request.importance.map(Importance::name),
            trust: request.trust.map(Trust::name),
            since_ms: recall.facts.since_ms,
            until_ms: recall.facts.until_ms,
        };
        let event = NewEvent {
            kind: Kind::MEMORY_RECALLED,
            subject: SubjectId::ZERO,
            refs: Vec::new(),
            facts: facts.encode(),
            payload: payload::encode(&payload),
        };
        let events = tick.into_iter().chain([event]).collect();
        self.append_lazily(&recall.caller, events, &recall.read)
    }
}

/// As it was written: 0.12 is 0.119999… once it is widened.
fn plain(number: f32) -> f64 {
    (f64::from(number) * 1e6).round() / 1e6
}

/// How an answer came about. `results` are in the order of the answer's.
fn explain(found: &Found, query: &RecallQuery<'_>, views: &Views, at: &At) -> Value {
    let (text, ranking) = (&found.text, &query.ranking);
    json!({
        "text": {
            "ranking": "BM25 over the words of the query, any of which may match",
            "documents": text.stats_docs,
            "in_memory": text.tail_docs,
            "terms": text.terms.iter().map(|term| json!({
                "word": term.word,
                "term": term.term,
                "exact": term.exact,
                "documents": term.doc_freq,
                "boost": f64::from(term.boost),
            })).collect::<Vec<_>>(),
        },
        "model": query.model.map(|asked| json!({
            "id": asked.id.name,
            "embedded": found.asked.map(|how| how.embedded.done),
            "versions": found.asked.map(|how| how.embedded.of),
            "floor": found.asked.map(|how| plain(how.floor)),
        })),
        "vectors": found.searched.as_ref().map(searched),
        "ranking": {
            "text": ranking.text,
            "coverage": ranking.coverage,
            "meaning": ranking.meaning,
            "centred": ranking.centred,
            "neighbours": ranking.neighbours,
            "speaker": ranking.speaker,
            "identifier": ranking.identifier,
            "importance": ranking.importance,
            "recency": ranking.recency,
            "floor": plain(ranking.floor),
            "candidates": ranking.candidates,
            "expand": ranking.expand,
        },
        "results": found.hits.iter().map(|hit| json!({
            "text": hit.evidence.text,
            "cosine": hit.evidence.cosine.map(f64::from),
            "meaning": hit.evidence.meaning,
            "stand_in": hit.evidence.stand_in,
            "neighbours": hit.evidence.lent,
            "speaker": hit.evidence.speaker,
            "identifier": hit.evidence.identifier,
            "importance": hit.version.importance,
            "time_ms": hit.evidence.time_ms,
        })).collect::<Vec<_>>(),
        "views_at": views.base_position().0,
        "basis": at.position.0,
    })
}

/// Which way the vectors of the files were searched, and what that was chosen by.
fn searched(searched: &Searched) -> Value {
    let sizes = &searched.sizes;
    let (by, wanted) = match searched.plan {
        Plan::Graph { wanted } if !searched.fell_back => ("graph", Some(wanted)),
        Plan::List => ("list", None),
        _ => ("scan", None),
    };
    json!({
        "by": by,
        "rows": sizes.rows,
        "covered": sizes.covered,
        "listed": sizes.listed,
        "visible": sizes.visible,
        "wanted": wanted,
        "fell_back": searched.fell_back,
    })
}
