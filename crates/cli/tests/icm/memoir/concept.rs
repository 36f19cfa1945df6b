//! Concepts: adding, refining, linking, and their sources.

use super::{link, memoir, names, system};
use serde_json::json;

use crate::world::{Look, Says, World};

#[test]
fn a_concept_is_added_refined_labelled_linked_and_seen_as_it_was() {
    let world = system();
    let then = world.now();
    let refined =
        world.json("memoir refine -m system -n invoices -d 'Rows in PostgreSQL 17' -l new");
    refined.has(json!({"revision": 2, "confidence": 0.6}));
    world.json("memoir label -m system -n invoices -r new,kind:data -a x:y");

    let now = world.json("memoir inspect -m system invoices");
    now["concept"].has(json!({
        "definition": "Rows in PostgreSQL 17", "labels": ["team:billing", "x:y"],
    }));
    assert_eq!(now["definitions"].count(), 2, "{now}");
    now["definitions"].has(json!({"/0/definition": "Rows in PostgreSQL", "/1/revision": 2}));
    assert_eq!(names(&now["around"]), ["api"]);
    assert_eq!(now["links"].texts("relation"), ["depends_on", "part_of"]);

    let before = world.json(format!("memoir inspect -m system invoices --at '{then}'"));
    before["concept"].has(json!({
        "definition": "Rows in PostgreSQL", "labels": ["kind:data", "team:billing"],
    }));

    // The same definition and the same link again change nothing.
    let again = world.json("memoir refine -m system -n invoices -d 'Rows in PostgreSQL 17'");
    assert_eq!(again["action"], "unchanged");
    assert_eq!(
        link(&world, "link", "api", "invoices", "depends_on")["action"],
        "unchanged"
    );
    assert_eq!(
        link(&world, "unlink", "api", "invoices", "depends_on")["action"],
        "unlinked"
    );
    let now = world.json("memoir inspect -m system api");
    assert_eq!(now["links"].count(), 1);

    // A concept is no memory, and the store is in order.
    assert_eq!(world.json("list --all"), serde_json::json!([]));
    assert_eq!(world.json("topics"), serde_json::json!([]));
    let stats = world.json("stats");
    stats.has(json!({"memoirs": 1, "concepts": 3, "memories": 0}));
    world.icm("recall PostgreSQL").ends(1);
    world.ok("verify");
}

#[test]
fn a_refinement_may_leave_the_definition_alone() {
    let world = World::with_memories();
    world.json("memoir create -n system");
    let of = ["-m", "system", "-n", "db"];
    let verb =
        |verb: &'static str, rest: &[&str]| memoir(&world, [[verb].as_slice(), &of, rest].concat());
    verb("add-concept", &["-d", "PostgreSQL", "-l", "kind:data"]);
    let labelled = verb("refine", &["-L", "team:billing"]);
    assert_eq!(labelled["action"], "updated");
    verb("refine", &["-s", &world.id("database")]);
    let surer = verb("refine", &["--confidence", "0.9"]);
    surer.has(json!({"revision": 2, "confidence": 0.9}));
    let seen = world.json("memoir inspect -m system db");
    seen["concept"].has(json!({
        "definition": "PostgreSQL", "labels": ["kind:data", "team:billing"],
    }));
    assert_eq!(seen["sources"].count(), 1);
    assert_eq!(seen["definitions"].count(), 2);
    verb("label", &["-a", "old", "-r", "kind:data"]);
    verb("label", &["-L", "new", "-R", "old"]);
    let seen = world.json("memoir inspect -m system db");
    seen["concept"].has(json!({"labels": ["team:billing", "new"]}));
    let refine = [["memoir", "refine"].as_slice(), &of].concat();
    let said = world
        .icm(refine.clone())
        .fails(2, "nothing to refine is named");
    let options = "give at least one of `-d`, `-L`, `-s` and `--confidence`";
    said.err.says(options);
    let long = "x".repeat(65);
    world
        .icm([refine.as_slice(), &["-L", &long]].concat())
        .fails(2, "a label is 65 bytes long");
    let secret = "password = hunter2hunter2X9";
    world
        .icm([refine.as_slice(), &["-L", secret]].concat())
        .fails(2, "the label holds what looks like a secret");
    world.ok("verify");
    world.ok("rebuild");
    let again = world.json("memoir inspect -m system db");
    assert_eq!(again["concept"], seen["concept"]);
}

#[test]
fn a_concept_knows_the_memories_it_is_taken_from() {
    let world = World::with_memories();
    world.json("memoir create -n system");
    let source = world.id("database");
    let add = [
        "add-concept",
        "-m",
        "system",
        "-n",
        "db",
        "-d",
        "PostgreSQL",
        "-s",
        &source,
    ];
    memoir(&world, add);
    let again = [
        "refine",
        "-m",
        "system",
        "-n",
        "db",
        "-d",
        "PostgreSQL 17",
        "-s",
        &source,
    ];
    memoir(&world, again);
    let other = world.id("money");
    let more = [
        "refine",
        "-m",
        "system",
        "-n",
        "db",
        "-d",
        "PostgreSQL 17",
        "-s",
        &other,
    ];
    memoir(&world, more);
    let inspect = ["inspect", "-m", "system", "db"];
    let mut sources = [source.clone(), other];
    sources.sort_unstable();
    let shown = memoir(&world, inspect);
    let mut found: Vec<_> = shown["sources"].as_array().unwrap().iter().collect();
    found.sort_by_key(|it| it.as_str());
    assert_eq!(
        found,
        sources.iter().map(String::as_str).collect::<Vec<_>>()
    );
    assert_eq!(shown["links"], serde_json::json!([]));
    // The memory does not name the concept, and a recall of memories finds no concept.
    assert!(
        world
            .json(format!("get '{source}'"))
            .get("related")
            .is_none()
    );
    let recalled = world.json("recall 'invoices PostgreSQL'");
    let topics: Vec<_> = recalled["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["topic"])
        .collect();
    assert!(topics.iter().all(|topic| *topic != "system"), "{topics:?}");
    world.ok(format!("forget '{source}'"));
    assert_eq!(memoir(&world, inspect)["sources"].count(), 1);
}

#[test]
fn two_concepts_in_each_others_place_are_warned_of() {
    let world = system();
    let first = link(&world, "link", "api", "invoices", "superseded_by");
    assert!(first.get("warnings").is_none(), "{first}");
    let args = [
        "memoir",
        "link",
        "-m",
        "system",
        "--from",
        "invoices",
        "--to",
        "api",
        "-r",
        "superseded_by",
    ];
    let said = world.icm(args).ok();
    let unlink = "icm memoir unlink -m 'system' --from 'api' --to 'invoices' -r superseded_by";
    said.err.says(unlink);
    let again = link(&world, "link", "invoices", "api", "superseded_by");
    assert_eq!(again["action"], "unchanged");
    assert_eq!(again["warnings"].count(), 1);
    link(&world, "unlink", "api", "invoices", "superseded_by");
    let alone = link(&world, "link", "invoices", "api", "superseded_by");
    assert!(alone.get("warnings").is_none(), "{alone}");
}
