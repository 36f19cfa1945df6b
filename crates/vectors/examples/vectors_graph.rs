//! What the graph of near rows costs beside the exact search: see `docs/benchmarks/vectors.md`.
//!
//! `cargo run --release -p icm-vectors --features graph --example vectors_graph -- random|clusters ROWS…`
#![allow(clippy::print_stdout)]

use std::cell::Cell;
use std::collections::HashSet;
use std::error::Error;
use std::time::{Duration, Instant};

use icm_vectors::{Graph, Matrix, MatrixWriter, Near, Query};

const DIM: usize = 256;
const QUERIES: usize = 200;
const CLUSTERS: usize = 1_000;
/// Of its own beside its centre.
const SPREAD: f32 = 0.7;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((kind, rows)) = args.split_first() else {
        return Err("random or clusters, then numbers of rows?".into());
    };
    for rows in rows {
        measure(kind == "clusters", rows.parse()?)?;
    }
    Ok(())
}

/// Numbers that look random, a stream a seed: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn number(&mut self) -> f32 {
        (0..4)
            .map(|_| self.next() as f32 / u64::MAX as f32 - 0.5)
            .sum()
    }

    fn unit(&mut self) -> Vec<f32> {
        unit((0..DIM).map(|_| self.number()).collect())
    }
}

fn unit(mut numbers: Vec<f32>) -> Vec<f32> {
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter_mut().for_each(|x| *x /= length);
    numbers
}

/// The vector of a row: made again when it is needed, for a million of them in f32 take a gigabyte.
fn vector(clusters: &[Vec<f32>], at: u64) -> Vec<f32> {
    let mut random = Random(at.wrapping_mul(0xD134_2543_DE82_EF95));
    let own = random.unit();
    if clusters.is_empty() {
        return own;
    }
    let centre = &clusters[(random.next() % clusters.len() as u64) as usize];
    unit(
        centre
            .iter()
            .zip(own)
            .map(|(c, o)| c + SPREAD * o)
            .collect(),
    )
}

