//! Recall: the search that the log records.
//!
//! [`Service::recall_in`] decides the order of an answer. The views give results by score; repeats become one result, and
//! confirmations and marks change a score. Then links reorder ([`LinkExpansion`]), and memories that seem to replace others
//! ([`replaced`]).

mod explain;

use icm_log::SubjectId;
use icm_log::facts::Front;
use icm_projections::fold::{Family, Version};
use icm_projections::ranking::Ranking;
use icm_projections::{
    FactFilter, RecallHit as FoundHit, RecallQuery, RowFacts, Views, topic_fits,
};

use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::recall::corrections;
use crate::recall::link_expansion::{LinkExpansion, Shown};
use crate::recall::question::notes;
use crate::recall::record::ShownBy;
use crate::recall::repeats::{self, Page};
use crate::recall::replaced;
use crate::recall::scopes::Scopes;
use crate::recall::tag_filter::{is_last, keywords_of, tag_query};
use crate::recall::voices;
use crate::service::{PendingRecall, Service};
use crate::snapshot::QueryResult;
use crate::upkeep::embed::QueryVector;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_range;
use icm_api::limits;
use icm_api::limits::{RECALL_LIMIT_MAX, SCOPE_LEN_MAX, TOPIC_LEN_MAX};
use icm_api::shown_bytes;
use icm_api::tokens;
use icm_api::when::{DayMeans, parse_moment};
use icm_api::{Caller, Nearest, Passage, RecallAnswer, RecallHit, RecallRequest};
use icm_guard::sanitize::clean_line;

use explain::explain;

/// Results of a recall whose request gives no limit.
pub(crate) const LIMIT_DEFAULT: usize = 10;

/// Characters up to which a text is shown whole; of a longer one only the beginning is.
const EXCERPT_CHARS: usize = 80;

/// Newest recalls of the first result in which often-recalled neighbours are counted. Raised, each costs a read of the
/// log.
const TOGETHER_RECALLS: usize = 20;

/// The results of an answer that are shown.
pub(crate) struct ShownResults {
    /// Their places in the answer.
    pub(crate) places: Vec<usize>,
    /// The number of corrections that are shown.
    pub(crate) corrections: usize,
    /// Tokens of what is shown.
    pub(crate) tokens: usize,
}

/// An answer as the views gave it.
pub(crate) struct InView {
    pub(crate) answer: RecallAnswer,
    at: At,
    /// The ids of the results.
    ids: Vec<SubjectId>,
}

impl Service {
    /// Sets another ranking than the measured one.
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Service {
        self.settings.ranking = ranking;
        self
    }

    /// Returns memories that fit the query, best first, now or as of a moment. With `request.record` the recall is
    /// queued for the log; [`Service::record_recalls`] writes it once the answer is out. An answer with a memory that
    /// expires by recalls is recorded before it goes out.
    pub fn recall(&self, caller: &Caller, request: &RecallRequest) -> Result<RecallAnswer> {
        if let Some(answer) = self.ask_owner(caller, request, &mut None) {
            return Ok(answer);
        }
        self.read_log()?;
        self.recall_shown(caller, request, ShownBy::This, all_of)
    }

    /// Answers the recall of another process as [`Service::recall`] does.
    ///
    /// # Errors
    /// `Invalid` if the answer has a memory that expires by recalls. The process that shows the answer records it: it may
    /// have given up waiting for this one.
    pub fn recall_for_peer(
        &self,
        caller: &Caller,
        request: &RecallRequest,
    ) -> Result<RecallAnswer> {
        self.read_log()?;
        self.recall_shown(caller, request, ShownBy::Peer, all_of)
    }

