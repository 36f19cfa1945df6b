//! A graph of near rows (HNSW, Malkov and Yashunin 2016, by usearch) over the first rows of a file of vectors.
//!
//! usearch makes it: it is given the place of a row for a vector, and asks here how far two places are apart. So the
//! graph holds no numbers, says exactly what a scan of the same rows would, and of a text that was taken out it keeps
//! nothing. It belongs to the rows that it was made of; those appended since are for a scan. It is searched here
//! (`links.rs`), in the form that takes the least memory.
//!
//! ```text
//! header: magic (8) · version (4) · dim (4) · BLAKE3 of the model's id (32) · rows covered (8) · BLAKE3 of the
//!         heads of those rows (32) · length of what follows (8) · BLAKE3 of it (32) · zero (12) · check (4)
//! ```
//! Little-endian; what follows is as usearch writes it. usearch believes what it reads, and what is cut off or
//! flipped crashes it later: so all is compared before it sees a byte. The remedy is to throw the file away.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::format::bad;
use super::links::Links;
use super::matrix::{Matrix, Query};
use crate::error::{Result, VectorError};
use crate::file;

const MAGIC: &[u8; 8] = b"ICMGRAPH";
/// Rises whenever a graph is made otherwise, and with the major version of usearch.
const VERSION: u32 = 1;
const HEADER_LEN: usize = 144;
const COVERED_AT: usize = 48;
const BODY_AT: usize = 88;
const CHECK_AT: usize = HEADER_LEN - 4;

/// Neighbours of a row; twice as many on the lowest level.
const CONNECTIVITY: usize = 16;
/// Rows that are kept in sight while one is added, and at least while one is looked for.
const EXPANSION_ADD: usize = 128;
const EXPANSION_SEARCH: usize = 64;
/// Rows added between two questions whether to go on.
const WATCH_ROWS: u64 = 16;

/// Bytes of a place.
const PLACE_LEN: usize = 4;

/// Which rows are near which.
pub struct Graph {
    links: Links,
    /// As usearch wrote it, until it will grow no more.
    body: Body,
    /// All that it may come to cover.
    rows: Arc<Matrix>,
    covered: u64,
}

enum Body {
    None,
    Grown(Vec<u8>),
    /// After the header.
    File(memmap2::Mmap),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Body::None => &[],
            Body::Grown(bytes) => bytes,
            Body::File(map) => &map[HEADER_LEN..],
        }
    }
}

impl Graph {
    /// Over none of the rows of a file, of which it keeps a mapping.
    ///
    /// # Errors
    /// `Unusable` if the rows are in memory or too many.
    pub fn new(rows: &Matrix) -> Result<Graph> {
        let shared = rows.prefix(rows.count());
        let Some(rows) = shared.filter(|rows| rows.count() < u64::from(u32::MAX)) else {
            return Err(bad("there is no graph of these rows"));
        };
        Ok(Graph {
            links: Links::default(),
            body: Body::None,
            rows: Arc::new(rows),
            covered: 0,
        })
    }

    /// The graph in a file, if it is one of the first rows of `rows`. Reads all of it, and the heads of the rows.
    ///
    /// # Errors
    /// `Unusable` for a file that is damaged in any way, of another format, or of other rows; `Io` for one that
    /// cannot be read.
    pub fn open(path: &Path, rows: &Matrix) -> Result<Graph> {
        let mut graph = Graph::new(rows)?;
        let map = file::map(path)?;
        let (header, body) = map
            .split_at_checked(HEADER_LEN)
            .ok_or_else(|| bad("its graph is too short"))?;
        let (covered, _) = header[COVERED_AT..].split_first_chunk().expect("within");
        let covered = u64::from_le_bytes(*covered);
        // The length before the hash: of what another process is still writing most is not there.
        if header[BODY_AT..BODY_AT + 8] != (body.len() as u64).to_le_bytes() {
            return Err(bad("its graph is damaged"));
        }
        if covered > rows.count() || header != graph.header(covered, body) {
            return Err(bad("its graph is damaged, or of other rows"));
        }
        graph.links = links_of(body, covered)?;
        graph.body = Body::File(map);
        graph.covered = covered;
        Ok(graph)
    }

    /// Writes it in one step.
    ///
    /// # Errors
    /// `Io`.
    ///
    /// # Panics
    /// After [`Graph::settle`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let body = self.body.bytes();
        assert!(!body.is_empty(), "it was grown or read, and nothing since");
        let header = self.header(self.covered, body);
        file::replace(path, &[&header, body].concat())
    }

    fn header(&self, covered: u64, body: &[u8]) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.rows.dim() as u32).to_le_bytes());
        bytes[16..COVERED_AT].copy_from_slice(&self.rows.model_hash());
        bytes[COVERED_AT..56].copy_from_slice(&covered.to_le_bytes());
        bytes[56..BODY_AT].copy_from_slice(self.rows.digest(covered).as_bytes());
        bytes[BODY_AT..96].copy_from_slice(&(body.len() as u64).to_le_bytes());
        bytes[96..128].copy_from_slice(blake3::hash(body).as_bytes());
        let check = crc32c::crc32c(&bytes[..CHECK_AT]);
        bytes[CHECK_AT..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Rows that it covers: the first ones.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Whether it is a graph of the first rows of `rows`. Reads the heads of the rows.
    pub fn fits(&self, rows: &Matrix) -> bool {
        self.covered <= rows.count()
            && self.rows.dim() == rows.dim()
            && self.rows.model_hash() == rows.model_hash()
            && self.rows.digest(self.covered) == rows.digest(self.covered)
    }

    /// From now on it is searched and no more: what it takes to grow and to be written may go. Of the rows it has a
    /// mapping of its own, which is not needed to search.
    pub fn settle(&mut self) {
        self.body = Body::None;
        self.rows.release();
    }

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

    /// Places of about the `wanted` rows nearest to a query, among those covered. `rows` are those that it
    /// [fits](Graph::fits).
    pub(super) fn places(&self, rows: &Matrix, query: &Query, wanted: usize) -> Vec<u64> {
        let row = |place: u32| rows.row(place.into());
        let cosine = |place| rows.cosine_of(row(place), query);
        let found = (self.links).nearest(wanted, EXPANSION_SEARCH, cosine);
        found.into_iter().map(u64::from).collect()
    }
}

fn links_of(body: &[u8], covered: u64) -> Result<Links> {
    Links::read(body, covered).ok_or_else(|| bad("its graph is not as usearch writes it"))
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
