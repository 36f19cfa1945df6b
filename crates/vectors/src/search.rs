//! Searching in whichever way is the cheapest. Each gives exact cosines; the graph may miss some of the nearest.

use super::graph::Graph;
use super::matrix::{Matrix, Near, Query};
use super::plan::{Plan, Sizes};
use crate::error::Result;

/// Rows, spread evenly over all, that say how many are visible. More of them say it more exactly.
const SAMPLE_ROWS: u64 = 64;

/// The course of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searched {
    /// The numbers that it was chosen by.
    pub sizes: Sizes,
    /// The way that was chosen.
    pub plan: Plan,
    /// Whether the graph found too few that may be seen, so that every row was looked at after all.
    pub fell_back: bool,
}

impl Matrix {
    /// Returns the `limit` versions nearest to a query that `visible` is true of, nearest first, by the cheapest way.
    /// `graph`, if there is one, is of the first of these rows; with `listed`, which ascends, only those. Of versions
    /// equally near the one with the smaller `tie` is first.
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
                // A row that is damaged is met again by a scan, if it is near.
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

    /// Returns the nearest among the `wanted` that the graph finds and every row beyond it; none if fewer than one in
    /// `one_in` of the rows on the graph's way is visible. For callers that know better than [`Matrix::nearest`].
    ///
    /// # Errors
    /// As [`Matrix::scan`]; `Unusable` where usearch fails.
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

    /// Returns the share of the rows that is visible, by a sample.
    fn visible_share(&self, visible: &dyn Fn(u64) -> bool) -> f64 {
        let places = (0..SAMPLE_ROWS).map(|at| at * self.count() / SAMPLE_ROWS);
        let seen = places.filter(|place| visible(self.row(*place).ordinal()));
        seen.count() as f64 / SAMPLE_ROWS as f64
    }
}
