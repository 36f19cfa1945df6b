//! What was learned since the last commit, searched in memory.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::Bm25Weight;

use super::Doc;
use super::analyze::TextField;
use super::collect::Scored;
use super::schema::{doc_filters, doc_terms};

/// Documents that no commit holds yet, a few thousand at most.
///
/// They are analysed, counted and scored as they will be once committed, so a commit does
/// not move them in an answer. A version that the tail has closed still stands in the
/// index; the caller's `visible` says so.
#[derive(Debug, Default)]
pub struct Tail {
    docs: Vec<TailDoc>,
    ordinals: FxHashSet<u64>,
    postings: FxHashMap<(TextField, String), Vec<Posting>>,
    tokens: [u64; 2],
}

#[derive(Debug)]
struct TailDoc {
    ordinal: u64,
    norm_ids: [u8; 2],
    filters: BTreeSet<String>,
    stored: Vec<u8>,
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
        if !self.ordinals.insert(doc.ordinal) {
            return;
        }
        let at = u32::try_from(self.docs.len()).expect("a tail of less than 2^32 documents");
        let terms = doc_terms(doc);
        let mut norm_ids = [0; 2];
        for (field, terms) in [
            (TextField::Body, terms.body),
            (TextField::Exact, terms.exact),
        ] {
            self.tokens[field as usize] += terms.len() as u64;
            norm_ids[field as usize] =
                FieldNormReader::fieldnorm_to_id(u32::try_from(terms.len()).unwrap_or(u32::MAX));
            for term in terms {
                let postings = self.postings.entry((field, term)).or_default();
                match postings.last_mut() {
                    Some(last) if last.doc == at => last.count += 1,
                    _ => postings.push(Posting { doc: at, count: 1 }),
                }
            }
        }
        self.docs.push(TailDoc {
            ordinal: doc.ordinal,
            norm_ids,
            filters: doc_filters(doc).into_iter().collect(),
            stored: doc.stored.to_vec(),
        });
    }

    /// Takes every document out, after a commit that holds them.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The number of tokens of a field over all documents.
    pub(crate) fn total_tokens(&self, field: TextField) -> u64 {
        self.tokens[field as usize]
    }

    /// The number of documents that hold a term.
    pub(crate) fn doc_freq(&self, field: TextField, term: &str) -> u64 {
        self.postings(field, term).len() as u64
    }

    /// The bytes given with a document.
    pub(crate) fn stored(&self, at: usize) -> &[u8] {
        &self.docs[at].stored
    }

    /// The documents that hold one of the terms and all of the filters, with their scores.
    pub(crate) fn matches<'q>(
        &self,
        terms: impl Iterator<Item = (TextField, &'q str, &'q Bm25Weight)>,
        filters: &[String],
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
                ordinal: self.docs[at as usize].ordinal,
                scored,
            })
            .filter(|found| {
                filters
                    .iter()
                    .all(|f| self.docs[found.at].filters.contains(f))
            })
            .collect()
    }

    fn postings(&self, field: TextField, term: &str) -> &[Posting] {
        // A query has few terms, so a key made for each look-up costs nothing.
        self.postings
            .get(&(field, term.to_owned()))
            .map_or(&[], Vec::as_slice)
    }
}
