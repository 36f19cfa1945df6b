//! Measures the cost of the built-in embedder and of the exact search: see `docs/benchmarks/embed.md`.
//!
//! `cargo run --release -p icm-vectors --example embed_cost -- texts FOLDER` embeds the memories
//! and questions of every `NAME.memories.jsonl` and `NAME.questions.jsonl`; `… -- scan [ROWS…]` searches
//! files of random unit vectors; `… -- first` embeds one text and ends, to be timed from outside.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use icm_vectors::embed::{Embedder, StaticEmbedder};
use icm_vectors::{Matrix, MatrixWriter, Query};

const DIM: usize = 256;
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["first"] => first(start),
        ["texts", folder] => texts(folder),
        ["scan", ref rows @ ..] => match rows {
            [] => [10_000, 100_000, 1_000_000].into_iter().try_for_each(scan),
            rows => rows.iter().try_for_each(|rows| scan(rows.parse()?)),
        },
        _ => Err("first, texts FOLDER or scan [ROWS…]?".into()),
    }
}

/// Prints the microseconds of this process up to its first vector, and its memory then.
fn first(start: Instant) -> Result<(), Box<dyn Error>> {
    let embedder = StaticEmbedder::built_in();
    let vector = embedder.embed_one("how are failed charges tried again");
    let took = start.elapsed();
    black_box(vector);
    println!(
        "{:.0} µs from main to the first vector; {}",
        took.as_secs_f64() * 1e6,
        resident()?
    );
    Ok(())
}

fn texts(folder: &str) -> Result<(), Box<dyn Error>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        for line in fs::read_to_string(path)?.lines() {
            let line: serde_json::Value = serde_json::from_str(line)?;
            let text = line["content"].as_str().or(line["query"].as_str());
            texts.push(text.ok_or("a line without a text")?.to_owned());
        }
    }
    let embedder = StaticEmbedder::built_in();
    let bytes: usize = texts.iter().map(String::len).sum();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let took = median(|| embedder.embed(&texts).map(drop))?;
    println!(
        "{} texts, {} B on average: {:.2} µs a text; {}",
        texts.len(),
        bytes / texts.len(),
        took * 1e6 / texts.len() as f64,
        resident()?,
    );
    let unit = "We moved the billing service to Postgres 15 in March; retries use back-off. ";
    for (name, unit) in [
        ("English", unit),
        ("emoji", "\u{1f600}"),
        ("one long word", "q"),
    ] {
        let long = unit.repeat((64 << 10) / unit.len());
        let took = median(|| embedder.embed(&[&long]).map(drop))?;
        println!("64 KiB, {name}: {:.0} µs", took * 1e6);
    }
    Ok(())
}

fn scan(rows: u64) -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("vectors");
    let mut random = 1_u64;
    let mut vector = || {
        let mut numbers = [0.0_f32; DIM];
        for number in &mut numbers {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *number = (random >> 40) as f32 / (1 << 24) as f32 - 0.5;
        }
        let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
        numbers.map(|x| x / length)
    };
    let vectors: Vec<_> = (0..rows).map(|_| vector()).collect();
    let start = Instant::now();
    let mut writer = MatrixWriter::create(&path, "random", DIM)?;
    for (ordinal, vector) in vectors.iter().enumerate() {
        writer.append(ordinal as u64, vector)?;
    }
    let count = writer.flush()?;
    let append = start.elapsed().as_secs_f64();
    drop(vectors);
    let query = Query::new(&vector());
    let start = Instant::now();
    let matrix = Matrix::open(&path, "random", DIM, count)?;
    matrix.scan(&query, 10, &|_| true)?;
    let first = start.elapsed().as_secs_f64();
    let all = median(|| matrix.scan(&query, 10, &|_| true).map(drop))?;
    let few = median(|| {
        matrix
            .scan(&query, 10, &|ordinal| ordinal % 100 == 7)
            .map(drop)
    })?;
    let check = median(|| matrix.check())?;
    let each = |seconds: f64| seconds * 1e9 / rows as f64;
    println!(
        "{rows} rows: opened and searched for the first time {:.0} µs; searched {:.0} µs ({:.1} ns a row), \
         one in 100 visible {:.0} µs; appended {:.0} ns, checked {:.1} ns a row",
        first * 1e6,
        all * 1e6,
        each(all),
        few * 1e6,
        each(append),
        each(check),
    );
    Ok(())
}

/// Returns the median time of [`ROUNDS`] runs, in seconds.
fn median<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

/// Returns the resident memory of this process; an empty text if the system does not report it.
fn resident() -> Result<String, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status
        .lines()
        .filter(|line| line.starts_with("VmRSS") || line.starts_with("RssAnon"));
    Ok(lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join(", "))
}
