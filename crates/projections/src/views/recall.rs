//! Recall: what words find and what meaning finds, ranked as one.

use std::cell::Cell;
use std::cmp::Reverse;

use icm_log::Position;
use rustc_hash::FxHashSet;

use super::Views;
use super::candidates::{Candidates, Ranked};
use super::embedded::{Embedded, ModelId};
use super::meaning::{self, Cosines};
use super::tail::overlay_version;
use crate::error::{Result, ViewError};
use crate::fold::Version;
use crate::ranking::{Asked, Evidence, Ranking, known_share};
use crate::rows::{FactFilter, Facts, topic_tag};
use crate::text::{InScope, Prepared, Sought, TextAnswer, TextFilter, TextQuery, Words};
use crate::vectors::Searched;

/// What to look for.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecallQuery<'a> {
    /// Words.
    pub text: &'a str,
    /// Exact topic, or everything below it when it ends with `/`.
    pub topic: Option<&'a str>,
    /// Only memories with this keyword.
    pub keyword: Option<&'a str>,
    /// Only these scopes; where none is named, any.
    pub scopes: &'a [InScope<'a>],
    /// Which scopes are one's own.
    pub own: &'a [InScope<'a>],
    /// Which are those of a session's parents and children.
    pub kin: &'a [InScope<'a>],
    /// Only memories (or concepts) with such facts.
    pub facts: FactFilter,
    /// None of these topics, by their tags.
    pub without: &'a [TopicTag],
    /// Most results.
    pub limit: usize,
    /// Least [`RecallHit::fit`] of a result, 0 to 1; with 0 everything is shown.
    pub floor: f64,
    /// What counts how much.
    pub ranking: Ranking,
    /// Meaning by another model than the built-in one.
    pub model: Option<AskedModel<'a>>,
}

/// What stands for a topic among the rows; see [`Row::topic`](crate::Row::topic).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicTag(u32);

impl TopicTag {
    /// Of the topic (or memoir) of a version.
    pub fn of(version: &Version) -> TopicTag {
        TopicTag(topic_tag(version.topic.as_deref()))
    }
}

/// What is asked of a model that is not built in.
#[derive(Debug, Clone, Copy)]
pub struct AskedModel<'a> {
    /// The model.
    pub id: ModelId<'a>,
    /// Its vector of the query.
    pub query: &'a [f32],
}

/// How a model that is not built in was asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskedHow {
    /// How far it is.
    pub embedded: Embedded,
    /// The cosine from which on it finds, in the place of [`Ranking::floor`].
    pub floor: f32,
}

/// One memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// Larger is better.
    pub score: f32,
    /// How sure it is that this answers the query, 0 to 1, whatever else was found.
    pub fit: f64,
    /// The words of the query that matched.
    pub matched: Vec<String>,
    /// What the score is of.
    pub evidence: Evidence,
    /// The row as of the basis.
    pub version: Version,
}

/// What was found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Best first; of equal scores the one whose words match better, then the older one.
    pub hits: Vec<RecallHit>,
    /// The best of what was found, where all of it lies below the floor.
    pub nearest: Option<RecallHit>,
    /// For `--explain`; its own hits are empty.
    pub text: TextAnswer,
    /// How the model was asked; `None` where it was the built-in one.
    pub asked: Option<AskedHow>,
    /// How the vectors of the files were searched, if they were.
    pub searched: Option<Searched>,
    /// How much the built-in model's meaning counts, 0 to 1, by how well it knows the words of the query; `None` if
    /// its meaning was not asked for.
    pub known: Option<f64>,
}

impl Views {
    /// Searches the memories that lived at `position`.
    pub fn recall(&self, query: &RecallQuery<'_>, position: Position) -> Result<Recalled> {
        let damaged = Cell::new(None);
        let visible = |ordinal: u64| {
            self.shows(ordinal, position, query).unwrap_or_else(|| {
                damaged.set(Some(ordinal));
                false
            })
        };
        let history = position < self.base.cursor.position;
        if history {
            self.check_history()?;
        }
        let text_query = TextQuery {
            text: query.text,
            limit: query.limit,
            history,
            filter: TextFilter {
                topic: query.topic,
                keyword: query.keyword,
                scopes: query.scopes,
            },
        };
        let mut searched = None;
        let known = (query.ranking.meaning > 0.0).then(|| known(query));
        let (text, hits, asked) = super::guarded("text", || {
            let (answer, prepared) = self.text.prepare(&self.tail.text, &text_query, &visible)?;
            let meaning = match known {
                // Nothing is found or ranked by a meaning that does not count.
                Some(known) if known > 0.0 || query.model.is_some() => {
                    Some(self.meaning(query, known)?)
                }
                _ => None,
            };
            let asked = Asked {
                possible: possible(&answer),
                meaning: match query.model {
                    Some(_) => 1.0,
                    None => known.unwrap_or(0.0),
                },
                stand_in: known.unwrap_or(0.0),
            };
            let ranked = self.rank(
                query,
                asked,
                &prepared,
                meaning.as_ref(),
                &visible,
                &mut searched,
            )?;
            let hits = ranked.iter().map(|ranked| hit(&prepared, ranked));
            let asked = meaning.and_then(|meaning| meaning.how);
            Ok((answer, hits.collect::<Result<Vec<_>>>()?, asked))
        })?;
        if let Some(ordinal) = damaged.get() {
            return Err(damaged_row(ordinal));
        }
        let (mut hits, mut nearest) = (hits, None);
        if hits.first().is_some_and(|best| best.fit < query.floor) {
            nearest = hits.drain(..).next();
        }
        Ok(Recalled {
            hits,
            nearest,
            text,
            asked,
            searched,
            known,
        })
    }

