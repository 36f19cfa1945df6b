//! Repeats: if several results say the same, only the first is shown, and it names the others.
//!
//! Two memories say the same if their texts have the same words that count, in the same order (see [`words`]), or are
//! equal but for blanks around them. Memories of different scopes, times, trust or keys never say the same, nor does a
//! memory that supersedes or contradicts another. Memories of different topics may; the result then names the topics.

mod words;

use std::borrow::Cow;

use icm_api::error::ServiceError;
use icm_api::ids::id_text;
use icm_api::{Memory, RecallHit};
use icm_log::Position;
use icm_log::facts::Trust;
use icm_projections::fold::Version;
use icm_projections::{RecallHit as FoundHit, RecallQuery, Recalled as Found, Views};
use jiff::Timestamp;

use crate::memory::dated_statement::{DatedStatement, newest_of};
use crate::recall::link_expansion::Shown;
use crate::recall::tag_filter::keywords_of;
use crate::service::Service;
use crate::snapshot::QueryResult;
use words::CountedWords;

/// Places behind a result within which its repeats are sought. Raised, a page is ranked for longer; above the number of
/// candidates the ranking itself would change.
const AHEAD: usize = 20;

/// Excluded memories whose repeats are left out. Raised, the hook of a long session compares for longer.
const EXCLUDED_MAX: usize = 512;
/// Relations by which a memory says that another one does not hold, or not alone.
const OPPOSING: [&str; 2] = ["supersedes", "contradicts"];

/// A memory to be compared with others.
pub struct Comparable<'m> {
    text: &'m str,
    words: Option<CountedWords>,
    scope: Cow<'m, str>,
    topic: &'m str,
    key: Option<&'m str>,
    trust: Trust,
    agent: Option<&'m str>,
    occurred_at_ms: Option<i64>,
    raw_excerpt: Option<&'m str>,
    metadata: Option<Cow<'m, str>>,
    /// `true` if a link speaks against it, or it speaks against another memory.
    is_opposed: bool,
}

impl<'m> Comparable<'m> {
    /// Returns the comparable parts of a memory; `None` if its text is withheld.
    pub fn of(memory: &'m Memory) -> Option<Comparable<'m>> {
        let text = memory.content.as_deref()?;
        let occurred_at = memory.occurred_at.as_deref();
        let mut links = memory.related.iter();
        Some(Comparable {
            text: text.trim(),
            words: CountedWords::of(text),
            is_opposed: links.any(|link| OPPOSING.contains(&&*link.relation)),
            scope: Cow::Borrowed(&memory.scope),
            topic: &memory.topic,
            key: memory.key.as_deref(),
            trust: memory.trust.into(),
            agent: memory.source.agent.as_deref(),
            occurred_at_ms: occurred_at
                .and_then(|at| Some(at.parse::<Timestamp>().ok()?.as_millisecond())),
            raw_excerpt: memory.raw_excerpt.as_deref(),
            metadata: memory
                .metadata
                .as_ref()
                .map(|it| Cow::Owned(it.to_string())),
        })
    }

    /// Returns the same for a row version. Links are not looked at.
    fn of_version(version: &'m Version) -> Option<Comparable<'m>> {
        let text = version.content.as_deref()?;
        Some(Comparable {
            text: text.trim(),
            words: CountedWords::of(text),
            is_opposed: false,
            scope: Cow::Owned(version.scope_text()),
            topic: version.topic.as_deref().unwrap_or_default(),
            key: version.key.as_deref(),
            trust: version.trust,
            agent: version.source.agent.as_deref(),
            occurred_at_ms: version.occurred_at_ms,
            raw_excerpt: version.raw_excerpt.as_deref(),
            metadata: version.metadata.as_deref().map(Cow::Borrowed),
        })
    }

    /// Returns `true` if another memory says the same. Symmetric; no name, number, negation or rare word may differ.
    pub fn is_repeat_of(&self, other: &Comparable<'_>) -> bool {
        let may_differ = |one: Option<&str>, other: Option<&str>| {
            one.is_none() || other.is_none() || one == other
        };
        let is_text = match (&self.words, &other.words) {
            // An agent that says *I* speaks of itself alone.
            (Some(one), Some(other_words)) => {
                one == other_words && (!one.is_personal || self.agent == other.agent)
            }
            _ => self.text == other.text && !self.text.is_empty(),
        };
        is_text
            && !self.is_opposed
            && !other.is_opposed
            && self.scope == other.scope
            && self.trust == other.trust
            && self.occurred_at_ms == other.occurred_at_ms
            && may_differ(self.raw_excerpt, other.raw_excerpt)
            && may_differ(self.metadata.as_deref(), other.metadata.as_deref())
            // Topic and key say what a text with a key is about.
            && match (self.key, other.key) {
                (None, None) => true,
                (Some(_), Some(_)) => false,
                _ => self.topic == other.topic,
            }
    }
}

/// A result of the search with its repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    /// The place of the first result.
    place: usize,
    /// The place of the result that is shown.
    kept: usize,
    /// The places of the other results.
    repeats: Vec<usize>,
}

/// The rules about hits that say the same; all are called for repeats alone.
struct Rules<'r> {
    /// Returns `true` if no link speaks against a memory.
    is_unopposed: &'r dyn Fn(&Version) -> QueryResult<bool>,
    /// Returns `true` if a newer memory seems to replace a memory.
    is_replaced: &'r dyn Fn(&Version) -> QueryResult<bool>,
    /// Returns `true` if the tags of a memory put it behind all others.
    stands_last: &'r dyn Fn(&Version) -> bool,
}

