//! `icm conflicts`: fields that two machines changed independently, and their settlement.

use serde_json::{Value, json};

use crate::exchange::carry;
use crate::world::{Args, Look, Says, World};

/// Lets both stores learn each other's events.
fn exchange(world: &World) {
    carry(world, "a", "b");
    carry(world, "b", "a");
}

/// Stores a memory that both machines know, and returns its id.
fn shared(world: &World) -> String {
    let a = world.at("a");
    let args = ["store", "-t", "prefs", "--key", "tea", "-c", "green tea"];
    a.ok(args);
    exchange(world);
    a.json("list")[0]["id"].as_str().unwrap().to_owned()
}

fn update(world: &World, db: &str, id: &str, change: impl Args) {
    world.at(db).ok((["update", id], change));
}

fn list(world: &World, db: &str) -> Value {
    world.at(db).json("conflicts --all")["conflicts"].clone()
}

/// Returns the conflicts, which both machines list alike.
#[track_caller]
fn conflicts(world: &World) -> Vec<Value> {
    let [a, b] = ["a", "b"].map(|db| list(world, db));
    assert_eq!(a, b);
    a.as_array().unwrap().clone()
}

/// Checks that one conflict is left, of this field. Returns the shown value and the others.
#[track_caller]
fn one(world: &World, field: &str) -> (Value, Vec<Value>) {
    let all = conflicts(world);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["field"], field);
    let others = all[0]["others"].as_array().unwrap();
    let others = others.iter().map(|it| it["value"].clone());
    (all[0]["shown"]["value"].clone(), others.collect())
}

#[test]
fn each_kind_of_value_is_listed_and_settled() {
    for (field, flag, left, right) in [
        ("content", "-c", "black tea", "no tea"),
        ("importance", "-i", "low", "critical"),
        ("topic", "-t", "home", "work/prefs"),
        ("scope", "--scope", "project:x", "session:y"),
    ] {
        let world = World::new();
        let a = world.at("a");
        let id = shared(&world);
        update(&world, "a", &id, [flag, left]);
        update(&world, "b", &id, [flag, right]);
        assert!(list(&world, "a").as_array().unwrap().is_empty());
        exchange(&world);
        let (shown, others) = one(&world, field);
        assert_eq!(others.len(), 1);
        for (db, wrote) in [("a", left), ("b", right)] {
            let get = world.at(db).json(format!("get {id}"));
            assert_eq!((&get[field], &get["conflicts"]), (&shown, &json!([field])));
            assert!(shown == wrote || others[0] == wrote, "{field}");
            // The history has both values, and says where the conflict can be settled.
            let history = world.at(db).ok(format!("history {id}"));
            history.out.says(left);
            history.out.says(right);
            history.err.says("icm conflicts settle");
            let said = world.at(db).ok("conflicts");
            said.out.says(left);
            said.out.says(right);
        }
        // The other value is taken on one machine, and holds on both.
        let loser = list(&world, "a")[0]["others"][0]["event"].clone();
        let loser = &loser.as_str().unwrap()[..12];
        let settle = [
            "conflicts",
            "settle",
            &id,
            "--take",
            loser,
            "--field",
            field,
        ];
        let receipt = a.json(settle);
        receipt.has(json!({"action": "updated", "settled": json!([field])}));
        assert!(list(&world, "a").as_array().unwrap().is_empty());
        exchange(&world);
        assert!(conflicts(&world).is_empty());
        for db in ["a", "b"] {
            let get = world.at(db).json(format!("get {id}"));
            assert_eq!((&get[field], &get["conflicts"]), (&others[0], &Value::Null));
            assert!(
                !world
                    .at(db)
                    .ok(format!("history {id}"))
                    .err
                    .contains("in conflict")
            );
            world.at(db).ok("verify");
        }
    }
}

#[test]
fn shown_candidates_can_be_kept_and_that_can_be_undone() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    let id = shared(&world);
    // Without contradicting values there is no conflict, and an empty list is fine.
    let none = a.ok("conflicts");
    assert!(
        none.out.is_empty() && none.err.contains("no conflicts"),
        "{none:?}"
    );
    let refused = a.icm(format!("conflicts settle {id}"));
    refused.fails(1, "nothing of");
    let nowhere = world.at("nowhere").json("conflicts");
    assert_eq!(nowhere["conflicts"], json!([]));
    let run = a.icm(format!("conflicts --all settle {id}"));
    run.fails(2, "filters belong to");
    update(&world, "a", &id, ["-c", "black tea", "-i", "low"]);
    update(&world, "b", &id, ["-c", "no tea", "-i", "low"]);
    exchange(&world);
    let before = one(&world, "content");
    for args in [
        ["conflicts", "settle", &id, "--field", "importance"].as_slice(),
        &["conflicts", "settle", &id, "--take", "@1"],
    ] {
        let run = a.icm(args);
        run.fails(1, "conflict");
    }
    let run = a.ok(format!("conflicts settle {id}"));
    run.out.begins("updated");
    run.err.says("settled: content");
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    let get = |db: &str| world.at(db).json(format!("get {id}"))["content"].clone();
    assert_eq!((get("a"), get("b")), (before.0.clone(), before.0.clone()));
    a.ok("undo --last 1 --yes");
    exchange(&world);
    assert_eq!(one(&world, "content"), before);
    // A new text settles the conflict, and so does the shown text.
    for text in ["black tea, or none", before.0.as_str().unwrap()] {
        update(&world, "b", &id, ["-c", text]);
        exchange(&world);
        assert!(conflicts(&world).is_empty());
        b.ok("undo --last 1 --yes");
        exchange(&world);
        assert_eq!(one(&world, "content"), before);
    }
    // Without a conflict an unchanged value is not written again.
    update(&world, "b", &id, ["-c", "mint"]);
    let again = b.json(format!("update {id} -c mint"));
    assert_eq!(again["action"], "unchanged");
}

