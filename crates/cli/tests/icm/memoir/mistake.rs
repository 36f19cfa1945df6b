//! Mistakes, each with an error of one line.

use super::{memoir, system};
use crate::world::World;

#[test]
fn bad_input_is_told_in_a_line() {
    let world = system();
    let events = world.json("stats")["events"].clone();
    for (args, words) in [
        ("memoir create -n system", "a memoir `system` already"),
        ("memoir create -n a/", "ends with `/`"),
        ("memoir create -n ' '", "the memoir's name is empty"),
        ("memoir show systm", "no memoir systm"),
        ("memoir inspect -m system invoces", "no concept invoces"),
        ("memoir search -m system '' -L ''", "the query is empty"),
        ("memoir search -m system rows -L ' '", "the label is empty"),
        (
            "memoir label -m system -n api -a x -r x,y",
            "the label `x` is to be added and taken away",
        ),
        ("memoir inspect -m system api -D 11", "from 0 to 10"),
        (
            "memoir add-concept -m system -n api -d x",
            "has a concept `api` already",
        ),
        ("memoir add-concept -m no -n api -d x", "no memoir no"),
        (
            "memoir refine -m system -n api -d x --confidence 1.5",
            "from 0 to 1",
        ),
        ("memoir label -m system -n api -a kind:", "is no label"),
        (
            "memoir link -m system --from api --to api -r refines",
            "cannot be linked to itself",
        ),
        (
            "memoir link -m system --from api --to invoices -r eats",
            "`eats` is no relation",
        ),
        (
            "memoir create -n k -d 'password = hunter2hunter2X9'",
            "looks like a secret",
        ),
    ] {
        let code = if words.starts_with("no ") { 1 } else { 2 };
        world.icm(args).fails(code, words);
    }
    assert_eq!(world.json("stats")["events"], events);
    // A query does not make a store.
    let empty = World::new();
    empty.fails("memoir show x => 1: no memoir x");
    assert!(!empty.store().exists());
    assert_eq!(memoir(&empty, ["list"])["memoirs"], serde_json::json!([]));

    // A concept is no memory, and the commands for memories say so.
    let id = world.json("memoir inspect -m system api")["concept"]["id"].clone();
    let id = id.as_str().unwrap();
    for verb in ["get", "forget", "revive"] {
        world
            .icm(format!("'{verb}' {id}"))
            .fails(2, "is the concept `api` of memoir `system`, not a memory");
    }
    let by_id = world.json(format!("memoir inspect -m system {id}"));
    assert_eq!(by_id["concept"]["name"], "api");
}
