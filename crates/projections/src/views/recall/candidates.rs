//! Gathers the candidates of a recall: found by words, by meaning, and as neighbours of the best ones in their topics.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::query::RecallQuery;
use super::similarity::{Meaning, Similarity};
use crate::error::Result;
use crate::forward::{self, Entry};
use crate::ranking::{self, Answered, Features, Nearness, Span, length_share};
use crate::rows::{RowFacts, topic_tag};
use crate::views::Views;
use crate::views::steps::{LeadIds, Order, Step};
use icm_text::{Coverage, Found, InScope, Likeness, Prepared, STEM_ALIKE, Traits};

/// The scope that belongs to no project and no session.
const GLOBAL: &str = "global";
/// Steps in the topic whose memories become candidates and count for [`Features::neighbours`]: 2. A larger value adds
/// candidates that are less related.
const NEIGHBOUR_STEPS: usize = 2;
/// Steps on either side of a candidate that belong to its window: 3. A larger value adds words that are less related.
const WINDOW_STEPS: usize = 3;
/// Versions of a topic that are walked for those steps: 64, because a filter may leave few of them. A larger value
/// costs time.
const WALK_MAX: usize = 64;
/// Words of a question, each in one memory alone, that count as the whole question: 10; a pasted log has hundreds. A
/// larger value lowers the coverage of long questions.
const WORDS_ENOUGH: f64 = 10.0;
/// Least plain cosine of a memory that is found by meaning alone: 0.12; half of all unrelated texts lie below. A larger
/// value finds fewer memories.
const COSINE_LEAST: f32 = 0.12;
/// The newest memories of a topic that decide whether it is a transcript (64), and the names that must recur in them
/// (2). Larger values take time, and fewer topics for transcripts.
const TRANSCRIPT_SAMPLE: usize = 64;
const TRANSCRIPT_NAMES: usize = 2;

/// The candidates so far.
pub(super) struct Candidates<'a> {
    pub(super) views: &'a Views,
    pub(super) query: &'a RecallQuery<'a>,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) meaning: Option<&'a Meaning<'a>>,
    pub(super) sees: Sees<'a>,
    /// The only passages that may be candidates, ascending; `None` if all may.
    pub(super) allowed: Option<Vec<u64>>,
    /// The words of the query, if texts are compared with them.
    coverage: Option<Coverage<'a>>,
    /// See [`Prepared::bits_of_words`]; empty if texts are not compared with the words.
    bits: Vec<u64>,
    /// The passages so far, compared with the query.
    texts: RefCell<FxHashMap<u64, Text>>,
    all: Vec<Candidate>,
}

/// The visible versions.
#[derive(Clone, Copy)]
pub(super) struct Sees<'a> {
    /// Returns `true` for versions that held at the moment of the query.
    pub(super) held: &'a dyn Fn(u64) -> bool,
    /// Returns `true` for passages of those versions that pass the query's filters.
    pub(super) visible: &'a dyn Fn(u64) -> bool,
    /// `true` if the moment lies before the checkpoint.
    pub(super) history: bool,
    pub(super) leads: &'a LeadIds,
}

/// A passage compared with the query.
#[derive(Clone)]
struct Text {
    traits: Traits,
    likeness: Rc<Likeness>,
}

/// A version that may be a result.
struct Candidate {
    /// The passage.
    found: Found,
    /// The version of the passage.
    ordinal: u64,
    tag: u32,
    step: Step,
    text: Text,
    /// See [`Meaning::of`].
    similarity: Similarity,
    features: Features,
}

/// A candidate with its score.
pub(super) struct Ranked {
    pub(super) found: Found,
    pub(super) features: Features,
    pub(super) cosine: Option<f32>,
    pub(super) score: f64,
    /// The likeness of its words to each word of the question; empty if words are not compared.
    pub(super) likeness: Rc<Likeness>,
    /// See [`Similarity::cosine_for_fit`].
    cosine_for_fit: f64,
}

impl Ranked {
    /// Returns how likely this is an answer, 0 to 1.
    pub(super) fn fit(&self, answered: &Answered) -> f64 {
        answered.fit(&self.features, self.cosine_for_fit)
    }
}

