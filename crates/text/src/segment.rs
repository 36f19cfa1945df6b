//! Documents within the segments of an index: their places and their stored facts.

use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyError, Term};

use super::analyze::TextField;
use super::error::{Doing, TextError};
use super::schema::{ORDINAL, fields};

/// The place of a document within a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub(crate) segment: usize,
    pub(crate) doc: DocId,
}

/// Returns the place of a version's document.
pub(crate) fn find(tier: &Searcher, ordinal: u64) -> Result<Option<Location>, TextError> {
    let mut found = None;
    find_all(tier, &[ordinal], &mut |_, at| found = Some(at))?;
    Ok(found)
}

/// Gives the places of versions' documents to `take`, for the versions in this tier.
pub(crate) fn find_all(
    tier: &Searcher,
    wanted: &[u64],
    take: &mut dyn FnMut(u64, Location),
) -> Result<(), TextError> {
    for (segment, reader) in tier.segment_readers().iter().enumerate() {
        let ordinals = reader
            .fast_fields()
            .u64(ORDINAL)
            .doing("reading ordinals")?;
        let held = ordinals.min_value()..=ordinals.max_value();
        let mut index = None;
        for ordinal in wanted.iter().filter(|ordinal| held.contains(ordinal)) {
            let index = match &index {
                Some(index) => index,
                None => {
                    let opened = reader.inverted_index(fields().ordinal);
                    &*index.insert(opened.doing("looking for a version")?)
                }
            };
            let term = Term::from_field_u64(fields().ordinal, *ordinal);
            let docs = index
                .read_postings(&term, IndexRecordOption::Basic)
                .map_err(TantivyError::from)
                .doing("looking for a version")?;
            let Some(mut docs) = docs else { continue };
            while docs.doc() != TERMINATED {
                let doc = docs.doc();
                if reader
                    .alive_bitset()
                    .is_none_or(|alive| alive.is_alive(doc))
                {
                    take(*ordinal, Location { segment, doc });
                    break;
                }
                docs.advance();
            }
        }
    }
    Ok(())
}

/// Returns the lengths of a document's text fields, as tantivy keeps them.
pub(crate) fn norm_ids(reader: &SegmentReader, doc: DocId) -> tantivy::Result<[u8; 2]> {
    let mut ids = [0; 2];
    for field in [TextField::Body, TextField::Exact] {
        let norms = reader.get_fieldnorms_reader(fields().text(field))?;
        ids[field as usize] = norms.fieldnorm_id(doc);
    }
    Ok(ids)
}

/// Returns the deleted documents of a segment, ascending.
pub(crate) fn deleted_docs(reader: &SegmentReader) -> Vec<DocId> {
    let mut deleted = Vec::new();
    if let Some(alive) = reader.alive_bitset() {
        let mut next = 0;
        for doc in alive.iter_alive() {
            deleted.extend(next..doc);
            next = doc + 1;
        }
        deleted.extend(next..reader.max_doc());
    }
    deleted
}

pub(crate) fn postings(
    reader: &SegmentReader,
    field: Field,
    term: &Term,
    option: IndexRecordOption,
) -> tantivy::Result<Option<SegmentPostings>> {
    Ok(reader.inverted_index(field)?.read_postings(term, option)?)
}

/// Advances to the first document at or after `doc`, and returns it.
pub(crate) fn seek(postings: &mut SegmentPostings, doc: DocId) -> DocId {
    if postings.doc() < doc {
        postings.seek(doc)
    } else {
        postings.doc()
    }
}
