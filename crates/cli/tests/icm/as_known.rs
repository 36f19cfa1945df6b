//! `icm recall --as`: the knowledge of another machine, from the part of its log that is here.

use std::fs;

use serde_json::Value;

use crate::exchange::carry;
use crate::sync::copy;
use crate::world::{Args, Says, World};

fn store(world: &World, db: &str, key: &str, content: &str) {
    let words = ["store", "-t", "t", "--key", key, "-c", content];
    world.at(db).ok(words);
}

fn origin(world: &World, db: &str) -> String {
    let heads = world.at(db).json("verify")["origins"].clone();
    let own = heads
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["own"] == true);
    own.unwrap()["origin"].as_str().unwrap().to_owned()
}

/// Recalls without a record, so that repeated calls change nothing.
fn recall(world: &World, db: &str, more: impl Args) -> Value {
    let run = world.at(db).icm(("recall drinks --no-record --json", more));
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
    let alone = world.at("b").json("stats")["positions"].as_u64().unwrap();
    carry(&world, "a", "b");
    store(&world, "b", "mira", "Mira drinks black coffee");
    world
        .at("b")
        .ok(format!("forget {}", world_id(&world, "b", "ben")));
    let end = world.at("b").json("stats")["positions"].as_u64().unwrap();
    store(&world, "a", "zoe", "Zoe drinks water");
    let own = recall(&world, "a", "");
    carry(&world, "b", "a");
    let b = origin(&world, "b");
    let mut met = 0;
    for position in 3..=end {
        let at = format!("@{position}");
        let there = recall(&world, "b", format!("--at {at}"));
        let here = recall(&world, "a", format!("--at {at} --as {}", &b[..8]));
        assert_eq!(there, here, "{at}");
        met += contents(&here).len();
    }
    assert!(met > 3, "{met}");
    let before = format!("@{alone}");
    let before = recall(&world, "a", format!("--at {before} --as '{b}'"));
    assert_eq!(contents(&before), ["Ben drinks milk"]);
    let now = recall(&world, "a", format!("--as '{b}'"));
    assert_eq!(contents(&now), ["Mira drinks black coffee"]);
    assert_eq!(now["basis"]["position"], end);
    let told = world.at("a").ok(format!("recall drinks --as '{b}'"));
    told.err.says(format!("knew up to its @{end}"));
    // Nothing was recorded, and a machine's own origin gives its own answers.
    let a = origin(&world, "a");
    let mine = recall(&world, "a", format!("--as '{a}'"));
    assert_eq!(mine, recall(&world, "a", ""));
    let at = format!("@{}", own["basis"]["position"]);
    assert_eq!(recall(&world, "a", format!("--as '{a}' --at {at}")), own);
}

fn world_id(world: &World, db: &str, key: &str) -> String {
    let list = world.at(db).json("list --all");
    let list = list.as_array().unwrap();
    let found = list.iter().find(|memory| memory["key"] == key).unwrap();
    found["id"].as_str().unwrap().to_owned()
}

/// A missing chain bounds the moments that can be answered, and nothing else.
#[test]
fn events_not_held_here_end_an_answer_as_another_machine() {
    let world = World::new();
    let a = world.at("a");
    store(&world, "b", "ben", "Ben drinks milk");
    let first = world.at("b").json("stats")["positions"].as_u64().unwrap();
    store(&world, "c", "zoe", "Zoe drinks water");
    carry(&world, "c", "b");
    store(&world, "b", "mira", "Mira drinks green tea");
    store(&world, "a", "tabs", "The house uses tabs");
    carry(&world, "b", "a");
    let (b, c) = (origin(&world, "b"), origin(&world, "c"));
    assert_eq!(
        contents(&recall(&world, "a", format!("--as '{b}'"))).len(),
        3
    );
    fs::remove_dir_all(world.path("a/log").join(c)).unwrap();
    let run = a.ok(format!("recall drinks --no-record --as '{b}'"));
    run.out.says("Ben drinks milk");
    run.out.lacks("Mira");
    let words = format!("knew up to its @{first}; it learned something next that is not here");
    run.err.says(&words);
}

#[test]
fn origins_that_nobody_has_are_answered_with_no() {
    let world = World::new();
    let [a, none] = ["a", "none"].map(|db| world.at(db));
    store(&world, "a", "mira", "Mira drinks green tea");
    let run = a.icm("recall tea --as zz");
    run.fails(1, "no origin zz");
    none.icm("recall tea --as zz").ends(1);
    let b = origin(&world, "a");
    let words = ["recall", "tea", "--as", &b, "--at", "@99"];
    a.icm(words).fails(2, "@99");
}

/// A branched chain after a restore: the events before the branch can be told, and those of each branch under its new
/// origin.
#[test]
fn of_a_chain_that_branches_the_part_before_is_told() {
    let world = World::new();
    let [a, c] = ["a", "c"].map(|db| world.at(db));
    store(&world, "a", "mira", "Mira drinks green tea");
    let end = a.json("stats")["positions"].as_u64().unwrap();
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
    let run = c.ok(words);
    run.out.says("Mira drinks green tea");
    run.out.lacks("Ben");
    run.out.lacks("Zoe");
    let words =
        format!("knew up to its @{end}; from there on a copy of it wrote under the same origin");
    run.err.says(&words);
    // After it met the other branch, the store writes under another origin and knows both branches.
    carry(&world, "c", "a");
    store(&world, "a", "eve", "Eve drinks juice");
    let since = origin(&world, "a");
    assert_ne!(since, both);
    carry(&world, "a", "c");
    assert_eq!(
        contents(&recall(&world, "c", format!("--as {since}"))).len(),
        4
    );
}