/// The candidates that are results.
#[derive(Default)]
pub(super) struct Best {
    /// The candidates that reach the floor, the best first.
    pub(super) ranked: Vec<Ranked>,
    /// The best of all candidates, if none reaches the floor.
    pub(super) nearest: Option<Ranked>,
    pub(super) answered: Answered,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(
        views: &'a Views,
        query: &'a RecallQuery<'a>,
        prepared: &'a Prepared<'a>,
        meaning: Option<&'a Meaning<'a>>,
        sees: Sees<'a>,
    ) -> Result<Candidates<'a>> {
        // The fit needs the coverage.
        let compares = query.floor > 0.0 || query.ranking.compares_words();
        Ok(Candidates {
            views,
            query,
            prepared,
            meaning,
            sees,
            allowed: prepared.allowed()?,
            coverage: compares.then(|| {
                let enough = WORDS_ENOUGH * prepared.rarity_of_one();
                Coverage::new(&prepared.words(), enough)
            }),
            bits: match compares {
                true => prepared.bits_of_words(),
                false => Vec::new(),
            },
            texts: RefCell::default(),
            all: Vec::new(),
        })
    }

    /// Adds candidates, except for those found by no word and only by a cosine that any text has.
    pub(super) fn add(&mut self, found: Vec<Found>) -> Result<()> {
        self.look_at(found, false)
    }

    fn look_at(&mut self, found: Vec<Found>, beside: bool) -> Result<()> {
        let speakers = self.prepared.speakers(&found)?;
        let scopes = self.scopes_of(&found)?;
        for ((found, speaker), scope) in found.into_iter().zip(speakers).zip(scopes) {
            let ordinal = self.views.version_of(found.ordinal);
            let mut text = self.text(found.ordinal)?;
            self.count_matched(&mut text, found.scored.matched);
            let similarity = match self.meaning {
                Some(meaning) => meaning.of(found.ordinal)?,
                None => Similarity::default(),
            };
            let mut features = Features {
                speaker,
                scope,
                asks: text.traits.asks,
                length: length_share(text.traits.chars),
                when: self.prepared.asks_when() && text.traits.tells_time,
                identifier: self.prepared.has_identifier(&found),
                importance: self.views.importance(ordinal),
                ..Features::default()
            };
            if let Some(coverage) = &self.coverage {
                features.coverage = coverage.share(&text.likeness);
            }
            let has_words = found.scored.matched != 0 || features.coverage > 0.0;
            let is_near = similarity
                .cosine
                .is_some_and(|cosine| cosine >= COSINE_LEAST);
            let by_meaning_alone = !self.query.ranking.finds_by_words();
            if !has_words && !is_near && !beside && !by_meaning_alone {
                continue;
            }
            self.all.push(Candidate {
                tag: self.views.topic_tag(ordinal),
                step: self.views.step(ordinal, self.sees.leads)?,
                found,
                ordinal,
                text,
                similarity,
                features,
            });
        }
        Ok(())
    }

    /// Adds the words of the question that a version has in its topic or among its keywords.
    fn count_matched(&self, text: &mut Text, matched: u64) {
        let lacks = |(bits, alike): (&u64, &f32)| matched & bits != 0 && *alike < STEM_ALIKE;
        if !self.bits.iter().zip(text.likeness.iter()).any(lacks) {
            return;
        }
        let words = self
            .bits
            .iter()
            .zip(Rc::make_mut(&mut text.likeness).iter_mut());
        for (_, alike) in words.filter(|(bits, _)| matched & *bits != 0) {
            *alike = alike.max(STEM_ALIKE);
        }
    }

    /// Returns the nearness of each candidate's scope.
    fn scopes_of(&self, found: &[Found]) -> Result<Vec<Nearness>> {
        let query = self.query;
        let mut near = vec![Nearness::Common; found.len()];
        if query.ranking.scope == 0.0 {
            return Ok(near);
        }
        let own = self.prepared.of_scopes(query.own, found)?;
        let kin = self.prepared.of_scopes(query.kin, found)?;
        // Without a scope filter memories of other projects are possible results.
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

    /// Keeps the best passage of each version.
    pub(super) fn keep_best_passages(&mut self) {
        let mut best: FxHashMap<u64, usize> = FxHashMap::default();
        self.weigh();
        for (at, candidate) in self.all.iter().enumerate() {
            let best = best.entry(candidate.ordinal).or_insert(at);
            if candidate.features.own() > self.all[*best].features.own() {
                *best = at;
            }
        }
        if best.len() < self.all.len() {
            let mut at = 0..;
            self.all
                .retain(|candidate| at.next() == best.get(&candidate.ordinal).copied());
        }
    }

    /// Returns the text of a passage, compared with the query.
    fn text(&self, passage: u64) -> Result<Text> {
        if let Some(text) = self.texts.borrow().get(&passage) {
            return Ok(text.clone());
        }
        let entry = self.views.entry(passage);
        let entry = entry.ok_or_else(|| forward::damaged(passage))?;
        let likeness = match &self.coverage {
            Some(coverage) => coverage.likeness(entry.words()),
            None => Likeness::default(),
        };
        let text = Text {
            traits: entry.traits,
            likeness: Rc::new(likeness),
        };
        self.texts.borrow_mut().insert(passage, text.clone());
        Ok(text)
    }

    /// Adds the neighbours of the best candidates: they may be better answers than their own words show.
    pub(super) fn add_neighbours(&mut self) -> Result<()> {
        self.weigh();
        let mut best: Vec<&Candidate> = self.all.iter().collect();
        best.sort_unstable_by(|a, b| {
            let by_own = b.features.own().total_cmp(&a.features.own());
            by_own.then(a.found.tie.cmp(&b.found.tie))
        });
        best.truncate(self.query.ranking.expand);
        let order = self.order()?;
        let mut known: FxHashSet<u64> = self.all.iter().map(|one| one.ordinal).collect();
        let mut new = Vec::new();
        for candidate in best {
            let [before, after] = self.beside(&order, candidate, NEIGHBOUR_STEPS);
            let near = before.into_iter().chain(after);
            let near = near.filter(|ordinal| known.insert(*ordinal));
            new.extend(near.map(|ordinal| self.views.first_passage(ordinal)));
        }
        drop(order);
        self.look_at(self.prepared.score(&new)?, true)
    }

    /// Returns the topics of the candidates.
    fn order(&self) -> Result<Order<'a>> {
        let tags: FxHashSet<u32> = self.all.iter().map(|candidate| candidate.tag).collect();
        let tags: Vec<u32> = tags.into_iter().collect();
        self.views.order(&tags, self.sees.history, self.sees.leads)
    }

    /// Returns the visible versions before and after a candidate in its topic, the nearest first.
    fn beside(&self, order: &Order<'_>, candidate: &Candidate, most: usize) -> [Vec<u64>; 2] {
        let (tag, step) = (candidate.tag, candidate.step);
        let nearest = |steps: &mut dyn Iterator<Item = Step>| {
            let held = steps.filter(|step| (self.sees.held)(step.ordinal));
            let seen = held.take(WALK_MAX).filter(|step| self.sees(step.ordinal));
            seen.take(most).map(|step| step.ordinal).collect()
        };
        [
            nearest(&mut order.before(tag, step)),
            nearest(&mut order.after(tag, step)),
        ]
    }

    /// Returns `true` if a version is visible and passes the query's filters.
    fn sees(&self, ordinal: u64) -> bool {
        let first = self.views.first_passage(ordinal);
        let listed = |allowed: &Vec<u64>| allowed.binary_search(&first).is_ok();
        (self.sees.visible)(first) && self.allowed.as_ref().is_none_or(listed)
    }

    /// Computes the features that are relative to the other candidates.
    fn weigh(&mut self) {
        let text = Span::of(self.all.iter().map(|one| one.found.scored.score));
        let meaning = Span::of(self.all.iter().filter_map(|one| one.similarity.meaning));
        let stand_in = Span::of(self.all.iter().filter_map(|one| one.similarity.stand_in));
        // The vector of a question with a pasted log is that of the log.
        let kept = self.coverage.as_ref().map_or(1.0, Coverage::meaning_share);
        let known = self.meaning.map_or([0.0; 2], Meaning::known);
        let known = known.map(|known| kept * known);
        for candidate in &mut self.all {
            let features = &mut candidate.features;
            features.text = text.part(candidate.found.scored.score);
            features.meaning = match (candidate.similarity.meaning, candidate.similarity.stand_in) {
                (Some(cosine), _) => known[0] * meaning.share(cosine),
                (None, Some(cosine)) => known[1] * stand_in.share(cosine),
                (None, None) => 0.0,
            };
        }
        let own = Span::of(self.all.iter().map(|one| one.features.own()));
        for candidate in &mut self.all {
            candidate.features.own_share = own.part(candidate.features.own());
        }
    }

    /// Computes the features that depend on neighbours.
    fn look_beside(&mut self) -> Result<()> {
        let order = self.order()?;
        let places: FxHashMap<u64, usize> = (self.all.iter().enumerate())
            .map(|(at, candidate)| (candidate.ordinal, at))
            .collect();
        let mut transcripts: FxHashMap<u32, bool> = FxHashMap::default();
        let mut changed = Vec::with_capacity(self.all.len());
        for candidate in &self.all {
            let is_transcript = match transcripts.get(&candidate.tag) {
                Some(known) => *known,
                None => {
                    let is = self.is_transcript(&order, candidate.tag)?;
                    transcripts.insert(candidate.tag, is);
                    is
                }
            };
            let mut features = candidate.features;
            features.transcript = is_transcript && candidate.text.traits.speaker != 0;
            let [before, after] = self.beside(&order, candidate, WINDOW_STEPS);
            let own = |ordinal: Option<&u64>| {
                let at = ordinal.and_then(|ordinal| places.get(ordinal));
                at.map_or(0.0, |at| self.all[*at].features.own())
            };
            features.neighbours = own(before.first())
                + own(after.first())
                + 0.5 * (own(before.get(1)) + own(after.get(1)));
            if let Some(previous) = before.first()
                && self.text(self.views.last_passage(*previous))?.traits.asks
            {
                features.answers = own(Some(previous));
            }
            if let Some(coverage) = &self.coverage {
                let mut union = candidate.text.likeness.as_ref().clone();
                // The nearer end of a long neighbouring text.
                let last = before.iter().map(|it| self.views.last_passage(*it));
                let first = after.iter().map(|it| self.views.first_passage(*it));
                for passage in last.chain(first) {
                    let beside = self.text(passage)?.likeness;
                    for (best, other) in union.iter_mut().zip(beside.iter()) {
                        *best = best.max(*other);
                    }
                }
                features.window = coverage.share(&union) - features.coverage;
            }
            changed.push(features);
        }
        drop(order);
        for (candidate, features) in self.all.iter_mut().zip(changed) {
            candidate.features = features;
        }
        Ok(())
    }

    /// Returns `true` if a topic is a transcript: at least two names recur in at least half of its newest memories.
    fn is_transcript(&self, order: &Order<'_>, tag: u32) -> Result<bool> {
        let held = order
            .newest(tag)
            .filter(|step| (self.sees.held)(step.ordinal));
        let (mut names, mut all): (FxHashMap<u32, usize>, _) = (FxHashMap::default(), 0);
        for step in held.take(TRANSCRIPT_SAMPLE) {
            let passage = self.views.first_passage(step.ordinal);
            let entry = self.views.entry(passage);
            let entry = entry.ok_or_else(|| forward::damaged(passage))?;
            *names.entry(entry.traits.speaker).or_default() += 1;
            all += 1;
        }
        names.remove(&0);
        names.retain(|_, turns| *turns > 1);
        Ok(names.len() >= TRANSCRIPT_NAMES && 2 * names.values().sum::<usize>() >= all)
    }

    /// Returns the best candidates that reach the floor, at most `most`; first the passages for which `is_first` is
    /// true. `known` is the built-in model's knowledge of the query's words.
    pub(super) fn best(
        mut self,
        most: usize,
        known: f64,
        is_first: &dyn Fn(u64) -> bool,
    ) -> Result<Best> {
        self.weigh();
        if self.query.ranking.looks_beside() {
            self.look_beside()?;
        }
        let weights = &self.query.ranking;
        let all = std::mem::take(&mut self.all);
        let ranked = all.into_iter().map(|candidate| Ranked {
            score: weights.score(&candidate.features),
            found: candidate.found,
            features: candidate.features,
            cosine: candidate.similarity.cosine,
            likeness: candidate.text.likeness,
            cosine_for_fit: candidate.similarity.cosine_for_fit,
        });
        let mut ranked: Vec<Ranked> = ranked.collect();
        ranked.sort_unstable_by(order);
        let answered = self.answered(&ranked, known);
        // Among the first and among the others the order stays.
        ranked.sort_by_key(|ranked| !is_first(ranked.found.ordinal));
        let fits = |ranked: &Ranked| ranked.fit(&answered) >= self.query.floor;
        let nearest = match ranked.iter().any(fits) {
            true => None,
            false => ranked.drain(..).next(),
        };
        ranked.retain(fits);
        ranked.truncate(most);
        Ok(Best {
            ranked,
            nearest,
            answered,
        })
    }

    /// Returns the evidence of the best candidates that the question is answered at all.
    fn answered(&self, ranked: &[Ranked], known: f64) -> Answered {
        let best = &ranked[..ranked.len().min(ranking::BEST)];
        let kept = self.coverage.as_ref().map(Coverage::meaning_share);
        let is_long = kept.is_some_and(|kept| kept < 1.0);
        let most = |of: fn(&Ranked) -> f64| best.iter().map(of).fold(0.0, f64::max);
        Answered {
            coverage: most(|one| one.features.coverage),
            with_window: most(|one| one.features.with_window()),
            cosine: most(|one| one.cosine_for_fit),
            known,
            memories: self.prepared.docs(),
            speaker: best
                .iter()
                .any(|one| one.features.speaker && one.features.transcript),
            identifier: is_long && best.iter().any(|one| one.features.identifier),
            transcript: best.first().is_some_and(|one| one.features.transcript),
            chosen_model: self.query.model.is_some(),
        }
    }
}

