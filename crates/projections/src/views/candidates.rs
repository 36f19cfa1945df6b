//! What may be an answer: what words and meaning find, and what stands next to the best of that in its topic.

use std::cmp::Ordering;

use rustc_hash::FxHashSet;

use super::Views;
use super::recall::{Meaning, RecallQuery};
use crate::error::Result;
use crate::ranking::{self, Asked, Evidence, Nearness};
use crate::rows::{Facts, topic_tag};
use crate::text::{Found, InScope, Prepared, has_prose};

/// How many versions before and after one its neighbours in the topic are looked for.
const NEIGHBOUR_WINDOW: u64 = 64;
/// The scope that is nobody's own.
const GLOBAL: &str = "global";
/// Steps within the topic that neighbours lend over.
const NEIGHBOUR_STEPS: u32 = 2;

/// The candidates so far.
pub(super) struct Candidates<'a> {
    pub(super) views: &'a Views,
    pub(super) query: &'a RecallQuery<'a>,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) meaning: Option<&'a Meaning<'a>>,
    pub(super) visible: &'a dyn Fn(u64) -> bool,
    pub(super) asked: Asked,
    /// The only versions that may be candidates, ascending; `None` where all may.
    pub(super) allowed: Option<Vec<u64>>,
    pub(super) found: Vec<Found>,
    pub(super) evidence: Vec<Evidence>,
}

/// A candidate in its place.
pub(super) struct Ranked {
    pub(super) found: Found,
    pub(super) evidence: Evidence,
    pub(super) score: f64,
}

impl<'a> Candidates<'a> {
    /// Looks at these, and keeps those that have a word of the query or are near enough to it.
    pub(super) fn add(&mut self, found: Vec<Found>) -> Result<()> {
        let weights = &self.query.ranking;
        // A number, or the name of a file, is near to anything: what it means finds nothing.
        let finds_by_meaning = weights.text == 0.0 || has_prose(self.query.text);
        let speakers = self.prepared.speakers(&found)?;
        let scopes = self.scopes_of(&found)?;
        for ((found, speaker), scope) in found.into_iter().zip(speakers).zip(scopes) {
            let mut known = Evidence {
                scope,
                text: found.scored.score,
                speaker,
                identifier: self.prepared.has_identifier(&found),
                ..Evidence::default()
            };
            (known.importance, known.time_ms) = self.views.facts(found.ordinal);
            let mut near_enough = false;
            if let Some(meaning) = self.meaning {
                near_enough = meaning.of(found.ordinal, weights, &mut known)? && finds_by_meaning;
            }
            if found.scored.matched != 0 || near_enough {
                self.found.push(found);
                self.evidence.push(known);
            }
        }
        Ok(())
    }

    /// How near the scope of each is.
    fn scopes_of(&self, found: &[Found]) -> Result<Vec<Nearness>> {
        let query = self.query;
        let mut near = vec![Nearness::Common; found.len()];
        if query.ranking.scope == 0.0 {
            return Ok(near);
        }
        let own = self.prepared.of_scopes(query.own, found)?;
        let kin = self.prepared.of_scopes(query.kin, found)?;
        // What may be found without being asked for by its scope is anybody's.
        let known = match query.scopes.is_empty() {
            true => Some(self.prepared.of_scopes(&[InScope::Is(GLOBAL)], found)?),
            false => None,
        };
        for (at, near) in near.iter_mut().enumerate() {
            if own[at] {
                *near = Nearness::Own;
            } else if kin[at] {
                *near = Nearness::Kin;
            } else if known.as_ref().is_some_and(|global| !global[at]) {
                *near = Nearness::Elsewhere;
            }
        }
        Ok(near)
    }

    /// Gives what stands next to the best of them a chance: its share of what they lend may be more than its own.
    pub(super) fn add_neighbours(&mut self) -> Result<()> {
        let scores = self.scores();
        let mut best: Vec<usize> = (0..self.found.len()).collect();
        best.sort_unstable_by(|a, b| self.order((scores[*a], *a), (scores[*b], *b)));
        best.truncate(self.query.ranking.expand);
        let mut known: FxHashSet<u64> = self.found.iter().map(|found| found.ordinal).collect();
        let mut new = Vec::new();
        for at in best {
            let near = self.beside(self.found[at].ordinal);
            new.extend(near.into_iter().filter(|ordinal| known.insert(*ordinal)));
        }
        self.add(self.prepared.score(&new)?)
    }

