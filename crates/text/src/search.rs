//! A query: from words to hits.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::query::{
    Bm25Weight, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, Searcher, TantivyDocument, Term};

use super::analyze::{
    Kind, QUERY_TERMS_MAX, QueryTerm, Question, QuestionWord, TextField, is_identifier, query_terms,
};
use super::candidate::{Best, Candidate, Place, Scored};
use super::collect::{Search, Sight, WeightedTerm, all_ordinals, passing, score_docs};
use super::coverage::WORDS_MAX;
use super::error::{Doing, TextError};
use super::index::TextIndex;
use super::schema::{
    AnyOf, fields, keyword_is, scope_is, scope_under, speaker_is, topic_is, topic_under,
};
use super::segment::{Location, find_all, postings, seek};
use super::stats::{CollectionStats, term_of};
use super::stopwords::is_stopword;
use super::tail::Tail;

/// Terms of a query that are searched for: the weightiest of those that are looked up.
const SEARCH_TERMS_MAX: usize = 64;
/// Candidates beyond the limit, for ties that only exact scores break.
const SPARE_CANDIDATES: usize = 8;
/// What a word counts as written, on top of its stem. Measured on LoCoMo: evidence@10 is
/// 64.6 without, 66.1 at 0.5 and flat around it.
const EXACT_BOOST: f32 = 0.5;

/// What to search for.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextQuery<'a> {
    /// Words, never query syntax.
    pub text: &'a str,
    /// The most hits to return.
    pub limit: usize,
    /// Whether to search closed versions too.
    pub history: bool,
    /// What hits must be besides.
    pub filter: TextFilter<'a>,
}

/// Conditions that hits meet all of, without a say in the score.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextFilter<'a> {
    /// This topic; with a `/` at its end, this topic and all below it.
    pub topic: Option<&'a str>,
    /// This keyword, whatever its case and accents.
    pub keyword: Option<&'a str>,
    /// One of these scopes; where none is named, any.
    pub scopes: &'a [InScope<'a>],
}

/// Scopes that a hit may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InScope<'a> {
    /// This one.
    Is(&'a str),
    /// This one of a session, and those below it: `session:a/b` below `session:a`.
    Under(&'a str),
}

impl InScope<'_> {
    /// Whether a scope is one of these.
    pub fn holds(&self, scope: &str) -> bool {
        match self {
            InScope::Is(this) => scope == *this,
            InScope::Under(this) => (scope.strip_prefix(this))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        }
    }

    fn term(&self) -> String {
        match self {
            InScope::Is(scope) => scope_is(scope),
            InScope::Under(scope) => scope_under(scope),
        }
    }
}

/// A version that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The version's ordinal.
    pub ordinal: u64,
    /// BM25 over both fields; comparable within one answer only.
    pub score: f32,
    /// The bytes given with the document.
    pub stored: Vec<u8>,
    /// The words of the query that match, as they were written.
    pub matched: Vec<String>,
}

/// The hits, best first, and how they came about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextAnswer {
    /// Best first; of equal scores the smaller ordinal first.
    pub hits: Vec<Hit>,
    /// What was searched for, in the order of the query.
    pub terms: Vec<TermUse>,
    /// Documents in the tiers that were searched.
    pub searched_docs: u64,
    /// Documents in the tail.
    pub tail_docs: u64,
    /// Versions that the statistics of BM25 are of: those that hold now.
    pub stats_docs: u64,
    /// Their average length in tokens, stemmed and exact.
    pub average_len: [f32; 2],
}

/// A term that was searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct TermUse {
    /// The word of the query, as it was written.
    pub word: String,
    /// The term it became.
    pub term: String,
    /// Whether it is looked for as written, rather than by its stem.
    pub exact: bool,
    /// How many documents hold it.
    pub doc_freq: u64,
    /// What it counts beside others, before its rarity.
    pub boost: f32,
}

