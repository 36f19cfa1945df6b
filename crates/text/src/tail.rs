//! The tail: documents since the last commit, searched in memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use imbl::Vector;
use rustc_hash::FxHashMap;
use tantivy::query::Bm25Weight;

use super::Doc;
use super::analyze::TextField;
use super::candidate::Scored;
use super::error::TextError;
use super::growing::{Growing, Map};
use super::index::TextIndex;
use super::schema::{Analysed, AnyOf, Home};
use super::segment::Location;
use super::signature::Signature;
use super::tokens::Tokens;

/// Largest number of documents that wait for analysis: 16,384. The next search analyses them, in some 0.4 s. A server
/// lets the tail grow to this size; documents that come while it is committed fit in, too, so that no store waits.
const WAITING_MAX: usize = 16_384;

/// Documents that no commit holds yet, some thousands at most.
///
/// They are analysed, counted and scored like committed ones, so a commit does not move them in an answer. The analysis
/// takes place at a search or ahead of it; a store does not wait for it. A version that the tail has closed is still a
/// document, of the index or the tail: a search learns it from `visible`, the statistics from [`Tail::close`]. A clone
/// shares all equal parts.
#[derive(Debug, Default, Clone)]
pub struct Tail {
    docs: Vector<Arc<TailDoc>>,
    /// For each document, `true` if it no longer holds.
    ended: Vector<bool>,
    /// The place of each ordinal's document.
    ordinals: Map<u64, u32>,
    /// Postings and lengths for searches.
    searched: Growing<Searched>,
    /// `true` once there was a search, so that it pays to prepare the next one.
    is_searched: Arc<AtomicBool>,
    /// The number of documents, from the first on, that are analysed for a search or a commit.
    analysed: usize,
    /// The documents of each topic, and of each topic and scope.
    homes: Map<Home, InHome>,
    open_docs: u64,
    /// Every closed ordinal.
    closed: Map<u64, ()>,
    /// The places of the closed ordinals that are in the index.
    closed_in_index: Vec<Location>,
}

/// The structures that searches use, over the analysed documents.
#[derive(Debug, Default, Clone)]
struct Searched {
    /// The number of documents, from the first on, that are included.
    docs: usize,
    /// The lengths of each included document.
    norm_ids: Vector<[u8; 2]>,
    /// The postings of each field.
    postings: [Map<Arc<str>, Vector<Posting>>; 2],
    open_tokens: Tokens,
    all_tokens: Tokens,
    /// The empty postings of a term without documents.
    none: Vector<Posting>,
}

/// The documents of a home.
#[derive(Debug, Default, Clone)]
struct InHome {
    /// The documents of a topic and a scope; empty for a topic alone, which is never asked for.
    docs: Vector<u32>,
    /// The signature of each document, side by side: a store command compares all of them.
    signatures: Vector<Signature>,
    /// The number of documents that hold.
    living: u64,
}

#[derive(Debug)]
struct TailDoc {
    doc: OwnDoc,
    /// The home of its topic, and of its topic with its scope.
    homes: [Home; 2],
    /// The signature of its whole text; empty for a further passage.
    signature: Signature,
    analysed: OnceLock<Analysed>,
}

/// A [`Doc`] that owns its texts.
#[derive(Debug, PartialEq)]
struct OwnDoc {
    ordinal: u64,
    topic: String,
    content: String,
    raw_excerpt: Option<String>,
    keywords: Vec<String>,
    key: Option<String>,
    occurred_at_ms: Option<i64>,
    scope: String,
    stored: Vec<u8>,
    is_further: bool,
}

impl OwnDoc {
    fn of(doc: &Doc<'_>) -> OwnDoc {
        OwnDoc {
            ordinal: doc.ordinal,
            topic: doc.topic.to_owned(),
            content: doc.content.to_owned(),
            raw_excerpt: doc.raw_excerpt.map(str::to_owned),
            keywords: doc.keywords.to_vec(),
            key: doc.key.map(str::to_owned),
            occurred_at_ms: doc.occurred_at_ms,
            scope: doc.scope.to_owned(),
            stored: doc.stored.to_vec(),
            is_further: doc.is_further,
        }
    }

