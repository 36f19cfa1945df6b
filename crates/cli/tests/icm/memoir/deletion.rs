//! Memoirs that are deleted and come back.

use serde_json::Value;

use super::{memoir, system};
use crate::world::World;

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
    world
        .icm(["memoir", "delete", "system"])
        .fails(2, "has to be confirmed");
    let gone = world
        .icm(["--yes", "memoir", "delete", "system", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&gone["action"], &gone["concepts"]),
        (&"forgotten".into(), &3.into())
    );
    assert_eq!(memoir(&world, &["list"])["memoirs"], serde_json::json!([]));
    let stats = world.json(["stats"]);
    assert_eq!(
        (&stats["memoirs"], &stats["concepts"]),
        (&0.into(), &0.into())
    );
    world
        .icm(["memoir", "inspect", "-m", "system", "api"])
        .fails(1, "memoir `system` was deleted");
    world
        .icm(["memoir", "create", "-n", "system"])
        .fails(2, "its name is kept for it");
    assert_eq!(whole(&["--at", &then]), before);
    assert_eq!(memoir(&world, &["revive", "system"])["action"], "revived");
    assert_eq!(whole(&[]), before);

    // A concept is deleted and revived with its links.
    let verb = |verb: &str| memoir(&world, &[verb, "-m", "system", "-n", "api"]);
    assert_eq!(verb("delete-concept")["action"], "forgotten");
    let left = memoir(&world, &["inspect", "-m", "system", "invoices"]);
    assert_eq!(left["links"], serde_json::json!([]));
    assert_eq!(verb("delete-concept")["action"], "unchanged");
    assert_eq!(verb("revive-concept")["action"], "revived");
    let links = memoir(&world, &["inspect", "-m", "system", "invoices"]);
    assert_eq!(links["links"].as_array().unwrap().len(), 2);
}

#[test]
fn a_memoir_that_is_created_again_says_what_came_back() {
    let world = World::new();
    let created = memoir(&world, &["create", "-n", "A"]);
    assert_eq!(created["action"], "stored");
    assert!(created.get("concepts").is_none_or(Value::is_null));
    memoir(&world, &["add-concept", "-m", "A", "-n", "x", "-d", "kept"]);
    let event = created["event"].as_str().unwrap();
    world.icm(["undo", "--yes", "--only", event]).ok();
    let again = memoir(&world, &["create", "-n", "A"]);
    assert_eq!(again["action"], "revived", "{again}");
    assert_eq!(again["concepts"], 1, "{again}");
    assert_eq!(again["id"], created["id"]);
    let shown = memoir(&world, &["show", "A"]);
    assert_eq!(shown["concept_list"][0]["definition"], "kept");
}
