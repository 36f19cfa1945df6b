//! Recall: what words find and what meaning finds, ranked as one.

use std::cell::Cell;

use icm_log::Position;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Views;
use super::meaning::{self, Cosines};
use super::tail::overlay_version;
use crate::error::{Result, ViewError};
use crate::fold::Version;
use crate::ranking::{self, Evidence, Ranking};
use crate::rows::topic_tag;
use crate::text::{Found, Prepared, TextAnswer, TextFilter, TextQuery, has_prose};
use crate::vectors::Searched;

/// How many versions after one its neighbours in the topic are looked for.
const NEIGHBOUR_WINDOW: u64 = 64;
/// Steps within the topic that neighbours lend over.
const NEIGHBOUR_STEPS: u32 = 2;

/// What to look for.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecallQuery<'a> {
    /// Words.
    pub text: &'a str,
    /// Exact topic, or everything below it when it ends with `/`.
    pub topic: Option<&'a str>,
    /// Only memories with this keyword.
    pub keyword: Option<&'a str>,
    /// Only this scope.
    pub scope: Option<&'a str>,
    /// Most results.
    pub limit: usize,
    /// Search only for so many of the rarest terms.
    pub rarest: Option<usize>,
    /// What counts how much.
    pub ranking: Ranking,
}

/// One memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallHit {
    /// Larger is better.
    pub score: f32,
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
    /// For `--explain`; its own hits are empty.
    pub text: TextAnswer,
    /// How the vectors of the files were searched, if they were.
    pub searched: Option<Searched>,
}

