//! Which way to search, by what each costs: a function of numbers alone.
//!
//! Costs are counted in rows of a scan. The ratios are measured (`docs/benchmarks/vectors.md`) and need not be
//! exact: where two ways cost the same, either will do.

/// Scanned rows that take as long as one row of a list. A larger number prefers the scan to long lists.
const LISTED_ROW: u64 = 3;
/// Scanned rows that take as long as one row that the graph is asked for, with all rows that it looks at on the
/// way. A larger number uses the graph later.
const GRAPH_ROW: u64 = 100;
/// Rows that the graph is asked for, for each one that is wanted: it misses some of the nearest.
const OVERFETCH: u64 = 3;
/// Rows from which on a graph is made.
pub const GRAPH_ROWS_MIN: u64 = 50_000;

/// What there is to search, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// All rows.
    pub rows: u64,
    /// The first rows that a graph in memory covers; 0 without one. No graph is read for one search, so a process that
    /// just began has none.
    pub covered: u64,
    /// Rows that are looked for.
    pub limit: usize,
    /// Rows to choose from, where the caller has a list.
    pub listed: Option<u64>,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Every row.
    Scan,
    /// Every row of the list.
    List,
    /// The nearest that the graph finds, and every row beyond it.
    Graph {
        /// Rows to ask the graph for.
        wanted: usize,
        /// The graph costs less than a scan as long as one in so many rows is visible.
        one_in: u64,
    },
}

impl Sizes {
    /// Returns the way that costs the least.
    pub fn plan(&self) -> Plan {
        let wanted = (self.limit as u64).saturating_mul(OVERFETCH);
        let beyond = self.rows.saturating_sub(self.covered);
        let graph = wanted.saturating_mul(GRAPH_ROW).saturating_add(beyond);
        let list = (self.listed).map_or(u64::MAX, |listed| listed.saturating_mul(LISTED_ROW));
        match self.rows.min(list) {
            least if self.covered > 0 && graph < least => Plan::Graph {
                wanted: wanted as usize,
                one_in: least / graph.max(1),
            },
            least if list == least => Plan::List,
            _ => Plan::Scan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: u64 = 1_000_000;

    fn plan(rows: u64, covered: u64, limit: usize, listed: Option<u64>) -> Plan {
        let sizes = Sizes {
            rows,
            covered,
            limit,
            listed,
        };
        sizes.plan()
    }

    #[test]
    fn the_cheapest_way_is_taken() {
        let graph = |one_in| Plan::Graph {
            wanted: 600,
            one_in,
        };
        for (name, found, expected) in [
            ("all covered", plan(M, M, 200, None), graph(16)),
            ("no graph", plan(M, 0, 200, None), Plan::Scan),
            ("much new", plan(M, 700_000, 200, None), graph(2)),
            ("most new", plan(M, 20_000, 200, None), Plan::Scan),
            ("short list", plan(M, M, 200, Some(5_000)), Plan::List),
            ("empty list", plan(M, M, 200, Some(0)), Plan::List),
            ("long list", plan(M, M, 200, Some(M / 4)), graph(12)),
            ("all listed", plan(M, M, 200, Some(M)), graph(16)),
            ("all listed, no graph", plan(M, 0, 9, Some(M)), Plan::Scan),
            ("few rows", plan(40_000, 40_000, 200, None), Plan::Scan),
            ("no rows", plan(0, 0, 200, None), Plan::Scan),
            ("none wanted", plan(M, M, 0, Some(0)), Plan::List),
            ("many wanted", plan(M, M, 1_000_000, None), Plan::Scan),
            ("all wanted", plan(M, M, usize::MAX, None), Plan::Scan),
        ] {
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn a_graph_is_made_where_it_is_used() {
        // The most that a recall asks for by default.
        let asked = 64;
        let most_covered = |rows| plan(rows, rows * 4 / 5, asked, None);
        assert!(matches!(most_covered(GRAPH_ROWS_MIN), Plan::Graph { .. }));
        assert_eq!(most_covered(GRAPH_ROWS_MIN / 4), Plan::Scan);
    }
}
