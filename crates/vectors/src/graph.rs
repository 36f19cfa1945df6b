//! A graph of near rows (HNSW, Malkov and Yashunin 2016) over the first rows of a file of vectors.
//!
//! usearch makes, writes, reads and searches the graph. A vector in usearch is the place of a row, four bytes; its
//! metric calls [`distance`] with two places. So the graph holds no numbers, agrees with a scan of the same rows, and
//! keeps nothing of a redacted text. Rows that were appended later need a scan.
//!
//! ```text
//! header: magic (8) · version (4) · zero (4) · rows covered (8) · digest of those rows (32) · BLAKE3 of the rest (32)
//! ```
//! Numbers are little-endian; the rest of the file is as usearch writes it. usearch trusts the bytes that it loads and
//! can crash on damaged ones. The header is therefore compared before usearch sees a byte, and the bytes that were
//! hashed are the bytes that are loaded. C++ exceptions arrive as errors; calls back into Rust don't unwind into C++.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use blake3::Hash;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use super::format::bad;
use super::matrix::{Matrix, Query};
use crate::error::{Result, VectorError};
use crate::file;

const MAGIC: &[u8; 8] = b"ICMGRAPH";
/// Version of the file. It rises when graphs are made in another way, and with the major version of usearch.
const VERSION: u32 = 2;
const HEADER_LEN: usize = 88;
const COVERED_AT: usize = 16;

/// Bytes of a place.
const PLACE_LEN: usize = 4;
/// The place that stands for the query of a search.
const QUERY: u32 = u32::MAX;
/// Searches of one graph at the same time: 8; the next search fails, and its caller scans. Each search of usearch keeps
/// the set of places that its largest search visited, so a larger value holds more memory.
const SEARCHES_MAX: usize = 8;
/// Distance to a place that is no row: as far as two vectors can be apart.
const FARTHEST: f32 = 2.0;

thread_local! {
    /// The rows that the places of this thread belong to, and the query that [`QUERY`] stands for.
    static MEASURED: RefCell<Option<(Matrix, Option<Query>)>> = const { RefCell::new(None) };
}

/// The graph of near rows, loaded into memory.
pub struct Graph {
    index: Index,
    covered: u64,
    /// The digest of the covered rows.
    digest: Hash,
}

impl Graph {
    /// Returns the graph of a file, if the graph is of the first rows of `rows`. Reads the whole file and the heads of
    /// the rows.
    ///
    /// # Errors
    /// `Unusable` for a file that is damaged, of another format, or of other rows; `Io` for one that cannot be read.
    pub fn open(path: &Path, rows: &Matrix) -> Result<Graph> {
        // Copied, not mapped: usearch then loads the very bytes that were hashed.
        let bytes = file::read(path)?;
        let (header, body) = bytes
            .split_at_checked(HEADER_LEN)
            .ok_or_else(|| bad("its graph is too short"))?;
        let (covered, _) = header[COVERED_AT..].split_first_chunk().expect("within");
        let covered = u64::from_le_bytes(*covered);
        let digest = rows.digest(covered);
        if covered > rows.count() || header != header_of(covered, digest, body) {
            return Err(bad("its graph is damaged, or of other rows"));
        }
        let mut index = empty()?;
        index.load_from_buffer(body).map_err(failed)?;
        if index.size() as u64 != covered {
            return Err(bad("its graph has another size"));
        }
        prepare(&mut index, covered)?;
        Ok(Graph {
            index,
            covered,
            digest,
        })
    }

