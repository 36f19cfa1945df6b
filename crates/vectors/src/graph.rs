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

#[cfg(feature = "graph")]
mod grow;

use std::path::Path;
use std::sync::Arc;

use super::format::bad;
use super::links::Links;
use super::matrix::{Matrix, Query};
use crate::error::Result;
use crate::file;

const MAGIC: &[u8; 8] = b"ICMGRAPH";
/// Rises whenever a graph is made otherwise, and with the major version of usearch.
const VERSION: u32 = 1;
const HEADER_LEN: usize = 144;
const COVERED_AT: usize = 48;
const BODY_AT: usize = 88;
const CHECK_AT: usize = HEADER_LEN - 4;

/// Rows that are kept in sight at least while near ones are looked for.
pub(super) const EXPANSION_SEARCH: usize = 64;

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
    #[cfg(feature = "graph")]
    Grown(Vec<u8>),
    /// After the header.
    File(memmap2::Mmap),
}

impl Body {
    fn bytes(&self) -> &[u8] {
        match self {
            Body::None => &[],
            #[cfg(feature = "graph")]
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

    /// Places of about the `wanted` rows nearest to a query, among those covered. `rows` are those that it
    /// [fits](Graph::fits).
    pub(super) fn places(&self, rows: &Matrix, query: &Query, wanted: usize) -> Vec<u64> {
        let row = |place: u32| rows.row(place.into());
        let cosine = |place| rows.cosine_of(row(place), query);
        let found = (self.links).nearest(wanted, EXPANSION_SEARCH, cosine);
        found.into_iter().map(u64::from).collect()
    }
}

#[cfg(not(feature = "graph"))]
impl Graph {
    /// This build makes no graphs.
    ///
    /// # Errors
    /// None.
    pub fn grow(
        self,
        _count: u64,
        _threads: usize,
        _watch: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Option<Graph>> {
        Ok(None)
    }
}

fn links_of(body: &[u8], covered: u64) -> Result<Links> {
    Links::read(body, covered).ok_or_else(|| bad("its graph is not as usearch writes it"))
}
