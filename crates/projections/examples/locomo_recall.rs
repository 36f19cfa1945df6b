//! How well recall finds the evidence for questions, and what each of its factors brings: see
//! `docs/benchmarks/recall.md`.
//!
//! Takes a folder of `NAME.memories.jsonl` and `NAME.questions.jsonl` and makes a store of each NAME, as
//! an import of the file would. Prints, over all questions: *evidence@10*, the share of a question's
//! evidence among the first ten hits, and *any@10*, the share of questions with at least one there.
//!
//! `cargo run --release -p icm-projections --example locomo_recall -- FOLDER`, or with `cost N` behind it:
//! CPU of the questions to a store of N memories, made of those of the folder over and over.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use icm_log::disk::RealDisk;
use icm_log::env::Env;
use icm_log::facts::{self, Importance, ScopeKind, Trust, fields};
use icm_log::{
    Batch, CommandId, Durability, Kind, Log, Name, NewEvent, RequestKey, ScopeId, SessionId,
    SubjectId, payload,
};
use icm_projections::ranking::Ranking;
use icm_projections::{RecallQuery, Views};
use serde_json::Value;

const LIMIT: usize = 10;
const WAIT: Duration = Duration::from_secs(10);
/// Events of a batch.
const BATCH: usize = 500;

/// One conversation.
struct Set {
    memories: Vec<Value>,
    questions: Vec<Value>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [folder] => quality(&sets(Path::new(folder))?),
        [folder, "cost", count] => cost(&sets(Path::new(folder))?, count.parse()?),
        _ => Err("FOLDER, or FOLDER cost N?".into()),
    }
}

fn quality(sets: &[Set]) -> Result<(), Box<dyn Error>> {
    let mut stores = Vec::new();
    for set in sets {
        let dir = tempfile::tempdir()?;
        stores.push((
            dir.path().to_owned(),
            views(dir.path(), set.memories.iter())?,
            dir,
        ));
    }
    println!("| variant | evidence@10 | any@10 | hits a question |");
    println!("|---|---|---|---|");
    for (name, ranking) in variants() {
        let (mut evidence, mut any, mut hits, mut count) = (0.0, 0.0, 0, 0);
        for (set, (_, views, _)) in sets.iter().zip(&stores) {
            for question in &set.questions {
                let found = ask(views, question, ranking)?;
                let wanted = question["evidence"].as_array().ok_or("no evidence")?;
                let wanted = wanted.iter().filter_map(Value::as_str);
                let there = wanted.filter(|key| found.iter().any(|found| found == key));
                let there = there.count();
                let wanted = question["evidence"].as_array().map_or(1, Vec::len);
                evidence += there as f64 / wanted as f64;
                any += f64::from(u8::from(there > 0));
                hits += found.len();
                count += 1;
            }
        }
        let share = |sum: f64| 100.0 * sum / f64::from(count);
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} |",
            share(evidence),
            share(any),
            f64::from(u32::try_from(hits)?) / f64::from(count),
        );
    }
    Ok(())
}

fn variants() -> Vec<(&'static str, Ranking)> {
    let built = Ranking::default();
    let half = Ranking {
        centred: false,
        neighbours: 0.0,
        speaker: 0.0,
        identifier: 0.0,
        floor: -1.0,
        ..built
    };
    vec![
        ("words alone (BM25)", Ranking::TEXT),
        ("meaning alone (cosine)", Ranking { text: 0.0, ..half }),
        (
            "meaning alone, mean taken off",
            Ranking {
                text: 0.0,
                centred: true,
                ..half
            },
        ),
        ("half and half", half),
        (
            "+ neighbours",
            Ranking {
                neighbours: built.neighbours,
                ..half
            },
        ),
        (
            "+ neighbours, speaker",
            Ranking {
                neighbours: built.neighbours,
                speaker: built.speaker,
                ..half
            },
        ),
        (
            "+ neighbours, speaker, mean taken off",
            Ranking {
                neighbours: built.neighbours,
                speaker: built.speaker,
                centred: true,
                ..half
            },
        ),
        ("**as built**: + floor, identifiers", built),
        (
            "as built, no floor",
            Ranking {
                floor: -1.0,
                ..built
            },
        ),
        (
            "as built, floor 0.15",
            Ranking {
                floor: 0.15,
                ..built
            },
        ),
        (
            "as built, floor 0.25",
            Ranking {
                floor: 0.25,
                ..built
            },
        ),
        (
            "as built, no identifiers",
            Ranking {
                identifier: 0.0,
                ..built
            },
        ),
        (
            "as built, mean left on",
            Ranking {
                centred: false,
                ..built
            },
        ),
        (
            "as built, no neighbours",
            Ranking {
                neighbours: 0.0,
                ..built
            },
        ),
        (
            "as built, no speaker",
            Ranking {
                speaker: 0.0,
                ..built
            },
        ),
        (
            "as built, 100 candidates each",
            Ranking {
                candidates: 100,
                ..built
            },
        ),
        (
            "as built, 50 candidates each",
            Ranking {
                candidates: 50,
                ..built
            },
        ),
        (
            "as built, 0.6 words, 0.4 meaning",
            Ranking {
                text: 0.6,
                meaning: 0.4,
                ..built
            },
        ),
        (
            "as built, 0.4 words, 0.6 meaning",
            Ranking {
                text: 0.4,
                meaning: 0.6,
                ..built
            },
        ),
    ]
}

