//! Growing a graph, by usearch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::{Body, EXPANSION_SEARCH, Graph, links_of};
use crate::error::{Result, VectorError};
use crate::format::bad;
use crate::matrix::Matrix;

/// Neighbours of a row; twice as many on the lowest level.
const CONNECTIVITY: usize = 16;
/// Rows that are kept in sight while one is added.
const EXPANSION_ADD: usize = 128;
/// Rows added between two questions whether to go on.
const WATCH_ROWS: u64 = 16;
/// Bytes of a place.
const PLACE_LEN: usize = 4;

impl Graph {
    /// Covers the first `count` rows, or all that there were when it was made. `watch` is told now and then how
    /// many are covered and says whether to go on; if not, there is no graph.
    ///
    /// # Errors
    /// `Unusable` where usearch fails.
    ///
    /// # Panics
    /// With no threads; after [`Graph::settle`].
    pub fn grow(
        mut self,
        count: u64,
        threads: usize,
        watch: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Option<Graph>> {
        assert!(threads > 0, "somebody has to do it");
        let count = count.min(self.rows.count());
        if count <= self.covered {
            return Ok(Some(self));
        }
        let index = self.index()?;
        index
            .reserve_capacity_and_threads(count as usize, threads)
            .map_err(failed)?;
        let next = AtomicU64::new(self.covered);
        let stopped = AtomicBool::new(false);
        let add = || -> Result<()> {
            while !stopped.load(Ordering::Relaxed) {
                let first = next.fetch_add(WATCH_ROWS, Ordering::Relaxed);
                if first >= count {
                    break;
                }
                for place in first..count.min(first + WATCH_ROWS) {
                    let added = index.add(place, &place_bytes(place as u32));
                    if let Err(error) = added {
                        stopped.store(true, Ordering::Relaxed);
                        return Err(failed(error));
                    }
                }
                if !watch(count.min(first + WATCH_ROWS)) {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(add)).collect();
            let mut result = add();
            for other in others {
                let theirs = other.join().expect("adding to a graph does not panic");
                result = result.and(theirs);
            }
            result
        })?;
        if stopped.into_inner() {
            return Ok(None);
        }
        let mut body = vec![0; index.serialized_length()];
        index.save_to_buffer(&mut body).map_err(failed)?;
        self.links = links_of(&body, count)?;
        self.body = Body::Grown(body);
        self.covered = count;
        Ok(Some(self))
    }

    /// What usearch has to go on from.
    fn index(&self) -> Result<Index> {
        let options = IndexOptions {
            dimensions: PLACE_LEN,
            metric: MetricKind::IP,
            quantization: ScalarKind::I8,
            connectivity: CONNECTIVITY,
            expansion_add: EXPANSION_ADD,
            expansion_search: EXPANSION_SEARCH,
            multi: false,
        };
        let mut index = Index::new(&options).map_err(failed)?;
        if self.covered > 0 {
            let body = self.body.bytes();
            assert!(!body.is_empty(), "a graph that is settled does not grow");
            index.load_from_buffer(body).map_err(failed)?;
            if index.size() as u64 != self.covered {
                return Err(bad("its graph has another size"));
            }
            index.change_expansion_add(EXPANSION_ADD);
        }
        measure_by(&mut index, Arc::clone(&self.rows));
        Ok(index)
    }
}

/// Lets usearch ask here how far rows are apart. Once in the life of an index, and after it was read: reading
/// forgets it, and what was given before is never freed.
#[allow(unsafe_code)]
fn measure_by(index: &mut Index, rows: Arc<Matrix>) {
    index.change_metric::<i8>(Box::new(move |a: *const i8, b: *const i8| {
        // SAFETY: usearch hands over vectors of the length that it was told.
        let (a, b): ([u8; PLACE_LEN], [u8; PLACE_LEN]) = unsafe { (*a.cast(), *b.cast()) };
        let row = |place| rows.row(u32::from_le_bytes(place).into());
        1.0 - rows.cosine_between(row(a), row(b))
    }));
}

fn place_bytes(place: u32) -> [i8; PLACE_LEN] {
    place.to_le_bytes().map(u8::cast_signed)
}

fn failed(error: impl std::fmt::Display) -> VectorError {
    bad(format!("its graph fails: {error}"))
}
