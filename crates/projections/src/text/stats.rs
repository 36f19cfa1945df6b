//! One set of collection statistics for every tier.

use rustc_hash::FxHashMap;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use super::Tail;
use super::analyze::{QueryTerm, TextField};
use super::schema::fields;

/// What BM25 needs to know of a collection: the live tier and the tail, also when closed
/// versions are searched, so that scores compare across tiers.
///
/// The counts of the live tier include versions that were closed until their segment is
/// merged, and a version that the tail replaces counts twice until the commit. So the same
/// memories can rank a little differently before and after a commit that closes some, or
/// after a rebuild; which of them match never changes.
#[derive(Debug)]
pub(crate) struct CollectionStats {
    pub(crate) docs: u64,
    pub(crate) tokens: [u64; 2],
    doc_freqs: FxHashMap<Term, u64>,
}

impl CollectionStats {
    /// Counts the documents, and those that hold each of the terms.
    pub(crate) fn gather(
        live: &Searcher,
        closed: Option<&Searcher>,
        tail: &Tail,
        terms: &[QueryTerm],
    ) -> tantivy::Result<Self> {
        let of_live = Self::of_tier(live, Some(tail), terms)?;
        match closed {
            // Everything has been closed: its own counts are the only ones there are.
            Some(closed) if of_live.docs == 0 => Self::of_tier(closed, None, terms),
            _ => Ok(of_live),
        }
    }

    fn of_tier(tier: &Searcher, tail: Option<&Tail>, terms: &[QueryTerm]) -> tantivy::Result<Self> {
        let docs = tier.total_num_docs()? + tail.map_or(0, |tail| tail.len() as u64);
        let mut tokens = [0; 2];
        for field in [TextField::Body, TextField::Exact] {
            tokens[field as usize] = tier.total_num_tokens(fields().text(field))?
                + tail.map_or(0, |tail| tail.total_tokens(field));
        }
        let mut doc_freqs = FxHashMap::default();
        for query_term in terms {
            let term = term_of(query_term);
            let doc_freq = tier.doc_freq(&term)?
                + tail.map_or(0, |tail| tail.doc_freq(query_term.field, &query_term.term));
            doc_freqs.insert(term, doc_freq);
        }
        Ok(Self {
            docs,
            tokens,
            doc_freqs,
        })
    }

    /// The number of documents that hold a term.
    pub(crate) fn freq(&self, term: &Term) -> u64 {
        self.doc_freqs.get(term).copied().unwrap_or(0)
    }

    /// Tokens a document, on average.
    pub(crate) fn average_len(&self, field: TextField) -> f32 {
        // Never zero: a collection without tokens has nothing to score, but a closed
        // version may still be scored against it.
        (self.tokens[field as usize].max(1)) as f32 / (self.docs.max(1)) as f32
    }

    /// The weight of a term.
    pub(crate) fn weight(&self, field: TextField, term: &Term) -> Bm25Weight {
        Bm25Weight::for_one_term_without_explain(
            self.freq(term),
            self.docs.max(1),
            self.average_len(field),
        )
    }
}

impl Bm25StatisticsProvider for CollectionStats {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let field = if field == fields().body {
            TextField::Body
        } else {
            TextField::Exact
        };
        Ok(self.tokens[field as usize].max(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.docs.max(1))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.freq(term))
    }
}

/// The term as tantivy spells it.
pub(crate) fn term_of(query_term: &QueryTerm) -> Term {
    Term::from_field_text(fields().text(query_term.field), &query_term.term)
}
