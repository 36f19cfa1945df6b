//! Reading vectors: a mapped file, and the exact search of all its rows.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

use super::dot::{dot, dot_of_rows};
use super::format::{
    HEADER_LEN, MAX_DIM, Row, bad, check_header, encode_row, file_len, header, row_len,
};
use crate::error::Result;
use crate::file;

/// A version near a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The ordinal of the version.
    pub ordinal: u64,
    /// Cosine of the two vectors, as precise as int8: within 0.003 with 256 numbers, so it may lie a little outside of
    /// -1 to 1.
    pub cosine: f32,
}

/// A vector to search by, as int16.
#[derive(Debug, Clone)]
pub struct Query {
    numbers: Vec<i16>,
    scale: f32,
}

impl Query {
    /// Returns the query of a unit vector, or of a zero vector (whose cosine with every row is 0).
    ///
    /// # Panics
    /// If `vector` has no numbers or more than [`MAX_DIM`].
    pub fn new(vector: &[f32]) -> Query {
        assert!(
            (1..=MAX_DIM).contains(&vector.len()),
            "a vector has 1 to {MAX_DIM} numbers"
        );
        // As fine as possible without a product with a row that overflows i32: see `dot`.
        let levels = (i32::MAX / 128 / vector.len() as i32).min(i32::from(i16::MAX)) as f32;
        let max = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
        let scale = max / levels;
        let usable = scale.is_finite() && scale.recip().is_finite();
        let number = |x: &f32| {
            if usable {
                (x / scale).round() as i16
            } else {
                0
            }
        };
        Query {
            numbers: vector.iter().map(number).collect(),
            scale: if usable { scale } else { 0.0 },
        }
    }
}

#[derive(Clone)]
enum Backing {
    Mapped(Arc<memmap2::Mmap>),
    Owned(Vec<u8>),
}

/// The vectors up to a checkpoint, or vectors in memory that no file has.
#[derive(Clone)]
pub struct Matrix {
    backing: Backing,
    dim: usize,
    /// Rows that belong to the checkpoint; the file may hold more.
    count: u64,
}

impl Matrix {
    /// Opens the first `count` rows of a file that was made for `model` with `dim` numbers a vector. Reads the header
    /// only.
    ///
    /// # Errors
    /// `Unusable` for a file that is too short, damaged in its header, or of another format, model or dimension; `Io`
    /// for a file that cannot be read.
    pub fn open(path: &Path, model: &str, dim: usize, count: u64) -> Result<Matrix> {
        let map = file::map(path)?;
        check_header(&map, model, dim)?;
        if (map.len() as u64) < file_len(dim, count) {
            return Err(bad("it is too short"));
        }
        Ok(Matrix {
            backing: Backing::Mapped(Arc::new(map)),
            dim,
            count,
        })
    }

    /// Returns a matrix in memory without rows.
    ///
    /// # Panics
    /// If `dim` is 0 or more than [`MAX_DIM`].
    pub fn in_memory(model: &str, dim: usize) -> Matrix {
        assert!(
            (1..=MAX_DIM).contains(&dim),
            "a vector has 1 to {MAX_DIM} numbers"
        );
        Matrix {
            backing: Backing::Owned(header(model, dim).to_vec()),
            dim,
            count: 0,
        }
    }

    /// Adds the vector of a version to rows in memory, with the bytes that [`MatrixWriter::append`] would write.
    ///
    /// # Panics
    /// If the rows are a file's, the vector has another dimension, or `ordinal` does not come after the ordinals before
    /// it.
    ///
    /// [`MatrixWriter::append`]: super::MatrixWriter::append
    pub fn push(&mut self, ordinal: u64, vector: &[f32]) {
        assert_eq!(vector.len(), self.dim, "a vector of the same model");
        let last = self.count.checked_sub(1).map(|last| self.row(last));
        assert!(
            last.is_none_or(|last| last.ordinal() < ordinal),
            "ordinals ascend"
        );
        let Backing::Owned(bytes) = &mut self.backing else {
            panic!("a file of vectors is written by its writer");
        };
        encode_row(ordinal, vector, bytes);
        self.count += 1;
    }

    /// Adds rows of another matrix of the same model to rows in memory: those with ordinals from `first` and before
    /// `end`. Their checks are not compared.
    ///
    /// # Panics
    /// As [`Matrix::push`].
    pub fn extend_between(&mut self, other: &Matrix, first: u64, end: u64) {
        assert_eq!(other.dim, self.dim, "vectors of the same model");
        let wanted = |row: &Row<'_>| (first..end).contains(&row.ordinal());
        let last = self
            .count
            .checked_sub(1)
            .map(|last| self.row(last).ordinal());
        let Backing::Owned(bytes) = &mut self.backing else {
            panic!("a file of vectors is written by its writer");
        };
        for row in other.rows().filter(wanted) {
            assert!(
                last.is_none_or(|last| last < row.ordinal()),
                "ordinals ascend"
            );
            bytes.extend_from_slice(row.0);
            self.count += 1;
        }
    }

