//! What was learned since the last commit, searched in memory.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::query::Bm25Weight;

use super::analyze::TextField;
use super::collect::Scored;
use super::index::{Location, TextIndex};
use super::schema::{Analysed, Home};
use super::search::AnyOf;
use super::stats::Tokens;
use super::{Doc, TextError};

/// Documents that no commit holds yet, a few thousand at most.
///
/// They are analysed, counted and scored as they will be once committed, so a commit does
/// not move them in an answer. A version that the tail has closed is still a document, of
/// the index or the tail: `visible` says so to a search, and [`Tail::close`] to the statistics.
#[derive(Debug, Default, Clone)]
pub struct Tail {
    docs: Vec<TailDoc>,
    /// Where the document of an ordinal is.
    ordinals: FxHashMap<u64, u32>,
    /// By field.
    postings: [FxHashMap<Box<str>, Vec<Posting>>; 2],
    /// How many of each home hold.
    living: FxHashMap<Home, u64>,
    open_docs: u64,
    open_tokens: Tokens,
    all_tokens: Tokens,
    /// Every ordinal that was closed.
    closed: FxHashSet<u64>,
    /// Those of them that are in the index.
    closed_in_index: Vec<Location>,
}

#[derive(Debug, Clone)]
struct TailDoc {
    norm_ids: [u8; 2],
    closed: bool,
    analysed: Analysed,
}

impl TailDoc {
    fn passes(&self, filters: &[AnyOf]) -> bool {
        let has = &self.analysed.filters;
        let held = |any_of: &AnyOf| has.iter().any(|held| any_of.iter().any(|it| it == held));
        filters.iter().all(held)
    }
}

#[derive(Debug, Clone, Copy)]
struct Posting {
    doc: u32,
    count: u32,
}

/// A document of the tail that matches some terms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TailMatch {
    pub(crate) at: usize,
    pub(crate) ordinal: u64,
    pub(crate) scored: Scored,
}

impl Tail {
    /// An empty tail.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document. One whose ordinal is here already is left as it is.
    pub fn add(&mut self, doc: &Doc<'_>) {
        let at = u32::try_from(self.docs.len()).expect("a tail of less than 2^32 documents");
        match self.ordinals.entry(doc.ordinal) {
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => place.insert(at),
        };
        let analysed = Analysed::of(doc);
        let norm_ids = analysed.norm_ids();
        self.open_docs += 1;
        self.open_tokens.add(norm_ids);
        self.all_tokens.add(norm_ids);
        for (field, terms) in [
            (TextField::Body, &analysed.terms.body),
            (TextField::Exact, &analysed.terms.exact),
        ] {
            let field = field as usize;
            for term in terms.iter() {
                match self.postings[field].get_mut(term) {
                    Some(postings) => match postings.last_mut() {
                        Some(last) if last.doc == at => last.count += 1,
                        _ => postings.push(Posting { doc: at, count: 1 }),
                    },
                    None => {
                        let first = vec![Posting { doc: at, count: 1 }];
                        self.postings[field].insert(term.into(), first);
                    }
                }
            }
        }
        for home in analysed.homes {
            *self.living.entry(home).or_default() += 1;
        }
        self.docs.push(TailDoc {
            norm_ids,
            closed: false,
            analysed,
        });
    }

    /// Leaves a version out of the statistics: it no longer holds. `index` is the one that is
    /// searched with this tail, as long as the tail lives.
    pub fn close(&mut self, index: &TextIndex, ordinal: u64) -> Result<(), TextError> {
        if !self.closed.insert(ordinal) {
            return Ok(());
        }
        match self.ordinals.get(&ordinal) {
            Some(&at) => {
                let doc = &mut self.docs[at as usize];
                doc.closed = true;
                for home in doc.analysed.homes {
                    if let Some(living) = self.living.get_mut(&home) {
                        *living -= 1;
                    }
                }
                self.open_docs -= 1;
                self.open_tokens.remove(doc.norm_ids);
            }
            None => self.closed_in_index.extend(index.find_live(ordinal)?),
        }
        Ok(())
    }

