//! The graph against the truth and against the scan, and damaged or wrong files of a graph.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Barrier;

use super::*;
use crate::{Graph, Plan};

/// The largest number of results that a recall asks for.
const LIMIT: usize = 64;
/// The graph's parameters for a search that never gives up, however few rows are visible.
const ASKED: (usize, f64) = (3 * LIMIT, f64::MAX);

/// Enough rows that the graph is used.
const ENOUGH: usize = 12_000;

type Sight<'a> = (&'a dyn Fn(u64) -> bool, &'a dyn Fn(u64) -> u128);
const ALL: Sight<'_> = (&|_| true, &|ordinal| ordinal as u128);

fn matrix_of(vectors: &[Vec<f32>]) -> (Scratch, Matrix) {
    let file = scratch();
    let dim = vectors[0].len();
    let count = written(&file.path, dim, vectors);
    let matrix = Matrix::open(&file.path, MODEL, dim, count).expect("opened");
    (file, matrix)
}

fn grown(matrix: &Matrix, covered: u64) -> Graph {
    let graph = Graph::grown(None, matrix, covered, &|_| true).expect("grown");
    graph.expect("nobody stopped it")
}

/// Returns vectors around `clusters` centres, or anywhere if `clusters` is 0.
fn vectors(random: &mut Random, dim: usize, clusters: usize, count: usize) -> Vec<Vec<f32>> {
    let centres: Vec<_> = (0..clusters).map(|_| random.unit(dim)).collect();
    let vector = |at: usize| match clusters {
        0 => random.unit(dim),
        _ => random.near(&centres[at % clusters], 0.7),
    };
    (0..count).map(vector).collect()
}

/// The visible rows: one in `one_in`, before an ordinal, without the closed ones.
#[derive(Debug, Clone, Copy)]
struct Filter {
    one_in: u64,
    before: u64,
    closed_in: u64,
}

impl Filter {
    fn sees(self, ordinal: u64) -> bool {
        let at = ordinal / 3;
        at.is_multiple_of(self.one_in) && ordinal < self.before && at % self.closed_in != 1
    }
}

#[test]
fn the_graph_and_the_scan_find_what_f32_finds() {
    const ROWS: usize = 3_000;
    let mut cases = 0;
    for (dim, clusters) in [(64, 0), (256, 0), (256, 30), (128, 300)] {
        let mut random = Random(dim as u64 + clusters as u64);
        let vectors = vectors(&mut random, dim, clusters, ROWS);
        let (_file, matrix) = matrix_of(&vectors);
        let graph = grown(&matrix, ROWS as u64 * 9 / 10);
        let rows = 3 * ROWS as u64;
        for (one_in, before, closed_in) in [
            (1, rows, u64::MAX),
            (1, rows / 2, u64::MAX),
            (2, rows, 3),
            (5, rows * 2 / 3, 4),
        ] {
            let filter = Filter {
                one_in,
                before,
                closed_in,
            };
            let (mut by_graph, mut by_scan, mut all) = (0, 0, 0);
            for at in 0..100 {
                let query = match clusters {
                    0 => random.unit(dim),
                    _ => random.near(&vectors[at * 7], 0.7),
                };
                let cosine = |ordinal: u64| dot(&query, &vectors[(ordinal / 3) as usize]);
                let mut truth: Vec<_> = (0..rows)
                    .step_by(3)
                    .filter(|ordinal| filter.sees(*ordinal))
                    .map(|ordinal| (cosine(ordinal), ordinal))
                    .collect();
                truth.sort_by(|a, b| b.0.total_cmp(&a.0));
                truth.truncate(10);
                let query = Query::new(&query);
                let visible = |ordinal| filter.sees(ordinal);
                let ten = |near: Vec<Near>| -> HashSet<u64> {
                    near.iter().take(10).map(|near| near.ordinal).collect()
                };
                let sight: Sight = (&visible, &u128::from);
                let near = matrix.by_graph(&graph, &query, ASKED, LIMIT, sight);
                let near = ten(near.expect("searched"));
                by_graph += truth.iter().filter(|found| near.contains(&found.1)).count();
                let near = ten(matrix.scan(&query, LIMIT, &visible).expect("scanned"));
                by_scan += truth.iter().filter(|found| near.contains(&found.1)).count();
                all += truth.len();
            }
            assert_eq!(all, 1_000);
            assert!(
                by_graph >= 980 && by_scan >= 980,
                "{dim}, {clusters} clusters, {filter:?}: graph {by_graph}, scan {by_scan}"
            );
            cases += 1;
        }
    }
    assert_eq!(cases, 16);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In each way, every result is visible and has the cosine that a scan gives, best first. All matching rows beyond
    /// the graph are found. A list or a scan misses nothing.
    #[test]
    fn every_way_says_what_a_scan_says(
        seed in any::<u64>(),
        rows in 1..3_000_usize,
        covered in 0..=10_u64,
        limit in 1..6_usize,
        one_in in 1..6_u64,
        before in 1..=4_u64,
        listed in any::<bool>(),
    ) {
        let mut random = Random(seed);
        let vectors = vectors(&mut random, 16, (seed % 9) as usize, rows);
        let (_file, matrix) = matrix_of(&vectors);
        let covered = rows as u64 * covered / 10;
        let graph = grown(&matrix, covered);
        prop_assert_eq!(graph.covered(), covered);
        let filter = Filter { one_in, before: 3 * rows as u64 * before / 4, closed_in: 5 };
        let visible = |ordinal| filter.sees(ordinal);
        let list: Vec<u64> = (0..3 * rows as u64).step_by(2).collect();
        let list = listed.then_some(&list[..]);
        let query = Query::new(&random.unit(16));
        let in_list = |ordinal: u64| !listed || ordinal.is_multiple_of(2);
        let fits = |ordinal: u64| in_list(ordinal) && visible(ordinal);
        let exact = matrix.scan(&query, limit, &fits).expect("whole");
        // With so few rows no graph is used.
        let nearest = matrix.nearest(Some(&graph), &query, limit, list, (&visible, &u128::from));
        let (near, searched) = nearest.expect("whole");
        prop_assert_eq!(&near, &exact);
        prop_assert!(matches!(searched.plan, Plan::Scan | Plan::List));
        let sight: Sight = (&fits, &u128::from);
        let near = matrix.by_graph(&graph, &query, (3 * limit, 100.0), limit, sight);
        let near = near.expect("whole");
        prop_assert!(near.len() == exact.len() || near.is_empty());
        for pair in near.windows(2) {
            prop_assert!(pair[0].cosine >= pair[1].cosine);
        }
        for found in &near {
            prop_assert!(in_list(found.ordinal) && visible(found.ordinal));
            prop_assert_eq!(matrix.cosine(&query, found.ordinal).expect("whole"), Some(found.cosine));
        }
        let worst = near.last().map_or(f32::MAX, |worst| worst.cosine);
        for missed in exact.iter().filter(|exact| exact.ordinal / 3 >= covered) {
            prop_assert!(near.contains(missed) || missed.cosine <= worst);
        }
    }
}

