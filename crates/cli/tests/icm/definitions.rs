//! Definitions of a concept: every machine that knows the same events shows the same history.

use serde_json::Value;

use crate::exchange::{carry, json, on};
use crate::world::World;

fn inspect(world: &World, db: &str) -> Value {
    json(world, db, &["memoir", "inspect", "-m", "g", "c"])
}

/// Returns the definitions with their status and revision.
fn told(seen: &Value) -> Vec<(&str, &str, u64)> {
    let definitions = seen["definitions"].as_array().unwrap().iter();
    definitions
        .map(|it| {
            let text = |field: &str| it[field].as_str().unwrap();
            (
                text("definition"),
                text("status"),
                it["revision"].as_u64().unwrap(),
            )
        })
        .collect()
}

fn add(world: &World, db: &str, definition: &str) {
    on(world, db, &["memoir", "create", "-n", "g"]).ok();
    let args = ["memoir", "add-concept", "-m", "g", "-n", "c", "-d"];
    on(world, db, &[args.as_slice(), &[definition]].concat()).ok();
}

fn refine(world: &World, db: &str, definition: &str) {
    let args = ["memoir", "refine", "-m", "g", "-n", "c", "-d"];
    on(world, db, &[args.as_slice(), &[definition]].concat()).ok();
}

fn exchange(world: &World) -> Value {
    carry(world, "b", "a");
    carry(world, "a", "b");
    let seen = inspect(world, "a");
    let other = inspect(world, "b");
    assert_eq!(seen["definitions"], other["definitions"]);
    let export = ["memoir", "export", "-m", "g"];
    assert_eq!(
        json(world, "a", &export)["concepts"],
        json(world, "b", &export)["concepts"]
    );
    seen
}

#[test]
fn machines_tell_the_same_definitions() {
    let world = World::new();
    add(&world, "a", "from A");
    add(&world, "b", "from B");
    let seen = exchange(&world);
    assert_eq!(told(&seen), [("from A", "lost", 1), ("from B", "holds", 1)]);
    let said = on(&world, "b", &["memoir", "inspect", "-m", "g", "c"])
        .ok()
        .out;
    assert!(
        said.contains("(not shown: another value holds) from A"),
        "{said}"
    );

    // The refinement saw the shown definition, not the one that had lost.
    refine(&world, "a", "from both");
    let seen = exchange(&world);
    assert_eq!(
        told(&seen),
        [
            ("from A", "lost", 1),
            ("from B", "replaced", 1),
            ("from both", "holds", 2)
        ]
    );
}

#[test]
fn a_definition_that_is_undone_stays_marked_in_its_place() {
    let world = World::new();
    add(&world, "a", "first");
    refine(&world, "a", "second");
    let then = inspect(&world, "a")["basis"]["position"].to_string();
    on(&world, "a", &["undo", "--last", "1", "--yes"]).ok();
    carry(&world, "a", "b");
    let seen = inspect(&world, "b");
    assert_eq!(seen["definitions"], inspect(&world, "a")["definitions"]);
    assert_eq!(
        told(&seen),
        [("first", "holds", 1), ("second", "undone", 2)]
    );
    let undo = on(&world, "a", &["log", "--kind", "log.undone", "--json"]).ok();
    let undo = undo.json_lines()[0]["event"].clone();
    assert!(undo.is_string());
    assert_eq!(seen["definitions"][1]["undone_by"], undo);
    let said = on(&world, "a", &["memoir", "inspect", "-m", "g", "c"])
        .ok()
        .out;
    assert!(
        said.contains("(not shown: its event is undone) second"),
        "{said}"
    );

    // The history as of before the undo.
    let args = [
        "memoir",
        "inspect",
        "-m",
        "g",
        "c",
        "--at",
        &format!("@{then}"),
    ];
    assert_eq!(
        told(&json(&world, "a", &args)),
        [("first", "replaced", 1), ("second", "holds", 2)]
    );
}
