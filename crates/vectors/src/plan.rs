//! Which way to search, by what each costs: a function of numbers alone.
//!
//! Costs are counted in rows of a scan. The ratios are measured (`docs/benchmarks/vectors.md`) and need not be
//! exact: where two ways cost the same, either will do.

/// Scanned rows that take as long as one row of a list. A larger number prefers the scan to long lists.
const LISTED_ROW: u64 = 3;
/// Scanned rows that take as long as one row that the graph is asked for, with all rows that it looks at on the
/// way. A larger number uses the graph later.
const GRAPH_ROW: u64 = 90;
/// Rows from which on a graph is made: there a search takes a third of a scan, which is 0.5 ms. The graph wins from
/// 10,000 rows on; a larger number saves its memory (260 bytes a row) and the making (6 s) in more stores.
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
        /// The graph costs less than a scan as long as one in so many rows is visible.
        one_in: f64,
    },
}

impl Sizes {
    /// Returns the way that costs the least.
    pub fn plan(&self) -> Plan {
        // A graph misses some of the nearest, the fewer the more it is asked for. With the square root of its rows
        // it finds 99.7 % of the nearest ten at all sizes.
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
        // The most that a recall asks for by default.
        let asked = 64;
        let most_covered = |rows| plan(rows, rows * 4 / 5, asked, None);
        assert!(matches!(most_covered(GRAPH_ROWS_MIN), Plan::Graph { .. }));
        assert_eq!(most_covered(GRAPH_ROWS_MIN / 8), Plan::Scan);
    }
}