#[test]
fn a_graph_is_used_where_it_pays_and_left_where_it_sees_too_little() {
    let mut random = Random(7);
    let vectors = vectors(&mut random, 32, 0, ENOUGH);
    let (_file, matrix) = matrix_of(&vectors);
    let graph = grown(&matrix, ENOUGH as u64);
    let query = Query::new(&random.unit(32));
    let nearest = |graph: Option<&Graph>, list: Option<&[u64]>, visible: &dyn Fn(u64) -> bool| {
        matrix
            .nearest(graph, &query, 5, list, (visible, &u128::from))
            .expect("whole")
    };
    let (found, searched) = nearest(Some(&graph), None, &|_| true);
    let is_graph = |plan: Plan| matches!(plan, Plan::Graph { wanted: 109, .. });
    assert!(is_graph(searched.plan) && !searched.fell_back);
    assert_eq!(found, matrix.scan(&query, 5, &|_| true).expect("whole"));
    let (_, searched) = nearest(None, None, &|_| true);
    assert_eq!(searched.plan, Plan::Scan);
    // The nearest rows may be hidden, as long as many rows on the way are visible.
    let hidden = matrix.scan(&query, 5, &|_| true).expect("whole");
    let visible = |ordinal: u64| hidden.iter().all(|hidden| hidden.ordinal != ordinal);
    let (found, searched) = nearest(Some(&graph), None, &visible);
    assert!(is_graph(searched.plan) && !searched.fell_back);
    assert_eq!(found, matrix.scan(&query, 5, &visible).expect("whole"));
    // If all rows nearby are hidden, which a sample does not show, the graph gives up soon.
    let hidden = matrix.scan(&query, 1_000, &|_| true).expect("whole");
    let hidden: HashSet<u64> = hidden.iter().map(|hidden| hidden.ordinal).collect();
    let asked = Cell::new(0);
    let visible = |ordinal: u64| {
        asked.set(asked.get() + 1);
        !hidden.contains(&ordinal)
    };
    let (found, searched) = nearest(Some(&graph), None, &visible);
    assert!(is_graph(searched.plan) && searched.fell_back);
    let all = asked.replace(0);
    assert_eq!(found, matrix.scan(&query, 5, &visible).expect("whole"));
    let by_graph = all - asked.get();
    assert!(by_graph < 1_000, "{by_graph}");
    // If few rows are visible at all, the graph is not asked.
    let few = |ordinal: u64| ordinal.is_multiple_of(30);
    let (found, searched) = nearest(Some(&graph), None, &few);
    assert_eq!((searched.plan, searched.fell_back), (Plan::Scan, false));
    assert_eq!(found, matrix.scan(&query, 5, &few).expect("whole"));
    let (found, searched) = nearest(Some(&graph), Some(&[2, 3, 9, 30]), &|_| true);
    assert_eq!(searched.plan, Plan::List);
    let mut ordinals: Vec<_> = found.iter().map(|near| near.ordinal).collect();
    ordinals.sort_unstable();
    assert_eq!(ordinals, [3, 9, 30]);
}

