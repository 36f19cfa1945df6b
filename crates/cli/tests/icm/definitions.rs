//! Definitions of a concept: every machine that knows the same events shows the same history.

use serde_json::Value;

use crate::exchange::carry;
use crate::world::{Says, World};

fn inspect(world: &World, db: &str) -> Value {
    world.at(db).json("memoir inspect -m g c")
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
    world.at(db).ok("memoir create -n g");
    let add = format!("memoir add-concept -m g -n c -d '{definition}'");
    world.at(db).ok(add);
}

fn refine(world: &World, db: &str, definition: &str) {
    let refine = format!("memoir refine -m g -n c -d '{definition}'");
    world.at(db).ok(refine);
}

fn exchange(world: &World) -> Value {
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    carry(world, "b", "a");
    carry(world, "a", "b");
    let seen = inspect(world, "a");
    let other = inspect(world, "b");
    assert_eq!(seen["definitions"], other["definitions"]);
    let export = ["memoir", "export", "-m", "g"];
    assert_eq!(a.json(export)["concepts"], b.json(export)["concepts"]);
    seen
}

#[test]
fn machines_tell_the_same_definitions() {
    let world = World::new();
    let b = world.at("b");
    add(&world, "a", "from A");
    add(&world, "b", "from B");
    let seen = exchange(&world);
    assert_eq!(told(&seen), [("from A", "lost", 1), ("from B", "holds", 1)]);
    let said = b.out("memoir inspect -m g c");
    said.says("(not shown: another value holds) from A");

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
    let a = world.at("a");
    add(&world, "a", "first");
    refine(&world, "a", "second");
    let then = inspect(&world, "a")["basis"]["position"].to_string();
    a.ok("undo --last 1 --yes");
    carry(&world, "a", "b");
    let seen = inspect(&world, "b");
    assert_eq!(seen["definitions"], inspect(&world, "a")["definitions"]);
    assert_eq!(
        told(&seen),
        [("first", "holds", 1), ("second", "undone", 2)]
    );
    let undo = a.ok("log --kind log.undone --json");
    let undo = undo.json_lines()[0]["event"].clone();
    assert!(undo.is_string());
    assert_eq!(seen["definitions"][1]["undone_by"], undo);
    let said = a.out("memoir inspect -m g c");
    said.says("(not shown: its event is undone) second");

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
        told(&a.json(args)),
        [("first", "replaced", 1), ("second", "holds", 2)]
    );
}