impl TextIndex {
    /// Searches the live tier, the tail and, if asked, the closed tier.
    ///
    /// Words are alternatives: a document that holds one of them matches. `visible` is
    /// asked, by ordinal, about documents that would otherwise be in the answer; it may be
    /// asked more than once about one. The set of matches is exact; the order follows the
    /// statistics of the versions that hold now (see `CollectionStats`), whatever moment
    /// `visible` stands for.
    ///
    /// A query without words matches nothing.
    pub fn search(
        &self,
        tail: &Tail,
        query: &TextQuery<'_>,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<TextAnswer, TextError> {
        let sight = Sight {
            visible,
            tie: &u128::from,
        };
        let (mut answer, prepared) = self.prepare(tail, query, sight)?;
        let mut ranked = prepared.best(query.limit)?;
        ranked.truncate(query.limit);
        for found in ranked {
            answer.hits.push(Hit {
                ordinal: found.ordinal,
                score: found.scored.score as f32,
                stored: prepared.stored(found.place)?,
                matched: prepared.matched_words(&found),
            });
        }
        Ok(answer)
    }

    /// Returns the rarest words of a text that documents hold, as they are written, at most `most`: identifiers first, and
    /// the rarest first of each kind. A word is rare as an identifier is.
    pub fn rare_words(
        &self,
        tail: &Tail,
        text: &str,
        most: usize,
    ) -> Result<Vec<String>, TextError> {
        let terms = query_terms(text, QUERY_TERMS_MAX);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let stats = CollectionStats::gather(self, tail, &terms)?;
        let rare = 1..=stats.rare_docs();
        let mut found: Vec<(u64, String)> = terms
            .into_iter()
            .map(|term| (stats.freq(&term_of(&term)), term.word))
            .filter(|(freq, _)| rare.contains(freq))
            .collect();
        found.sort_by_key(|(freq, word)| (!is_identifier(word), *freq));
        let mut words: Vec<String> = Vec::new();
        for (_, word) in found {
            if words.len() < most && !words.contains(&word) {
                words.push(word);
            }
        }
        Ok(words)
    }

    /// Looks the words of a query up: what the answer says of them, without hits yet.
    pub fn prepare<'a>(
        &'a self,
        tail: &'a Tail,
        query: &TextQuery<'_>,
        sight: Sight<'a>,
    ) -> Result<(TextAnswer, Prepared<'a>), TextError> {
        let mut tiers = vec![self.live_searcher()];
        if query.history {
            tiers.push(self.closed_searcher());
        }
        let mut answer = TextAnswer {
            searched_docs: tiers.iter().map(Searcher::num_docs).sum(),
            tail_docs: tail.len() as u64,
            ..TextAnswer::default()
        };
        let Question {
            mut terms,
            words,
            asks_when,
        } = Question::of(query.text, QUERY_TERMS_MAX);
        let stats = match terms.is_empty() {
            true => CollectionStats::default(),
            false => CollectionStats::gather(self, tail, &terms)?,
        };
        if !terms.is_empty() {
            keep_rarest(&mut terms, &stats, SEARCH_TERMS_MAX);
            answer.stats_docs = stats.docs;
            answer.average_len =
                [TextField::Body, TextField::Exact].map(|field| stats.average_len(field));
            answer.terms = terms.iter().map(|term| term_use(term, &stats)).collect();
        }
        let weighted = terms.iter().map(|term| weighted_term(term, &stats));
        let identifiers = terms.iter().enumerate().filter(|(_, term)| {
            let freq = stats.freq(&term_of(term));
            let rare = freq <= stats.rare_docs();
            rare && term.field == TextField::Exact && is_identifier(&term.word)
        });
        let identifiers = identifiers.fold(0, |bits, (bit, _)| bits | 1 << bit);
        let words = rarest(words, &stats);
        let prepared = Prepared {
            identifiers,
            tiers,
            tail,
            weighted: weighted.collect(),
            terms,
            stats,
            filters: filter_values(&query.filter),
            words,
            asks_when,
            sight,
            tail_scores: OnceCell::new(),
        };
        Ok((answer, prepared))
    }
}