#[test]
fn equal_values_are_no_conflict() {
    let world = World::new();
    let a = world.at("a");
    let id = shared(&world);
    update(&world, "a", &id, ["-c", "black tea", "-i", "low"]);
    update(&world, "b", &id, ["-c", "black tea", "-i", "low"]);
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    // Keywords of both machines are kept.
    update(&world, "a", &id, ["-k", "hot"]);
    update(&world, "b", &id, ["-k", "cold"]);
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    // A third machine writes another value.
    carry(&world, "a", "c");
    update(&world, "c", &id, ["-c", "coffee"]);
    update(&world, "a", &id, ["-c", "milk"]);
    update(&world, "b", &id, ["-c", "water"]);
    exchange(&world);
    carry(&world, "c", "a");
    carry(&world, "c", "b");
    let (shown, mut others) = one(&world, "content");
    others.push(shown);
    others.sort_by_key(Value::to_string);
    assert_eq!(json!(others), json!(["coffee", "milk", "water"]));
    let cut = a.json("conflicts -t elsewhere");
    assert_eq!(cut["total"], 0);
    let of = a.json("conflicts -t prefs -l 1");
    assert_eq!(of["total"], 1);
}

#[test]
fn one_key_stored_on_two_machines() {
    let world = World::new();
    let [a, c] = ["a", "c"].map(|db| world.at(db));
    let store = |db: &str, more: &[&str]| {
        let args = ["store", "-t", "prefs", "--key", "tea"];
        world.at(db).ok((&args, more));
    };
    store("a", &["-c", "green tea", "--metadata", "{\"cups\": 2}"]);
    store("b", &["-c", "black tea"]);
    let before = a.json("stats")["positions"].clone();
    exchange(&world);
    let all = conflicts(&world);
    let mut fields: Vec<_> = all.iter().map(|it| it["field"].as_str().unwrap()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["content", "metadata"]);
    // A machine that imports the conflict is told.
    let told = || {
        a.ok("log export x.icmx");
        c.ok("log import x.icmx").err
    };
    assert!(told().contains("2 new conflicts"));
    a.ok("store -t t -c more");
    assert!(!told().contains("conflict"));
    exchange(&world);
    // Earlier moments do not list conflicts that were unknown then.
    let then = a.json(format!("conflicts --at @{before}"));
    assert_eq!(then["total"], 0);
    let id = all[0]["id"].as_str().unwrap();
    let taken = all[0]["others"][0]["event"].as_str().unwrap();
    let receipt = a.json(format!("conflicts settle {id} --take '{taken}'"));
    assert_eq!(receipt["settled"].count(), 2);
    exchange(&world);
    assert!(conflicts(&world).is_empty());
}

#[test]
fn both_machines_settle_it() {
    for same in [true, false] {
        let world = World::new();
        let [a, b] = ["a", "b"].map(|db| world.at(db));
        let id = shared(&world);
        update(&world, "a", &id, ["-c", "black tea"]);
        update(&world, "b", &id, ["-c", "no tea"]);
        exchange(&world);
        let loser = list(&world, "a")[0]["others"][0]["event"].clone();
        a.ok(format!("conflicts settle {id}"));
        let settle = [
            "conflicts",
            "settle",
            &id,
            "--take",
            loser.as_str().unwrap(),
        ];
        let there = if same { &settle[..3] } else { &settle };
        b.ok(there);
        exchange(&world);
        assert_eq!(conflicts(&world).len(), usize::from(!same));
        let get = |db: &str| world.at(db).json(format!("get {id}"))["content"].clone();
        assert_eq!(get("a"), get("b"));
    }
}

