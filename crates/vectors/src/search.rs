//! Searches in the cheapest of three ways. Each gives exact cosines; the graph may miss some of the nearest rows.

use super::graph::Graph;
use super::matrix::{Matrix, Near, Query};
use super::plan::{Plan, Sizes};
use crate::error::Result;

/// Rows, spread evenly over all, that the visible share is estimated from: 64. A larger value estimates more exactly
/// and asks `visible` more often.
const SAMPLE_ROWS: u64 = 64;

/// The course of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searched {
    /// The numbers that the way was chosen by.
    pub sizes: Sizes,
    /// The chosen way.
    pub plan: Plan,
    /// `true` if the graph found too few visible rows, so that every row was scanned after all.
    pub fell_back: bool,
}

impl Matrix {
    /// Returns the `limit` nearest versions to a query for which `visible` is true, nearest first, in the cheapest way.
    /// `graph`, if given, covers the first of these rows. `listed`, if given, restricts the search to its ordinals,
    /// which ascend. Of equally near versions the one with the smaller `tie` comes first.
    ///
    /// # Errors
    /// As [`Matrix::scan`].
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn nearest(
        &self,
        graph: Option<&Graph>,
        query: &Query,
        limit: usize,
        listed: Option<&[u64]>,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<(Vec<Near>, Searched)> {
        let sizes = Sizes {
            rows: self.count(),
            covered: graph.map_or(0, Graph::covered),
            limit,
            listed: listed.map(|listed| listed.len() as u64),
        };
        let is_listed = |ordinal: u64| {
            listed.is_none_or(|listed| listed.binary_search(&ordinal).is_ok()) && visible(ordinal)
        };
        let mut plan = sizes.plan();
        if let Plan::Graph { one_in, .. } = plan
            && self.visible_share(&is_listed) * one_in < 1.0
        {
            plan = Sizes {
                covered: 0,
                ..sizes
            }
            .plan();
        }
        let mut searched = Searched {
            sizes,
            plan,
            fell_back: false,
        };
        if let (Plan::Graph { wanted, one_in }, Some(graph)) = (searched.plan, graph) {
            match self.by_graph(graph, query, (wanted, one_in), limit, (&is_listed, tie)) {
                Ok(near) if near.len() >= limit => return Ok((near, searched)),
                Ok(_) => {}
                // A damaged row that is near is reported by the scan below.
                Err(error) => tracing::debug!(%error, "the graph was not used"),
            }
            searched.fell_back = true;
        }
        let near = match (searched.plan, listed) {
            (Plan::List, Some(listed)) => self.scan_of(listed, query, limit, visible, tie)?,
            _ => self.scan_by(query, limit, &is_listed, tie)?,
        };
        Ok((near, searched))
    }

    /// Returns the nearest rows among the `wanted` that the graph finds and all rows beyond the graph. Returns no rows
    /// if fewer than one in `one_in` of the rows on the graph's way is visible. For callers that need no choice by
    /// [`Matrix::nearest`].
    ///
    /// # Errors
    /// As [`Matrix::scan`]; `Unusable` if usearch fails.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn by_graph(
        &self,
        graph: &Graph,
        query: &Query,
        (wanted, one_in): (usize, f64),
        limit: usize,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<Vec<Near>> {
        let is_visible = |place| place < self.count() && visible(self.row(place).ordinal());
        let Some(mut places) = graph.places(self, query, (wanted, one_in), &is_visible)? else {
            return Ok(Vec::new());
        };
        places.sort_unstable();
        places.extend(graph.covered()..self.count());
        let rows = places.into_iter().map(|place| self.row(place));
        self.nearest_of(rows, query, limit, visible, tie)
    }

    /// Returns the visible share of the rows, estimated from a sample.
    fn visible_share(&self, visible: &dyn Fn(u64) -> bool) -> f64 {
        let places = (0..SAMPLE_ROWS).map(|at| at * self.count() / SAMPLE_ROWS);
        let seen = places.filter(|place| visible(self.row(*place).ordinal()));
        seen.count() as f64 / SAMPLE_ROWS as f64
    }
}
