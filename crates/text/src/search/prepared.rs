//! A query prepared against the collection of a moment: finds candidates and scores them.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::query::{
    Bm25Weight, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, Searcher, TantivyDocument, Term};

use super::filter::{InScope, any_keyword};
use super::weight::{boost, rarity};
use crate::analyze::{QueryTerm, QuestionWord, TextField};
use crate::candidate::{Best, Candidate, Place, Scored};
use crate::collect::{Search, Sight, WeightedTerm, all_ordinals, passing, score_docs};
use crate::error::{Doing, TextError};
use crate::schema::{AnyOf, fields, speaker_is};
use crate::segment::{Location, find_all, postings, seek};
use crate::stats::{CollectionStats, term_of};
use crate::tail::Tail;

/// Candidates beyond the limit: 8, for ties that only exact scores break. A larger value costs time.
const SPARE_CANDIDATES: usize = 8;

/// A query prepared against the collection of this moment.
pub struct Prepared<'a> {
    pub(super) tiers: Vec<Searcher>,
    pub(super) tail: &'a Tail,
    pub(super) terms: Vec<QueryTerm>,
    pub(super) weighted: Vec<WeightedTerm>,
    pub(super) stats: CollectionStats,
    /// Bits of the terms that are rare identifiers.
    pub(super) identifiers: u64,
    pub(super) filters: Vec<AnyOf>,
    /// The words of the query with their rarities.
    pub(super) words: Vec<(QuestionWord, f64)>,
    pub(super) asks_when: bool,
    pub(super) sight: Sight<'a>,
    pub(super) tail_scores: OnceCell<FxHashMap<usize, Scored>>,
}

/// A candidate with its final score.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The score, and bits of the matching terms of the query.
    pub scored: Scored,
    /// The ordinal of the version.
    pub ordinal: u64,
    /// See [`Sight::tie`].
    pub tie: u128,
    /// The place of the document in an index or in the tail.
    pub place: Place,
}