/// A query against the collection of this moment.
pub struct Prepared<'a> {
    tiers: Vec<Searcher>,
    tail: &'a Tail,
    terms: Vec<QueryTerm>,
    weighted: Vec<WeightedTerm>,
    stats: CollectionStats,
    /// Bits of the terms that are rare identifiers.
    identifiers: u64,
    filters: Vec<AnyOf>,
    /// The words of the query with their rarities.
    words: Vec<(QuestionWord, f64)>,
    asks_when: bool,
    sight: Sight<'a>,
    tail_scores: OnceCell<FxHashMap<usize, Scored>>,
}

/// A candidate with its final score.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Its score, and which words of the query it has.
    pub scored: Scored,
    /// The version.
    pub ordinal: u64,
    /// See [`Sight::tie`].
    pub tie: u128,
    /// The document in an index, or in the tail.
    pub place: Place,
}

impl Prepared<'_> {
    /// The documents that match best, at least `limit` where so many match: by score, then by
    /// ordinal.
    pub(crate) fn best(&self, limit: usize) -> Result<Vec<Found>, TextError> {
        match self.terms.is_empty() || limit == 0 {
            true => Ok(Vec::new()),
            false => self.rank(self.candidates(limit, &|_| true)?),
        }
    }

    /// About as [`Prepared::best`], for less: a word that is looked for by its stem finds by that alone, and as
    /// it was written counts only for what is found.
    pub fn promising(&self, limit: usize) -> Result<Vec<Found>, TextError> {
        let stems = self.terms.iter().filter(|t| t.field == TextField::Body);
        let stemmed: FxHashSet<&str> = stems.map(|term| term.word.as_str()).collect();
        // Of a long query only the rarest terms are left, so a word may have lost its stem.
        let finds = |term: &QueryTerm| boost(term) >= 1.0 || !stemmed.contains(&*term.word);
        match limit {
            0 => Ok(Vec::new()),
            _ => self.rank(self.candidates(limit, &finds)?),
        }
    }

    /// The documents of these versions with their scores, 0 where no word matches. A version that
    /// has no document in what is searched is left out.
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

    /// The words of the query that a document holds, as they were written.
    pub fn matched_words(&self, found: &Found) -> Vec<String> {
        matched_words(&self.terms, found.scored.matched)
    }

    /// The words of the query that say something, with their rarities.
    pub fn words(&self) -> Vec<(&QuestionWord, f64)> {
        let words = self.words.iter();
        words.map(|(word, rarity)| (word, *rarity)).collect()
    }

    /// The terms of each of [`Prepared::words`], as bits of what matched.
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

    /// The documents that hold now.
    pub fn docs(&self) -> u64 {
        self.stats.docs
    }

    /// The rarity of a word that one document has.
    pub fn rarity_of_one(&self) -> f64 {
        rarity(&self.stats, 1)
    }

    /// Whether the query asks for a time.
    pub fn asks_when(&self) -> bool {
        self.asks_when
    }

    /// Whether a document holds a rare identifier of the query.
    pub fn has_identifier(&self, found: &Found) -> bool {
        found.scored.matched & self.identifiers != 0
    }

    /// Whether the query names who speaks in each of these documents.
    pub fn speakers(&self, found: &[Found]) -> Result<Vec<bool>, TextError> {
        let words = self
            .terms
            .iter()
            .filter(|term| term.field == TextField::Exact);
        let names: Vec<String> = words.map(|term| speaker_is(&term.term)).collect();
        self.holding(&names, found)
    }

    /// Whether each of these documents is of one of these scopes.
    pub fn of_scopes(
        &self,
        scopes: &[InScope<'_>],
        found: &[Found],
    ) -> Result<Vec<bool>, TextError> {
        let terms: Vec<String> = scopes.iter().map(InScope::term).collect();
        self.holding(&terms, found)
    }

    /// Whether each of these documents holds one of these filter terms.
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

    /// Marks those of a segment, or of the tail, that hold a filter term.
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

    /// The best documents of each tier and the tail by a quick score of the terms that `finds` is true of, and a few
    /// more than the limit: scores that differ in their last bits are told apart by `rank` only.
    fn candidates(
        &self,
        limit: usize,
        finds: &dyn Fn(&QueryTerm) -> bool,
    ) -> Result<Vec<Candidate>, TextError> {
        let terms = self.terms.iter().zip(&self.weighted);
        let terms = terms.filter(|(term, _)| finds(term));
        let (terms, weighted): (Vec<_>, Vec<_>) = terms.unzip();
        let mut best = Best::new(limit.saturating_add(SPARE_CANDIDATES));
        let tail = terms.iter().zip(&weighted);
        let tail = tail.map(|(term, weighted)| tail_term((*term, *weighted)));
        for found in self.tail.matches(tail, &self.filters) {
            if (self.sight.visible)(found.ordinal) {
                let tie = (self.sight.tie)(found.ordinal);
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
                sight: self.sight,
            };
            for (segment, reader) in searcher.segment_readers().iter().enumerate() {
                search
                    .segment(segment, reader, &mut best)
                    .doing("searching")?;
            }
        }
        Ok(best.into_candidates())
    }

    /// The documents of the tail that hold a word of the query, by their places.
    fn tail_scores(&self) -> &FxHashMap<usize, Scored> {
        self.tail_scores.get_or_init(|| {
            let terms = self.terms.iter().zip(&self.weighted);
            let matches = self.tail.matches(terms.map(tail_term), &[]);
            matches.into_iter().map(|m| (m.at, m.scored)).collect()
        })
    }

    /// Scores candidates one by one and orders them: by score, then by ordinal.
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
        // A version can be in the tail and committed already, until the tail is cleared.
        let mut seen = BTreeSet::new();
        ranked.retain(|found| seen.insert(found.ordinal));
        Ok(ranked)
    }

    fn filter_terms(&self) -> Vec<Vec<Term>> {
        let term = |value: &String| Term::from_field_text(fields().filter, value);
        let any_of = |values: &AnyOf| values.iter().map(term).collect();
        self.filters.iter().map(any_of).collect()
    }

    /// The versions that the filters let through, ascending; `None` where that is all of them.
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

    /// The bytes given with a document.
    pub fn stored(&self, place: Place) -> Result<Vec<u8>, TextError> {
        stored(&self.tiers, self.tail, place)
    }
}

