//! The choice among the ways to search, by their cost: a function of numbers alone.
//!
//! Costs are counted in rows of a scan. The ratios are measured (`docs/benchmarks/vectors.md`) and need not be exact:
//! if two ways cost the same, either will do.

/// Scanned rows that take as long as one listed row: 3. A larger value prefers the scan to long lists.
const LISTED_ROW: u64 = 3;
/// Scanned rows that take as long as one row that the graph returns, with all rows that the graph visits for it: 90. A
/// larger value uses the graph later.
const GRAPH_ROW: u64 = 90;
/// Rows from which on a graph is made: 50,000. There a scan takes 0.5 ms and the graph a third of it. The graph is
/// faster from 10,000 rows on; a larger value saves its memory (260 bytes a row) and its making (6 s) in more stores.
pub const GRAPH_ROWS_MIN: u64 = 50_000;

/// The sizes that the choice depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The number of all rows.
    pub rows: u64,
    /// The first rows that a graph in memory covers; 0 without a graph. A graph is not read for one search, so a
    /// process that just began has none.
    pub covered: u64,
    /// The number of results that are wanted.
    pub limit: usize,
    /// The number of rows in the caller's list, if there is one.
    pub listed: Option<u64>,
}

/// The way to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    /// Every row.
    Scan,
    /// Every row of the list.
    List,
    /// The nearest that the graph finds, and every row beyond it.
    Graph {
        /// Rows to ask the graph for.
        wanted: usize,
        /// The graph costs less than a scan as long as at least one in `one_in` rows is visible.
        one_in: f64,
    },
}

impl Sizes {
    /// Returns the cheapest way.
    pub fn plan(&self) -> Plan {
        // The graph misses some of the nearest rows, fewer if it is asked for more. Asked for the square root of its
        // rows, it finds 99.7 % of the nearest ten at all sizes.
        let wanted = self.covered.isqrt().max(self.limit as u64);
        let beyond = self.rows.saturating_sub(self.covered);
        let graph = wanted.saturating_mul(GRAPH_ROW).saturating_add(beyond);
        let list = (self.listed).map_or(u64::MAX, |listed| listed.saturating_mul(LISTED_ROW));
        match self.rows.min(list) {
            least if self.covered > 0 && graph < least => Plan::Graph {
                wanted: wanted as usize,
                one_in: least as f64 / graph as f64,
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
        let graph = |wanted, one_in| Plan::Graph { wanted, one_in };
        for (name, found, expected) in [
            ("all covered", plan(M, M, 64, None), graph(1_000, 1e6 / 9e4)),
            ("no graph", plan(M, 0, 64, None), Plan::Scan),
            (
                "much new",
                plan(M, 640_000, 64, None),
                graph(800, 1e6 / 4.32e5),
            ),
            ("most new", plan(M, 8_000, 64, None), Plan::Scan),
            ("short list", plan(M, M, 64, Some(5_000)), Plan::List),
            ("empty list", plan(M, M, 64, Some(0)), Plan::List),
            (
                "long list",
                plan(M, M, 64, Some(M / 4)),
                graph(1_000, 7.5e5 / 9e4),
            ),
            (
                "all listed",
                plan(M, M, 64, Some(M)),
                graph(1_000, 1e6 / 9e4),
            ),
            ("all listed, no graph", plan(M, 0, 9, Some(M)), Plan::Scan),
            ("few rows", plan(8_000, 8_000, 64, None), Plan::Scan),
            ("no rows", plan(0, 0, 64, None), Plan::Scan),
            (
                "many wanted",
                plan(M, M, 5_000, None),
                graph(5_000, 1e6 / 4.5e5),
            ),
            ("more wanted", plan(M, M, 20_000, None), Plan::Scan),
            ("all wanted", plan(M, M, usize::MAX, None), Plan::Scan),
        ] {
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn a_graph_is_made_where_it_is_used() {
        // The largest number that a recall asks for by default.
        let asked = 64;
        let most_covered = |rows| plan(rows, rows * 4 / 5, asked, None);
        assert!(matches!(most_covered(GRAPH_ROWS_MIN), Plan::Graph { .. }));
        assert_eq!(most_covered(GRAPH_ROWS_MIN / 8), Plan::Scan);
    }
}