    /// Returns the number of leading rows that are whole and have the ordinals 0, 1, 2 and so on. Reads them.
    pub fn whole_prefix(&self) -> u64 {
        let whole = |(at, row): &(u64, Row<'_>)| row.ordinal() == *at && row.is_whole();
        (0..).zip(self.rows()).take_while(whole).count() as u64
    }

    /// Returns the same rows of the same mapping; `None` if the rows are in memory.
    #[cfg(feature = "graph")]
    pub(super) fn mapped_again(&self) -> Option<Matrix> {
        match &self.backing {
            Backing::Mapped(_) => Some(self.clone()),
            Backing::Owned(_) => None,
        }
    }

    /// Returns a digest of the file's header, which names the model, and of the heads of the first `count` rows. The
    /// check in a head covers its whole row.
    #[cfg(feature = "graph")]
    pub(super) fn digest(&self, count: u64) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.bytes()[..HEADER_LEN]);
        for row in self.rows().take(count as usize) {
            hasher.update(row.head());
        }
        hasher.finalize()
    }

    /// Returns the bytes of all rows, as in a file.
    pub(super) fn row_bytes(&self) -> &[u8] {
        let end = HEADER_LEN + self.count as usize * row_len(self.dim);
        &self.bytes()[HEADER_LEN..end]
    }

    fn bytes(&self) -> &[u8] {
        match &self.backing {
            Backing::Mapped(map) => map,
            Backing::Owned(bytes) => bytes,
        }
    }

    /// Returns the number of rows that a file of `len` bytes has room for.
    pub fn count_in(len: u64, dim: usize) -> u64 {
        len.saturating_sub(HEADER_LEN as u64) / row_len(dim) as u64
    }

    /// Returns how many numbers a vector has.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the ordinals of the first and the last row; `None` without rows.
    ///
    /// # Errors
    /// `Unusable` if one of the two rows is damaged.
    pub fn ends(&self) -> Result<Option<(u64, u64)>> {
        let Some(last) = self.count.checked_sub(1) else {
            return Ok(None);
        };
        let whole = |index| match self.row(index) {
            row if row.is_whole() => Ok(row.ordinal()),
            row => Err(damaged(row)),
        };
        Ok(Some((whole(0)?, whole(last)?)))
    }

    fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.row_bytes().chunks_exact(row_len(self.dim)).map(Row)
    }

    /// # Panics
    /// If there are fewer rows.
    pub(super) fn row(&self, index: u64) -> Row<'_> {
        let len = row_len(self.dim);
        let start = HEADER_LEN + index as usize * len;
        Row(&self.bytes()[start..start + len])
    }

    pub(super) fn cosine_of(&self, row: Row<'_>, query: &Query) -> f32 {
        dot(row.numbers(), &query.numbers) as f32 * (row.scale() * query.scale)
    }

    /// Returns the cosine of two rows.
    pub(super) fn cosine_between(&self, row: Row<'_>, other: Row<'_>) -> f32 {
        let product = dot_of_rows(row.numbers(), other.numbers());
        product as f32 * (row.scale() * other.scale())
    }

    /// Checks that every row is whole and that ordinals ascend. Reads the file.
    ///
    /// # Errors
    /// `Unusable` names the first row that fails the check.
    pub fn check(&self) -> Result<()> {
        let mut least = 0;
        for row in self.rows() {
            if !row.is_whole() || row.ordinal() < least {
                return Err(damaged(row));
            }
            least = row.ordinal().saturating_add(1);
        }
        Ok(())
    }

    /// Returns the cosine of a query and the vector of a version; `None` if the version has no vector here.
    ///
    /// # Errors
    /// `Unusable` if the row is damaged.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn cosine(&self, query: &Query, ordinal: u64) -> Result<Option<f32>> {
        assert_eq!(query.numbers.len(), self.dim, "a query of the same model");
        let row = self.whole(ordinal)?;
        Ok(row.map(|row| self.cosine_of(row, query)))
    }

    /// Returns the row of a version, if there is one.
    pub(super) fn whole(&self, ordinal: u64) -> Result<Option<Row<'_>>> {
        match self.find(ordinal) {
            Some(row) if !row.is_whole() => Err(damaged(row)),
            row => Ok(row),
        }
    }

    /// Returns the vector of a version, as precise as int8; `None` if the version's vector here is missing, zero or
    /// damaged.
    pub fn vector(&self, ordinal: u64) -> Option<Vec<f32>> {
        let row = self.whole(ordinal).ok()??;
        let scale = row.scale();
        let numbers = row.numbers().iter();
        (scale != 0.0).then(|| {
            numbers
                .map(|byte| f32::from(byte.cast_signed()) * scale)
                .collect()
        })
    }

    fn find(&self, ordinal: u64) -> Option<Row<'_>> {
        // Ordinals ascend, so a row stands no further back than in a file without gaps before it; without gaps it
        // stands at that very place.
        let (mut low, mut high) = (0, self.count.min(ordinal.saturating_add(1)));
        let first = (self.count > 0).then(|| self.row(0).ordinal());
        let place = first.and_then(|first| ordinal.checked_sub(first));
        if let Some(place) = place.filter(|place| *place < self.count) {
            let row = self.row(place);
            if row.ordinal() == ordinal {
                return Some(row);
            }
        }
        while low < high {
            let middle = low.midpoint(high);
            let row = self.row(middle);
            match row.ordinal().cmp(&ordinal) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(row),
            }
        }
        None
    }

    /// Returns the `limit` nearest versions to a query for which `visible` is true, nearest first, equally near ones by
    /// ordinal. Rows of zeros are left out. Looks at every row. `visible` is asked, in ascending order of ordinals, only
    /// about rows that would be among the nearest so far.
    ///
    /// # Errors
    /// `Unusable` if a row of the answer is damaged. A damaged row outside the answer is not noticed.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn scan(
        &self,
        query: &Query,
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Near>> {
        self.scan_by(query, limit, visible, &u128::from)
    }

    /// As [`Matrix::scan`]; of equally near versions the one with the smaller `tie` comes first.
    pub(super) fn scan_by(
        &self,
        query: &Query,
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
        tie: &dyn Fn(u64) -> u128,
    ) -> Result<Vec<Near>> {
        self.nearest_of(self.rows(), query, limit, visible, tie)
    }

    /// As [`Matrix::scan_by`], but of the listed versions alone. `ordinals` ascend; versions without a row are skipped.
    pub(super) fn scan_of(
        &self,
        ordinals: &[u64],
        query: &Query,
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
        tie: &dyn Fn(u64) -> u128,
    ) -> Result<Vec<Near>> {
        let rows = ordinals.iter().filter_map(|ordinal| self.find(*ordinal));
        self.nearest_of(rows, query, limit, visible, tie)
    }

    pub(super) fn nearest_of<'a>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        query: &Query,
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
        tie: &dyn Fn(u64) -> u128,
    ) -> Result<Vec<Near>> {
        assert_eq!(query.numbers.len(), self.dim, "a query of the same model");
        // The worst row is on top, so that it is removed first.
        let mut nearest: BinaryHeap<Reverse<Found<'_>>> = BinaryHeap::new();
        // A vector of zeros has no direction: it is near to nothing.
        for row in rows.filter(|row| row.scale() != 0.0) {
            let cosine = self.cosine_of(row, query);
            let full = nearest.len() >= limit;
            let is_farther = |worst: &Reverse<Found<'_>>| cosine < worst.0.cosine;
            if full && nearest.peek().is_none_or(is_farther) {
                continue;
            }
            let found = Found {
                cosine,
                tie: tie(row.ordinal()),
                row,
            };
            if full && nearest.peek().is_some_and(|worst| found <= worst.0) {
                continue;
            }
            if visible(row.ordinal()) {
                if full {
                    nearest.pop();
                }
                nearest.push(Reverse(found));
            }
        }
        let nearest = nearest.into_sorted_vec();
        let near = nearest
            .into_iter()
            .map(|Reverse(found)| match found.row.is_whole() {
                true => Ok(Near {
                    ordinal: found.row.ordinal(),
                    cosine: found.cosine,
                }),
                false => Err(damaged(found.row)),
            });
        near.collect()
    }
}

fn damaged(row: Row<'_>) -> crate::VectorError {
    bad(format!("the row of ordinal {} is damaged", row.ordinal()))
}

/// A row and its cosine; the nearest row is the greatest.
struct Found<'a> {
    cosine: f32,
    tie: u128,
    row: Row<'a>,
}

impl Ord for Found<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_tie = other.tie.cmp(&self.tie);
        let by_cosine = self.cosine.total_cmp(&other.cosine).then(by_tie);
        by_cosine.then_with(|| other.row.ordinal().cmp(&self.row.ordinal()))
    }
}

impl PartialOrd for Found<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Found<'_> {}