    fn doc(&self) -> Doc<'_> {
        Doc {
            ordinal: self.ordinal,
            topic: &self.topic,
            content: &self.content,
            raw_excerpt: self.raw_excerpt.as_deref(),
            keywords: &self.keywords,
            key: self.key.as_deref(),
            occurred_at_ms: self.occurred_at_ms,
            scope: &self.scope,
            stored: &self.stored,
            whole: None,
            is_further: self.is_further,
        }
    }
}

impl TailDoc {
    fn analysed(&self) -> &Analysed {
        self.analysed.get_or_init(|| Analysed::of(&self.doc.doc()))
    }

    fn passes(&self, filters: &[AnyOf]) -> bool {
        let has = &self.analysed().filters;
        let held = |any_of: &AnyOf| {
            has.iter()
                .any(|held| any_of.terms.iter().any(|it| it == held))
        };
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
    /// Returns an empty tail.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shares the documents that `other` has too: they may be analysed already.
    pub fn share(&mut self, other: &Tail) {
        for doc in self.docs.iter_mut() {
            let there = other.ordinals.get(&doc.doc.ordinal);
            let there = there.map(|at| &other.docs[*at as usize]);
            if let Some(same) = there.filter(|it| it.doc == doc.doc) {
                *doc = Arc::clone(same);
            }
        }
    }

    /// Adds a document. If its ordinal is in the tail already, nothing changes.
    pub fn add(&mut self, doc: &Doc<'_>) {
        let at = u32::try_from(self.docs.len()).expect("a tail of less than 2^32 documents");
        if self.ordinals.contains_key(&doc.ordinal) {
            return;
        }
        self.ordinals.insert(doc.ordinal, at);
        let homes = [None, Some(doc.scope)].map(|scope| Home::of(doc.topic, scope));
        let signature = match doc.is_further {
            true => Signature::default(),
            false => Signature::of(doc.whole.unwrap_or(doc.content)),
        };
        if !doc.is_further {
            for home in homes {
                self.homes.entry(home).or_default().living += 1;
            }
            let scoped = self.homes.entry(homes[1]).or_default();
            scoped.docs.push_back(at);
            scoped.signatures.push_back(signature);
        }
        self.open_docs += 1;
        self.docs.push_back(Arc::new(TailDoc {
            doc: OwnDoc::of(doc),
            homes,
            signature,
            analysed: OnceLock::new(),
        }));
        self.ended.push_back(false);
        let waiting = self.waiting();
        let searched = self.searched.grow_on();
        if waiting > WAITING_MAX {
            searched.add_next(&self.docs, &self.ended, 1);
        }
    }

    /// Prepares for searches and commits: analyses up to `most` documents and, if there was a search or `all` is set,
    /// adds as many to the searched structures. Returns `true` if more is left to do.
    pub fn analyse_ahead(&mut self, most: usize, all: bool) -> bool {
        let mut done = self.analysed.max(self.searched.so_far().docs);
        let end = done.saturating_add(most).min(self.docs.len());
        for doc in self.docs.focus().narrow(done.min(end)..end) {
            doc.analysed();
        }
        done = done.max(end);
        self.analysed = done;
        let waits = done < self.docs.len();
        if !all && !self.is_searched.load(Ordering::Relaxed) {
            return waits;
        }
        let searched = self.searched.grow_on();
        searched.add_next(&self.docs, &self.ended, most);
        searched.docs < self.docs.len()
    }

    /// Returns `true` if [`Tail::analyse_ahead`] has something to do.
    pub fn is_analysis_left(&self, all: bool) -> bool {
        let searched = self.searched.so_far().docs;
        let is_searched = all || self.is_searched.load(Ordering::Relaxed);
        let done = match is_searched {
            true => searched,
            false => self.analysed.max(searched),
        };
        done < self.docs.len()
    }

    /// Returns the number of documents that are not yet in the searched structures.
    pub(crate) fn waiting(&self) -> usize {
        self.docs.len() - self.searched.so_far().docs
    }

    /// Returns the searched structures over all documents.
    fn searched(&self) -> &Searched {
        self.is_searched.store(true, Ordering::Relaxed);
        let all = |searched: &mut Searched| searched.add_next(&self.docs, &self.ended, usize::MAX);
        self.searched.get(all)
    }

    /// Excludes a version that no longer holds from the statistics. `index` is the one that is searched with this tail,
    /// as long as the tail lives.
    pub fn close(&mut self, index: &TextIndex, ordinal: u64) -> Result<(), TextError> {
        // An insert copies a part of a shared map even if it changes nothing.
        if self.closed.contains_key(&ordinal) {
            return Ok(());
        }
        self.closed.insert(ordinal, ());
        match self.ordinals.get(&ordinal) {
            Some(&at) => {
                self.ended[at as usize] = true;
                let doc = &self.docs[at as usize];
                let homes = doc.homes.iter().filter(|_| !doc.doc.is_further);
                for home in homes {
                    if let Some(home) = self.homes.get_mut(home) {
                        home.living -= 1;
                    }
                }
                self.open_docs -= 1;
                let searched = self.searched.grow_on();
                if let Some(norm_ids) = searched.norm_ids.get(at as usize) {
                    searched.open_tokens.remove(*norm_ids);
                }
            }
            None => self.closed_in_index.extend(index.find_live(ordinal)?),
        }
        Ok(())
    }

    /// Returns the documents of the index that were closed in the tail.
    pub(crate) fn closed_in_index(&self) -> &[Location] {
        &self.closed_in_index
    }

    /// Returns the number of documents that hold.
    pub(crate) fn open_len(&self) -> u64 {
        self.open_docs
    }

    /// Returns the number of documents that hold in a topic, or in a topic and a scope.
    pub(crate) fn open_in(&self, home: Home) -> u64 {
        self.homes.get(&home).map_or(0, |home| home.living)
    }

    /// Returns the analysed document of an ordinal.
    pub fn analysed(&self, ordinal: u64) -> Option<&Analysed> {
        let at = *self.ordinals.get(&ordinal)?;
        Some(self.docs[at as usize].analysed())
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Returns `true` without documents.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Returns the tokens of the documents that hold, or of all documents.
    pub(crate) fn tokens(&self, all: bool) -> Tokens {
        match all {
            true => self.searched().all_tokens,
            false => self.searched().open_tokens,
        }
    }

    /// Returns the number of documents with a term, among those that hold or among all.
    pub(crate) fn doc_freq(&self, field: TextField, term: &str, all: bool) -> u64 {
        let searched = self.searched();
        let postings = searched.postings(field, term);
        if all || self.open_docs == self.docs.len() as u64 {
            return postings.len() as u64;
        }
        let counted = |posting: &&Posting| !self.ended[posting.doc as usize];
        postings.filter(counted).count() as u64
    }

    /// Returns the places of the documents of a topic and a scope, with their ordinals and signatures.
    pub(crate) fn in_home(&self, home: Home) -> impl Iterator<Item = (usize, u64, Signature)> {
        let home = self.homes.get(&home).into_iter();
        let docs = home.flat_map(|home| home.docs.iter().zip(&home.signatures));
        docs.map(|(at, signature)| {
            let at = *at as usize;
            (at, self.docs[at].doc.ordinal, *signature)
        })
    }

    /// Returns the signature of the text of an ordinal's document; a further passage has the empty signature.
    pub fn signature(&self, ordinal: u64) -> Option<Signature> {
        let at = *self.ordinals.get(&ordinal)?;
        Some(self.docs[at as usize].signature)
    }

    /// Returns the bytes stored with a document.
    pub(crate) fn stored(&self, at: usize) -> &[u8] {
        &self.docs[at].doc.stored
    }

    /// Returns the documents that hold one of the terms and pass all filters, with their scores.
    pub(crate) fn matches<'q>(
        &self,
        terms: impl Iterator<Item = (TextField, &'q str, &'q Bm25Weight)>,
        filters: &[AnyOf],
    ) -> Vec<TailMatch> {
        let searched = self.searched();
        let mut found: FxHashMap<u32, Scored> = FxHashMap::default();
        for (bit, (field, term, weight)) in terms.enumerate() {
            for posting in searched.postings(field, term) {
                let norm_ids = searched.norm_ids[posting.doc as usize];
                let score = weight.score(norm_ids[field as usize], posting.count);
                let scored = found.entry(posting.doc).or_default();
                scored.score += f64::from(score);
                scored.matched |= 1 << bit;
            }
        }
        found
            .into_iter()
            .map(|(at, scored)| TailMatch {
                at: at as usize,
                ordinal: self.docs[at as usize].doc.ordinal,
                scored,
            })
            .filter(|found| self.docs[found.at].passes(filters))
            .collect()
    }

    /// Returns the place of a version's document.
    pub(crate) fn place_of(&self, ordinal: u64) -> Option<usize> {
        self.ordinals.get(&ordinal).map(|at| *at as usize)
    }

    /// Returns `true` if a document holds a filter term.
    pub(crate) fn passes(&self, at: usize, filter: &str) -> bool {
        let mut has = self.docs[at].analysed().filters.iter();
        has.any(|held| held == filter)
    }

    /// Returns `true` if every document passes all filters.
    pub(crate) fn all_pass(&self, filters: &[AnyOf]) -> bool {
        self.docs.iter().all(|doc| doc.passes(filters))
    }

    /// Returns the versions that pass all filters.
    pub(crate) fn passing(&self, filters: &[AnyOf]) -> Vec<u64> {
        let docs = self.docs.iter().filter(|doc| doc.passes(filters));
        docs.map(|doc| doc.doc.ordinal).collect()
    }
}

impl Searched {
    /// Adds the next documents, at most `most`.
    fn add_next(&mut self, docs: &Vector<Arc<TailDoc>>, ended: &Vector<bool>, most: usize) {
        let end = self.docs.saturating_add(most).min(docs.len());
        let next = self.docs..end;
        let ended = ended.focus().narrow(next.clone());
        for (doc, ended) in docs.focus().narrow(next).into_iter().zip(ended) {
            self.add(doc, *ended);
        }
    }

