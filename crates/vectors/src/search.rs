//! Searching in whichever way is the cheapest. Each gives exact cosines; the graph may miss some of the nearest.

use super::graph::Graph;
use super::matrix::{Matrix, Near, Query};
use super::plan::{Plan, Sizes};
use crate::error::Result;

/// Rows that are asked whether they may be seen, to tell how many may.
const SAMPLE_ROWS: u64 = 256;

/// Which way a search went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searched {
    /// What it was chosen by.
    pub sizes: Sizes,
    /// What was chosen.
    pub plan: Plan,
    /// Whether the graph found too few that may be seen, so that every row was looked at after all.
    pub fell_back: bool,
}

impl Matrix {
    /// The `limit` versions nearest to a query that `visible` is true of, nearest first, by the cheapest way.
    /// `graph`, if there is one, is of the first of these rows; with `listed`, which ascends, only those. Of those
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
        let mut sizes = Sizes {
            rows: self.count(),
            covered: graph.map_or(0, Graph::covered),
            limit,
            listed: listed.map(|listed| listed.len() as u64),
            visible: 1.0,
        };
        // Whether a graph is of use hangs on it, and nothing else.
        if sizes.covered > 0 && matches!(sizes.plan(), Plan::Graph { .. }) {
            sizes.visible = self.visible_share(listed, visible);
        }
        let mut searched = Searched {
            sizes,
            plan: sizes.plan(),
            fell_back: false,
        };
        let is_listed = |ordinal: u64| {
            listed.is_none_or(|listed| listed.binary_search(&ordinal).is_ok()) && visible(ordinal)
        };
        if let (Plan::Graph { wanted }, Some(graph)) = (searched.plan, graph) {
            match self.by_graph_then(graph, query, wanted, limit, (&is_listed, tie)) {
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

    /// The nearest among the `wanted` that the graph finds and every row beyond it; fewer than `limit` where too
    /// few of those are visible. For callers that know better than [`Matrix::nearest`].
    ///
    /// # Errors
    /// As [`Matrix::scan`].
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn by_graph(
        &self,
        graph: &Graph,
        query: &Query,
        wanted: usize,
        limit: usize,
        visible: &dyn Fn(u64) -> bool,
    ) -> Result<Vec<Near>> {
        self.by_graph_then(graph, query, wanted, limit, (visible, &u128::from))
    }

    fn by_graph_then(
        &self,
        graph: &Graph,
        query: &Query,
        wanted: usize,
        limit: usize,
        (visible, tie): (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128),
    ) -> Result<Vec<Near>> {
        let mut places = graph.places(self, query, wanted);
        places.retain(|place| *place < self.count());
        places.sort_unstable();
        places.extend(graph.covered()..self.count());
        let rows = places.into_iter().map(|place| self.row(place));
        self.nearest_of(rows, query, limit, visible, tie)
    }

    /// Of rows spread evenly over all.
    fn visible_share(&self, listed: Option<&[u64]>, visible: &dyn Fn(u64) -> bool) -> f64 {
        let count = listed.map_or(self.count(), |listed| listed.len() as u64);
        let step = count.div_ceil(SAMPLE_ROWS).max(1);
        let (mut seen, mut asked) = (0.0, 0.0);
        for at in (step / 2..count).step_by(step as usize) {
            let ordinal = match listed {
                Some(listed) => listed[at as usize],
                None => self.row(at).ordinal(),
            };
            seen += f64::from(u8::from(visible(ordinal)));
            asked += 1.0;
        }
        seen / f64::max(asked, 1.0)
    }
}