    /// At most `limit` versions of a topic and scope that hold now and may be as alike to a text as `least_ppm`: where there are
    /// more, those that are most like it.
    ///
    /// # Errors
    /// As [`Views::recall`].
    pub fn near(
        &self,
        sought: &Sought<'_>,
        (topic, scope): (&str, &str),
        (limit, least_ppm): (usize, u32),
    ) -> Result<Vec<Version>> {
        let (query, now) = (RecallQuery::default(), self.tally().position);
        let damaged = Cell::new(None);
        let visible = |ordinal: u64| {
            self.shows(ordinal, now, &query).unwrap_or_else(|| {
                damaged.set(Some(ordinal));
                false
            })
        };
        let tail = &self.tail.text;
        let near = super::guarded("text", || {
            let home = (topic, scope);
            let found = self.text.near(tail, sought, home, least_ppm, &visible)?;
            found.iter().map(|stored| version_of(stored)).collect()
        })?;
        match damaged.get() {
            Some(ordinal) => Err(damaged_row(ordinal)),
            None => Ok(most_alike(near, sought, limit)),
        }
    }

    /// Whether a version held at `position` and is one that may be shown; `None` where its record is
    /// damaged.
    fn shows(&self, ordinal: u64, position: Position, query: &RecallQuery<'_>) -> Option<bool> {
        let fits =
            |facts: &Facts, tag: TopicTag| query.facts.fits(facts) && !query.without.contains(&tag);
        let overlay = &self.tail.folder.kept;
        let next = self.base.tally.next_ordinal;
        let open = match overlay.closed.get(&ordinal) {
            Some(end) => position < end.at,
            None => true,
        };
        if ordinal < next {
            let row = self.rows.get(ordinal)?;
            return Some(open && row.holds_at(position) && fits(&row.facts, TopicTag(row.topic)));
        }
        let Some((_, entity, from)) = overlay.opened.get((ordinal - next) as usize) else {
            return Some(false);
        };
        let shown = |version| fits(&Facts::of(version), TopicTag::of(version));
        let shown = || overlay_version(overlay, *entity, *from).is_some_and(shown);
        Some(open && *from <= position && shown())
    }

    /// The best of what words and meaning find.
    fn rank(
        &self,
        query: &RecallQuery<'_>,
        asked: Asked,
        prepared: &Prepared<'_>,
        meaning: Option<&Meaning<'_>>,
        visible: &dyn Fn(u64) -> bool,
        searched: &mut Option<Searched>,
    ) -> Result<Vec<Ranked>> {
        let weights = &query.ranking;
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let most = weights.candidates.max(query.limit);
        let mut candidates = Candidates {
            views: self,
            query,
            prepared,
            meaning,
            visible,
            asked,
            allowed: prepared.allowed()?,
            found: Vec::new(),
            evidence: Vec::new(),
        };
        let mut found = match weights.text > 0.0 {
            true => prepared.promising(most)?,
            false => Vec::new(),
        };
        found.truncate(most);
        if let Some(meaning) = meaning {
            let (near, how) = meaning.nearest(most, candidates.allowed.as_deref(), visible)?;
            *searched = Some(how);
            let known: FxHashSet<u64> = found.iter().map(|found| found.ordinal).collect();
            let new = near.into_iter().filter(|near| !known.contains(near));
            found.extend(prepared.score(&new.collect::<Vec<_>>())?);
        }
        candidates.add(found)?;
        if weights.neighbours > 0.0 && weights.expand > 0 {
            candidates.add_neighbours()?;
        }
        Ok(candidates.best(query.limit))
    }

