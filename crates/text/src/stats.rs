//! Collection statistics for BM25, common to all tiers.

use rustc_hash::FxHashMap;
use tantivy::query::{Bm25StatisticsProvider, Bm25Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Searcher, SegmentReader, Term};

use super::analyze::{QueryTerm, TextField};
use super::error::{Doing, TextError};
use super::index::TextIndex;
use super::schema::fields;
use super::segment::{norm_ids, postings, seek};
use super::tail::Tail;
use super::tokens::Tokens;

/// BM25's statistics of the versions that hold now, in all tiers and the tail. They are the same for every moment that
/// is asked about, so that scores compare across tiers.
///
/// They are a function of those versions alone: closed versions that still stand in a file are subtracted, so an answer
/// is the same before and after a commit, a merge or a rebuild.
#[derive(Debug, Default)]
pub(crate) struct CollectionStats {
    pub(crate) docs: u64,
    tokens: Tokens,
    doc_freqs: FxHashMap<Term, u64>,
}

/// A word is rare if it is in at most 2 documents, or in at most a 100th of all. A larger `RARE_SHARE` makes fewer
/// words rare.
const RARE_DOCS: u64 = 2;
const RARE_SHARE: u64 = 100;

impl CollectionStats {
    /// Returns the largest number of documents that a rare word is in.
    pub(crate) fn rare_docs(&self) -> u64 {
        RARE_DOCS.max(self.docs / RARE_SHARE)
    }

    /// Counts the documents, and those that hold each of the terms.
    pub(crate) fn gather(
        index: &TextIndex,
        tail: &Tail,
        terms: &[QueryTerm],
    ) -> Result<Self, TextError> {
        let live = index.live_searcher();
        let [deleted, deleted_closed] = index.deleted();
        let mut out = deleted.clone();
        for at in tail.closed_in_index() {
            out[at.segment].push(at.doc);
        }
        for docs in &mut out {
            docs.sort_unstable();
        }
        let [live_tokens, closed_tokens] = index.tokens();
        let mut stats = Self::default();
        stats
            .add_tier(&live, live_tokens, &out, terms)
            .doing("counting terms")?;
        for at in tail.closed_in_index() {
            let segment = &live.segment_readers()[at.segment];
            let norm_ids = norm_ids(segment, at.doc).doing("reading lengths")?;
            stats.tokens.remove(norm_ids);
        }
        stats.add_tail(tail, false, terms);
        if stats.docs > 0 {
            return Ok(stats);
        }
        // All versions are closed: the statistics then cover everything that there ever was.
        let mut stats = Self::default();
        stats
            .add_tier(&live, live_tokens, deleted, terms)
            .doing("counting terms")?;
        stats
            .add_tier(
                &index.closed_searcher(),
                closed_tokens,
                deleted_closed,
                terms,
            )
            .doing("counting terms")?;
        stats.add_tail(tail, true, terms);
        Ok(stats)
    }

    /// Adds the documents of a tier, without those in `out`.
    fn add_tier(
        &mut self,
        tier: &Searcher,
        tokens: Tokens,
        out: &[Vec<DocId>],
        terms: &[QueryTerm],
    ) -> tantivy::Result<()> {
        self.tokens.add_all(tokens);
        for (reader, out) in tier.segment_readers().iter().zip(out) {
            self.docs += u64::from(reader.max_doc()) - out.len() as u64;
            for query_term in terms {
                let freq = doc_freq(reader, query_term, out)?;
                *self.doc_freqs.entry(term_of(query_term)).or_default() += freq;
            }
        }
        Ok(())
    }

    fn add_tail(&mut self, tail: &Tail, all: bool, terms: &[QueryTerm]) {
        self.docs += match all {
            true => tail.len() as u64,
            false => tail.open_len(),
        };
        self.tokens.add_all(tail.tokens(all));
        for query_term in terms {
            let freq = tail.doc_freq(query_term.field, &query_term.term, all);
            *self.doc_freqs.entry(term_of(query_term)).or_default() += freq;
        }
    }

    /// Returns the number of documents that hold a term.
    pub(crate) fn freq(&self, term: &Term) -> u64 {
        self.doc_freqs.get(term).copied().unwrap_or(0)
    }

    /// Returns the average number of tokens in a document.
    pub(crate) fn average_len(&self, field: TextField) -> f32 {
        // Never zero: a collection without tokens has nothing to score, but a closed version may still be scored
        // against it.
        (self.tokens.0[field as usize].max(1)) as f32 / (self.docs.max(1)) as f32
    }

    /// Returns the weight of a term.
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
        Ok(self.tokens.0[field as usize].max(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.docs.max(1))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.freq(term))
    }
}

/// Returns the number of documents of a segment that hold a term and are not in `out`, which ascends.
fn doc_freq(reader: &SegmentReader, query_term: &QueryTerm, out: &[DocId]) -> tantivy::Result<u64> {
    let field = fields().text(query_term.field);
    let term = term_of(query_term);
    if out.is_empty() {
        return Ok(u64::from(reader.inverted_index(field)?.doc_freq(&term)?));
    }
    let Some(mut held) = postings(reader, field, &term, IndexRecordOption::Basic)? else {
        return Ok(0);
    };
    let freq = u64::from(held.doc_freq());
    let gone = out.iter().filter(|&&doc| seek(&mut held, doc) == doc);
    Ok(freq - gone.count() as u64)
}

/// Returns the term in tantivy's form.
pub(crate) fn term_of(query_term: &QueryTerm) -> Term {
    Term::from_field_text(fields().text(query_term.field), &query_term.term)
}
