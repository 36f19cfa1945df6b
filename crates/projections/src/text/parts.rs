//! What stores ask of the segments of the live tier, each time anew: kept as long as a segment lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::columnar::Column;
use tantivy::index::SegmentId;
use tantivy::postings::TermInfo;
use tantivy::{InvertedIndexReader, SegmentReader, Term};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::analyze::TextField;
use super::schema::{HOME, Home, MARKS, ORDINAL, fields};

/// Words of a segment whose places are kept, and homes whose documents are counted: about half a megabyte of a large
/// segment.
const PLACES_MAX: usize = 8_192;
const LIVING_MAX: usize = 4_096;

/// What is kept of each segment.
#[derive(Default)]
pub(super) struct Parts(Mutex<FxHashMap<SegmentId, Part>>);

/// A segment.
pub(super) struct Part {
    /// By field of a word.
    words: [Arc<InvertedIndexReader>; 2],
    /// Of its documents.
    pub(super) ordinals: Column<u64>,
    pub(super) homes: Column<u64>,
    pub(super) marks: Column<u64>,
    /// Where the words are that were asked about lately, by their hashes.
    places: FxHashMap<u64, Option<TermInfo>>,
    /// How many documents of a home hold, and of how many deleted ones this tells.
    living: FxHashMap<Home, (u32, u64)>,
}

impl Parts {
    pub(super) fn locked(&self) -> MutexGuard<'_, FxHashMap<SegmentId, Part>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets segments that are no longer there.
    pub(super) fn keep(&self, segments: &[SegmentReader]) {
        let mut parts = self.locked();
        parts.retain(|id, _| segments.iter().any(|segment| segment.segment_id() == *id));
    }
}

/// What is kept of a segment, or is from now on.
pub(super) fn part<'p>(
    parts: &'p mut FxHashMap<SegmentId, Part>,
    segment: &SegmentReader,
) -> tantivy::Result<&'p mut Part> {
    use std::collections::hash_map::Entry;
    match parts.entry(segment.segment_id()) {
        Entry::Occupied(there) => Ok(there.into_mut()),
        Entry::Vacant(place) => Ok(place.insert(Part::of(segment)?)),
    }
}

impl Part {
    fn of(segment: &SegmentReader) -> tantivy::Result<Part> {
        let words = |field| segment.inverted_index(fields().text(field));
        let column = |name| segment.fast_fields().u64(name);
        Ok(Part {
            words: [words(TextField::Body)?, words(TextField::Exact)?],
            ordinals: column(ORDINAL)?,
            homes: column(HOME)?,
            marks: column(MARKS)?,
            places: FxHashMap::default(),
            living: FxHashMap::default(),
        })
    }

    /// The lists of a field.
    pub(super) fn lists(&self, field: TextField) -> &InvertedIndexReader {
        &self.words[field as usize]
    }

    /// Where the list of a word as it is in a field lies.
    pub(super) fn place(
        &mut self,
        field: TextField,
        word: &str,
    ) -> tantivy::Result<Option<TermInfo>> {
        let hash = xxh3_64_with_seed(word.as_bytes(), field as u64);
        if let Some(place) = self.places.get(&hash) {
            return Ok(place.clone());
        }
        let term = Term::from_field_text(fields().text(field), word);
        let place = self.words[field as usize].get_term_info(&term)?;
        if self.places.len() >= PLACES_MAX {
            self.places.clear();
        }
        self.places.insert(hash, place.clone());
        Ok(place)
    }

    /// How many documents of a home hold, counted by `count` where `deleted` are more than when they were counted.
    pub(super) fn living(
        &mut self,
        home: Home,
        deleted: u32,
        count: impl FnOnce() -> tantivy::Result<u64>,
    ) -> tantivy::Result<u64> {
        if let Some((then, living)) = self.living.get(&home)
            && *then == deleted
        {
            return Ok(*living);
        }
        let living = count()?;
        if self.living.len() >= LIVING_MAX {
            self.living.clear();
        }
        self.living.insert(home, (deleted, living));
        Ok(living)
    }
}