    /// What the query means, by the model that is asked for, and by the built-in one for what that has
    /// no vectors of.
    fn meaning(&self, query: &RecallQuery<'_>, known: f64) -> Result<Meaning<'_>> {
        let built_in = || -> Result<Cosines<'_>> {
            Ok(Cosines::new(
                self.base_vectors()?.clone(),
                self.graph.as_ref(),
                self.tail.vectors(),
                &self.mean,
                &meaning::embed_text(query.text),
            ))
        };
        let Some(asked) = &query.model else {
            return Ok(Meaning {
                main: built_in()?,
                how: None,
                stand_in: None,
            });
        };
        self.take_over(asked.id);
        let floor = self.model_floor(asked.id, query.ranking.floor)?;
        let (main, embedded) = self.model_cosines(asked.id, asked.query);
        let stand_in = match embedded.done < embedded.of && known > 0.0 {
            true => Some(built_in()?),
            false => None,
        };
        Ok(Meaning {
            main,
            how: Some(AskedHow { embedded, floor }),
            stand_in,
        })
    }
}

/// Returns how much the built-in model's meaning of a query counts, 0 to 1. Where meaning is all that ranks, it counts
/// in full.
fn known(query: &RecallQuery<'_>) -> f64 {
    match query.ranking.text > 0.0 {
        true => meaning::embedder()
            .pieces_per_word(query.text)
            .map_or(0.0, known_share),
        false => 1.0,
    }
}

/// About the BM25 of a text of average length that has every word that is looked for once.
fn possible(answer: &TextAnswer) -> f64 {
    let rarity = |freq: u64| {
        let (all, freq) = (answer.stats_docs as f64, freq as f64);
        (1.0 + (all - freq.min(all) + 0.5) / (freq.min(all) + 0.5)).ln()
    };
    let terms = answer.terms.iter();
    terms
        .map(|term| f64::from(term.boost) * rarity(term.doc_freq))
        .sum()
}

/// A query by its meaning.
pub(super) struct Meaning<'a> {
    main: Cosines<'a>,
    /// Of a model that is not built in.
    how: Option<AskedHow>,
    /// The built-in model, where the one that is asked has no vectors of some versions.
    stand_in: Option<Cosines<'a>>,
}

impl Meaning<'_> {
    /// Whether the model that is asked has a vector of a version.
    fn covers(&self, ordinal: u64) -> bool {
        (self.how).is_none_or(|how| ordinal < how.embedded.done)
    }

    /// The `most` visible versions that are nearest, of those listed if there is a list; as many again of
    /// those that only the stand-in knows; and how the files were searched.
    fn nearest(
        &self,
        most: usize,
        listed: Option<&[u64]>,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<(Vec<u64>, Searched)> {
        let (mut near, searched) = self.main.nearest(most, listed, visible)?;
        if let Some(stand_in) = &self.stand_in {
            let uncovered = |ordinal| !self.covers(ordinal) && visible(ordinal);
            near.extend(stand_in.nearest(most, listed, &uncovered)?.0);
        }
        Ok((near, searched))
    }

    /// Fills in what meaning says of a version, and whether it is near enough to be found by it alone.
    pub(super) fn of(&self, ordinal: u64, weights: &Ranking, known: &mut Evidence) -> Result<bool> {
        let mut floor = weights.floor;
        if let Some(stand_in) = &self.stand_in {
            (known.cosine, known.stand_in) = stand_in.of(ordinal, weights.centred)?;
        }
        if self.covers(ordinal) {
            (known.cosine, known.meaning) = self.main.of(ordinal, weights.centred)?;
            floor = self.how.map_or(floor, |how| how.floor);
        }
        Ok(known.cosine.is_some_and(|cosine| cosine >= floor))
    }
}

fn hit(prepared: &Prepared<'_>, ranked: &Ranked) -> Result<RecallHit> {
    let version = version_of(&prepared.stored(ranked.found.place)?)?;
    Ok(RecallHit {
        score: ranked.score as f32,
        fit: ranked.score.clamp(0.0, 1.0),
        matched: prepared.matched_words(&ranked.found),
        evidence: ranked.evidence,
        version,
    })
}

/// Of more than `limit` those that are most like a text, the most alike first, and before all who say the same; of equal ones
/// the newer.
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

fn version_of(stored: &[u8]) -> Result<Version> {
    rmp_serde::from_slice(stored).map_err(|_| ViewError::Unusable {
        view: "text",
        why: "an unreadable stored row".into(),
    })
}

fn damaged_row(ordinal: u64) -> ViewError {
    ViewError::Unusable {
        view: "rows",
        why: format!("the record of ordinal {ordinal} is damaged"),
    }
}