impl Prepared<'_> {
    /// Returns the documents that match best, at least `limit` of them if so many match: by score, then by tie and
    /// ordinal.
    pub(crate) fn best(&self, limit: usize) -> Result<Vec<Found>, TextError> {
        match self.terms.is_empty() || limit == 0 {
            true => Ok(Vec::new()),
            false => self.rank(self.candidates(limit, &|_| true, &|_| true)?),
        }
    }

    /// As [`Prepared::best`], but approximate and cheaper. A word that is searched for by its stem finds documents by
    /// the stem alone; its written form counts only for documents that were found.
    pub fn promising(&self, limit: usize) -> Result<Vec<Found>, TextError> {
        self.promising_among(limit, &|_| true)
    }

    /// As [`Prepared::promising`], of the documents whose ordinals are among those that the caller names.
    pub fn promising_among(
        &self,
        limit: usize,
        among: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Found>, TextError> {
        let stems = self.terms.iter().filter(|t| t.field == TextField::Body);
        let stemmed: FxHashSet<&str> = stems.map(|term| term.word.as_str()).collect();
        // A long query keeps only its rarest terms, so a word may have lost its stem.
        let finds = |term: &QueryTerm| boost(term) >= 1.0 || !stemmed.contains(&*term.word);
        match limit {
            0 => Ok(Vec::new()),
            _ => self.rank(self.candidates(limit, &finds, among)?),
        }
    }

    /// Returns the documents of these versions with their scores, 0 if no word matches. A version without a document in
    /// the searched tiers and the tail is left out.
    pub fn score(&self, ordinals: &[u64]) -> Result<Vec<Found>, TextError> {
        let mut candidates = Vec::with_capacity(ordinals.len());
        let mut filed = Vec::with_capacity(ordinals.len());
        for &ordinal in ordinals {
            match self.tail.place_of(ordinal) {
                None => filed.push(ordinal),
                Some(at) => candidates.push(Candidate::new(0.0, ordinal, 0, Place::Tail(at))),
            }
        }
        for (tier, searcher) in self.tiers.iter().enumerate() {
            find_all(
                searcher,
                &filed,
                &mut |ordinal, Location { segment, doc }| {
                    let place = Place::Tier { tier, segment, doc };
                    candidates.push(Candidate::new(0.0, ordinal, 0, place));
                },
            )?;
        }
        self.rank(candidates)
    }

    /// Returns the words of the query that a document holds, as the user wrote them.
    pub fn matched_words(&self, found: &Found) -> Vec<String> {
        matched_words(&self.terms, found.scored.matched)
    }

    /// Returns the query's words with a meaning, with their rarities.
    pub fn words(&self) -> Vec<(&QuestionWord, f64)> {
        let words = self.words.iter();
        words.map(|(word, rarity)| (word, *rarity)).collect()
    }

    /// Returns, for each of [`Prepared::words`], the bits of its terms in [`Scored::matched`].
    pub fn bits_of_words(&self) -> Vec<u64> {
        let bits_of = |word: &QuestionWord| {
            let is_its = |term: &QueryTerm| match term.field {
                TextField::Exact => term.term == word.text,
                field => field == word.field && term.term == word.stem,
            };
            let terms = self.terms.iter().take(64).enumerate();
            let bits = terms.filter(|(_, term)| is_its(term));
            bits.fold(0, |bits, (bit, _)| bits | 1 << bit)
        };
        self.words.iter().map(|(word, _)| bits_of(word)).collect()
    }

    /// Returns the number of documents that hold now.
    pub fn docs(&self) -> u64 {
        self.stats.docs
    }

    /// Returns the rarity of a word that one document has.
    pub fn rarity_of_one(&self) -> f64 {
        rarity(&self.stats, 1)
    }

    /// Returns `true` if the query asks for a time.
    pub fn asks_when(&self) -> bool {
        self.asks_when
    }

    /// Returns `true` if a document holds a rare identifier of the query.
    pub fn has_identifier(&self, found: &Found) -> bool {
        found.scored.matched & self.identifiers != 0
    }

    /// Returns for each document `true` if the query names its speaker.
    pub fn speakers(&self, found: &[Found]) -> Result<Vec<bool>, TextError> {
        let words = self
            .terms
            .iter()
            .filter(|term| term.field == TextField::Exact);
        let names: Vec<String> = words.map(|term| speaker_is(&term.term)).collect();
        self.holding(&names, found)
    }

    /// Returns for each document `true` if it is in one of the scopes.
    pub fn of_scopes(
        &self,
        scopes: &[InScope<'_>],
        found: &[Found],
    ) -> Result<Vec<bool>, TextError> {
        let terms: Vec<String> = scopes.iter().map(InScope::term).collect();
        self.holding(&terms, found)
    }

    /// Returns for each document `true` if it holds one of the filter terms.
    fn holding(&self, terms: &[String], found: &[Found]) -> Result<Vec<bool>, TextError> {
        let mut holds = vec![false; found.len()];
        if terms.is_empty() {
            return Ok(holds);
        }
        let mut places: Vec<usize> = (0..found.len()).collect();
        places.sort_unstable_by_key(|at| found[*at].place);
        for group in places.chunk_by(|a, b| found[*a].place.segment() == found[*b].place.segment())
        {
            for term in terms {
                self.mark(term, group, found, &mut holds)?;
            }
        }
        Ok(holds)
    }

    /// Marks the documents of a segment, or of the tail, that hold a filter term.
    fn mark(
        &self,
        term: &str,
        group: &[usize],
        found: &[Found],
        holds: &mut [bool],
    ) -> Result<(), TextError> {
        let Some((tier, segment)) = found[group[0]].place.segment() else {
            for &at in group {
                holds[at] |= match found[at].place {
                    Place::Tail(place) => self.tail.passes(place, term),
                    Place::Tier { .. } => false,
                };
            }
            return Ok(());
        };
        let reader = &self.tiers[tier].segment_readers()[segment];
        let term = Term::from_field_text(fields().filter, term);
        let held = postings(reader, fields().filter, &term, IndexRecordOption::Basic);
        let Some(mut held) = held.doing("looking at who speaks and where")? else {
            return Ok(());
        };
        for &at in group {
            if let Some(doc) = found[at].place.doc() {
                holds[at] |= seek(&mut held, doc) == doc;
            }
        }
        Ok(())
    }

    /// Returns the best documents of the tiers and the tail by a quick score over the terms for which `finds` is true,
    /// and a few more than the limit: only `rank` tells scores apart that differ in their last bits.
    fn candidates(
        &self,
        limit: usize,
        finds: &dyn Fn(&QueryTerm) -> bool,
        among: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Candidate>, TextError> {
        let visible = |ordinal| among(ordinal) && (self.sight.visible)(ordinal);
        let sight = Sight {
            visible: &visible,
            tie: self.sight.tie,
        };
        let terms = self.terms.iter().zip(&self.weighted);
        let terms = terms.filter(|(term, _)| finds(term));
        let (terms, weighted): (Vec<_>, Vec<_>) = terms.unzip();
        let mut best = Best::new(limit.saturating_add(SPARE_CANDIDATES));
        let tail = terms.iter().zip(&weighted);
        let tail = tail.map(|(term, weighted)| tail_term((*term, *weighted)));
        for found in self.tail.matches(tail, &self.filters) {
            if visible(found.ordinal) {
                let tie = (sight.tie)(found.ordinal);
                best.offer(
                    found.scored.score,
                    found.ordinal,
                    tie,
                    Place::Tail(found.at),
                );
            }
        }
        let filters = self.filter_terms();
        let query = tantivy_query(&terms);
        for (tier, searcher) in self.tiers.iter().enumerate() {
            let scoring = EnableScoring::enabled_from_statistics_provider(&self.stats, searcher);
            let weight = query.weight(scoring).doing("preparing the query")?;
            let search = Search {
                tier,
                query: &*weight,
                terms: &weighted,
                filters: &filters,
                stats: &self.stats,
                sight,
            };
            for (segment, reader) in searcher.segment_readers().iter().enumerate() {
                search
                    .segment(segment, reader, &mut best)
                    .doing("searching")?;
            }
        }
        Ok(best.into_candidates())
    }

    /// Returns the scores of the tail's documents that hold a word of the query, by place.
    fn tail_scores(&self) -> &FxHashMap<usize, Scored> {
        self.tail_scores.get_or_init(|| {
            let terms = self.terms.iter().zip(&self.weighted);
            let matches = self.tail.matches(terms.map(tail_term), &[]);
            matches.into_iter().map(|m| (m.at, m.scored)).collect()
        })
    }

    /// Scores candidates one by one and orders them: by score, then by tie, ordinal and place.
    fn rank(&self, mut candidates: Vec<Candidate>) -> Result<Vec<Found>, TextError> {
        candidates.sort_unstable_by_key(|candidate| candidate.place);
        let weighted: Vec<&WeightedTerm> = self.weighted.iter().collect();
        let mut ranked: Vec<Found> = Vec::with_capacity(candidates.len());
        for group in candidates.chunk_by(|a, b| a.place.segment() == b.place.segment()) {
            let scores = match group[0].place.segment() {
                None => {
                    let scores = self.tail_scores();
                    let score = |at| scores.get(&at).copied().unwrap_or_default();
                    let places = group.iter().filter_map(|c| c.place.tail());
                    places.map(score).collect()
                }
                Some((tier, segment)) => {
                    let docs: Vec<u32> = group.iter().filter_map(|c| c.place.doc()).collect();
                    let reader = &self.tiers[tier].segment_readers()[segment];
                    score_docs(reader, &docs, &weighted).doing("scoring")?
                }
            };
            ranked.extend(group.iter().zip(scores).map(|(candidate, scored)| Found {
                scored,
                ordinal: candidate.ordinal(),
                tie: (self.sight.tie)(candidate.ordinal()),
                place: candidate.place,
            }));
        }
        ranked.sort_unstable_by(|a, b| {
            let by_score = b.scored.score.total_cmp(&a.scored.score);
            by_score
                .then(a.tie.cmp(&b.tie))
                .then(a.ordinal.cmp(&b.ordinal))
                .then(a.place.cmp(&b.place))
        });
        // A version can be both in the tail and committed, until the tail is cleared.
        let mut seen = BTreeSet::new();
        ranked.retain(|found| seen.insert(found.ordinal));
        Ok(ranked)
    }

    fn filter_terms(&self) -> Vec<AnyOf<Term>> {
        self.filters.iter().map(of_index).collect()
    }

    /// Returns the versions with one of these keywords, ascending, whatever the filters.
    pub fn with_any_keyword(&self, keywords: &[String]) -> Result<Vec<u64>, TextError> {
        if keywords.is_empty() {
            return Ok(Vec::new());
        }
        let filter = any_keyword(keywords);
        let mut ordinals = self.tail.passing(std::slice::from_ref(&filter));
        let filters = [of_index(&filter)];
        for segment in self.tiers.iter().flat_map(Searcher::segment_readers) {
            let some = passing(segment, &filters).doing("filtering")?;
            ordinals.extend(match some {
                Some(some) => some,
                None => all_ordinals(segment).doing("filtering")?,
            });
        }
        ordinals.sort_unstable();
        Ok(ordinals)
    }

    /// Returns the versions that pass the filters, ascending; `None` if all do.
    pub fn allowed(&self) -> Result<Option<Vec<u64>>, TextError> {
        if self.filters.is_empty() {
            return Ok(None);
        }
        let filters = self.filter_terms();
        let segments = self.tiers.iter().flat_map(Searcher::segment_readers);
        let mut passed = Vec::new();
        for segment in segments {
            passed.push((segment, passing(segment, &filters).doing("filtering")?));
        }
        if passed.iter().all(|(_, some)| some.is_none()) && self.tail.all_pass(&self.filters) {
            return Ok(None);
        }
        let mut ordinals = self.tail.passing(&self.filters);
        for (segment, some) in passed {
            ordinals.extend(match some {
                Some(some) => some,
                None => all_ordinals(segment).doing("filtering")?,
            });
        }
        ordinals.sort_unstable();
        Ok(Some(ordinals))
    }

    /// Returns the bytes stored with a document.
    pub fn stored(&self, place: Place) -> Result<Vec<u8>, TextError> {
        stored(&self.tiers, self.tail, place)
    }
}

/// Returns a filter in the form that an index searches by.
fn of_index(filter: &AnyOf) -> AnyOf<Term> {
    filter.map(|term| Term::from_field_text(fields().filter, term))
}

/// Returns the bytes stored with a document.
pub(crate) fn stored(tiers: &[Searcher], tail: &Tail, place: Place) -> Result<Vec<u8>, TextError> {
    let (tier, segment, doc) = match place {
        Place::Tail(at) => return Ok(tail.stored(at).to_vec()),
        Place::Tier { tier, segment, doc } => (tier, segment, doc),
    };
    let address = DocAddress::new(segment as u32, doc);
    let document: TantivyDocument = tiers[tier].doc(address).doing("reading a document")?;
    let stored = document.get_first(fields().stored);
    Ok(stored
        .and_then(|value| value.as_bytes())
        .unwrap_or_default()
        .to_vec())
}

/// Returns a term in the form that the tail searches by.
fn tail_term<'a>(
    (term, weighted): (&'a QueryTerm, &'a WeightedTerm),
) -> (TextField, &'a str, &'a Bm25Weight) {
    (term.field, &term.term, &weighted.weight)
}

fn tantivy_query(terms: &[&QueryTerm]) -> BooleanQuery {
    let clause = |term: &QueryTerm| -> (Occur, Box<dyn Query>) {
        let query = TermQuery::new(term_of(term), IndexRecordOption::WithFreqs);
        let query = BoostQuery::new(Box::new(query), boost(term));
        (Occur::Should, Box::new(query))
    };
    BooleanQuery::new(terms.iter().map(|term| clause(term)).collect())
}

fn matched_words(terms: &[QueryTerm], matched: u64) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (bit, term) in terms.iter().enumerate() {
        if matched & (1 << bit) != 0 && !words.contains(&term.word) {
            words.push(term.word.clone());
        }
    }
    words
}