    /// Recalls as [`Service::recall`] does. `shown` returns the results that are shown: only those are recorded.
    pub(crate) fn recall_shown(
        &self,
        caller: &Caller,
        request: &RecallRequest,
        by: ShownBy,
        shown: impl FnOnce(&RecallAnswer) -> ShownResults,
    ) -> Result<RecallAnswer> {
        let limit = checked_limit(request)?;
        let scopes = Scopes::of(caller, request.scope.as_deref())?;
        let facts = self.fact_filter(request)?;
        let question = self.what_counts(&request.query)?;
        let asked = self.ask_model(&question.text);
        let request = &RecallRequest {
            query: question.text.to_string(),
            tags: request.tags.checked()?,
            no_links: request.no_links || !self.settings.links,
            ..request.clone()
        };
        let find = || {
            self.with_views(|views| {
                let request = RecallRequest {
                    topic: self.topic_filter_if_any(views, request.topic.as_deref())?,
                    ..request.clone()
                };
                let at = self.at(views, request.at.as_deref(), request.happened_by.as_deref())?;
                let views = &*self.views_at(views, &at)?;
                let expired = Expired::at(self, views, &at);
                loop {
                    let found =
                        self.recall_in(&expired, &request, limit, facts, &scopes, &asked)?;
                    // Only the files of memories that would be shown are looked at.
                    if !expired.finds_gone(&found.ids)? {
                        break Ok((request, found));
                    }
                }
            })
        };
        let counts = request.record && request.front.is_asked();
        let ((request, found), turn) =
            self.in_turn((counts, by), find, |(_, found)| Ok(found.ids.clone()))?;
        let request = &request;
        let InView {
            mut answer,
            at,
            ids,
        } = found;
        answer.note = notes(question.note(), answer.note);
        let shown = shown(&answer);
        let (places, tokens) = (shown.places, shown.tokens);
        // A hook asks at every prompt. Its recall is recorded only if something is shown, also a correction, so that the
        // session sees each once.
        let told = match request.front {
            Front::HOOK => &answer.corrections[..shown.corrections],
            _ => &[],
        };
        let is_worth_it = request.front != Front::HOOK || !places.is_empty() || !told.is_empty();
        let told_ids = told.iter().filter_map(|hit| id_range(&hit.feedback.id));
        if request.record && is_worth_it && at.position.0 > 0 && !self.options.read_only {
            let record = PendingRecall {
                caller: caller.clone(),
                request: self.to_record(request, &answer, &places),
                facts,
                scopes: self.without_secret_each(scopes.to_record()),
                basis: (at.position, at.event),
                moment_ms: at.moment_to_name(),
                results: (places.iter().map(|place| ids[*place]))
                    .chain(told_ids.map(|(id, _)| id))
                    .collect(),
                conditions: Vec::new(),
                fits: (places.iter().map(|place| answer.results[*place].fit))
                    .chain(told.iter().map(|hit| hit.fit))
                    .collect(),
                tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
                whole_len: question.whole_len,
                read: self.log.rewritten(),
            };
            answer.note = notes(answer.note, self.keep_record(record, turn));
        }
        Ok(answer)
    }

    /// Returns a request as its record keeps it. Of a prompt the log keeps only the words that the shown memories have, too.
    fn to_record(
        &self,
        request: &RecallRequest,
        answer: &RecallAnswer,
        places: &[usize],
    ) -> RecallRequest {
        let mut request = request.clone();
        if request.front == Front::HOOK {
            request.query = matched_words(answer, places);
        }
        self.without_secrets(&request)
    }