fn measure(clustered: bool, rows: u64) -> Result<(), Box<dyn Error>> {
    let mut random = Random(1);
    let clusters: Vec<_> = match clustered {
        true => (0..CLUSTERS).map(|_| random.unit()).collect(),
        false => Vec::new(),
    };
    let queries: Vec<Vec<f32>> = (0..QUERIES as u64)
        .map(|at| vector(&clusters, u64::MAX - at))
        .collect();
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("vectors");
    let mut writer = MatrixWriter::create(&path, "any", DIM)?;
    // The ten nearest in f32.
    let mut truth: Vec<Vec<(f32, u64)>> = vec![Vec::new(); QUERIES];
    for at in 0..rows {
        let vector = vector(&clusters, at);
        writer.append(at, &vector)?;
        for (query, nearest) in queries.iter().zip(&mut truth) {
            let cosine: f32 = dot(query, &vector);
            if nearest.len() < 10 || cosine > nearest[9].0 {
                let place = nearest.partition_point(|(other, _)| *other >= cosine);
                nearest.insert(place, (cosine, at));
                nearest.truncate(10);
            }
        }
    }
    let count = writer.flush()?;
    let matrix = Matrix::open(&path, "any", DIM, count)?;
    let start = cpu();
    let graph = Graph::grown(None, &matrix, rows, &|_| true)?;
    let graph = graph.ok_or("nobody stopped it")?;
    let build = cpu() - start;
    let graph_path = dir.path().join("graph");
    let start = cpu();
    graph.save(&graph_path)?;
    let save = cpu() - start;
    drop(graph);
    let before = resident();
    let start = cpu();
    let graph = Graph::open(&graph_path, &matrix)?;
    let open = cpu() - start;
    println!(
        "{rows} rows: built in {build:.1?}, saved {save:.1?}, opened {open:.2?}, {} B a row, anonymous + {} kB ({} kB)",
        std::fs::metadata(&graph_path)?.len() / rows,
        resident() - before,
        resident(),
    );
    let queries: Vec<Query> = queries.iter().map(|query| Query::new(query)).collect();
    let scanned: Vec<HashSet<u64>> = queries
        .iter()
        .take(50)
        .map(|query| {
            Ok(matrix
                .scan(query, 200, &|_| true)?
                .iter()
                .map(|near| near.ordinal)
                .collect())
        })
        .collect::<Result<_, Box<dyn Error>>>()?;
    let scan = median(&queries[..50.min(QUERIES)], |query| {
        matrix.scan(query, 200, &|_| true).map(drop)
    })?;
    let mut ten = 0;
    for (query, truth) in queries.iter().zip(&truth) {
        let near = matrix.scan(query, 10, &|_| true)?;
        let is_near = |(_, ordinal): &&(f32, u64)| near.iter().any(|near| near.ordinal == *ordinal);
        ten += truth.iter().filter(is_near).count();
    }
    let recall = ten as f64 / (10 * QUERIES) as f64;
    println!("scan, 200: {scan:.2?}, recall@10 {recall:.4}");
    for wanted in [10, 50, 100, 200, 400, 800, 2_000] {
        let by_graph = |query: &Query, looks: Option<&Cell<u64>>| {
            let visible = |_| {
                looks.inspect(|looks| looks.set(looks.get() + 1));
                true
            };
            let sight: (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128) = (&visible, &u128::from);
            matrix.by_graph(&graph, query, (wanted, u64::MAX), 200, sight)
        };
        let (mut ten, mut all) = (0, 0);
        let looks = Cell::new(0);
        for (at, query) in queries.iter().enumerate() {
            let near = by_graph(query, Some(&looks))?;
            let best: HashSet<u64> = near.iter().take(10).map(|near| near.ordinal).collect();
            let is_found = |(_, ordinal): &&(f32, u64)| best.contains(ordinal);
            ten += truth[at].iter().filter(is_found).count();
            if let Some(scanned) = scanned.get(at) {
                let is_near = |near: &&Near| scanned.contains(&near.ordinal);
                all += near.iter().filter(is_near).count();
            }
        }
        let took = median(&queries, |query| by_graph(query, None).map(drop))?;
        println!(
            "graph, {wanted}: {took:.2?}, recall@10 {:.4}, @200 of the scan's {:.4}, {} looks",
            ten as f64 / (10 * QUERIES) as f64,
            all as f64 / (200 * scanned.len()) as f64,
            looks.get() / QUERIES as u64,
        );
    }
    // One row in so many is visible: what the graph costs to find 192 of them.
    for one_in in [1, 2, 4, 8, 16, 32, 64, 128] {
        let visible = |ordinal: u64| ordinal.is_multiple_of(one_in);
        let looks = Cell::new(0);
        let counted = |ordinal: u64| {
            looks.set(looks.get() + 1);
            visible(ordinal)
        };
        for query in &queries {
            matrix.by_graph(&graph, query, (192, u64::MAX), 64, (&counted, &u128::from))?;
        }
        let took = median(&queries, |query| {
            let sight: (&dyn Fn(u64) -> bool, &dyn Fn(u64) -> u128) = (&visible, &u128::from);
            matrix
                .by_graph(&graph, query, (192, u64::MAX), 64, sight)
                .map(drop)
        })?;
        let looks = looks.get() / QUERIES as u64;
        println!("one in {one_in} visible, 192 asked for: {took:.2?}, {looks} looks");
    }
    Ok(())
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums at once: one would wait for each addition.
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum()
}

/// The median over queries of the best of three runs.
fn median<E>(
    queries: &[Query],
    mut run: impl FnMut(&Query) -> Result<(), E>,
) -> Result<Duration, E> {
    let mut times = Vec::new();
    for query in queries {
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            run(query)?;
            best = best.min(start.elapsed());
        }
        times.push(best);
    }
    times.sort();
    Ok(times[times.len() / 2])
}

/// CPU time of this process, where the system says: hundredths of a second.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|ticks| ticks.parse::<u64>().ok())
            .unwrap_or(0)
    };
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

/// Kilobytes of anonymous memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