/// The bytes given with a document.
pub(super) fn stored(tiers: &[Searcher], tail: &Tail, place: Place) -> Result<Vec<u8>, TextError> {
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

/// A term as the tail looks for it.
fn tail_term<'a>(
    (term, weighted): (&'a QueryTerm, &'a WeightedTerm),
) -> (TextField, &'a str, &'a Bm25Weight) {
    (term.field, &term.term, &weighted.weight)
}

/// As if so many documents more were there that hold no word of the query: of a handful their number says little of how
/// rare a word is.
const RARITY_PRIOR: u64 = 50;

/// How rare a word is that so many documents hold: BM25's idf. One that none holds is as rare as one that one holds.
fn rarity(stats: &CollectionStats, docs: u64) -> f64 {
    let (all, docs) = ((stats.docs + RARITY_PRIOR) as f64, docs.max(1) as f64);
    (1.0 + (all - docs.min(all) + 0.5) / (docs + 0.5)).ln()
}

/// The words of a query with their rarities, of an overlong one the rarest.
fn rarest(words: Vec<QuestionWord>, stats: &CollectionStats) -> Vec<(QuestionWord, f64)> {
    let with_rarity = words.into_iter().map(|word| {
        let term = Term::from_field_text(fields().text(word.field), &word.stem);
        let rarity = rarity(stats, stats.freq(&term));
        (word, rarity)
    });
    let mut words: Vec<_> = with_rarity.collect();
    if words.len() > WORDS_MAX {
        words.sort_by(|a, b| b.1.total_cmp(&a.1));
        words.truncate(WORDS_MAX);
    }
    words
}

