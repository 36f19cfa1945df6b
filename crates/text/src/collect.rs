//! The best visible documents of a tier.

use tantivy::columnar::Column;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{Bm25Weight, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocId, SegmentReader, TERMINATED, Term};

use super::analyze::TextField;
use super::candidate::{Best, Place, Scored};
use super::schema::{AnyOf, ORDINAL, fields};
use super::segment::{postings, seek};
use super::stats::CollectionStats;

/// A filter is narrow if it lets through at most this many documents of a segment (256), or at most this part of them
/// (a 32nd). A narrow filter's documents are scored one by one; with a wider filter, matching documents are checked.
/// Larger counts make more filters narrow.
const NARROW_DOCS: usize = 256;
const NARROW_SHARE: usize = 32;

/// A term, its weight, and the field that it is in.
pub(crate) struct WeightedTerm {
    pub(crate) term: Term,
    pub(crate) field: TextField,
    pub(crate) weight: Bm25Weight,
}

/// The caller's view of versions, by their ordinals.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// Returns `true` for a version that may be in the answer.
    pub visible: &'a dyn Fn(u64) -> bool,
    /// Returns the number that orders equally good versions: the smaller comes first.
    pub tie: &'a dyn Fn(u64) -> u128,
}

/// The inputs of the search of one tier.
pub(crate) struct Search<'a> {
    pub(crate) tier: usize,
    /// The query in the form that searches a whole segment.
    pub(crate) query: &'a dyn Weight,
    /// The same query, in the form that scores single documents.
    pub(crate) terms: &'a [&'a WeightedTerm],
    pub(crate) filters: &'a [AnyOf<Term>],
    pub(crate) stats: &'a CollectionStats,
    pub(crate) sight: Sight<'a>,
}

impl Search<'_> {
    /// Offers the documents of a segment that match, pass the filters and are visible.
    ///
    /// Block-max WAND stays on: it skips documents that cannot reach the floor, and the others are checked here.
    pub(crate) fn segment(
        &self,
        segment: usize,
        reader: &SegmentReader,
        best: &mut Best,
    ) -> tantivy::Result<()> {
        let ordinals = reader.fast_fields().u64(ORDINAL)?;
        let allowed = match allowed(reader, self.filters)? {
            Allowed::Few(docs) => return self.few(segment, reader, docs, &ordinals, best),
            Allowed::Many(docs) => Some(docs),
            Allowed::All => None,
        };
        let alive = reader.alive_bitset();
        let slack = self.slack(reader)?;
        let mut floor = best.floor() / slack;
        self.query
            .for_each_pruning(floor, reader, &mut |doc, score| {
                let passes = allowed.as_ref().is_none_or(|allowed| allowed.contains(doc))
                    && alive.is_none_or(|alive| alive.is_alive(doc));
                if passes
                    && let Some(ordinal) = ordinals.first(doc)
                    && (self.sight.visible)(ordinal)
                {
                    let tier = self.tier;
                    let place = Place::Tier { tier, segment, doc };
                    best.offer(f64::from(score), ordinal, (self.sight.tie)(ordinal), place);
                    floor = best.floor() / slack;
                }
                floor
            })
    }

    /// Offers the documents of a narrow filter, scoring each one.
    fn few(
        &self,
        segment: usize,
        reader: &SegmentReader,
        mut docs: Vec<DocId>,
        ordinals: &Column<u64>,
        best: &mut Best,
    ) -> tantivy::Result<()> {
        let alive = reader.alive_bitset();
        docs.retain(|&doc| {
            alive.is_none_or(|alive| alive.is_alive(doc))
                && ordinals.first(doc).is_some_and(self.sight.visible)
        });
        for (&doc, scored) in docs.iter().zip(score_docs(reader, &docs, self.terms)?) {
            if scored.matched != 0
                && let Some(ordinal) = ordinals.first(doc)
            {
                let tier = self.tier;
                let place = Place::Tier { tier, segment, doc };
                best.offer(scored.score, ordinal, (self.sight.tie)(ordinal), place);
            }
        }
        Ok(())
    }

    /// Returns the factor by which a block of this segment can score above the bound written with it.
    ///
    /// tantivy stores, for each block, the document that scores best at the *segment's* average length. At the
    /// collection's average another document may be the best. With s = tf / (tf + k (1 - b + b len / avg)), the ratio
    /// of the two scores is at most the ratio of the averages. Dividing the floor by that ratio keeps the pruning
    /// exact.
    fn slack(&self, reader: &SegmentReader) -> tantivy::Result<f32> {
        let mut slack = 1.0_f32;
        for field in [TextField::Body, TextField::Exact] {
            let tokens = reader
                .inverted_index(fields().text(field))?
                .total_num_tokens();
            if tokens > 0 {
                let average = tokens as f32 / reader.max_doc().max(1) as f32;
                let ratio = average / self.stats.average_len(field);
                slack = slack.max(ratio).max(1.0 / ratio);
            }
        }
        Ok(slack)
    }
}

