//! Facts about the segments of the live tier that every store command needs, remembered as long as a segment lives.

use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::SegmentReader;
use tantivy::columnar::Column;
use tantivy::index::SegmentId;

use super::schema::{Home, ORDINAL};

/// Topics and scopes of a segment whose counts are remembered: 4,096, 24 bytes each. A larger value costs memory.
const LIVING_MAX: usize = 4_096;

/// The remembered facts behind their lock.
#[derive(Default)]
pub(super) struct Parts(Mutex<Kept>);

/// The remembered facts of each segment.
#[derive(Default, Clone)]
pub(super) struct Kept {
    parts: FxHashMap<SegmentId, Part>,
}

/// The remembered facts of a segment.
#[derive(Clone)]
pub(super) struct Part {
    /// The ordinals of its documents.
    pub(super) ordinals: Column<u64>,
    /// For each home: the number of deleted documents at the time of the count, and the number of documents that held.
    living: FxHashMap<Home, (u32, u64)>,
}

impl Parts {
    pub(super) fn locked(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets segments that no longer exist.
    pub(super) fn keep(&self, segments: &[SegmentReader]) {
        let mut kept = self.locked();
        let is_there = |id| segments.iter().any(|segment| segment.segment_id() == id);
        kept.parts.retain(|id, _| is_there(*id));
    }

    /// Takes a copy of the facts of `before`.
    pub(super) fn inherit(&self, before: &Parts) {
        let kept = before.locked().clone();
        *self.locked() = kept;
    }
}

impl Kept {
    /// Returns the facts of a segment, which are remembered from now on.
    pub(super) fn of(&mut self, segment: &SegmentReader) -> tantivy::Result<&mut Part> {
        match self.parts.entry(segment.segment_id()) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Part::of(segment)?)),
        }
    }
}

impl Part {
    fn of(segment: &SegmentReader) -> tantivy::Result<Part> {
        Ok(Part {
            ordinals: segment.fast_fields().u64(ORDINAL)?,
            living: FxHashMap::default(),
        })
    }

    /// Returns the number of documents of a home that hold. Calls `count` unless the number is remembered for
    /// `deleted`.
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