/// Leaves the rarest terms of an overlong query, in their order.
fn keep_rarest(terms: &mut Vec<QueryTerm>, stats: &CollectionStats, most: usize) {
    if terms.len() <= most {
        return;
    }
    let mut freqs: Vec<(bool, u64, usize)> = terms
        .iter()
        .enumerate()
        .map(|(at, term)| (stats.freq(&term_of(term)), at))
        .map(|(freq, at)| (freq == 0, freq, at))
        .collect();
    freqs.sort_unstable();
    freqs.truncate(most);
    let kept: BTreeSet<usize> = freqs.into_iter().map(|(.., at)| at).collect();
    *terms = std::mem::take(terms)
        .into_iter()
        .enumerate()
        .filter(|(at, _)| kept.contains(at))
        .map(|(_, term)| term)
        .collect();
}

/// How much a term counts: in full where it is all there is to go by, else a little on top
/// of its stem.
fn boost(term: &QueryTerm) -> f32 {
    match (term.field, term.kind, is_stopword(&term.term)) {
        (TextField::Exact, Kind::Word, false) => EXACT_BOOST,
        _ => 1.0,
    }
}

fn weighted_term(query_term: &QueryTerm, stats: &CollectionStats) -> WeightedTerm {
    let term = term_of(query_term);
    let weight = stats.weight(query_term.field, &term);
    WeightedTerm {
        weight: weight.boost_by(boost(query_term)),
        field: query_term.field,
        term,
    }
}

fn term_use(query_term: &QueryTerm, stats: &CollectionStats) -> TermUse {
    TermUse {
        word: query_term.word.clone(),
        term: query_term.term.clone(),
        exact: query_term.field == TextField::Exact,
        doc_freq: stats.freq(&term_of(query_term)),
        boost: boost(query_term),
    }
}

fn tantivy_query(terms: &[&QueryTerm]) -> BooleanQuery {
    let clause = |term: &QueryTerm| -> (Occur, Box<dyn Query>) {
        let query = TermQuery::new(term_of(term), IndexRecordOption::WithFreqs);
        let query = BoostQuery::new(Box::new(query), boost(term));
        (Occur::Should, Box::new(query))
    };
    BooleanQuery::new(terms.iter().map(|term| clause(term)).collect())
}

fn filter_values(filter: &TextFilter<'_>) -> Vec<AnyOf> {
    let topic = filter.topic.map(|topic| match topic.strip_suffix('/') {
        Some(above) => topic_under(above),
        None => topic_is(topic),
    });
    let one = [topic, filter.keyword.map(keyword_is)];
    let mut filters: Vec<AnyOf> = one.into_iter().flatten().map(|term| vec![term]).collect();
    if !filter.scopes.is_empty() {
        filters.push(apart(filter.scopes).map(|scope| scope.term()).collect());
    }
    filters
}

/// Scopes of which none lies within another: each document has the term of one at most.
fn apart<'a>(scopes: &'a [InScope<'a>]) -> impl Iterator<Item = &'a InScope<'a>> {
    let covers = |it: &InScope<'_>, other: &InScope<'_>| match (it, other) {
        (InScope::Is(a), InScope::Is(b)) => a == b,
        (InScope::Is(_), InScope::Under(_)) => false,
        (InScope::Under(_), InScope::Is(scope) | InScope::Under(scope)) => it.holds(scope),
    };
    let needless = move |at: usize| {
        let mut others = scopes.iter().enumerate();
        others.any(|(other_at, other)| {
            let covered = covers(other, &scopes[at]);
            covered && other_at != at && (other_at < at || !covers(&scopes[at], other))
        })
    };
    let kept = (0..scopes.len()).filter(move |at| !needless(*at));
    kept.map(|at| &scopes[at])
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