    /// Returns the filter by facts. Bounds given as dates are of whole days.
    pub(super) fn fact_filter(&self, request: &RecallRequest) -> Result<FactFilter> {
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
            (Some(since), Some(until)) if since > until => Err(ServiceError::invalid_with(
                format!(
                    "nothing is both since {} and until {}",
                    request.since.as_deref().unwrap_or_default().trim(),
                    request.until.as_deref().unwrap_or_default().trim(),
                ),
                "give the earlier time to `--since`",
            )),
            _ => Ok(filter),
        }
    }

    /// Returns the request as the log may keep it, with secrets masked.
    pub(super) fn without_secrets(&self, request: &RecallRequest) -> RecallRequest {
        let mut request = request.clone();
        let mask = |text: &mut String| {
            if let Some(masked) = self.settings.secrets.masked(text) {
                *text = masked;
            }
        };
        mask(&mut request.query);
        for text in [&mut request.topic, &mut request.scope] {
            text.iter_mut().for_each(mask);
        }
        request.tags.tags_mut().for_each(mask);
        request
    }

    pub(super) fn without_secret_each(&self, texts: Vec<String>) -> Vec<String> {
        let masked = |text: String| self.settings.secrets.masked(&text).unwrap_or(text);
        texts.into_iter().map(masked).collect()
    }

    pub(crate) fn recall_in(
        &self,
        expired: &Expired<'_>,
        request: &RecallRequest,
        limit: usize,
        facts: FactFilter,
        scopes: &Scopes,
        asked: &QueryVector,
    ) -> QueryResult<InView> {
        let (views, at) = (expired.views(), expired.basis());
        let [seen, own, kin] = scopes.asked();
        let excluded = excluded(views, &request.without)?;
        let query = RecallQuery {
            text: &request.query,
            topic: request.topic.as_deref(),
            tags: tag_query(&request.tags),
            scopes: &seen,
            own: &own,
            kin: &kin,
            facts,
            excluded_topics: &[],
            excluded_memories: &excluded,
            moment: expired.moment(),
            limit,
            floor: request.floor.unwrap_or(self.settings.ranking.floor),
            ranking: asked.ranking(self.settings.ranking),
            model: asked.model(),
        };
        let sees =
            |version: &Version| scopes.sees(&version.scope_text()) && !expired.hides(version);
        let page = self.page(views, &query, request.offset, at.position, &sees)?;
        let found = &page.found;
        let mut shown = self.shown_of(&page, &query, scopes, (views, &at), &sees)?;
        if !request.no_links {
            let expansion = LinkExpansion {
                service: self,
                views,
                position: at.position,
                scopes,
                expired,
                passes: &|version| {
                    sees(version) && meets(version, &query) && !excluded.contains(&version.id)
                },
                limit,
            };
            if shown.iter().any(|shown| !shown.linked.is_empty()) {
                shown = repeats::without_related_repeats(expansion.apply(shown)?);
            }
            let covers = |shown: &Shown| Some(found.hits[shown.found?].features.coverage);
            shown = replaced::apply(&expansion, shown, &covers, request.offset == 0)?;
            shown.sort_by_key(|shown| is_last(&shown.hit.memory, &query.tags));
        }
        let nearest = match &found.nearest {
            Some(hit) => Some(self.told_nearest(views, hit, &at, &sees)?),
            None => None,
        };
        let next = next_offset(&page, &shown);
        let explain = request
            .explain
            .then(|| explain(found, &shown, &query, views, &at));
        let ids = shown.iter().map(|shown| shown.id).collect();
        let often_together = match request.together {
            true => self.together_with(&shown, (views, &at), &sees)?,
            false => Vec::new(),
        };
        expired.checked()?;
        Ok(InView {
            answer: RecallAnswer {
                basis: at.to_basis(),
                scope: scopes.shown(),
                next,
                often_together,
                results: shown.into_iter().map(|shown| shown.hit).collect(),
                nearest,
                corrections: corrections::fitting(views, &query, &at, request.offset)?,
                note: asked.note(),
                explain,
            },
            at,
            ids,
        })
    }

    /// Returns the results of a page, the best first.
    fn shown_of(
        &self,
        page: &Page,
        query: &RecallQuery<'_>,
        scopes: &Scopes,
        (views, at): (&Views, &At),
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<Vec<Shown>> {
        let mut shown = Vec::with_capacity(page.found.hits.len());
        for (place, hit) in page.found.hits.iter().enumerate() {
            let links = self.links_of(views, &hit.version, at.position, sees)?;
            let memory = self.memory_with(views, &hit.version, &links, at.position)?;
            let voices = voices::shares(&query.ranking, &memory);
            shown.push(Shown {
                hit: RecallHit {
                    score: f64::from(hit.score)
                        + voices.iter().map(|(_, share)| share).sum::<f64>(),
                    fit: thousandths(hit.fit),
                    matched: hit.matched.clone(),
                    passage: hit
                        .passage
                        .and_then(|number| Passage::of(memory.content.as_deref()?, number)),
                    elsewhere: scopes.is_elsewhere(&memory.scope),
                    ..page.naming_repeats(place, memory)
                },
                id: hit.version.id,
                linked: links.others,
                found: Some(place),
            });
        }
        // Results of one score keep the order in which they were found.
        shown.sort_by(|a, b| b.hit.score.total_cmp(&a.hit.score));
        shown.sort_by_key(|shown| is_last(&shown.hit.memory, &query.tags));
        Ok(shown)
    }

    /// Returns the ids of memories that recalls often showed together with the first result, and that are not shown.
    fn together_with(
        &self,
        shown: &[Shown],
        (views, at): (&Views, &At),
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<Vec<String>> {
        let Some(first) = shown.first() else {
            return Ok(Vec::new());
        };
        let is_new =
            |version: &Version| sees(version) && shown.iter().all(|shown| shown.id != version.id);
        let entity = views.resolve(first.id)?;
        self.often_together(views, entity, at.position, TOGETHER_RECALLS, &is_new)
    }

    /// Returns the best result in the form for an answer that shows none.
    fn told_nearest(
        &self,
        views: &Views,
        hit: &FoundHit,
        at: &At,
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<Nearest> {
        let links = self.links_of(views, &hit.version, at.position, sees)?;
        let memory = self.memory_with(views, &hit.version, &links, at.position)?;
        Ok(Nearest {
            id: memory.id,
            fit: thousandths(hit.fit),
            topic: memory.topic,
            content: memory.content.as_deref().map(beginning),
        })
    }
}

/// Returns the tokens of results, estimated. Of a long text only the parts around its passage are shown.
pub(super) fn tokens_of(results: &[RecallHit]) -> usize {
    let shown = |(place, hit): (usize, &RecallHit)| {
        let text = hit.memory.content.as_deref().unwrap_or_default();
        let len = match hit.passage {
            Some(_) => text.floor_char_boundary(shown_bytes(place)),
            None => text.len(),
        };
        tokens::estimate(&text[..len])
    };
    results.iter().enumerate().map(shown).sum()
}

/// Returns the words of the question that the results at these places have, each once.
fn matched_words(answer: &RecallAnswer, places: &[usize]) -> String {
    let mut words: Vec<&str> = Vec::new();
    let shown = places.iter().map(|place| &answer.results[*place]);
    for word in shown.flat_map(|hit| &hit.matched) {
        if !words.contains(&&**word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Returns the memories of these ids in the form that a query takes.
///
/// # Errors
/// `Invalid` for a text that is no id.
fn excluded(views: &Views, ids: &[String]) -> QueryResult<Vec<SubjectId>> {
    let mut excluded = Vec::with_capacity(2 * ids.len());
    for id in ids {
        let id = match id_range(id) {
            Some((first, last)) if first == last => first,
            _ => {
                return Err(ServiceError::invalid_with(
                    format!("`{id}` is no id of a memory"),
                    "give the whole id, as `icm get` shows it",
                )
                .into());
            }
        };
        excluded.extend([id, views.resolve(id)?]);
    }
    excluded.sort_unstable();
    Ok(excluded)
}

/// Returns the `offset` of the next answer, behind the hits that this one shows. If memories that links brought in took
/// the place of some hits, the next answer begins with the first of those.
fn next_offset(page: &Page, shown: &[Shown]) -> Option<usize> {
    let is_shown = |place: &usize| shown.iter().any(|shown| shown.found == Some(*place));
    let next = match (0..page.offsets.len()).find(|place| !is_shown(place)) {
        // An answer that shows no hit at all would be asked for again and again.
        Some(0) => page.offsets.get(1).copied().or(page.next),
        Some(place) => Some(page.offsets[place]),
        None => page.next,
    };
    next.filter(|next| *next < RECALL_LIMIT_MAX)
}

fn all_of(answer: &RecallAnswer) -> ShownResults {
    ShownResults {
        places: (0..answer.results.len()).collect(),
        corrections: answer.corrections.len(),
        tokens: tokens_of(&answer.results),
    }
}

/// Checks the numbers and the lengths of a request. Returns the most results of this page.
fn checked_limit(request: &RecallRequest) -> Result<usize> {
    let limit = request.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=RECALL_LIMIT_MAX).contains(&limit) {
        return Err(ServiceError::invalid(format!(
            "the limit is {limit}, it must be from 1 to {RECALL_LIMIT_MAX}"
        )));
    }
    if request.offset >= RECALL_LIMIT_MAX {
        return Err(ServiceError::invalid_with(
            format!("a recall shows the best {RECALL_LIMIT_MAX} memories at most"),
            "ask for an earlier page, or with other words",
        ));
    }
    check_floor(request.floor)?;
    // A longer text fits nothing, and the record would keep it for ever.
    for (what, given, max) in [
        ("the topic", &request.topic, TOPIC_LEN_MAX + "/".len()),
        ("the scope", &request.scope, SCOPE_LEN_MAX),
    ] {
        limits::optional_text(what, given.as_deref().unwrap_or_default(), max)?;
    }
    Ok(limit.min(RECALL_LIMIT_MAX - request.offset))
}

/// Refuses a floor outside the range of fits.
///
/// # Errors
/// `Invalid` for a number that is not from 0 to 1.
pub(crate) fn check_floor(floor: Option<f64>) -> Result<()> {
    match floor.filter(|floor| !(0.0..=1.0).contains(floor)) {
        Some(floor) => Err(ServiceError::invalid_with(
            format!("the floor is {floor}, it must be from 0 to 1"),
            "0 shows everything that is found",
        )),
        None => Ok(()),
    }
}

/// Returns a fit as answers show it.
pub(crate) fn thousandths(fit: f64) -> f64 {
    (fit * 1e3).round() / 1e3
}

/// Returns the beginning of a text on one line.
fn beginning(text: &str) -> String {
    let line = clean_line(text);
    match line.char_indices().nth(EXCERPT_CHARS) {
        None => line.into_owned(),
        Some(_) => line.chars().take(EXCERPT_CHARS - 1).chain(['…']).collect(),
    }
}

/// Returns `true` if a version meets the conditions of a recall beside its words and scopes. A link brings in no version
/// that stands last.
fn meets(version: &Version, query: &RecallQuery<'_>) -> bool {
    let topic = version.topic.as_deref().unwrap_or_default();
    query.topic.is_none_or(|asked| topic_fits(asked, topic))
        && query.tags.fits(keywords_of(version))
        && !query.tags.is_last(keywords_of(version))
        && query.facts.fits(&RowFacts::of(version))
}

#[cfg(test)]
mod tests;
