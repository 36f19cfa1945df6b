//! Vectors: one row of numbers an embedded version, of one model, searched by cosine; and [`embed`], which makes vectors
//! of texts by a model inside the binary.
//!
//! The search knows ordinals and numbers: which versions may be shown is the caller's `visible(ordinal)`, and a model is
//! a name that a file has to be made for. This crate must never know events, positions or ranking. A file is
//! only ever appended to, by whoever holds the lock of the views; readers map it. What is wrong with it
//! is `Unusable`: the remedy is to throw it away and embed again.
//!
//! ```text
//! header: magic (8) · version (4) · dim (4) · BLAKE3 of the model's id (32) · zero (12) · check (4)
//! row:    ordinal (8) · scale (4) · check (4) · numbers (dim, a signed byte each)
//! ```
//! Little-endian. Rows stand in ascending order of ordinals, with gaps. The bytes of a row are its
//! vector brought to ±127 by its own largest number, and a number is about byte · scale; a zero vector
//! has scale 0. A check is the CRC32C of the header or row without it.
//!
//! As with the row facts, how many rows count is the caller's to remember (the file may hold more, of a
//! writer that died), and the file is not hashed as a whole, which would mean to read all of it at every
//! commit: each row that is *answered with* is checked, and [`Matrix::check`] looks at all of them, for
//! when the file's stat has changed.
//!
//! Beside a file there may be a graph of its rows (`FILE.graph`, see `graph.rs`), by which many rows are
//! searched faster: [`Matrix::nearest`] chooses.
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
