//! How well the full-text view alone finds the evidence for questions.
//!
//! Takes a folder of `NAME.memories.jsonl` and `NAME.questions.jsonl`, one store a NAME, and
//! prints, over all questions: *evidence@10*, the share of a question's evidence among the
//! first ten hits, and *any@10*, the share of questions with at least one piece there.
//!
//! `cargo run --release -p icm-projections --example locomo_text -- FOLDER [no-date] [no-topic]`
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use icm_projections::text::{Doc, Tail, TextIndex, TextQuery};
use serde_json::Value;

const LIMIT: usize = 10;

#[derive(Default)]
struct Sums {
    questions: f64,
    evidence: f64,
    any: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = args.first().ok_or("which folder?")?;
    let flag = |name: &str| args.iter().any(|arg| arg == name);
    let mut names: Vec<String> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".memories.jsonl")?.to_owned()))
        .collect();
    names.sort();
    let mut by_category: BTreeMap<u64, Sums> = BTreeMap::new();
    let mut all = Sums::default();
    for name in &names {
        let folder = Path::new(folder);
        let memories = lines(&folder.join(format!("{name}.memories.jsonl")))?;
        let index = store(&memories, !flag("no-date"), !flag("no-topic"))?;
        for question in lines(&folder.join(format!("{name}.questions.jsonl")))? {
            let query = TextQuery {
                text: question["query"].as_str().unwrap_or_default(),
                limit: LIMIT,
                ..TextQuery::default()
            };
            let answer = index.search(&Tail::new(), &query, &|_| true)?;
            let found: Vec<&[u8]> = answer.hits.iter().map(|hit| &hit.stored[..]).collect();
            let evidence = question["evidence"].as_array().ok_or("no evidence")?;
            let hits = evidence
                .iter()
                .filter_map(Value::as_str)
                .filter(|key| found.contains(&key.as_bytes()))
                .count();
            let category = question["category"].as_u64().unwrap_or_default();
            for sums in [&mut all, by_category.entry(category).or_default()] {
                sums.questions += 1.0;
                sums.evidence += hits as f64 / evidence.len() as f64;
                sums.any += f64::from(u8::from(hits > 0));
            }
        }
    }
    println!("category   questions  evidence@10  any@10");
    for (category, sums) in &by_category {
        print_sums(&category.to_string(), sums);
    }
    print_sums("all", &all);
    Ok(())
}

fn print_sums(name: &str, sums: &Sums) {
    let Sums {
        questions,
        evidence,
        any,
    } = sums;
    let (evidence, any) = (100.0 * evidence / questions, 100.0 * any / questions);
    println!("{name:8}  {questions:10}  {evidence:11.2}  {any:6.2}");
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    Ok(text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

fn store(
    memories: &[Value],
    with_date: bool,
    with_topic: bool,
) -> Result<TextIndex, Box<dyn Error>> {
    let mut index = TextIndex::in_memory()?;
    let mut writer = index.writer()?;
    for (ordinal, memory) in memories.iter().enumerate() {
        let text = |name: &str| memory[name].as_str().unwrap_or_default();
        writer.add_live(&Doc {
            ordinal: ordinal as u64,
            content: text("content"),
            topic: if with_topic { text("topic") } else { "" },
            occurred_at_ms: with_date.then(|| at_ms(text("occurred_at"))).flatten(),
            stored: text("key").as_bytes(),
            ..Doc::default()
        });
    }
    writer.commit("all")?;
    index.reload()?;
    Ok(index)
}

/// The start of the day of `2023-05-08T13:56:00Z`.
fn at_ms(text: &str) -> Option<i64> {
    let date: Vec<i64> = text
        .get(..10)?
        .split('-')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let &[year, month, day] = &date[..] else {
        return None;
    };
    let year = year - i64::from(month <= 2);
    let month = (month + 9) % 12;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * 86_400_000)
}
