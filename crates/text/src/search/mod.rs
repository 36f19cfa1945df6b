//! A query: from words to hits.

mod filter;
mod prepared;
mod weight;

use std::cell::OnceCell;

use tantivy::Searcher;

use super::analyze::{Kind, QUERY_TERMS_MAX, Question, TextField, is_identifier, query_terms};
use super::collect::Sight;
use super::error::TextError;
use super::index::TextIndex;
use super::stats::{CollectionStats, term_of};
use super::tail::Tail;

use filter::filter_values;
use weight::{keep_rarest, rarest, term_use, weighted_term};

pub use filter::{InScope, TextFilter};
pub(crate) use prepared::stored;
pub use prepared::{Found, Prepared};

/// Terms of a query that are searched for, the weightiest of its terms: 64. A larger value costs time; scores have 64
/// bits for terms.
const SEARCH_TERMS_MAX: usize = 64;

/// A query, and the conditions of its hits.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextQuery<'a> {
    /// Words, never query syntax.
    pub text: &'a str,
    /// The most hits to return.
    pub limit: usize,
    /// `true` to search closed versions too.
    pub history: bool,
    /// The other conditions of hits.
    pub filter: TextFilter<'a>,
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
    /// The words of the query that match, as the user wrote them.
    pub matched: Vec<String>,
}

/// The hits, and the figures behind their scores.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextAnswer {
    /// Best first; of equal scores the smaller ordinal first.
    pub hits: Vec<Hit>,
    /// The terms that were searched for, in the order of the query.
    pub terms: Vec<TermUse>,
    /// Documents in the tiers that were searched.
    pub searched_docs: u64,
    /// Documents in the tail.
    pub tail_docs: u64,
    /// Versions that the statistics of BM25 cover: those that hold now.
    pub stats_docs: u64,
    /// The average length of these versions in tokens, stemmed and exact.
    pub average_len: [f32; 2],
}

/// A term that was searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct TermUse {
    /// The word of the query, as the user wrote it.
    pub word: String,
    /// The term of the word.
    pub term: String,
    /// `true` if the word is searched for as written, `false` if by its stem.
    pub exact: bool,
    /// The number of documents that hold the term.
    pub doc_freq: u64,
    /// The weight of the term beside others, before its rarity.
    pub boost: f32,
}

impl TextIndex {
    /// Searches the live tier, the tail and, if asked, the closed tier.
    ///
    /// Words are alternatives: a document that holds one of them matches. `visible` is asked, by ordinal, about
    /// documents that would otherwise be in the answer, perhaps more than once about the same one. The set of matches
    /// is exact. The order follows the statistics of the versions that hold now (see `CollectionStats`), for every
    /// moment that `visible` stands for.
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

    /// Returns the rarest words of a text that documents hold, as written, at most `most`: identifiers first, the
    /// rarest first of each kind. A word counts as rare if it is as rare as an identifier has to be. ASCII words
    /// of one or two characters and parts of words are left out.
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
            .filter(|term| term.kind != Kind::Part && may_be_rare(&term.word))
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

    /// Looks up the words of a query. Returns the answer without hits, and the prepared query.
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

/// Bytes of the shortest ASCII word that may be rare: 3. A smaller value takes letters of versions and ids for words.
const RARE_WORD_LEN_MIN: usize = 3;

/// Returns `true` if a word may tell texts apart by its rarity: it is no `v1`, and no mark.
fn may_be_rare(word: &str) -> bool {
    let is_long = word.len() >= RARE_WORD_LEN_MIN;
    is_long && word.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}
