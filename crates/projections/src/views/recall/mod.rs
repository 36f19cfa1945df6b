//! Recall: finds memories by words and by meaning, and ranks both together.

mod candidates;
mod query;
mod similarity;

use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;

use icm_log::{Position, SubjectId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Views;
use super::embedded::Embedded;
use super::walk::missing;
use crate::error::{Result, ViewError};
use crate::fold::Version;
use crate::moment::Moment;
use crate::ranking::{Answered, Features};
use crate::rows::{self, RowFacts, TopicTag};
use icm_text::{
    Found, Prepared, Sight, Sought, TextAnswer, TextFilter, TextQuery, Words, has_prose,
};
use icm_vectors::Searched;

use candidates::{Best, Candidates, Ranked, Sees};
use similarity::{Meaning, known};

pub use query::{ModelVector, RecallQuery, TagQuery};

/// Passages of one text that are compared with the question, at most: 4. A larger value costs time.
const PASSAGES_OF_ONE: usize = 4;
/// If long texts take the places of others, a search asks for 4 times as many passages again, up to 64 times in all. A
/// larger first value makes fewer searches that bring more than needed; a larger second one finds more beside very long
/// texts.
const ASKED_AGAIN: usize = 4;
const ASKED_MORE: usize = 64;
/// Likeness from which on a word of the question is named as one that the text has: 0.5. A smaller value names words of
/// another meaning; a larger one leaves out words with two endings.
const NAMED_LEAST: f32 = 0.5;

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// Larger is better.
    pub score: f32,
    /// The likelihood that this answers the query, 0 to 1, regardless of the other results.
    pub fit: f64,
    /// The words of the query that matched.
    pub matched: Vec<String>,
    /// The features that add up to the score.
    pub features: Features,
    /// The cosine with the query; `None` without a vector to compare.
    pub cosine: Option<f32>,
    /// The [passage](icm_text::passages) of its text by which it was found, from 0; `None` if the text has one passage.
    pub passage: Option<usize>,
    /// The row as of the basis.
    pub version: Version,
}

/// The results, and the facts about the search.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Best first; of equal scores the one whose words match better, then the one with the smaller id.
    pub hits: Vec<RecallHit>,
    /// The best candidate, if all candidates lie below the floor.
    pub nearest: Option<RecallHit>,
    /// The terms and statistics for `--explain`; its own hits are empty.
    pub text: TextAnswer,
    /// The progress of the chosen model; `None` for the built-in one.
    pub embedded: Option<Embedded>,
    /// The way in which the vectors of the files were searched, if they were.
    pub searched: Option<Searched>,
    /// The weight of the built-in model's meaning, 0 to 1, by its knowledge of the query's words.
    pub known: f64,
    /// The evidence behind the fit of all results.
    pub answered: Answered,
}

