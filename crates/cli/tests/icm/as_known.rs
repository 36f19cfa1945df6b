//! `icm recall --as`: the knowledge of another machine, from the part of its log that is here.

use std::fs;

use serde_json::Value;

use crate::exchange::{carry, json, on};
use crate::sync::copy;
use crate::world::World;

fn store(world: &World, db: &str, key: &str, content: &str) {
    let words = ["store", "-t", "t", "--key", key, "-c", content];
    on(world, db, &words).ok();
}

fn origin(world: &World, db: &str) -> String {
    let heads = json(world, db, &["verify"])["origins"].clone();
    let own = heads
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["own"] == true);
    own.unwrap()["origin"].as_str().unwrap().to_owned()
}

/// Recalls without a record, so that repeated calls change nothing.
fn recall(world: &World, db: &str, more: &[&str]) -> Value {
    let words = ["recall", "drinks", "--no-record", "--json"];
    let run = on(world, db, &[&words, more].concat());
    assert!(run.code <= 1, "{run:?}");
    run.json()
}

fn contents(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap().iter();
    let mut contents: Vec<_> = results
        .map(|hit| hit["content"].as_str().unwrap())
        .collect();
    contents.sort_unstable();
    contents
}

#[test]
fn another_machine_is_asked_for_any_of_its_moments() {
    let world = World::new();
    store(&world, "a", "mira", "Mira drinks green tea");
    store(&world, "b", "ben", "Ben drinks milk");
    let alone = json(&world, "b", &["stats"])["positions"].as_u64().unwrap();
    carry(&world, "a", "b");
    store(&world, "b", "mira", "Mira drinks black coffee");
    on(&world, "b", &["forget", &world_id(&world, "b", "ben")]).ok();
    let end = json(&world, "b", &["stats"])["positions"].as_u64().unwrap();
    store(&world, "a", "zoe", "Zoe drinks water");
    let own = recall(&world, "a", &[]);
    carry(&world, "b", "a");
    let b = origin(&world, "b");
    let mut met = 0;
    for position in 3..=end {
        let at = format!("@{position}");
        let there = recall(&world, "b", &["--at", &at]);
        let here = recall(&world, "a", &["--at", &at, "--as", &b[..8]]);
        assert_eq!(there, here, "{at}");
        met += contents(&here).len();
    }
    assert!(met > 3, "{met}");
    let before = format!("@{alone}");
    let before = recall(&world, "a", &["--at", &before, "--as", &b]);
    assert_eq!(contents(&before), ["Ben drinks milk"]);
    let now = recall(&world, "a", &["--as", &b]);
    assert_eq!(contents(&now), ["Mira drinks black coffee"]);
    assert_eq!(now["basis"]["position"], end);
    let told = on(&world, "a", &["recall", "drinks", "--as", &b]).ok();
    assert!(
        told.err.contains(&format!("knew up to its @{end}")),
        "{told:?}"
    );
    // Nothing was recorded, and a machine's own origin gives its own answers.
    let a = origin(&world, "a");
    let mine = recall(&world, "a", &["--as", &a]);
    assert_eq!(mine, recall(&world, "a", &[]));
    let at = format!("@{}", own["basis"]["position"]);
    assert_eq!(recall(&world, "a", &["--as", &a, "--at", &at]), own);
}

fn world_id(world: &World, db: &str, key: &str) -> String {
    let list = json(world, db, &["list", "--all"]);
    let list = list.as_array().unwrap();
    let found = list.iter().find(|memory| memory["key"] == key).unwrap();
    found["id"].as_str().unwrap().to_owned()
}

/// A missing chain bounds the moments that can be answered, and nothing else.
#[test]
fn what_is_not_held_here_ends_what_can_be_told() {
    let world = World::new();
    store(&world, "b", "ben", "Ben drinks milk");
    let first = json(&world, "b", &["stats"])["positions"].as_u64().unwrap();
    store(&world, "c", "zoe", "Zoe drinks water");
    carry(&world, "c", "b");
    store(&world, "b", "mira", "Mira drinks green tea");
    store(&world, "a", "tabs", "The house uses tabs");
    carry(&world, "b", "a");
    let (b, c) = (origin(&world, "b"), origin(&world, "c"));
    assert_eq!(contents(&recall(&world, "a", &["--as", &b])).len(), 3);
    fs::remove_dir_all(world.path("a/log").join(c)).unwrap();
    let run = on(
        &world,
        "a",
        &["recall", "drinks", "--no-record", "--as", &b],
    )
    .ok();
    assert!(run.out.contains("Ben drinks milk"), "{run:?}");
    assert!(!run.out.contains("Mira"), "{run:?}");
    let words = format!("knew up to its @{first}; it learned something next that is not here");
    assert!(run.err.contains(&words), "{run:?}");
}

#[test]
fn origins_that_nobody_has_are_answered_with_no() {
    let world = World::new();
    store(&world, "a", "mira", "Mira drinks green tea");
    let run = on(&world, "a", &["recall", "tea", "--as", "zz"]);
    run.fails(1, "no origin zz");
    on(&world, "none", &["recall", "tea", "--as", "zz"]).ends(1);
    let b = origin(&world, "a");
    let words = ["recall", "tea", "--as", &b, "--at", "@99"];
    on(&world, "a", &words).fails(2, "@99");
}

/// A branched chain after a restore: the events before the branch can be told, and those of each branch under its new
/// origin.
#[test]
fn of_a_chain_that_branches_the_part_before_is_told() {
    let world = World::new();
    store(&world, "a", "mira", "Mira drinks green tea");
    let end = json(&world, "a", &["stats"])["positions"].as_u64().unwrap();
    copy(&world.path("a"), &world.path("kept"));
    store(&world, "a", "ben", "Ben drinks milk");
    store(&world, "c", "tabs", "The house uses tabs");
    carry(&world, "a", "c");
    let both = origin(&world, "a");
    for entry in fs::read_dir(world.path("a")).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    copy(&world.path("kept"), &world.path("a"));
    store(&world, "a", "zoe", "Zoe drinks water");
    assert_eq!(origin(&world, "a"), both);
    carry(&world, "a", "c");
    let words = ["recall", "drinks", "--no-record", "--as", &both];
    let run = on(&world, "c", &words).ok();
    assert!(run.out.contains("Mira drinks green tea"), "{run:?}");
    assert!(
        !run.out.contains("Ben") && !run.out.contains("Zoe"),
        "{run:?}"
    );
    let words =
        format!("knew up to its @{end}; from there on a copy of it wrote under the same origin");
    assert!(run.err.contains(&words), "{run:?}");
    // After it met the other branch, the store writes under another origin and knows both branches.
    carry(&world, "c", "a");
    store(&world, "a", "eve", "Eve drinks juice");
    let since = origin(&world, "a");
    assert_ne!(since, both);
    carry(&world, "a", "c");
    assert_eq!(contents(&recall(&world, "c", &["--as", &since])).len(), 4);
}
