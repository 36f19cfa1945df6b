//! Stands in for the graph in a build without usearch: no graph can be made, and every search is exact.

use std::path::Path;

use super::format::bad;
use super::matrix::{Matrix, Query};
use crate::error::Result;

/// The graph of near rows. This build has none.
pub enum Graph {}

impl Graph {
    /// Returns the error that this build has no graphs.
    ///
    /// # Errors
    /// `Unusable`, always.
    pub fn open(_path: &Path, _rows: &Matrix) -> Result<Graph> {
        Err(bad("this build has no graphs"))
    }

    /// Returns no graph.
    ///
    /// # Errors
    /// None.
    pub fn grown(
        _before: Option<Graph>,
        _rows: &Matrix,
        _count: u64,
        _watch: &dyn Fn(u64) -> bool,
    ) -> Result<Option<Graph>> {
        Ok(None)
    }

    /// Writes the graph in one step.
    ///
    /// # Errors
    /// None.
    pub fn save(&self, _path: &Path) -> Result<()> {
        match *self {}
    }

    /// Returns the number of covered rows.
    pub fn covered(&self) -> u64 {
        match *self {}
    }

    /// Returns `true` if this is a graph of the first rows of `rows`.
    pub fn fits(&self, _rows: &Matrix) -> bool {
        match *self {}
    }

    pub(super) fn places(
        &self,
        _rows: &Matrix,
        _query: &Query,
        _wanted: (usize, f64),
        _visible: &dyn Fn(u64) -> bool,
    ) -> Result<Option<Vec<u64>>> {
        match *self {}
    }
}
