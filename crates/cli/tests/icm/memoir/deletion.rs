//! Memoirs that are deleted and come back.

use serde_json::{Value, json};

use super::system;
use crate::world::{Look, World};

#[test]
fn a_deleted_memoir_hides_what_is_in_it_and_comes_back_whole() {
    let world = system();
    let then = world.now();
    let whole = |at: &[&str]| {
        let export = [["memoir", "export", "-m", "system"].as_slice(), at].concat();
        let mut graph = world.icm(export).ok().json();
        graph.as_object_mut().unwrap().remove("basis");
        graph["memoir"]
            .as_object_mut()
            .unwrap()
            .remove("updated_at");
        graph
    };
    let before = whole(&[]);
    world.fails("memoir delete system => 2: has to be confirmed");
    let gone = world.ok("--yes memoir delete system --json").json();
    gone.has(json!({"action": "forgotten", "concepts": 3}));
    assert_eq!(world.json("memoir list")["memoirs"], serde_json::json!([]));
    let stats = world.json("stats");
    stats.has(json!({"memoirs": 0, "concepts": 0}));
    world.fails("memoir inspect -m system api => 1: memoir `system` was deleted");
    world.fails("memoir create -n system => 2: its name is kept for it");
    assert_eq!(whole(&["--at", &then]), before);
    assert_eq!(world.json("memoir revive system")["action"], "revived");
    assert_eq!(whole(&[]), before);

    // A concept is deleted and revived with its links.
    let verb = |verb: &str| world.json(format!("memoir '{verb}' -m system -n api"));
    assert_eq!(verb("delete-concept")["action"], "forgotten");
    let left = world.json("memoir inspect -m system invoices");
    assert_eq!(left["links"], serde_json::json!([]));
    assert_eq!(verb("delete-concept")["action"], "unchanged");
    assert_eq!(verb("revive-concept")["action"], "revived");
    let links = world.json("memoir inspect -m system invoices");
    assert_eq!(links["links"].count(), 2);
}

#[test]
fn a_memoir_that_is_created_again_says_what_came_back() {
    let world = World::new();
    let created = world.json("memoir create -n A");
    assert_eq!(created["action"], "stored");
    assert!(created.get("concepts").is_none_or(Value::is_null));
    world.json("memoir add-concept -m A -n x -d kept");
    let event = created["event"].as_str().unwrap();
    world.ok(format!("undo --yes --only '{event}'"));
    let again = world.json("memoir create -n A");
    again.has(json!({"action": "revived", "concepts": 1, "id": created["id"]}));
    let shown = world.json("memoir show A");
    assert_eq!(shown["concept_list"][0]["definition"], "kept");
}
