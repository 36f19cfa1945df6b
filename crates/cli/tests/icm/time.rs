//! Earlier moments.

use serde_json::json;

use crate::world::{Look, Says, World, run};

#[test]
fn changed_or_forgotten_memories_are_still_there_before() {
    let world = World::with_memories();
    let then = world.now();
    let changed = world.id("database");
    let forgotten = world.id("owner");
    world.ok(format!("update '{changed}' -c 'Invoices moved to SQLite'"));
    world.ok(format!("forget '{forgotten}'"));

    let now = world.json("recall invoices");
    assert_eq!(now["results"][0]["content"], "Invoices moved to SQLite");
    let before = world.json(format!("recall invoices --at '{then}'"));
    before["results"][0].has(json!({"content": "Invoices live in PostgreSQL"}));
    assert_eq!(format!("@{}", before["basis"]["position"]), then);

    world.icm("recall Mira").ends(1);
    world.ok(format!("recall Mira --at '{then}'"));
    let memory = world.json(format!("get '{changed}' --at '{then}'"));
    assert_eq!(memory["content"], "Invoices live in PostgreSQL");
    let list = world.json(format!("list --at '{then}'"));
    assert_eq!(list.count(), 3);

    // The basis gives the same answer again.
    let event = before["basis"]["event"].as_str().unwrap();
    let again = world.json(format!("recall invoices --at '{event}' --no-record"));
    assert_eq!(again["results"], before["results"]);
}

#[test]
fn replay_records_nothing_and_shows_what_stood() {
    let world = World::with_memories();
    let then = world.now();
    world.ok("store -t people -c 'Jun owns the platform'");
    let events = world.json("stats")["events"].clone();

    let run = world.ok(format!("replay --at '{then}'"));
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "decisions");
    run.out.says("people\n");
    run.out.lacks("Jun");
    let standing = world.json(format!("replay --at '{then}'"));
    assert_eq!(standing["memories"].count(), 3);
    assert_eq!(format!("@{}", standing["basis"]["position"]), then);

    let answer = world.json(format!("replay --at '{then}' owns billing"));
    assert_eq!(answer["results"][0]["key"], "owner");
    let run = world
        .icm(format!("replay --at '{then}' --json Jun"))
        .ends(1);
    assert_eq!(run.json()["results"], json!([]));
    assert_eq!(world.json("stats")["events"], events);
    world.icm("replay").ends(2);
}

#[test]
fn a_moment_in_words() {
    let world = World::with_memories();
    let run = world.icm("list --at '1 second ago'");
    // The store may be older or younger than that second.
    assert!(matches!(run.code, 0 | 2), "{run:?}");
    let today = world.json("list --at today");
    assert_eq!(today.count(), 3);
}

#[test]
fn a_memory_is_of_the_local_day() {
    let world = World::new();
    for (zone, at, day) in [
        ("Asia/Tokyo", "2025-01-05", "2025-01-05"),
        ("Asia/Tokyo", "2025-01-05T16:00:00Z", "2025-01-06"),
        ("America/Los_Angeles", "2025-01-05", "2025-01-05"),
        ("America/Los_Angeles", "2025-01-05T07:30:00Z", "2025-01-04"),
    ] {
        let content = format!("It rains at {at} in {zone}");
        let mut store = world.command(format!("store -t rain -c '{content}' --occurred-at {at}"));
        run(store.env("TZ", zone), b"").ok();
        let mut recall = world.command(format!("recall -l 1 '{content}'"));
        let shown = run(recall.env("TZ", zone), b"").ok().out;
        assert!(
            shown.contains(&format!("  of {day}  ")),
            "{zone} {at}: {shown}"
        );
    }
}
