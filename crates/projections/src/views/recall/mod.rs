//! Recall: what words find and what meaning finds, ranked as one.

use std::cell::Cell;
use std::cmp::Reverse;

use icm_log::Position;
use rustc_hash::FxHashSet;

use super::Views;
use super::candidates::{Best, Candidates, Near, Ranked, Sees};
use super::embedded::{CosineScale, Embedded, ModelId};
use super::meaning::{self, Cosines};
use crate::error::{Result, ViewError};
use crate::fold::Version;
use crate::ranking::{Answered, Features, Ranking, known_share};
use crate::rows::{FactFilter, Facts, topic_tag};
use icm_text::{
    InScope, Prepared, Sight, Sought, TextAnswer, TextFilter, TextQuery, Words, has_prose,
};
use icm_vectors::Searched;

/// A question, and how it is answered.
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
    /// The caller's own scopes.
    pub own: &'a [InScope<'a>],
    /// The scopes of a session's parents and children.
    pub kin: &'a [InScope<'a>],
    /// Only memories (or concepts) with such facts.
    pub facts: FactFilter,
    /// None of these topics, by their tags.
    pub without: &'a [TopicTag],
    /// Most results.
    pub limit: usize,
    /// The least [`RecallHit::fit`] of a result, 0 to 1; with 0 everything is shown.
    pub floor: f64,
    /// The weights.
    pub ranking: Ranking,
    /// Meaning by another model than the built-in one.
    pub model: Option<AskedModel<'a>>,
}

/// The tag of a topic among the rows; see [`Row::topic`](crate::Row::topic).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopicTag(u32);

impl TopicTag {
    /// Of the topic (or memoir) of a version.
    pub fn of(version: &Version) -> TopicTag {
        TopicTag(topic_tag(version.topic.as_deref()))
    }
}

/// A question's vector by a model that is not built in.
#[derive(Debug, Clone, Copy)]
pub struct AskedModel<'a> {
    /// The model.
    pub id: ModelId<'a>,
    /// Its vector of the query.
    pub query: &'a [f32],
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
    /// The features that the score is the sum of.
    pub features: Features,
    /// The cosine with the query; `None` where there was none to look at.
    pub cosine: Option<f32>,
    /// The row as of the basis.
    pub version: Version,
}