/// Orders the better candidate first.
fn order(a: &Ranked, b: &Ranked) -> Ordering {
    let by_score = b.score.total_cmp(&a.score);
    let by_words = b.found.scored.score.total_cmp(&a.found.scored.score);
    by_score.then(by_words).then(a.found.tie.cmp(&b.found.tie))
}

impl Views {
    /// Returns the importance of a version; 0 if unknown.
    fn importance(&self, ordinal: u64) -> u8 {
        let next = self.files.base.tally.next_ordinal;
        let facts = match ordinal.checked_sub(next) {
            None => self.files.rows.get(ordinal).map(|row| row.facts),
            Some(at) => self.opened(at).map(RowFacts::of),
        };
        facts.map_or(0, |facts| facts.importance.code())
    }

    /// Returns the memory of a version as a number, which orders equally good ones; 0 for an unknown ordinal.
    pub(super) fn tie(&self, ordinal: u64, leads: &LeadIds) -> u128 {
        let next = self.files.base.tally.next_ordinal;
        let entity = match ordinal.checked_sub(next) {
            None => self.files.rows.entity(ordinal),
            Some(at) => {
                let opened = self.tail.folder.kept.opened.get(at as usize);
                opened.map(|(_, entity, _)| *entity)
            }
        };
        entity.map_or(0, |entity| u128::from_be_bytes(leads.of(entity).0))
    }

    /// Returns the tag of a version's topic.
    fn topic_tag(&self, ordinal: u64) -> u32 {
        let next = self.files.base.tally.next_ordinal;
        let Some(at) = ordinal.checked_sub(next) else {
            return self.files.rows.tag(ordinal);
        };
        topic_tag(self.opened(at).and_then(|version| version.topic.as_deref()))
    }

    fn first_passage(&self, ordinal: u64) -> u64 {
        self.tail.passages.of(ordinal).start
    }

    fn last_passage(&self, ordinal: u64) -> u64 {
        self.tail.passages.of(ordinal).end - 1
    }

    /// Returns the words and traits of a passage; `None` if they are damaged.
    fn entry(&self, passage: u64) -> Option<Entry<'_>> {
        match passage < self.files.base.passages {
            true => self.files.forward.get(passage),
            false => self.tail.text.analysed(passage).map(Entry::of),
        }
    }
}
