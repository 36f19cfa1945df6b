//! What stores ask of the segments of the live tier, each time anew: kept as long as a segment lives.

use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::SegmentReader;
use tantivy::columnar::Column;
use tantivy::index::SegmentId;

use super::schema::{Home, ORDINAL};

/// Homes of a segment whose documents are counted: 24 bytes each.
const LIVING_MAX: usize = 4_096;

/// What is kept, for one at a time.
#[derive(Default)]
pub(super) struct Parts(Mutex<Kept>);

/// What is kept of each segment.
#[derive(Default, Clone)]
pub(super) struct Kept {
    parts: FxHashMap<SegmentId, Part>,
}

/// A segment.
#[derive(Clone)]
pub(super) struct Part {
    /// Of its documents.
    pub(super) ordinals: Column<u64>,
    /// How many documents of a home hold, and of how many deleted ones this tells.
    living: FxHashMap<Home, (u32, u64)>,
}

impl Parts {
    pub(super) fn locked(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets segments that are no longer there.
    pub(super) fn keep(&self, segments: &[SegmentReader]) {
        let mut kept = self.locked();
        let is_there = |id| segments.iter().any(|segment| segment.segment_id() == id);
        kept.parts.retain(|id, _| is_there(*id));
    }

    /// Takes a copy of what another one has kept.
    pub(super) fn inherit(&self, before: &Parts) {
        let kept = before.locked().clone();
        *self.locked() = kept;
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
}

impl Part {
    fn of(segment: &SegmentReader) -> tantivy::Result<Part> {
        Ok(Part {
            ordinals: segment.fast_fields().u64(ORDINAL)?,
            living: FxHashMap::default(),
        })
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
