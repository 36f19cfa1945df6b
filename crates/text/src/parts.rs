//! What stores ask of the segments of the live tier, each time anew: kept as long as a segment lives.

use std::collections::hash_map::Entry;
use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::columnar::Column;
use tantivy::index::SegmentId;
use tantivy::postings::TermInfo;
use tantivy::{InvertedIndexReader, SegmentReader, Term};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::analyze::TextField;
use super::marks::Marks;
use super::schema::{HOME, Home, MARKS, ORDINAL, fields};

/// Words of a segment whose places are kept, and homes whose documents are counted: about half a megabyte of a large
/// segment.
const PLACES_MAX: usize = 8_192;
const LIVING_MAX: usize = 4_096;

/// What is kept, for one at a time.
#[derive(Default)]
pub(super) struct Parts(Mutex<Kept>);

/// What is kept of each segment.
#[derive(Default)]
pub(super) struct Kept {
    parts: FxHashMap<SegmentId, Part>,
    homes: FxHashMap<SegmentId, Arc<Homes>>,
    /// Near texts were looked for already: so they will be again.
    was_asked: bool,
}

/// A segment.
pub(super) struct Part {
    /// By field of a word.
    words: [Arc<InvertedIndexReader>; 2],
    /// Of its documents.
    pub(super) ordinals: Column<u64>,
    pub(super) homes: Column<u64>,
    marks: [Column<u64>; 2],
    /// Where the words are that were asked about lately, by their hashes.
    places: FxHashMap<u64, Option<TermInfo>>,
    /// How many documents of a home hold, and of how many deleted ones this tells.
    living: FxHashMap<Home, (u32, u64)>,
}

/// The documents of a segment by their homes, also those that were deleted, with their marks: 32 bytes each.
pub(super) struct Homes(Vec<(Home, u32, Marks)>);

impl Parts {
    pub(super) fn locked(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets segments that are no longer there.
    pub(super) fn keep(&self, segments: &[SegmentReader]) {
        let mut kept = self.locked();
        let is_there = |id| segments.iter().any(|segment| segment.segment_id() == id);
        kept.parts.retain(|id, _| is_there(*id));
        kept.homes.retain(|id, _| is_there(*id));
    }

    /// Sorts the documents of all segments by their homes, where that is asked for.
    pub(super) fn sort_homes(&self, segments: &[SegmentReader]) -> tantivy::Result<()> {
        let mut kept = self.locked();
        if kept.was_asked {
            for segment in segments {
                kept.homes(segment)?;
            }
        }
        Ok(())
    }

    /// Takes the sorted documents of another one, which keeps them.
    pub(super) fn inherit(&self, before: &Parts) {
        let (homes, was_asked) = {
            let before = before.locked();
            (before.homes.clone(), before.was_asked)
        };
        let mut kept = self.locked();
        (kept.homes, kept.was_asked) = (homes, was_asked);
    }
}

impl Kept {
    /// What is kept of a segment, or is from now on.
    pub(super) fn of(&mut self, segment: &SegmentReader) -> tantivy::Result<&mut Part> {
        match self.parts.entry(segment.segment_id()) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Part::of(segment)?)),
        }
    }

    /// The documents of a segment by their homes.
    pub(super) fn homes(&mut self, segment: &SegmentReader) -> tantivy::Result<Arc<Homes>> {
        if let Some(homes) = self.homes.get(&segment.segment_id()) {
            return Ok(Arc::clone(homes));
        }
        let homes = Arc::new(Homes::of(self.of(segment)?, segment.max_doc()));
        self.homes.insert(segment.segment_id(), Arc::clone(&homes));
        Ok(homes)
    }

    /// Whether near texts are not looked for the first time: a process that stores once need not sort all documents.
    pub(super) fn is_asked_again(&mut self) -> bool {
        replace(&mut self.was_asked, true)
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
            marks: [column(MARKS[0])?, column(MARKS[1])?],
            places: FxHashMap::default(),
            living: FxHashMap::default(),
        })
    }

    /// The marks of a document.
    pub(super) fn marks_of(&self, doc: u32) -> Option<Marks> {
        let [lower, upper] = &self.marks;
        Some(Marks::from_halves([lower.first(doc)?, upper.first(doc)?]))
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

impl Homes {
    fn of(part: &Part, docs: u32) -> Homes {
        let row = |doc| {
            let home = part.homes.first(doc)?;
            Some((Home(home), doc, part.marks_of(doc)?))
        };
        let mut rows: Vec<_> = (0..docs).filter_map(row).collect();
        rows.sort_unstable_by_key(|(home, doc, _)| (home.0, *doc));
        Homes(rows)
    }

    /// The documents of a home, and their marks.
    pub(super) fn documents(&self, home: Home) -> impl Iterator<Item = (u32, Marks)> {
        let from = self.0.partition_point(|row| row.0.0 < home.0);
        let here = self.0[from..].iter().take_while(move |row| row.0 == home);
        here.map(|(_, doc, marks)| (*doc, *marks))
    }
}
