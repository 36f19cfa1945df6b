//! Measures the graph of near rows beside the exact search: see `docs/benchmarks/vectors.md`.
//!
//! `cargo run --release -p icm-vectors --features graph --example vectors_graph -- random|clusters|FOLDER ROWS…`
//!
//! FOLDER has `all.memories.jsonl` and `all.questions.jsonl`, as `docs/benchmarks/mixed.py` writes them.
#![allow(clippy::print_stdout)]

use std::cell::Cell;
use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use icm_vectors::embed::StaticEmbedder;
use icm_vectors::{Graph, Matrix, MatrixWriter, Near, Query};

const DIM: usize = 256;
const QUERIES: usize = 200;
const CLUSTERS: usize = 1_000;
/// Length of a row's own part, beside its centre's length of 1.
const SPREAD: f32 = 0.7;
/// The largest number of results that a recall asks for.
const LIMIT: usize = 64;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((kind, rows)) = args.split_first() else {
        return Err("random, clusters or a folder, then numbers of rows?".into());
    };
    for rows in rows {
        let rows = rows.parse()?;
        match kind.as_str() {
            "random" => measure(rows, &[], &|at| vector(&[], at))?,
            "clusters" => {
                let mut random = Random(1);
                let centres: Vec<_> = (0..CLUSTERS).map(|_| random.unit()).collect();
                measure(rows, &[], &|at| vector(&centres, at))?;
            }
            folder => {
                let memories = texts(&Path::new(folder).join("all.memories.jsonl"), "content")?;
                let questions = texts(&Path::new(folder).join("all.questions.jsonl"), "query")?;
                let embedder = StaticEmbedder::built_in();
                let vector = |at: u64| embedder.embed_one(&memories[at as usize]);
                let questions: Vec<_> = questions
                    .iter()
                    .map(|text| embedder.embed_one(text))
                    .collect();
                measure(rows.min(memories.len() as u64), &questions, &vector)?;
            }
        }
    }
    Ok(())
}

/// Returns a field of each line of a file.
fn texts(path: &Path, field: &str) -> Outcome<Vec<String>> {
    let text = |line: &str| -> Outcome<String> {
        let line: serde_json::Value = serde_json::from_str(line)?;
        Ok(line[field].as_str().unwrap_or_default().to_owned())
    };
    std::fs::read_to_string(path)?.lines().map(text).collect()
}

/// Pseudo-random numbers (splitmix64), one stream for each seed.
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

/// Returns the vector of a row. The vector is made again each time: a million of them take a gigabyte.
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

/// Measures rows that `vector` makes. Without questions, the queries are vectors like those of the rows.
fn measure(rows: u64, questions: &[Vec<f32>], vector: &dyn Fn(u64) -> Vec<f32>) -> Outcome<()> {
    let queries: Vec<Vec<f32>> = match questions.is_empty() {
        true => (0..QUERIES as u64)
            .map(|at| vector(u64::MAX - at))
            .collect(),
        false => questions.iter().take(QUERIES).cloned().collect(),
    };
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("vectors");
    let mut writer = MatrixWriter::create(&path, "any", DIM)?;
    // The ten nearest in f32.
    let mut truth: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.len()];
    for at in 0..rows {
        let vector = vector(at);
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
    graph.save(&graph_path)?;
    drop(graph);
    let before = resident();
    let start = Instant::now();
    let graph = Graph::open(&graph_path, &matrix)?;
    println!(
        "{rows} rows: built in {build:.1?}, opened in {:.1?}, {} B a row, anonymous + {} kB",
        start.elapsed(),
        std::fs::metadata(&graph_path)?.len() / rows,
        resident() - before,
    );
    let queries: Vec<Query> = queries.iter().map(|query| Query::new(query)).collect();
    let scanned: Vec<Vec<Near>> = (queries.iter())
        .map(|query| matrix.scan(query, LIMIT, &|_| true))
        .collect::<Result<_, _>>()?;
    let took = median(&queries, |query| matrix.scan(query, LIMIT, &|_| true))?;
    println!("  scan: {took:.2?}, {}", found(&scanned, &truth, &scanned));
    let root = rows.isqrt() as usize;
    for asked in [root / 2, root, 2 * root] {
        let by_graph = |query: &Query| {
            let sight: Sight = (&|_| true, &u128::from);
            matrix.by_graph(&graph, query, (asked, f64::MAX), LIMIT, sight)
        };
        let near: Vec<_> = queries.iter().map(by_graph).collect::<Result<_, _>>()?;
        let took = median(&queries, by_graph)?;
        println!(
            "  graph, asked for {asked}: {took:.2?}, {}",
            found(&near, &truth, &scanned)
        );
    }
    // One row in `one_in` is visible.
    for one_in in [2, 4, 8, 16] {
        let looks = Cell::new(0);
        let visible = |ordinal: u64| {
            looks.set(looks.get() + 1);
            ordinal.is_multiple_of(one_in)
        };
        let by_graph = |query: &Query| {
            let sight: Sight = (&visible, &u128::from);
            matrix.by_graph(&graph, query, (root, f64::MAX), LIMIT, sight)
        };
        for query in &queries {
            by_graph(query)?;
        }
        let looks = looks.get() / queries.len() as u64;
        let took = median(&queries, by_graph)?;
        let chosen = median(&queries, |query| {
            matrix.nearest(Some(&graph), query, LIMIT, None, (&visible, &u128::from))
        })?;
        println!("  1 in {one_in} visible: {took:.2?} and {looks} looks; as chosen {chosen:.2?}");
    }
    Ok(())
}

type Sight<'a> = (&'a dyn Fn(u64) -> bool, &'a dyn Fn(u64) -> u128);

/// Returns the shares that `near` has: of the ten nearest in f32, of the ten nearest of the scan, and of all of the
/// scan.
fn found(near: &[Vec<Near>], truth: &[Vec<(f32, u64)>], scanned: &[Vec<Near>]) -> String {
    let (mut of_truth, mut of_ten, mut of_all, mut ten) = (0, 0, 0, 0);
    for ((near, truth), scanned) in near.iter().zip(truth).zip(scanned) {
        let all: HashSet<u64> = near.iter().map(|near| near.ordinal).collect();
        let first: HashSet<u64> = near.iter().take(10).map(|near| near.ordinal).collect();
        of_truth += truth
            .iter()
            .filter(|found| first.contains(&found.1))
            .count();
        let is_in = |near: &&Near| first.contains(&near.ordinal);
        of_ten += scanned.iter().take(10).filter(is_in).count();
        of_all += scanned
            .iter()
            .filter(|near| all.contains(&near.ordinal))
            .count();
        ten += truth.len();
    }
    let all: usize = scanned.iter().map(Vec::len).sum();
    format!(
        "recall@10 {:.4}, of the scan's 10 {:.4}, of the scan's {LIMIT} {:.4}",
        of_truth as f64 / ten as f64,
        of_ten as f64 / ten as f64,
        of_all as f64 / all as f64,
    )
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums in parallel: additions to a single sum would wait for one another.
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for at in 0..8 {
            sums[at] += a[at] * b[at];
        }
    }
    sums.iter().sum()
}

/// Returns the median over all queries of the best of three runs.
fn median<T, E>(queries: &[Query], run: impl Fn(&Query) -> Result<T, E>) -> Result<Duration, E> {
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

/// Returns the CPU time of this process, in steps of 10 ms; zero if the system does not report it.
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

/// Returns the anonymous memory of this process, in kilobytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}