    /// The versions to be seen that stand next to one in its topic.
    fn beside(&self, ordinal: u64) -> Vec<u64> {
        let tag = self.views.topic_tag(ordinal);
        let end = self.views.tail.folder.tally.next_ordinal;
        let after = ordinal + 1..end.min(ordinal + 1 + NEIGHBOUR_WINDOW);
        let before = ordinal.saturating_sub(NEIGHBOUR_WINDOW)..ordinal;
        let fits = |other: &u64| self.is_step(tag, *other);
        let steps = NEIGHBOUR_STEPS as usize;
        let before = before.rev().filter(fits).take(steps);
        before.chain(after.filter(fits).take(steps)).collect()
    }

    /// Whether a version counts as a step within a topic: what the query leaves out is not there.
    fn is_step(&self, tag: u32, ordinal: u64) -> bool {
        let listed = |allowed: &Vec<u64>| allowed.binary_search(&ordinal).is_ok();
        self.views.topic_tag(ordinal) == tag
            && (self.visible)(ordinal)
            && self.allowed.as_ref().is_none_or(listed)
    }

    /// What each comes to.
    fn scores(&mut self) -> Vec<f64> {
        let weights = &self.query.ranking;
        let near = match weights.neighbours > 0.0 {
            true => self.pairs(),
            false => Vec::new(),
        };
        ranking::scores(weights, &self.asked, &mut self.evidence, &near)
    }

    /// Pairs of candidates that are one or two steps apart among the versions of their topic that are to be seen.
    fn pairs(&self) -> Vec<(usize, usize, u32)> {
        let place =
            |(at, found): (usize, &Found)| (self.views.topic_tag(found.ordinal), found.ordinal, at);
        let mut places: Vec<_> = self.found.iter().enumerate().map(place).collect();
        places.sort_unstable();
        let mut near = Vec::new();
        for (from, &(tag, ordinal, at)) in places.iter().enumerate() {
            // A candidate is a step itself, so no more of them can be near enough.
            let others = places[from + 1..].iter().take(NEIGHBOUR_STEPS as usize);
            let (mut seen, mut steps) = (ordinal, 0);
            for &(_, other, other_at) in others.take_while(|(other_tag, other, _)| {
                *other_tag == tag && other - ordinal <= NEIGHBOUR_WINDOW
            }) {
                let between = seen + 1..other;
                steps += 1 + between.filter(|other| self.is_step(tag, *other)).count() as u32;
                if steps > NEIGHBOUR_STEPS {
                    break;
                }
                near.push((at, other_at, steps));
                seen = other;
            }
        }
        near
    }

    /// The better one first.
    fn order(&self, a: (f64, usize), b: (f64, usize)) -> Ordering {
        let by_score = b.0.total_cmp(&a.0);
        let (a, b) = (a.1, b.1);
        by_score
            .then(self.evidence[b].text.total_cmp(&self.evidence[a].text))
            .then(self.found[a].ordinal.cmp(&self.found[b].ordinal))
    }

    /// The best `most`.
    pub(super) fn best(mut self, most: usize) -> Vec<Ranked> {
        let scores = self.scores();
        let mut best: Vec<usize> = (0..self.found.len()).collect();
        best.sort_unstable_by(|a, b| self.order((scores[*a], *a), (scores[*b], *b)));
        best.truncate(most);
        let ranked = best.into_iter().map(|at| Ranked {
            found: self.found[at],
            evidence: self.evidence[at],
            score: scores[at],
        });
        ranked.collect()
    }
}

impl Views {
    /// How important a version is, and its time; 0 where that is not known.
    fn facts(&self, ordinal: u64) -> (u8, i64) {
        let next = self.base.tally.next_ordinal;
        let facts = match ordinal.checked_sub(next) {
            None => self.rows.get(ordinal).map(|row| row.facts),
            Some(at) => self.opened(at).map(Facts::of),
        };
        facts.map_or((0, 0), |facts| (facts.importance.code(), facts.time_ms))
    }

    /// What stands for the topic of a version.
    fn topic_tag(&self, ordinal: u64) -> u32 {
        let next = self.base.tally.next_ordinal;
        let Some(at) = ordinal.checked_sub(next) else {
            return self.rows.tag(ordinal);
        };
        topic_tag(self.opened(at).and_then(|version| version.topic.as_deref()))
    }
}
