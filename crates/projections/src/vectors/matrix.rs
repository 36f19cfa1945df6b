//! Reading vectors: a mapped file, and the exact search through all of it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::path::Path;

use super::dot::{Dot, prefetch};
use super::format::{HEADER_LEN, MAX_DIM, Row, bad, check_header, file_len, row_len};
use crate::error::{Result, io};

/// A version near a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The version.
    pub ordinal: u64,
    /// Cosine of the two vectors as far as int8 tells: with 256 numbers within 0.003, so it may be
    /// a little beyond -1 and 1.
    pub cosine: f32,
}

/// A vector to search by.
#[derive(Debug, Clone)]
pub struct Query {
    numbers: Vec<i16>,
    scale: f32,
}

impl Query {
    /// Of a unit vector, or a zero vector (whose cosine is 0 with everything).
    ///
    /// # Panics
    /// With no numbers or more than [`MAX_DIM`].
    pub fn new(vector: &[f32]) -> Query {
        assert!(
            (1..=MAX_DIM).contains(&vector.len()),
            "a vector has 1 to {MAX_DIM} numbers"
        );
        // So fine that no product with a row leaves i32: see `Dot::of`.
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

/// The vectors up to a checkpoint.
pub struct Matrix {
    map: memmap2::Mmap,
    dim: usize,
    /// Rows that belong to the checkpoint; the file may hold more.
    count: u64,
    dot: Dot,
}

impl Matrix {
    /// The first `count` rows of a file that was made for `model` with `dim` numbers a vector. Reads
    /// the header alone.
    ///
    /// # Errors
    /// `Unusable` for a file that is too short, damaged in its header, of another format, model or
    /// dimension; `Io` for one that cannot be read.
    #[allow(unsafe_code)]
    pub fn open(path: &Path, model: &str, dim: usize, count: u64) -> Result<Matrix> {
        let file = File::open(path).map_err(io("opening", path))?;
        // SAFETY: the file is only ever appended to, and written over beyond `count`, where nothing
        // is read. Nobody truncates a file that is in use, they replace it.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(io("mapping", path))?;
        check_header(&map, model, dim)?;
        if (map.len() as u64) < file_len(dim, count) {
            return Err(bad("it is too short"));
        }
        Ok(Matrix {
            map,
            dim,
            count,
            dot: Dot::best(),
        })
    }

    /// Number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The ordinal of the last row.
    ///
    /// # Errors
    /// `Unusable` where that row is damaged.
    pub fn last_ordinal(&self) -> Result<Option<u64>> {
        let Some(last) = self.count.checked_sub(1) else {
            return Ok(None);
        };
        let row = self.row(last);
        match row.is_whole() {
            true => Ok(Some(row.ordinal())),
            false => Err(damaged(row)),
        }
    }

    fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        let len = row_len(self.dim);
        let end = HEADER_LEN + self.count as usize * len;
        self.map[HEADER_LEN..end].chunks_exact(len).map(Row)
    }

    fn row(&self, index: u64) -> Row<'_> {
        let len = row_len(self.dim);
        let start = HEADER_LEN + index as usize * len;
        Row(&self.map[start..start + len])
    }

    fn cosine_of(&self, row: Row<'_>, query: &Query) -> f32 {
        self.dot.of(row.numbers(), &query.numbers) as f32 * (row.scale() * query.scale)
    }

    /// Whether every row is whole, and in its place. Reads the file.
    ///
    /// # Errors
    /// `Unusable` names the first row that is not.
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

    /// The cosine of a query and the vector of a version; `None` if the version has none here.
    ///
    /// # Errors
    /// `Unusable` where the row is damaged.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn cosine(&self, query: &Query, ordinal: u64) -> Result<Option<f32>> {
        assert_eq!(query.numbers.len(), self.dim, "a query of the same model");
        // Ordinals ascend, so one stands no further back than if there were no gaps before it.
        let (mut low, mut high) = (0, self.count.min(ordinal.saturating_add(1)));
        while low < high {
            let middle = low.midpoint(high);
            let row = self.row(middle);
            match row.ordinal().cmp(&ordinal) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal if row.is_whole() => return Ok(Some(self.cosine_of(row, query))),
                Ordering::Equal => return Err(damaged(row)),
            }
        }
        Ok(None)
    }

    /// The `limit` versions nearest to a query of which `visible` is true, nearest first; those
    /// equally near by ordinal. Looks at every row; `visible` is asked only about those that would be
    /// among the nearest so far, in ascending order of ordinals.
    ///
    /// # Errors
    /// `Unusable` where a row of the answer is damaged. A damaged row that is not near is not noticed.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn scan(
        &self,
        query: &Query,
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Near>> {
        assert_eq!(query.numbers.len(), self.dim, "a query of the same model");
        // The worst on top, so that it is the first to go.
        let mut nearest: BinaryHeap<Reverse<Found<'_>>> = BinaryHeap::new();
        for row in self.rows() {
            prefetch(row.0);
            let found = Found {
                cosine: self.cosine_of(row, query),
                row,
            };
            let full = nearest.len() >= limit;
            if full && nearest.peek().is_none_or(|worst| found <= worst.0) {
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

fn damaged(row: Row<'_>) -> crate::ViewError {
    bad(format!("the row of ordinal {} is damaged", row.ordinal()))
}

/// A row and how near it is; the nearest is the greatest.
struct Found<'a> {
    cosine: f32,
    row: Row<'a>,
}

impl Ord for Found<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_ordinal = || other.row.ordinal().cmp(&self.row.ordinal());
        self.cosine.total_cmp(&other.cosine).then_with(by_ordinal)
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
