//! Vectors: for each embedded version a row of numbers of one model, searched by cosine; and [`embed`], which makes
//! vectors of texts with a model inside the binary.
//!
//! The search knows ordinals and numbers. The caller's `visible(ordinal)` decides which versions may be shown; a model
//! is a name that a file was made for. This crate must never know events, positions or ranking. A file is only appended
//! to, by the holder of the views' lock; readers map it. A damaged file is `Unusable`: the caller deletes it and embeds
//! again.
//!
//! ```text
//! header: magic (8) · version (4) · dim (4) · BLAKE3 of the model's id (32) · zero (12) · check (4)
//! row:    ordinal (8) · scale (4) · check (4) · numbers (dim, a signed byte each)
//! ```
//! Numbers are little-endian. Rows stand in ascending order of ordinals, with gaps. The bytes of a row are its vector
//! scaled so that its own largest number is ±127; a number is about byte · scale; a zero vector has scale 0. A check is
//! the CRC32C of the header or row without the check.
//!
//! As with the row facts, the caller remembers how many rows count: a writer that died may have left more. The file is
//! not hashed as a whole, because every commit would then read all of it. Instead, each row of an *answer* is checked.
//! [`Matrix::check`] checks all rows; it is for a file whose stat has changed.
//!
//! Beside a file there may be a graph of its rows (`FILE.graph`, see `graph.rs`), which makes searches of many rows
//! faster. [`Matrix::nearest`] chooses between the graph and a scan.
//!
//! ```
//! use icm_vectors::{Matrix, MatrixWriter, Query};
//!
//! # let dir = tempfile::tempdir()?;
//! let path = dir.path().join("vectors");
//! let mut writer = MatrixWriter::create(&path, "some-model", 3)?;
//! writer.append(4, &[0.6, 0.8, 0.0])?;
//! writer.append(7, &[0.0, 1.0, 0.0])?;
//! let rows = writer.flush()?;
//!
//! let matrix = Matrix::open(&path, "some-model", 3, rows)?;
//! let near = matrix.scan(&Query::new(&[0.0, 1.0, 0.0]), 10, &|_ordinal| true)?;
//! assert_eq!((near[0].ordinal, near[1].ordinal), (7, 4));
//! assert!((near[1].cosine - 0.8).abs() < 0.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod centred;
mod dot;
pub mod embed;
mod error;
mod file;
mod format;
#[cfg_attr(not(feature = "graph"), path = "no_graph.rs")]
mod graph;
mod matrix;
mod plan;
mod search;
#[cfg(test)]
mod tests;
mod write;

pub use centred::Centred;
pub use error::{Result, VectorError};
pub use format::MAX_DIM;
pub use graph::Graph;
pub use matrix::{Matrix, Near, Query};
pub use plan::{GRAPH_ROWS_MIN, Plan, Sizes};
pub use search::Searched;
pub use write::MatrixWriter;
