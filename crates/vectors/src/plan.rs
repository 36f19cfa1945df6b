//! Which way to search, by what each costs: a function of numbers alone.
//!
//! Constants are of the machine of `docs/benchmarks/vectors.md`. Only their ratios matter, and they need not be
//! near: where two ways cost the same, either will do.

/// Nanoseconds that a row takes in a scan.
const SCAN_ROW_NS: f64 = 20.0;
/// And one that is looked up by its ordinal.
const LISTED_ROW_NS: f64 = 60.0;
/// Nanoseconds for each row that the graph is asked for, with all that it looks at on the way.
const GRAPH_ROW_NS: f64 = 2_500.0;
/// So many times as many as are needed are asked of the graph, for some of the nearest it does not see.
const OVERFETCH: f64 = 3.0;
/// Of so many rows on the graph saves more than it costs to make.
pub const GRAPH_ROWS_MIN: u64 = 50_000;

/// What there is to search, and for what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// All rows.
    pub rows: u64,
    /// Of those the first that a graph covers which is in memory; 0 without one. Nothing is read for one search:
    /// a process that only just began has none.
    pub covered: u64,
    /// How many are looked for.
    pub limit: usize,
    /// How many there are to choose from where the caller has a list.
    pub listed: Option<u64>,
    /// Of all rows, or of those of the list, so many may be seen, about; 0 to 1.
    pub visible: f64,
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
        /// How many to ask it for.
        wanted: usize,
    },
}

impl Sizes {
    /// The way that costs the least.
    pub fn plan(&self) -> Plan {
        let mut least = (self.rows as f64 * SCAN_ROW_NS, Plan::Scan);
        let mut offer = |cost: f64, plan| {
            if cost < least.0 {
                least = (cost, plan);
            }
        };
        if let Some(listed) = self.listed {
            offer(listed as f64 * LISTED_ROW_NS, Plan::List);
        }
        let share = match self.listed {
            Some(listed) => self.visible * listed as f64 / self.rows.max(1) as f64,
            None => self.visible,
        };
        let wanted = self.limit as f64 * OVERFETCH / share;
        // Nearly all there are cannot be near.
        if wanted < self.covered as f64 / 4.0 {
            let beyond = self.rows.saturating_sub(self.covered) as f64;
            let cost = wanted * GRAPH_ROW_NS + beyond * SCAN_ROW_NS;
            let wanted = wanted.ceil() as usize;
            offer(cost, Plan::Graph { wanted });
        }
        least.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: u64 = 1_000_000;

    fn plan(rows: u64, covered: u64, limit: usize, listed: Option<u64>, visible: f64) -> Plan {
        let sizes = Sizes {
            rows,
            covered,
            limit,
            listed,
            visible,
        };
        sizes.plan()
    }

    #[test]
    fn the_cheapest_way_is_taken() {
        let graph = |wanted| Plan::Graph { wanted };
        for (name, found, expected) in [
            ("all visible", plan(M, M, 200, None, 1.0), graph(600)),
            ("half visible", plan(M, M, 200, None, 0.5), graph(1_200)),
            ("few visible", plan(M, M, 200, None, 0.04), Plan::Scan),
            ("none visible", plan(M, M, 200, None, 0.0), Plan::Scan),
            ("no graph", plan(M, 0, 200, None, 1.0), Plan::Scan),
            ("much new", plan(M, 700_000, 200, None, 1.0), graph(600)),
            ("most new", plan(M, 20_000, 200, None, 1.0), Plan::Scan),
            ("short list", plan(M, M, 200, Some(5_000), 1.0), Plan::List),
            ("empty list", plan(M, M, 200, Some(0), 1.0), Plan::List),
            ("long list", plan(M, M, 200, Some(M / 4), 1.0), graph(2_400)),
            ("all listed", plan(M, M, 200, Some(M), 0.01), Plan::Scan),
            ("few rows", plan(40_000, 40_000, 200, None, 1.0), Plan::Scan),
            ("no rows", plan(0, 0, 200, None, 1.0), Plan::Scan),
            (
                "many asked for",
                plan(M, M, 1_000_000, None, 1.0),
                Plan::Scan,
            ),
        ] {
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn a_graph_is_made_where_it_is_used() {
        // As many as a recall asks for by default.
        let asked = 64;
        let most_covered = |rows| plan(rows, rows * 4 / 5, asked, None, 1.0);
        let wanted = 3 * asked;
        assert_eq!(most_covered(GRAPH_ROWS_MIN), Plan::Graph { wanted });
        // Below it there is something to gain, but not so much that a recall would be slow without.
        let scan_ns = GRAPH_ROWS_MIN as f64 * SCAN_ROW_NS;
        assert!(scan_ns <= 1e6, "{scan_ns} ns");
        assert_eq!(most_covered(GRAPH_ROWS_MIN / 4), Plan::Scan);
    }
}