/// The results of one page; each stands for all that say the same.
pub(crate) struct Page {
    /// The result of the search; its hits are the ones that are shown.
    pub(crate) found: Found,
    /// The offset of each hit.
    pub(crate) offsets: Vec<usize>,
    /// The ids and topics of the repeats of each hit.
    repeats: Vec<Vec<(String, String)>>,
    /// The offset of the next result, if there are more.
    pub(crate) next: Option<usize>,
}

impl Page {
    /// Returns the memory of a hit as a result that names its repeats.
    pub(crate) fn naming_repeats(&self, hit: usize, memory: Memory) -> RecallHit {
        let mut told = RecallHit::of(memory);
        for (id, topic) in &self.repeats[hit] {
            name(&mut told, id.clone(), topic.clone());
        }
        told
    }
}

impl Service {
    /// Searches, and returns the results from `offset` on that say different things: as many as the query's limit,
    /// fewer if there are no more.
    ///
    /// Offsets count all that the search finds, and the page has no influence on which of them are repeats. So no
    /// result is on two pages, and each repeat is named by its result. Asks the views once more if repeats leave a page
    /// unfilled.
    pub(crate) fn page(
        &self,
        views: &Views,
        query: &RecallQuery<'_>,
        offset: usize,
        position: Position,
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<Page> {
        let limit = query.limit;
        let is_unopposed = |version: &Version| {
            let links = self.links_of(views, version, position, sees)?;
            let mut relations = links.others.iter().map(|linked| &*linked.related.relation);
            Ok(!relations.any(|relation| OPPOSING.contains(&relation)))
        };
        let mut excluded: Vec<Version> = Vec::new();
        // One result more tells if a next page exists.
        let least = offset + limit + 1;
        let horizon = query.ranking.candidates;
        for (is_last, asked) in asked_for(least, limit, horizon) {
            let query = RecallQuery {
                limit: asked,
                ..*query
            };
            let found = views.recall(&query, position)?;
            // A session that has seen a memory needs no repeat of it.
            if excluded.is_empty() && !found.hits.is_empty() {
                excluded = excluded_of(views, &query, position)?;
            }
            let excluded: Vec<Comparable<'_>> =
                excluded.iter().filter_map(Comparable::of_version).collect();
            let is_all = found.hits.len() < asked;
            let is_replaced = |version: &Version| {
                self.is_replaced_among(views, version, &found.hits, position, sees)
            };
            let stands_last = |version: &Version| query.tags.is_last(keywords_of(version));
            let rules = Rules {
                is_unopposed: &is_unopposed,
                is_replaced: &is_replaced,
                stands_last: &stands_last,
            };
            let groups = groups(&found.hits, &excluded, horizon, &rules)?;
            // Behind `end`, repeats of a result may be missing.
            let end = match is_all || asked == horizon {
                true => found.hits.len(),
                false => asked - AHEAD,
            };
            let of_page = groups
                .iter()
                .filter(|group| (offset..end).contains(&group.place));
            let following = of_page.clone().nth(limit).map(|group| group.place);
            if following.is_some() || is_all || is_last {
                let shown: Vec<Group> = of_page.take(limit).cloned().collect();
                let next = following.or((!is_all).then_some(end));
                return Ok(page_of(found, &shown, next));
            }
        }
        Err(ServiceError::Internal("no page was searched for".into()).into())
    }

    /// Returns `true` if one of the newest memories of its topic and scope, or one of these hits, seems to replace a
    /// memory.
    fn is_replaced_among(
        &self,
        views: &Views,
        version: &Version,
        hits: &[FoundHit],
        position: Position,
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<bool> {
        let scope = version.scope_text();
        let topic = version.topic.as_deref().unwrap_or_default();
        let mut others = newest_of(views, (topic, &scope), position)?;
        // An expired memory replaces nothing.
        others.retain(|(_, version)| sees(version));
        let of_home = |hit: &&FoundHit| {
            hit.version.topic == version.topic && hit.version.scope_text() == scope
        };
        for hit in hits.iter().filter(of_home) {
            if others.iter().all(|(_, known)| known.id != hit.version.id)
                && let Some(said) = DatedStatement::of_version(&hit.version)
            {
                others.push((said, hit.version.clone()));
            }
        }
        self.seems_replaced(views, version, &others, position, sees)
    }
}

/// Returns the living memories that a query hides.
fn excluded_of(
    views: &Views,
    query: &RecallQuery<'_>,
    position: Position,
) -> QueryResult<Vec<Version>> {
    let mut excluded = Vec::new();
    for id in query.excluded_memories.iter().take(EXCLUDED_MAX) {
        let version = views.version_at(*id, position)?;
        excluded.extend(version.filter(Version::is_alive));
    }
    Ok(excluded)
}

/// Returns how many results the views are asked for, one number after the other until a page is filled, and `true` with
/// the last one. Up to the horizon the ranking is the same for each number.
fn asked_for(least: usize, limit: usize, horizon: usize) -> impl Iterator<Item = (bool, usize)> {
    let most = least.max(horizon) + 2 * (limit + AHEAD);
    let first = match least <= horizon {
        true => (least + AHEAD).min(horizon),
        false => least + AHEAD,
    };
    let second = Some(horizon).filter(|horizon| first < *horizon);
    [Some(first), second, Some(most)]
        .into_iter()
        .flatten()
        .map(move |asked| (asked == most, asked))
}

fn page_of(mut found: Found, shown: &[Group], next: Option<usize>) -> Page {
    let named = |place: &usize| {
        let version = &found.hits[*place].version;
        (
            id_text(version.id),
            version.topic.clone().unwrap_or_default(),
        )
    };
    let repeats = shown
        .iter()
        .map(|group| group.repeats.iter().map(named).collect())
        .collect();
    let mut hits: Vec<Option<FoundHit>> = std::mem::take(&mut found.hits)
        .into_iter()
        .map(Some)
        .collect();
    found.hits = shown
        .iter()
        .filter_map(|group| hits[group.kept].take())
        .collect();
    Page {
        found,
        offsets: shown.iter().map(|group| group.place).collect(),
        repeats,
        next,
    }
}

/// Groups hits that say the same, in their order. Among the hits with the best score of a group the newest is kept. If
/// that one seems to be replaced, a newer one of its topic is kept, whose text counts again.
///
/// A hit is a repeat of one that stands at most [`AHEAD`] places before it, on the same side of the horizon. Repeats of
/// excluded memories are left out.
fn groups(
    hits: &[FoundHit],
    excluded: &[Comparable<'_>],
    horizon: usize,
    rules: &Rules<'_>,
) -> QueryResult<Vec<Group>> {
    let said: Vec<Option<Comparable<'_>>> = hits
        .iter()
        .map(|hit| Comparable::of_version(&hit.version))
        .collect();
    let mut groups: Vec<Group> = Vec::with_capacity(hits.len());
    for place in 0..hits.len() {
        let is_repeat =
            |said: &Comparable<'_>| excluded.iter().any(|other| said.is_repeat_of(other));
        if said[place].as_ref().is_some_and(is_repeat) {
            continue;
        }
        let earlier = groups.iter().rposition(|group| {
            let is_near =
                place - group.place <= AHEAD && (place < horizon || group.place >= horizon);
            let said = said[place].as_ref().zip(said[group.place].as_ref());
            is_near && said.is_some_and(|(one, other)| one.is_repeat_of(other))
        });
        if let Some(group) = earlier.map(|at| &mut groups[at])
            && (rules.is_unopposed)(&hits[place].version)?
            && (rules.is_unopposed)(&hits[group.place].version)?
        {
            let newer = |one: &FoundHit, other: &FoundHit| {
                let at = |hit: &FoundHit| (hit.version.created_ms, hit.version.id);
                at(one) > at(other)
            };
            let kept = group.kept;
            let (hit, best) = (&hits[place], &hits[kept]);
            let counts_more = || match hit.score == best.score {
                true => Ok(true),
                false if hit.version.topic == best.version.topic => {
                    (rules.is_replaced)(&best.version)
                }
                false => Ok(false),
            };
            let last = rules.stands_last;
            let stays = last(&hit.version) && !last(&best.version);
            if !stays && newer(hit, best) && counts_more()? {
                group.kept = place;
                group.repeats.push(kept);
            } else {
                group.repeats.push(place);
            }
            continue;
        }
        groups.push(Group {
            place,
            kept: place,
            repeats: Vec::new(),
        });
    }
    Ok(groups)
}

/// Removes results that a link brought in and that repeat an earlier result. The earlier result names them.
pub(crate) fn without_related_repeats(shown: Vec<Shown>) -> Vec<Shown> {
    let mut kept: Vec<Shown> = Vec::with_capacity(shown.len());
    for shown in shown {
        let earlier = match shown.hit.expanded {
            true => kept
                .iter()
                .position(|other| says_same(&shown.hit, &other.hit)),
            false => None,
        };
        match earlier {
            Some(earlier) => {
                let memory = shown.hit.memory;
                name(&mut kept[earlier].hit, memory.id, memory.topic);
            }
            None => kept.push(shown),
        }
    }
    kept
}

fn says_same(one: &RecallHit, other: &RecallHit) -> bool {
    let said = Comparable::of(&one.memory).zip(Comparable::of(&other.memory));
    said.is_some_and(|(one, other)| one.is_repeat_of(&other))
}

/// Names a repeat of a result, given by its id and topic.
fn name(hit: &mut RecallHit, id: String, topic: String) {
    if !hit.repeats.contains(&id) {
        hit.repeats.push(id);
    }
    if topic != hit.memory.topic && !hit.also_in.contains(&topic) {
        hit.also_in.push(topic);
    }
}

#[cfg(test)]
mod tests;