fn cost(sets: &[Set], count: usize) -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let memories = sets.iter().flat_map(|set| &set.memories).cycle();
    let start = Instant::now();
    let views = views(dir.path(), memories.take(count))?;
    println!(
        "{count} memories: log and views in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    let (table, text, vectors) = views.sizes();
    println!(
        "bytes a memory: table {}, text {}, vectors {}",
        table / count as u64,
        text / count as u64,
        vectors / count as u64
    );
    let questions: Vec<&Value> = sets.iter().flat_map(|set| &set.questions).collect();
    let filtered = sets[0].memories[0]["topic"].as_str();
    for (name, ranking, topic) in [
        ("words alone", Ranking::TEXT, None),
        (
            "meaning alone",
            Ranking {
                text: 0.0,
                ..Ranking::default()
            },
            None,
        ),
        ("as built", Ranking::default(), None),
        ("as built, in one topic", Ranking::default(), filtered),
        (
            "100 candidates each",
            Ranking {
                candidates: 100,
                ..Ranking::default()
            },
            None,
        ),
    ] {
        let mut took = Vec::with_capacity(questions.len());
        for question in &questions {
            let start = Instant::now();
            let query = RecallQuery {
                topic,
                ..query(question, ranking)
            };
            views.recall(&query, views.tally().position)?;
            took.push(start.elapsed().as_secs_f64() * 1e3);
        }
        took.sort_by(f64::total_cmp);
        let at = |share: usize| took[took.len() * share / 100];
        println!("{name}: p50 {:.2} ms, p95 {:.2} ms", at(50), at(95));
    }
    Ok(())
}

fn query(question: &Value, ranking: Ranking) -> RecallQuery<'_> {
    RecallQuery {
        text: question["query"].as_str().unwrap_or_default(),
        limit: LIMIT,
        ranking,
        model: None,
        ..RecallQuery::default()
    }
}

/// The keys of what is found.
fn ask(views: &Views, question: &Value, ranking: Ranking) -> Result<Vec<String>, Box<dyn Error>> {
    let found = views.recall(&query(question, ranking), views.tally().position)?;
    let keys = found.hits.into_iter().filter_map(|hit| hit.version.key);
    Ok(keys.collect())
}

fn sets(folder: &Path) -> Result<Vec<Set>, Box<dyn Error>> {
    let mut names: Vec<String> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".memories.jsonl")?.to_owned()))
        .collect();
    names.sort();
    let lines = |name: String| -> Result<Vec<Value>, Box<dyn Error>> {
        let text = fs::read_to_string(folder.join(name))?;
        Ok(text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?)
    };
    names
        .iter()
        .map(|name| {
            Ok(Set {
                memories: lines(format!("{name}.memories.jsonl"))?,
                questions: lines(format!("{name}.questions.jsonl"))?,
            })
        })
        .collect()
}

/// The same in every run.
struct Fixed(AtomicU64);

impl Env for Fixed {
    fn now_ms(&self) -> u64 {
        1_700_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        let seed = self.0.fetch_add(1, Ordering::Relaxed);
        bytes
            .iter_mut()
            .zip((seed..).cycle())
            .for_each(|(byte, n)| *byte = n as u8);
    }

    fn machine_id(&self) -> Option<String> {
        None
    }
}

fn views<'a>(
    dir: &Path,
    memories: impl Iterator<Item = &'a Value>,
) -> Result<Views, Box<dyn Error>> {
    let log = Log::open(Arc::new(RealDisk), &dir.join("store"))?;
    let env = Fixed(AtomicU64::new(1));
    let mut writer = log.begin(&env, WAIT)?;
    let mut events = Vec::new();
    let mut memories = memories.enumerate().peekable();
    while let Some((number, memory)) = memories.next() {
        events.push(stored(number, memory));
        if events.len() == BATCH || memories.peek().is_none() {
            writer.append(&Batch {
                command: CommandId([1; 16]),
                actor: "user",
                session: SessionId::ZERO,
                request: RequestKey::ZERO,
                events: std::mem::take(&mut events),
            })?;
        }
    }
    writer.commit(Durability::Synced)?;
    let mut views = Views::rebuild(&dir.join("views"), &log, WAIT, &mut |_| {})?;
    views.follow(&log)?;
    Ok(views)
}

fn stored(number: usize, memory: &Value) -> NewEvent {
    let text = |name: &str| memory[name].as_str().unwrap_or_default();
    let mut subject = [0; 16];
    subject[8..].copy_from_slice(&(number as u64).to_be_bytes());
    NewEvent {
        kind: Kind::MEMORY_STORED,
        subject: SubjectId(subject),
        refs: Vec::new(),
        facts: facts::MemoryStored {
            fields: fields::ALL & !fields::EXPIRES,
            causal_length: 1,
            scope_kind: ScopeKind::Global,
            importance: Importance::Medium,
            trust: Trust::User,
            keyword_count: 0,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
        }
        .encode(),
        payload: payload::encode(&payload::MemoryStored {
            topic: text("topic"),
            content: text("content"),
            raw_excerpt: None,
            keywords: Vec::new(),
            key: Some(text("key")),
            scope: None,
            source: payload::SourceText::default(),
            occurred_at_ms: at_ms(text("occurred_at")),
            metadata: None,
            nth_line: None,
            request_digest: None,
        }),
    }
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