/// The results, and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// Best first; of equal scores the one whose words match better, then the one with the smaller id.
    pub hits: Vec<RecallHit>,
    /// The best of what was found, where all of it lies below the floor.
    pub nearest: Option<RecallHit>,
    /// For `--explain`; its own hits are empty.
    pub text: TextAnswer,
    /// How far the model is that was asked; `None` where it was the built-in one.
    pub asked: Option<Embedded>,
    /// How the vectors of the files were searched, if they were.
    pub searched: Option<Searched>,
    /// How much the built-in model's meaning counts, 0 to 1, by how well it knows the words of the query.
    pub known: f64,
    /// The evidence that the fit of all results is of.
    pub answered: Answered,
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
        let held = |ordinal: u64| self.holds(ordinal, position).unwrap_or(false);
        let leads = self.lead_ids()?;
        let sees = Sees {
            held: &held,
            visible: &visible,
            history,
            leads: &leads,
        };
        let mut searched = None;
        // A number, or the name of a file, is near to anything: what it means finds nothing.
        let by_words = query.ranking.finds_by_words();
        let means = query.ranking.meaning > 0.0 && (!by_words || has_prose(query.text));
        let known = known(query);
        let (text, ranked, asked) = super::guarded("text", || {
            let sight = Sight {
                visible: &visible,
                tie: &|ordinal| self.tie(ordinal, &leads),
            };
            let (answer, prepared) = self.text.prepare(&self.tail.text, &text_query, sight)?;
            // Nothing is found or ranked by a meaning that does not count.
            let meaning = match means && (known > 0.0 || query.model.is_some()) {
                true => Some(self.meaning(query, known)?),
                false => None,
            };
            let best = self.rank(
                query,
                known,
                &prepared,
                meaning.as_ref(),
                sees,
                &mut searched,
            )?;
            let hit = |ranked: &Ranked| hit(&prepared, ranked, &best.answered);
            let hits = best.ranked.iter().map(hit).collect::<Result<Vec<_>>>()?;
            let nearest = best.nearest.as_ref().map(hit).transpose()?;
            let ranked = (hits, nearest, best.answered);
            Ok((answer, ranked, meaning.and_then(|it| it.embedded)))
        })?;
        if let Some(ordinal) = damaged.get() {
            return Err(damaged_row(ordinal));
        }
        let (hits, nearest, answered) = ranked;
        Ok(Recalled {
            hits,
            nearest,
            text,
            asked,
            searched,
            known,
            answered,
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
        if !self.holds(ordinal, position)? {
            return Some(false);
        }
        let at = ordinal.checked_sub(self.base.tally.next_ordinal);
        Some(match at {
            None => {
                let row = self.rows.get(ordinal)?;
                fits(&row.facts, TopicTag(row.topic))
            }
            Some(at) => self
                .opened(at)
                .is_some_and(|version| fits(&Facts::of(version), TopicTag::of(version))),
        })
    }

    /// Whether a version held at `position`; `None` where its record is damaged.
    fn holds(&self, ordinal: u64, position: Position) -> Option<bool> {
        let overlay = &self.tail.folder.kept;
        let next = self.base.tally.next_ordinal;
        let open = match overlay.closed.get(&ordinal) {
            Some(end) => position < end.at,
            None => true,
        };
        Some(match ordinal.checked_sub(next) {
            None => open && self.rows.get(ordinal)?.holds_at(position),
            Some(at) => {
                let opened = overlay.opened.get(at as usize);
                open && opened.is_some_and(|(_, _, from)| *from <= position)
            }
        })
    }

    /// The best of what words and meaning find.
    fn rank(
        &self,
        query: &RecallQuery<'_>,
        known: f64,
        prepared: &Prepared<'_>,
        meaning: Option<&Meaning<'_>>,
        sees: Sees<'_>,
        searched: &mut Option<Searched>,
    ) -> Result<Best> {
        let weights = &query.ranking;
        if query.limit == 0 {
            return Ok(Best::default());
        }
        let mut candidates = Candidates::new(self, query, prepared, meaning, sees)?;
        let most = weights.candidates.max(query.limit);
        let mut found = match weights.finds_by_words() {
            true => prepared.promising(most)?,
            false => Vec::new(),
        };
        found.truncate(most);
        if let Some(meaning) = meaning {
            // If words bring few, meaning brings more. Up to `candidates` results it is the same however many are asked for, so
            // that one page follows on another.
            let few = weights.candidates.saturating_sub(found.len());
            let beyond = query.limit.saturating_sub(weights.candidates);
            let most = weights.nearest.max(few).max(beyond);
            let tie = |ordinal| self.tie(ordinal, sees.leads);
            let (near, how) =
                meaning.nearest(most, candidates.allowed.as_deref(), (sees.visible, &tie))?;
            *searched = Some(how);
            let known: FxHashSet<u64> = found.iter().map(|found| found.ordinal).collect();
            let new = near.into_iter().filter(|near| !known.contains(near));
            found.extend(prepared.score(&new.collect::<Vec<_>>())?);
        }
        candidates.add(found)?;
        if weights.looks_beside() && weights.expand > 0 {
            candidates.add_neighbours()?;
        }
        candidates.best(query.limit, known)
    }

    /// The meaning of the query by the model that is asked for, and by the built-in one for what that has
    /// no vectors of.
    fn meaning(&self, query: &RecallQuery<'_>, known: f64) -> Result<Meaning<'_>> {
        let built_in = || -> Result<Cosines<'_>> {
            Ok(Cosines::new(
                self.base_vectors()?.clone(),
                self.graph.as_ref(),
                self.tail.vectors(),
                meaning::centre(),
                &meaning::embed_text(query.text),
            ))
        };
        let Some(asked) = &query.model else {
            return Ok(Meaning {
                main: built_in()?,
                known,
                embedded: None,
                scale: None,
                stand_in: None,
            });
        };
        self.take_over(asked.id);
        let scale = self.model_scale(asked.id);
        let (main, embedded) = self.model_cosines(asked.id, asked.query);
        let stand_in = match embedded.done < embedded.of && known > 0.0 {
            true => Some(built_in()?),
            false => None,
        };
        Ok(Meaning {
            main,
            known,
            embedded: Some(embedded),
            scale: Some(scale),
            stand_in,
        })
    }
}