impl Views {
    /// Searches the memories that lived at `position`.
    pub fn recall(&self, query: &RecallQuery<'_>, position: Position) -> Result<Recalled> {
        let damaged = Cell::new(None);
        let visible = |ordinal: u64| {
            self.holds(ordinal, position).unwrap_or_else(|| {
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
            rarest: query.rarest,
            history,
            filter: TextFilter {
                topic: query.topic,
                keyword: query.keyword,
                scope: query.scope,
            },
        };
        let mut searched = None;
        let (text, hits) = super::guarded("text", || {
            let (answer, prepared) = self.text.prepare(&self.tail.text, &text_query, &visible)?;
            let ranked = self.rank(query, &prepared, &visible, &mut searched)?;
            let hits = ranked.iter().map(|ranked| hit(&prepared, ranked));
            Ok((answer, hits.collect::<Result<Vec<_>>>()?))
        })?;
        if let Some(ordinal) = damaged.get() {
            let why = format!("the record of ordinal {ordinal} is damaged");
            return Err(ViewError::Unusable { view: "rows", why });
        }
        Ok(Recalled {
            hits,
            text,
            searched,
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
        if ordinal < next {
            let row = self.rows.get(ordinal)?;
            return Some(open && row.holds_at(position));
        }
        let row = overlay.opened.get((ordinal - next) as usize);
        Some(open && row.is_some_and(|(_, _, from)| *from <= position))
    }

    /// The best of what words and meaning find.
    fn rank(
        &self,
        query: &RecallQuery<'_>,
        prepared: &Prepared<'_>,
        visible: &dyn Fn(u64) -> bool,
        searched: &mut Option<Searched>,
    ) -> Result<Vec<Ranked>> {
        let weights = &query.ranking;
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let most = weights.candidates.max(query.limit);
        let mut found = match weights.text > 0.0 {
            true => prepared.best(most)?,
            false => Vec::new(),
        };
        found.truncate(most);
        let mut cosines = None;
        if weights.meaning > 0.0 {
            let asked = self.cosines(query.text)?;
            let allowed = prepared.allowed()?;
            let (near, how) = asked.nearest(most, allowed.as_deref(), visible)?;
            *searched = Some(how);
            let known: FxHashSet<u64> = found.iter().map(|found| found.ordinal).collect();
            let new: Vec<u64> = near
                .into_iter()
                .filter(|near| !known.contains(near))
                .collect();
            found.extend(prepared.score(&new)?);
            cosines = Some(asked);
        }
        // A number, or the name of a file, is near to anything: what it means finds nothing.
        let floor = match weights.text == 0.0 || has_prose(query.text) {
            true => weights.floor,
            false => f32::INFINITY,
        };
        let mut kept = Vec::with_capacity(found.len());
        let mut evidence = Vec::with_capacity(found.len());
        let speakers = prepared.speakers(&found)?;
        for (found, speaker) in found.into_iter().zip(speakers) {
            let mut known = Evidence {
                text: found.scored.score,
                speaker,
                identifier: prepared.has_identifier(&found),
                ..Evidence::default()
            };
            if let Some(cosines) = &cosines {
                (known.cosine, known.meaning) = cosines.of(found.ordinal, weights.centred)?;
            }
            let near_enough = known.cosine.is_some_and(|cosine| cosine >= floor);
            if found.scored.matched != 0 || near_enough {
                kept.push(found);
                evidence.push(known);
            }
        }
        let scores = match weights.meaning > 0.0 {
            false => evidence.iter().map(|evidence| evidence.text).collect(),
            true => {
                let near = match weights.neighbours > 0.0 {
                    true => self.neighbours(&kept, visible),
                    false => Vec::new(),
                };
                ranking::scores(weights, &mut evidence, &near)
            }
        };
        let mut ranked: Vec<Ranked> = kept
            .into_iter()
            .zip(evidence)
            .zip(scores)
            .map(|((found, evidence), score)| Ranked {
                found,
                evidence,
                score,
            })
            .collect();
        ranked.sort_unstable_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score
                .then(b.evidence.text.total_cmp(&a.evidence.text))
                .then(a.found.ordinal.cmp(&b.found.ordinal))
        });
        ranked.truncate(query.limit);
        Ok(ranked)
    }

    fn cosines(&self, text: &str) -> Result<Cosines<'_>> {
        Ok(Cosines::new(
            self.base_vectors()?,
            self.graph.as_ref(),
            self.tail.vectors(),
            &self.mean,
            &meaning::embed_text(text),
        ))
    }

    /// Pairs of candidates that are one or two steps apart among the versions of their topic that are
    /// to be seen.
    fn neighbours(
        &self,
        found: &[Found],
        visible: &dyn Fn(u64) -> bool,
    ) -> Vec<(usize, usize, u32)> {
        let places: FxHashMap<u64, usize> = found
            .iter()
            .enumerate()
            .map(|(at, found)| (found.ordinal, at))
            .collect();
        let end = self.tail.folder.tally.next_ordinal;
        let mut near = Vec::new();
        for (at, found) in found.iter().enumerate() {
            let tag = self.topic_tag(found.ordinal);
            let mut steps = 0;
            for other in found.ordinal + 1..end.min(found.ordinal + 1 + NEIGHBOUR_WINDOW) {
                if self.topic_tag(other) != tag || !visible(other) {
                    continue;
                }
                steps += 1;
                if let Some(place) = places.get(&other) {
                    near.push((at, *place, steps));
                }
                if steps == NEIGHBOUR_STEPS {
                    break;
                }
            }
        }
        near
    }

    /// What stands for the topic of a version.
    fn topic_tag(&self, ordinal: u64) -> u32 {
        let next = self.base.tally.next_ordinal;
        let Some(at) = ordinal.checked_sub(next) else {
            return self.rows.tag(ordinal);
        };
        let overlay = &self.tail.folder.kept;
        let opened = overlay.opened.get(at as usize);
        let version = opened.and_then(|(_, entity, from)| overlay_version(overlay, *entity, *from));
        topic_tag(version.and_then(|version| version.topic.as_deref()))
    }
}

/// A candidate in its place.
struct Ranked {
    found: Found,
    evidence: Evidence,
    score: f64,
}

fn hit(prepared: &Prepared<'_>, ranked: &Ranked) -> Result<RecallHit> {
    let stored = prepared.stored(ranked.found.place)?;
    let version = rmp_serde::from_slice(&stored).map_err(|_| ViewError::Unusable {
        view: "text",
        why: "an unreadable stored row".into(),
    })?;
    Ok(RecallHit {
        score: ranked.score as f32,
        matched: prepared.matched_words(&ranked.found),
        evidence: ranked.evidence,
        version,
    })
}