    /// How many versions were closed.
    pub(crate) fn closed_len(&self) -> usize {
        self.closed.len()
    }

    /// Documents of the index that were closed here.
    pub(crate) fn closed_in_index(&self) -> &[Location] {
        &self.closed_in_index
    }

    /// How many of its documents hold.
    pub(crate) fn open_len(&self) -> u64 {
        self.open_docs
    }

    /// How many of those are of a topic, or of a topic and a scope.
    pub(crate) fn open_in(&self, home: Home) -> u64 {
        self.living.get(&home).copied().unwrap_or(0)
    }

    /// The document of an ordinal, as it was analysed.
    pub(crate) fn analysed(&self, ordinal: u64) -> Option<&Analysed> {
        let at = *self.ordinals.get(&ordinal)?;
        Some(&self.docs[at as usize].analysed)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The tokens of the documents that hold, or of all.
    pub(crate) fn tokens(&self, all: bool) -> Tokens {
        match all {
            true => self.all_tokens,
            false => self.open_tokens,
        }
    }

    /// The number of documents with a term, among those that hold or among all.
    pub(crate) fn doc_freq(&self, field: TextField, term: &str, all: bool) -> u64 {
        let postings = self.postings(field, term);
        if all || self.open_docs == self.docs.len() as u64 {
            return postings.len() as u64;
        }
        let counted = |posting: &&Posting| !self.docs[posting.doc as usize].closed;
        postings.iter().filter(counted).count() as u64
    }

    /// The documents with a word as it is in a field: where they are, and what they are told apart by.
    pub(crate) fn with_word(
        &self,
        field: TextField,
        word: &str,
    ) -> impl Iterator<Item = (usize, &Analysed)> {
        let at = |posting: &Posting| posting.doc as usize;
        let places = self.postings(field, word).iter().map(at);
        places.map(|at| (at, &self.docs[at].analysed))
    }

    /// The bytes given with a document.
    pub(crate) fn stored(&self, at: usize) -> &[u8] {
        &self.docs[at].analysed.stored
    }

    /// The documents that hold one of the terms and all of the filters, with their scores.
    pub(crate) fn matches<'q>(
        &self,
        terms: impl Iterator<Item = (TextField, &'q str, &'q Bm25Weight)>,
        filters: &[AnyOf],
    ) -> Vec<TailMatch> {
        let mut found: FxHashMap<u32, Scored> = FxHashMap::default();
        for (bit, (field, term, weight)) in terms.enumerate() {
            for posting in self.postings(field, term) {
                let doc = &self.docs[posting.doc as usize];
                let score = weight.score(doc.norm_ids[field as usize], posting.count);
                let scored = found.entry(posting.doc).or_default();
                scored.score += f64::from(score);
                scored.matched |= 1 << bit;
            }
        }
        found
            .into_iter()
            .map(|(at, scored)| TailMatch {
                at: at as usize,
                ordinal: self.docs[at as usize].analysed.ordinal,
                scored,
            })
            .filter(|found| self.docs[found.at].passes(filters))
            .collect()
    }

    /// Where the document of a version is.
    pub(crate) fn place_of(&self, ordinal: u64) -> Option<usize> {
        self.ordinals.get(&ordinal).map(|at| *at as usize)
    }

    /// Whether a document holds a filter.
    pub(crate) fn passes(&self, at: usize, filter: &str) -> bool {
        let mut has = self.docs[at].analysed.filters.iter();
        has.any(|held| held == filter)
    }

    /// Whether every document holds all of the filters.
    pub(crate) fn all_pass(&self, filters: &[AnyOf]) -> bool {
        self.docs.iter().all(|doc| doc.passes(filters))
    }

    /// The versions that hold all of the filters.
    pub(crate) fn passing(&self, filters: &[AnyOf]) -> Vec<u64> {
        let docs = self.docs.iter().filter(|doc| doc.passes(filters));
        docs.map(|doc| doc.analysed.ordinal).collect()
    }

    fn postings(&self, field: TextField, term: &str) -> &[Posting] {
        self.postings[field as usize]
            .get(term)
            .map_or(&[], Vec::as_slice)
    }
}