/// Returns how much the built-in model's meaning of a query counts, 0 to 1. Where meaning is all that ranks, it counts
/// in full.
fn known(query: &RecallQuery<'_>) -> f64 {
    match query.ranking.finds_by_words() {
        true => meaning::embedder()
            .pieces_per_word(query.text)
            .map_or(0.0, known_share),
        false => 1.0,
    }
}

/// A query by its meaning.
pub(super) struct Meaning<'a> {
    main: Cosines<'a>,
    /// How well the built-in model knows the words of the query, 0 to 1.
    known: f64,
    /// How far a model is that is not built in.
    embedded: Option<Embedded>,
    /// The scale of its cosines.
    scale: Option<CosineScale>,
    /// The built-in model, where the one that is asked has no vectors of some versions.
    stand_in: Option<Cosines<'a>>,
}

impl Meaning<'_> {
    /// Whether the model that is asked has a vector of a version.
    fn covers(&self, ordinal: u64) -> bool {
        (self.embedded).is_none_or(|embedded| ordinal < embedded.done)
    }

    /// How much of the model's meaning counts, and of that of the one that stands in for it; 0 to 1.
    pub(super) fn known(&self) -> [f64; 2] {
        let main = if self.embedded.is_some() {
            1.0
        } else {
            self.known
        };
        [main, self.known]
    }

    /// The `most` visible versions that are nearest, of those listed if there is a list; as many again of
    /// those that only the stand-in knows; and how the files were searched.
    fn nearest(
        &self,
        most: usize,
        listed: Option<&[u64]>,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<(Vec<u64>, Searched)> {
        let (mut near, searched) = self.main.nearest(most, listed, (visible, tie))?;
        if let Some(stand_in) = &self.stand_in {
            let uncovered = |ordinal| !self.covers(ordinal) && visible(ordinal);
            near.extend(stand_in.nearest(most, listed, (&uncovered, tie))?.0);
        }
        Ok((near, searched))
    }

    /// How near a version is in meaning.
    pub(super) fn of(&self, ordinal: u64) -> Result<Near> {
        let mut near = Near::default();
        if let Some(stand_in) = &self.stand_in {
            (near.cosine, near.stand_in) = stand_in.of(ordinal)?;
            near.fit = self.known * near.stand_in.unwrap_or(0.0);
        }
        if self.covers(ordinal) {
            (near.cosine, near.meaning) = self.main.of(ordinal)?;
            let cosine = near.meaning.unwrap_or(0.0);
            near.fit = match &self.scale {
                None => self.known * cosine,
                Some(scale) => scale.share(cosine),
            };
        }
        Ok(near)
    }
}

fn hit(prepared: &Prepared<'_>, ranked: &Ranked, answered: &Answered) -> Result<RecallHit> {
    let version = version_of(&prepared.stored(ranked.found.place)?)?;
    Ok(RecallHit {
        score: ranked.score as f32,
        fit: ranked.fit(answered),
        matched: matched(prepared, ranked),
        features: ranked.features,
        cosine: ranked.cosine,
        version,
    })
}

/// The words of the question that a version has, whatever their endings; where it has none, those that its words are like.
fn matched(prepared: &Prepared<'_>, ranked: &Ranked) -> Vec<String> {
    let matched = prepared.matched_words(&ranked.found);
    if !matched.is_empty() {
        return matched;
    }
    let words = prepared.words().into_iter().zip(ranked.likeness.iter());
    let alike = words.filter(|(_, alike)| **alike > 0.0);
    alike.map(|((word, _), _)| word.text.clone()).collect()
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

pub(super) fn damaged_row(ordinal: u64) -> ViewError {
    ViewError::Unusable {
        view: "rows",
        why: format!("the record of ordinal {ordinal} is damaged"),
    }
}