#[test]
fn a_graph_goes_on_from_its_file_and_stops_when_it_is_told() {
    let mut random = Random(8);
    let vectors = vectors(&mut random, 16, 0, 400);
    let (file, matrix) = matrix_of(&vectors);
    let path = file.path.with_extension("graph");
    grown(&matrix, 150).save(&path).expect("saved");
    let opened = Graph::open(&path, &matrix).expect("opened");
    assert_eq!(opened.covered(), 150);
    let told = RefCell::new(Vec::new());
    let whole = Graph::grown(Some(opened), &matrix, u64::MAX, &|covered| {
        told.borrow_mut().push(covered);
        true
    });
    let whole = whole.expect("grown").expect("nobody stopped it");
    let told = told.into_inner();
    assert!(told.contains(&400) && told.iter().all(|told| (151..=400).contains(told)));
    assert!(whole.fits(&matrix));
    whole.save(&path).expect("saved");
    let whole = Graph::open(&path, &matrix).expect("opened");
    assert_eq!(whole.covered(), 400);
    let finds = |vector: &&Vec<f32>| {
        let found = matrix.by_graph(&whole, &Query::new(vector), (64, f64::MAX), 1, ALL);
        let found = found.expect("searched");
        vectors[(found[0].ordinal / 3) as usize] == **vector
    };
    // A graph may leave some rows out; the 150 rows of the file alone are far fewer than this.
    let found = vectors.iter().filter(finds).count();
    assert!(found >= 350, "{found}");
    let fewer = Graph::grown(Some(whole), &matrix, 200, &|_| panic!("all are there"));
    assert_eq!(
        fewer.expect("no failure").map(|graph| graph.covered()),
        Some(400)
    );
    let stopped = Graph::grown(None, &matrix, 400, &|covered| covered < 200);
    assert!(stopped.expect("no failure").is_none());
    let in_memory = Matrix::in_memory(MODEL, 16);
    unusable(Graph::grown(None, &in_memory, 0, &|_| true));
}

#[test]
fn a_graph_of_other_rows_is_not_gone_on_from() {
    let vectors = vectors(&mut Random(12), 8, 0, 60);
    let (_file, matrix) = matrix_of(&vectors[..40]);
    let (_other_file, other) = matrix_of(&vectors[20..]);
    let made = Cell::new(0);
    let graph = Graph::grown(Some(grown(&matrix, 40)), &other, 40, &|covered| {
        made.set(covered);
        true
    });
    let graph = graph.expect("grown").expect("nobody stopped it");
    assert_eq!(made.get(), 40, "all are added anew");
    assert!(graph.fits(&other));
}

#[test]
fn a_panic_of_the_caller_passes_usearch() {
    let vectors = vectors(&mut Random(13), 8, 0, 60);
    let (_file, matrix) = matrix_of(&vectors);
    let graph = grown(&matrix, 60);
    let query = Query::new(&vectors[0]);
    let search = || {
        let sight: Sight = (&|_| panic!("the caller's"), &u128::from);
        matrix.by_graph(&graph, &query, ASKED, 5, sight)
    };
    let cause = std::panic::catch_unwind(std::panic::AssertUnwindSafe(search));
    let cause = cause.expect_err("it panics");
    assert_eq!(cause.downcast_ref(), Some(&"the caller's"));
    let near = matrix.by_graph(&graph, &query, ASKED, 1, ALL);
    assert_eq!(near.expect("searched")[0].ordinal, 0);
}