#[test]
fn withheld_bodies_are_named_and_not_taken() {
    let world = World::new();
    let a = world.at("a");
    let id = shared(&world);
    update(&world, "a", &id, ["-c", "black tea"]);
    update(&world, "b", &id, ["-c", "no tea"]);
    exchange(&world);
    let loser = list(&world, "a")[0]["others"][0]["event"].clone();
    let loser = loser.as_str().unwrap();
    a.ok(format!("redact '{loser}' --yes"));
    exchange(&world);
    let all = conflicts(&world);
    let other = &all[0]["others"][0];
    other.has(json!({"withheld": true, "value": null}));
    let run = a.icm(format!("conflicts settle {id} --take '{loser}'"));
    run.fails(1, "withheld");
    assert!(a.out("conflicts").contains("(withheld)"));
    a.ok(format!("conflicts settle {id}"));
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    // A conflict of a redacted memory cannot be settled, so it is not listed.
    update(&world, "a", &id, ["-c", "mint"]);
    update(&world, "b", &id, ["-c", "milk"]);
    exchange(&world);
    assert_eq!(conflicts(&world).len(), 1);
    a.ok(format!("redact {id} --yes"));
    exchange(&world);
    assert!(conflicts(&world).is_empty());
}

#[test]
fn memories_forgotten_while_another_machine_changed_them() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    let id = shared(&world);
    a.ok(format!("forget {id}"));
    update(&world, "b", &id, ["-c", "no tea"]);
    exchange(&world);
    let (shown, others) = one(&world, "forgotten");
    assert_eq!(
        (shown, &others),
        (true.into(), &vec![json!({"content": "no tea"})])
    );
    let said = a.out("conflicts");
    said.says("written meanwhile");
    said.says("no tea");
    let all = conflicts(&world);
    let event = all[0]["others"][0]["event"].as_str().unwrap();
    let run = a.icm(format!("conflicts settle {id} --take '{event}'"));
    let run = run.fails(1, "forgotten");
    run.err.says("icm revive");
    // A revival brings the memory back with the written text.
    b.ok(format!("revive {id}"));
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    for db in ["a", "b"] {
        assert_eq!(world.at(db).json(format!("get {id}"))["content"], "no tea");
    }
    // Settling keeps the memory forgotten, with knowledge of the update.
    a.ok(format!("forget {id}"));
    update(&world, "b", &id, ["-c", "mint"]);
    exchange(&world);
    one(&world, "forgotten");
    let receipt = a.json(format!("conflicts settle {id}"));
    assert_eq!(receipt["action"], "forgotten");
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    for db in ["a", "b"] {
        assert_eq!(world.at(db).json(format!("get {id}"))["forgotten"], true);
        world.at(db).ok("verify");
    }
    // A summary that did not know the memory hides it all the same.
    a.ok(format!("revive {id}"));
    a.ok("store -t prefs -c coffee");
    exchange(&world);
    a.ok("consolidate -t prefs --summary tea --yes");
    update(&world, "b", &id, ["-i", "high"]);
    exchange(&world);
    let (_, others) = one(&world, "forgotten");
    assert_eq!(others, [json!({"importance": "high"})]);
}

#[test]
fn memoirs_and_concepts() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    let run = |db: &str, args: &str| world.at(db).ok(("memoir", args));
    run("a", "create -n system -d 'how it hangs together'");
    run("a", "add-concept -m system -n api -d 'the front'");
    exchange(&world);
    for (db, text) in [("a", "REST"), ("b", "GraphQL")] {
        run(db, &format!("refine -m system -n api -d '{text}'"));
        run(db, &format!("describe -n system -d '{text}'"));
        run(db, &format!("label -m system -n api -L '{text}'"));
    }
    exchange(&world);
    let all = conflicts(&world);
    let mut found: Vec<_> = all
        .iter()
        .map(|it| (it["of"].as_str().unwrap(), it["field"].as_str().unwrap()))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [("concept", "definition"), ("memoir", "description")]
    );
    for conflict in &all {
        let id = conflict["id"].as_str().unwrap();
        let history = a.ok(format!("history {id}"));
        history.out.says("REST");
        history.out.says("GraphQL");
        let take = conflict["others"][0]["event"].as_str().unwrap();
        b.ok(format!("conflicts settle {id} --take '{take}'"));
    }
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    let wanted = |of: &str| {
        let found = all.iter().find(|it| it["of"] == of).unwrap();
        found["others"][0]["value"].clone()
    };
    for db in ["a", "b"] {
        let shown = world.at(db).json("memoir show system");
        assert_eq!(shown["description"], wanted("memoir"));
        assert_eq!(shown["concept_list"][0]["definition"], wanted("concept"));
        world.at(db).ok("verify");
    }
    // One machine deletes the concept while the other refines it.
    run("a", "delete-concept -m system -n api");
    run("b", "refine -m system -n api -d gRPC");
    exchange(&world);
    one(&world, "forgotten");
    let id = list(&world, "a")[0]["id"].clone();
    a.ok(format!("conflicts settle {}", id.as_str().unwrap()));
    exchange(&world);
    assert!(conflicts(&world).is_empty());
}