impl Views {
    /// Searches the memories that lived at `position`.
    pub fn recall(&self, query: &RecallQuery<'_>, position: Position) -> Result<Recalled> {
        let damaged = Cell::new(None);
        // The passages whose tags leave them out, ascending, once the text index has named them.
        let left_out: OnceCell<Vec<u64>> = OnceCell::new();
        let visible = |passage: u64| {
            let tagged = left_out.get();
            if tagged.is_some_and(|tagged| tagged.binary_search(&passage).is_ok()) {
                return false;
            }
            let ordinal = self.version_of(passage);
            self.shows(ordinal, position, query).unwrap_or_else(|| {
                damaged.set(Some(ordinal));
                false
            })
        };
        let history = position < self.files.base.cursor.position;
        if history {
            self.check_history()?;
        }
        let text_query = TextQuery {
            text: query.text,
            limit: query.limit,
            history,
            filter: TextFilter {
                topic: query.topic,
                keywords: query.tags.all,
                any_keyword: query.tags.any,
                scopes: query.scopes,
            },
        };
        let held = |ordinal: u64| self.holds(ordinal, position).unwrap_or(false);
        let leads = self.lead_ids()?;
        let sees = Sees {
            held: &held,
            visible: &visible,
            history,
            leads: &leads,
        };
        let mut searched = None;
        // A number or a file name is near to any text, so its meaning finds nothing.
        let by_words = query.ranking.finds_by_words();
        let means = query.ranking.meaning > 0.0 && (!by_words || has_prose(query.text));
        let known = known(query);
        let (text, ranked, embedded) = super::guarded("text", || {
            let sight = Sight {
                visible: &visible,
                tie: &|passage| self.tie(self.version_of(passage), &leads),
            };
            let (answer, prepared) =
                self.files
                    .text
                    .prepare(&self.tail.text, &text_query, sight)?;
            let tagged = prepared.with_any_keyword(query.tags.not)?;
            let last = match query.tags.drops {
                true => {
                    left_out.get_or_init(|| tagged);
                    Vec::new()
                }
                false => tagged,
            };
            // A meaning with weight 0 finds and ranks nothing.
            let meaning = match means && (known > 0.0 || query.model.is_some()) {
                true => Some(self.meaning(query, known)?),
                false => None,
            };
            let best = self.rank(
                query,
                known,
                &prepared,
                meaning.as_ref(),
                (sees, &last),
                &mut searched,
            )?;
            let hit = |ranked: &Ranked| self.hit(&prepared, ranked, &best.answered);
            let hits = best.ranked.iter().map(hit).collect::<Result<Vec<_>>>()?;
            let nearest = best.nearest.as_ref().map(hit).transpose()?;
            let ranked = (hits, nearest, best.answered);
            Ok((answer, ranked, meaning.and_then(|it| it.embedded)))
        })?;
        if let Some(ordinal) = damaged.get() {
            return Err(rows::damaged(ordinal));
        }
        let (hits, nearest, answered) = ranked;
        Ok(Recalled {
            hits,
            nearest,
            text,
            embedded,
            searched,
            known,
            answered,
        })
    }

    /// Returns at most `limit` versions of a topic and scope that hold now and may be at least `least_ppm` alike to a
    /// text; if there are more, those most like it.
    ///
    /// # Errors
    /// The errors of [`Views::recall`].
    pub fn near(
        &self,
        sought: &Sought<'_>,
        (topic, scope): (&str, &str),
        (limit, least_ppm): (usize, u32),
        moment: Option<Moment<'_>>,
    ) -> Result<Vec<Version>> {
        let now = self.tally().position;
        let query = RecallQuery {
            moment,
            ..RecallQuery::default()
        };
        let damaged = Cell::new(None);
        let visible = |passage: u64| {
            let ordinal = self.version_of(passage);
            self.shows(ordinal, now, &query).unwrap_or_else(|| {
                damaged.set(Some(ordinal));
                false
            })
        };
        // Near texts are compared as a whole: a further passage has no signature.
        let signature = |passage| match self.tail.passages.version(passage) {
            (ordinal, 0) => self.files.rows.signature(ordinal),
            _ => None,
        };
        let tail = &self.tail.text;
        let near = super::guarded("text", || {
            let home = (topic, scope);
            let found = self
                .files
                .text
                .near(tail, sought, home, least_ppm, &signature, &visible)?;
            found.iter().map(|stored| version_from(stored)).collect()
        })?;
        match damaged.get() {
            Some(ordinal) => Err(rows::damaged(ordinal)),
            None => Ok(most_alike(near, sought, limit)),
        }
    }

    /// Returns `true` if a version held at `position` and passes the query's filters; `None` if its record is damaged.
    fn shows(&self, ordinal: u64, position: Position, query: &RecallQuery<'_>) -> Option<bool> {
        let is_hidden = |facts: &RowFacts, entity: SubjectId, from: Position| {
            let moment = query.moment;
            moment.is_some_and(|moment| moment.hides(facts, entity, from))
        };
        let fits = |facts: &RowFacts, tag: TopicTag, id: SubjectId| {
            query.facts.fits(facts)
                && !query.excluded_topics.contains(&tag)
                && query.excluded_memories.binary_search(&id).is_err()
        };
        if !self.holds(ordinal, position)? {
            return Some(false);
        }
        let at = ordinal.checked_sub(self.files.base.tally.next_ordinal);
        Some(match at {
            None => {
                let row = self.files.rows.get(ordinal)?;
                fits(&row.facts, TopicTag(row.topic), row.entity)
                    && !is_hidden(&row.facts, row.entity, row.from)
            }
            Some(at) => {
                let opened = self.tail.folder.kept.opened.get(at as usize);
                opened
                    .zip(self.opened(at))
                    .is_some_and(|((_, entity, from), version)| {
                        let facts = RowFacts::of(version);
                        fits(&facts, TopicTag::of(version), version.id)
                            && !is_hidden(&facts, *entity, *from)
                    })
            }
        })
    }