/// Scores documents one by one. The sum is the same and in the same order each time, so that the answer does not depend
/// on the layout of segments. `docs` ascend.
pub(crate) fn score_docs(
    reader: &SegmentReader,
    docs: &[DocId],
    terms: &[&WeightedTerm],
) -> tantivy::Result<Vec<Scored>> {
    let mut scored = vec![Scored::default(); docs.len()];
    if docs.is_empty() {
        return Ok(scored);
    }
    for (bit, term) in terms.iter().enumerate() {
        let field = fields().text(term.field);
        let Some(mut postings) = postings(reader, field, &term.term, IndexRecordOption::WithFreqs)?
        else {
            continue;
        };
        let norms = reader.get_fieldnorms_reader(field)?;
        for (&doc, scored) in docs.iter().zip(&mut scored) {
            if seek(&mut postings, doc) == doc {
                let score = term
                    .weight
                    .score(norms.fieldnorm_id(doc), postings.term_freq());
                scored.score += f64::from(score);
                scored.matched |= 1 << bit;
            }
        }
    }
    Ok(scored)
}

/// The documents that pass the filters, deleted ones included.
enum Allowed {
    All,
    Few(Vec<DocId>),
    Many(BitSet),
}

fn allowed(reader: &SegmentReader, filters: &[AnyOf<Term>]) -> tantivy::Result<Allowed> {
    let Some(docs) = filtered(reader, filters)? else {
        return Ok(Allowed::All);
    };
    let max_doc = reader.max_doc();
    if docs.len() <= NARROW_DOCS.max(max_doc as usize / NARROW_SHARE) {
        return Ok(Allowed::Few(docs));
    }
    let mut bits = BitSet::with_max_value(max_doc);
    for doc in docs {
        bits.insert(doc);
    }
    Ok(Allowed::Many(bits))
}

/// Returns the documents that hold one term of each filter, deleted ones included; `None` if all documents do.
pub(crate) fn filtered(
    reader: &SegmentReader,
    filters: &[AnyOf<Term>],
) -> tantivy::Result<Option<Vec<DocId>>> {
    let mut lists = Vec::new();
    for any_of in filters {
        let list = Union::of(reader, any_of)?;
        if list.holds_all(reader.max_doc()) {
            continue;
        }
        lists.push(list);
    }
    lists.sort_by_key(Union::len);
    let Some((narrowest, others)) = lists.split_first_mut() else {
        return Ok(None);
    };
    let mut docs = Vec::new();
    let mut doc = narrowest.seek(0);
    while doc != TERMINATED {
        if others.iter_mut().all(|list| list.seek(doc) == doc) {
            docs.push(doc);
        }
        doc = narrowest.seek(doc + 1);
    }
    Ok(Some(docs))
}

/// The documents that hold one of several terms.
struct Union {
    lists: Vec<SegmentPostings>,
    are_apart: bool,
}

impl Union {
    fn of(reader: &SegmentReader, any_of: &AnyOf<Term>) -> tantivy::Result<Union> {
        let mut lists = Vec::with_capacity(any_of.terms.len());
        for term in &any_of.terms {
            lists.extend(postings(
                reader,
                fields().filter,
                term,
                IndexRecordOption::Basic,
            )?);
        }
        Ok(Union {
            lists,
            are_apart: any_of.are_apart,
        })
    }

    /// Returns the number of documents; if some hold several of the terms, these count for each.
    fn len(&self) -> u64 {
        let lists = self.lists.iter();
        lists.map(|list| u64::from(list.doc_freq())).sum()
    }

    /// Returns `true` if it is known without a walk that all documents of a segment are in the union.
    fn holds_all(&self, max_doc: DocId) -> bool {
        match self.are_apart {
            true => self.len() == u64::from(max_doc),
            false => self.lists.iter().any(|list| list.doc_freq() == max_doc),
        }
    }

    /// Advances to the first document at or after `doc`, and returns it.
    fn seek(&mut self, doc: DocId) -> DocId {
        let next = self.lists.iter_mut().map(|list| seek(list, doc));
        next.min().unwrap_or(TERMINATED)
    }
}

/// Returns the versions of a segment that pass the filters, deleted ones included; `None` if all do.
pub(crate) fn passing(
    reader: &SegmentReader,
    filters: &[AnyOf<Term>],
) -> tantivy::Result<Option<Vec<u64>>> {
    let ordinals = reader.fast_fields().u64(ORDINAL)?;
    let docs = filtered(reader, filters)?;
    Ok(docs.map(|docs| {
        docs.into_iter()
            .filter_map(|doc| ordinals.first(doc))
            .collect()
    }))
}

/// Returns every version of a segment, deleted ones included.
pub(crate) fn all_ordinals(reader: &SegmentReader) -> tantivy::Result<Vec<u64>> {
    let ordinals = reader.fast_fields().u64(ORDINAL)?;
    Ok((0..reader.max_doc())
        .filter_map(|doc| ordinals.first(doc))
        .collect())
}