    /// Returns a graph of the first `count` rows, or of more rows if `before` covers more. The graph grows from
    /// `before` if `before` fits the rows. After each row, `watch` gets the number of covered rows; it returns `false`
    /// to stop, and the result is then `None`.
    ///
    /// # Errors
    /// `Unusable` if the rows are in memory or too many, or if usearch fails.
    pub fn grown(
        before: Option<Graph>,
        rows: &Matrix,
        count: u64,
        watch: &dyn Fn(u64) -> bool,
    ) -> Result<Option<Graph>> {
        let count = count.min(rows.count());
        let (mut index, covered) = match before.filter(|graph| graph.fits(rows)) {
            Some(graph) => (graph.index, graph.covered),
            None => (empty()?, 0),
        };
        if count >= u64::from(QUERY) {
            return Err(bad("they are too many for a graph"));
        }
        prepare(&mut index, count)?;
        let add = || -> Result<bool> {
            for place in covered..count {
                let added = index.add(place, &place_bytes(place as u32));
                added.map_err(failed)?;
                if !watch(place + 1) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let is_whole = measuring(rows, None, add)??;
        let covered = count.max(covered);
        Ok(is_whole.then(|| Graph {
            index,
            covered,
            digest: rows.digest(covered),
        }))
    }

    /// Writes the graph in one step.
    ///
    /// # Errors
    /// `Io`; `Unusable` if usearch fails.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut bytes = vec![0; HEADER_LEN + self.index.serialized_length()];
        let (header, body) = bytes.split_at_mut(HEADER_LEN);
        self.index.save_to_buffer(body).map_err(failed)?;
        header.copy_from_slice(&header_of(self.covered, self.digest, body));
        file::replace(path, &bytes)
    }

    /// Returns the number of covered rows: the first rows of the file.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Returns `true` if this is a graph of the first rows of `rows`. Reads the heads of the rows.
    pub fn fits(&self, rows: &Matrix) -> bool {
        self.covered <= rows.count() && self.digest == rows.digest(self.covered)
    }

    /// Returns the places of about the `wanted` nearest visible rows, in no order; `None` if fewer than one in `one_in`
    /// of the rows on the way is visible. `rows` are the rows that the graph [fits](Graph::fits).
    ///
    /// # Errors
    /// `Unusable` if usearch fails, or if [`SEARCHES_MAX`] threads search already.
    pub(super) fn places(
        &self,
        rows: &Matrix,
        query: &Query,
        (wanted, one_in): (usize, f64),
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Option<Vec<u64>>> {
        let (looked, seen) = (Cell::new(0_u32), Cell::new(0_u32));
        let (gave_up, panic) = (Cell::new(false), Cell::new(None));
        let is_wanted = |place: u64| {
            looked.set(looked.get() + 1);
            let most = wanted as f64 + one_in * f64::from(seen.get());
            if gave_up.get() || f64::from(looked.get()) > most {
                // From here on every row is taken, so that usearch soon has enough and returns.
                gave_up.set(true);
                return true;
            }
            // A panic must not reach C++.
            let is_visible = catch_unwind(AssertUnwindSafe(|| visible(place)));
            let is_visible = is_visible.unwrap_or_else(|cause| {
                panic.set(Some(cause));
                gave_up.set(true);
                true
            });
            seen.set(seen.get() + u32::from(is_visible));
            is_visible
        };
        let search = || (self.index).filtered_search(&place_bytes(QUERY), wanted, is_wanted);
        let found = measuring(rows, Some(query), search)?.map_err(failed)?;
        if let Some(cause) = panic.take() {
            resume_unwind(cause);
        }
        Ok((!gave_up.get()).then_some(found.keys))
    }
}

fn header_of(covered: u64, digest: Hash, body: &[u8]) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[COVERED_AT..24].copy_from_slice(&covered.to_le_bytes());
    bytes[24..56].copy_from_slice(digest.as_bytes());
    bytes[56..].copy_from_slice(blake3::hash(body).as_bytes());
    bytes
}

/// Returns an index without places. Its connectivity and expansion are usearch's own: 16, 128 and 64.
fn empty() -> Result<Index> {
    let options = IndexOptions {
        dimensions: PLACE_LEN,
        metric: MetricKind::IP,
        quantization: ScalarKind::I8,
        ..IndexOptions::default()
    };
    Index::new(&options).map_err(failed)
}

/// Reserves room for `count` places in an index, and sets its metric, which is not part of a file.
#[allow(unsafe_code)]
fn prepare(index: &mut Index, count: u64) -> Result<()> {
    index
        .reserve_capacity_and_threads(count as usize, SEARCHES_MAX)
        .map_err(failed)?;
    index.change_metric::<i8>(Box::new(|a: *const i8, b: *const i8| {
        // SAFETY: usearch passes vectors of the length that was set.
        let (a, b): ([u8; PLACE_LEN], [u8; PLACE_LEN]) = unsafe { (*a.cast(), *b.cast()) };
        distance(u32::from_le_bytes(a), u32::from_le_bytes(b))
    }));
    Ok(())
}

/// Runs `work` on this thread while places stand for the rows of `rows`.
fn measuring<T>(rows: &Matrix, query: Option<&Query>, work: impl FnOnce() -> T) -> Result<T> {
    let Some(rows) = rows.mapped_again() else {
        return Err(bad("there is no graph of rows in memory"));
    };
    let _former = Former(MEASURED.replace(Some((rows, query.cloned()))));
    Ok(work())
}

/// The former rows and query, which are put back on drop, also after a panic.
struct Former(Option<(Matrix, Option<Query>)>);

impl Drop for Former {
    fn drop(&mut self) {
        MEASURED.set(self.0.take());
    }
}

/// Returns the distance of two places: 1 minus their cosine. Without a finite cosine the distance is [`FARTHEST`]: a
/// NaN would break the order of usearch's heaps. Does not panic.
fn distance(a: u32, b: u32) -> f32 {
    let cosine = |rows: &Matrix, query: &Option<Query>| {
        let row = |place: u32| (u64::from(place) < rows.count()).then(|| rows.row(place.into()));
        match (row(a), row(b), query) {
            (Some(a), Some(b), _) => Some(rows.cosine_between(a, b)),
            (Some(row), None, Some(query)) | (None, Some(row), Some(query)) => {
                Some(rows.cosine_of(row, query))
            }
            _ => None,
        }
    };
    MEASURED.with_borrow(|measured| {
        let cosine = measured
            .as_ref()
            .and_then(|(rows, query)| cosine(rows, query))
            .filter(|cosine| cosine.is_finite());
        cosine.map_or(FARTHEST, |cosine| 1.0 - cosine)
    })
}

fn place_bytes(place: u32) -> [i8; PLACE_LEN] {
    place.to_le_bytes().map(u8::cast_signed)
}

fn failed(error: impl std::fmt::Display) -> VectorError {
    bad(format!("its graph fails: {error}"))
}