    /// Returns `true` if a version held at `position`; `None` if its record is damaged.
    fn holds(&self, ordinal: u64, position: Position) -> Option<bool> {
        let overlay = &self.tail.folder.kept;
        let next = self.files.base.tally.next_ordinal;
        let open = match overlay.closed.get(&ordinal) {
            Some(end) => position < end.at,
            None => true,
        };
        Some(match ordinal.checked_sub(next) {
            None => open && self.files.rows.get(ordinal)?.holds_at(position),
            Some(at) => {
                let opened = overlay.opened.get(at as usize);
                open && opened.is_some_and(|(_, _, from)| *from <= position)
            }
        })
    }

    /// Returns the version of a passage.
    fn version_of(&self, passage: u64) -> u64 {
        self.tail.passages.version(passage).0
    }

    /// Returns the passages that words find, of at most `most` versions among those named: the best ones of each.
    fn promising(
        &self,
        prepared: &Prepared<'_>,
        most: usize,
        among: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Found>> {
        let mut asked = most;
        loop {
            let mut found = prepared.promising_among(asked, among)?;
            let is_all = found.len() < asked;
            let versions = self.keep_of_each(most, &mut found, |found| found.ordinal);
            // A long text may take many places.
            if is_all || versions >= most || asked >= most * ASKED_MORE {
                return Ok(found);
            }
            asked *= ASKED_AGAIN;
        }
    }

    /// Keeps at most [`PASSAGES_OF_ONE`] passages of each of the first `most` versions; returns the number of versions.
    fn keep_of_each<T>(&self, most: usize, found: &mut Vec<T>, passage: fn(&T) -> u64) -> usize {
        let mut taken: FxHashMap<u64, usize> = FxHashMap::default();
        found.retain(|found| {
            let version = self.version_of(passage(found));
            if taken.len() >= most && !taken.contains_key(&version) {
                return false;
            }
            let of_it = taken.entry(version).or_default();
            *of_it += 1;
            *of_it <= PASSAGES_OF_ONE
        });
        taken.len()
    }

    /// Returns the passages nearest in meaning, of at most `most` versions, and how the files were searched.
    fn nearest(
        &self,
        meaning: &Meaning<'_>,
        most: usize,
        allowed: Option<&[u64]>,
        sees: Sees<'_>,
    ) -> Result<(Vec<u64>, Searched)> {
        let tie = |passage| self.tie(self.version_of(passage), sees.leads);
        let mut asked = most;
        loop {
            let (mut near, how) = meaning.nearest(asked, allowed, (sees.visible, &tie))?;
            let is_all = near.len() < asked;
            let room = most * meaning.models();
            let versions = self.keep_of_each(room, &mut near, |passage| *passage);
            if is_all || versions >= most || asked >= most * ASKED_MORE {
                return Ok((near, how));
            }
            asked *= ASKED_AGAIN;
        }
    }

    fn hit(
        &self,
        prepared: &Prepared<'_>,
        ranked: &Ranked,
        answered: &Answered,
    ) -> Result<RecallHit> {
        let (ordinal, nth) = self.tail.passages.version(ranked.found.ordinal);
        let passages = self.tail.passages.of(ordinal);
        // The row is stored with the first passage.
        let first = match nth {
            0 => Some(ranked.found.place),
            _ => {
                let first = prepared.score(&[passages.start])?;
                first.first().map(|found| found.place)
            }
        };
        let first = first.ok_or_else(|| missing(ordinal, "text"))?;
        let version = version_from(&prepared.stored(first)?)?;
        Ok(RecallHit {
            score: ranked.score as f32,
            fit: ranked.fit(answered),
            matched: matched(
                prepared,
                ranked,
                version.content.as_deref().unwrap_or_default(),
            ),
            features: ranked.features,
            cosine: ranked.cosine,
            passage: (passages.end - passages.start > 1).then_some(nth as usize),
            version,
        })
    }

    /// Returns the best results by words and meaning; those with a passage in `last` stand behind all others.
    ///
    /// Passages in `last` take no place of another candidate: the others are searched for a second time, alone.
    fn rank(
        &self,
        query: &RecallQuery<'_>,
        known: f64,
        prepared: &Prepared<'_>,
        meaning: Option<&Meaning<'_>>,
        (sees, last): (Sees<'_>, &[u64]),
        searched: &mut Option<Searched>,
    ) -> Result<Best> {
        let weights = &query.ranking;
        if query.limit == 0 {
            return Ok(Best::default());
        }
        let mut candidates = Candidates::new(self, query, prepared, meaning, sees)?;
        let most = weights.candidates.max(query.limit);
        let is_first = |passage: u64| last.binary_search(&passage).is_err();
        let mut found = Vec::new();
        if weights.finds_by_words() {
            found = self.promising(prepared, most, &|_| true)?;
            if !last.is_empty() {
                let known = passages_of(&found);
                let first = self.promising(prepared, most, &is_first)?;
                found.extend(first.into_iter().filter(|it| !known.contains(&it.ordinal)));
            }
        }
        if let Some(meaning) = meaning {
            // If words bring few candidates, meaning brings more. Up to `candidates` results, the number does not
            // depend on the limit, so that pages of results follow one another.
            let versions = found.iter().map(|found| self.version_of(found.ordinal));
            let versions: FxHashSet<u64> = versions.collect();
            let few = weights.candidates.saturating_sub(versions.len());
            let beyond = query.limit.saturating_sub(weights.candidates);
            let most = weights.nearest.max(few).max(beyond);
            let allowed = candidates.allowed.as_deref();
            let (mut near, how) = self.nearest(meaning, most, allowed, sees)?;
            *searched = Some(how);
            if !last.is_empty() {
                let visible = |passage| is_first(passage) && (sees.visible)(passage);
                let first = Sees {
                    visible: &visible,
                    ..sees
                };
                near.extend(self.nearest(meaning, most, allowed, first)?.0);
            }
            let mut known = passages_of(&found);
            near.retain(|near| known.insert(*near));
            found.extend(prepared.score(&near)?);
        }
        candidates.add(found)?;
        candidates.keep_best_passages();
        if weights.looks_beside() && weights.expand > 0 {
            candidates.add_neighbours()?;
        }
        candidates.best(query.limit, known, &is_first)
    }
}

fn passages_of(found: &[Found]) -> FxHashSet<u64> {
    found.iter().map(|found| found.ordinal).collect()
}

/// Returns the words of the question that a version has, with any ending; without one, the words that its words are
/// like, or that a word of its `content` begins or ends with.
fn matched(prepared: &Prepared<'_>, ranked: &Ranked, content: &str) -> Vec<String> {
    let matched = prepared.matched_words(&ranked.found);
    if !matched.is_empty() {
        return matched;
    }
    let words = prepared.words().into_iter().zip(ranked.likeness.iter());
    let mut lower: Option<String> = None;
    let mut is_part = |word: &str| {
        let lower = lower.get_or_insert_with(|| content.to_lowercase());
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.any(|of| of.starts_with(word) || of.ends_with(word))
    };
    let named = words.filter(|((word, _), alike)| {
        // *checkout* and *checked* share more than *roll* and *rollback*, but say less of one another.
        **alike >= NAMED_LEAST || **alike > 0.0 && is_part(&word.text)
    });
    named.map(|((word, _), _)| word.text.clone()).collect()
}

/// Returns the `limit` versions most like a text if there are more: equal texts first, then by similarity, of equal
/// ones the newer first.
fn most_alike(mut versions: Vec<Version>, sought: &Sought<'_>, limit: usize) -> Vec<Version> {
    if versions.len() > limit {
        versions.sort_by_cached_key(|version| {
            let text = version.content.as_deref().unwrap_or_default();
            let alike = Words::of(text).similarity_ppm(sought.words());
            Reverse((text == sought.text(), alike, version.from))
        });
        versions.truncate(limit);
    }
    versions
}

fn version_from(stored: &[u8]) -> Result<Version> {
    rmp_serde::from_slice(stored).map_err(|_| ViewError::Unusable {
        view: "text",
        why: "an unreadable stored row".into(),
    })
}
