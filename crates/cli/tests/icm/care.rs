//! Upkeep: consolidate, health, topics, stats, forget a topic.

mod health;
mod summary;
mod topic;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::world::World;

/// Makes a store with `n` memories of one topic, and two of another.
fn crowd(n: usize) -> World {
    let world = World::new();
    let mut lines = String::new();
    for i in 0..n {
        let text = format!("fact{i} word{}", i * 13 + 1);
        let line =
            json!({"topic": "crowd/a", "content": text, "keywords": [format!("k{}", i % 3)]});
        writeln!(lines, "{line}").unwrap();
    }
    for text in ["Mira owns billing", "Tea is at four"] {
        writeln!(lines, "{}", json!({"topic": "people", "content": text})).unwrap();
    }
    let file = world.write("crowd.jsonl", lines);
    world.ok(format!("import jsonl '{}'", file.display()));
    world
}

fn len(value: &Value) -> usize {
    value.as_array().unwrap_or_else(|| panic!("{value}")).len()
}

fn count(health: &Value, finding: &str) -> u64 {
    let found = health["findings"].as_array().unwrap().iter();
    let mut found = found.filter(|it| it["finding"] == finding);
    found.next().unwrap()["count"].as_u64().unwrap()
}