    /// Adds the next document.
    fn add(&mut self, doc: &TailDoc, ended: bool) {
        let at = u32::try_from(self.docs).expect("a tail of less than 2^32 documents");
        let analysed = doc.analysed();
        let norm_ids = analysed.norm_ids();
        if !ended {
            self.open_tokens.add(norm_ids);
        }
        self.all_tokens.add(norm_ids);
        for (field, terms) in [
            (TextField::Body, &analysed.terms.body),
            (TextField::Exact, &analysed.terms.exact),
        ] {
            let postings = &mut self.postings[field as usize];
            for term in terms.iter() {
                match postings.get_mut(term) {
                    Some(postings) => match postings.back_mut() {
                        Some(last) if last.doc == at => last.count += 1,
                        _ => postings.push_back(Posting { doc: at, count: 1 }),
                    },
                    None => {
                        let first = Posting { doc: at, count: 1 };
                        postings.insert(term.into(), Vector::unit(first));
                    }
                }
            }
        }
        self.norm_ids.push_back(norm_ids);
        self.docs += 1;
    }

    fn postings(&self, field: TextField, term: &str) -> impl ExactSizeIterator<Item = &Posting> {
        let postings = self.postings[field as usize].get(term);
        postings.unwrap_or(&self.none).iter()
    }
}