#[test]
fn a_search_within_a_search_leaves_that_its_rows() {
    let mut random = Random(15);
    let [(_file, matrix), (_other, other)] =
        [ENOUGH, 500].map(|count| matrix_of(&vectors(&mut random, 8, 0, count)));
    let graphs = [&matrix, &other].map(|matrix| grown(matrix, matrix.count()));
    let query = Query::new(&random.unit(8));
    let is_first = Cell::new(true);
    let visible = |_| {
        if is_first.replace(false) {
            let near = other.by_graph(&graphs[1], &query, ASKED, 5, ALL);
            let exact = other.scan(&query, 5, &|_| true).expect("whole");
            assert_eq!(near.expect("searched"), exact);
        }
        true
    };
    let near = matrix.by_graph(&graphs[0], &query, ASKED, 5, (&visible, &u128::from));
    let exact = matrix.scan(&query, 5, &|_| true).expect("whole");
    assert_eq!(near.expect("searched"), exact);
}

/// usearch has room for 8 searches at the same time; the next search scans.
#[test]
fn more_searches_than_the_graph_has_room_for_scan() {
    const SEARCHES: usize = 8;
    let vectors = vectors(&mut Random(14), 8, 0, ENOUGH);
    let (_file, matrix) = matrix_of(&vectors);
    let graph = grown(&matrix, ENOUGH as u64);
    let query = Query::new(&vectors[7]);
    let exact = matrix.scan(&query, 5, &|_| true).expect("whole");
    let (begun, held) = (Barrier::new(SEARCHES + 1), Barrier::new(SEARCHES + 1));
    std::thread::scope(|scope| {
        for _ in 0..SEARCHES {
            scope.spawn(|| {
                let is_first = Cell::new(true);
                let visible = |_| {
                    if is_first.replace(false) {
                        begun.wait();
                        held.wait();
                    }
                    true
                };
                let sight: Sight = (&visible, &u128::from);
                let near = matrix.by_graph(&graph, &query, ASKED, 5, sight);
                assert_eq!(near.expect("there is room"), exact);
            });
        }
        begun.wait();
        let (near, searched) = matrix
            .nearest(Some(&graph), &query, 5, None, ALL)
            .expect("whole");
        held.wait();
        assert!(searched.fell_back);
        assert_eq!(near, exact);
    });
    let near = matrix.nearest(Some(&graph), &query, 5, None, ALL);
    assert!(!near.expect("whole").1.fell_back);
}

#[test]
fn a_graph_that_was_cut_or_flipped_is_refused() {
    let vectors = vectors(&mut Random(9), 8, 0, 12);
    let (file, matrix) = matrix_of(&vectors);
    let path = file.path.with_extension("graph");
    grown(&matrix, 12).save(&path).expect("saved");
    let whole = fs::read(&path).expect("read");
    assert!(Graph::open(&path, &matrix).is_ok());
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).expect("written");
        unusable(Graph::open(&path, &matrix));
    }
    for at in 0..whole.len() {
        // Bytes that are hashed in one piece need one flipped bit each.
        for bit in 0..if at < 88 { 8 } else { 1 } {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).expect("written");
            unusable(Graph::open(&path, &matrix));
        }
    }
    let mut longer = whole.clone();
    longer.push(0);
    fs::write(&path, &longer).expect("written");
    unusable(Graph::open(&path, &matrix));
}

#[test]
fn a_graph_of_other_rows_is_refused() {
    let mut vectors = vectors(&mut Random(10), 8, 0, 40);
    let (file, matrix) = matrix_of(&vectors);
    let path = file.path.with_extension("graph");
    let graph = grown(&matrix, 40);
    graph.save(&path).expect("saved");
    let fewer = Matrix::open(&file.path, MODEL, 8, 39).expect("opened");
    unusable(Graph::open(&path, &fewer));
    assert!(!graph.fits(&fewer));
    // A graph of the first rows fits more rows, too.
    vectors.push(vec![1.0; 8]);
    let (_more_file, more) = matrix_of(&vectors);
    assert!(Graph::open(&path, &more).is_ok() && graph.fits(&more));
    vectors[20] = vec![-1.0; 8];
    let (_other_file, other) = matrix_of(&vectors);
    assert_eq!(
        unusable(Graph::open(&path, &other)),
        "its graph is damaged, or of other rows"
    );
    assert!(!graph.fits(&other));
    let mut writer = MatrixWriter::create(&file.path, "another", 8).expect("created");
    for (at, vector) in vectors.iter().enumerate() {
        writer.append(3 * at as u64, vector).expect("appended");
    }
    let count = writer.flush().expect("written");
    let another = Matrix::open(&file.path, "another", 8, count).expect("opened");
    unusable(Graph::open(&path, &another));
    assert!(matches!(
        Graph::open(&path.with_extension("none"), &matrix),
        Err(VectorError::Io { .. })
    ));
}
