//! `icm conflicts`: fields that two machines changed independently, and their settlement.

use serde_json::{Value, json as value};

use crate::exchange::{carry, json, on};
use crate::world::World;

/// Lets both stores learn each other's events.
fn exchange(world: &World) {
    carry(world, "a", "b");
    carry(world, "b", "a");
}

/// Stores a memory that both machines know, and returns its id.
fn shared(world: &World) -> String {
    let args = ["store", "-t", "prefs", "--key", "tea", "-c", "green tea"];
    on(world, "a", &args).ok();
    exchange(world);
    json(world, "a", &["list"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn update(world: &World, db: &str, id: &str, change: &[&str]) {
    on(world, db, &[&["update", id], change].concat()).ok();
}

fn list(world: &World, db: &str) -> Value {
    json(world, db, &["conflicts", "--all"])["conflicts"].clone()
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
        let id = shared(&world);
        update(&world, "a", &id, &[flag, left]);
        update(&world, "b", &id, &[flag, right]);
        assert!(list(&world, "a").as_array().unwrap().is_empty());
        exchange(&world);
        let (shown, others) = one(&world, field);
        assert_eq!(others.len(), 1);
        for (db, wrote) in [("a", left), ("b", right)] {
            let get = json(&world, db, &["get", &id]);
            assert_eq!((&get[field], &get["conflicts"]), (&shown, &value!([field])));
            assert!(shown == wrote || others[0] == wrote, "{field}");
            // The history has both values, and says where the conflict can be settled.
            let history = on(&world, db, &["history", &id]).ok();
            assert!(
                history.out.contains(left) && history.out.contains(right),
                "{history:?}"
            );
            assert!(history.err.contains("icm conflicts settle"), "{history:?}");
            let said = on(&world, db, &["conflicts"]).ok();
            assert!(
                said.out.contains(left) && said.out.contains(right),
                "{said:?}"
            );
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
        let receipt = json(&world, "a", &settle);
        assert_eq!(
            (&receipt["action"], &receipt["settled"]),
            (&"updated".into(), &value!([field]))
        );
        assert!(list(&world, "a").as_array().unwrap().is_empty());
        exchange(&world);
        assert!(conflicts(&world).is_empty());
        for db in ["a", "b"] {
            let get = json(&world, db, &["get", &id]);
            assert_eq!((&get[field], &get["conflicts"]), (&others[0], &Value::Null));
            assert!(
                !on(&world, db, &["history", &id])
                    .ok()
                    .err
                    .contains("in conflict")
            );
            on(&world, db, &["verify"]).ok();
        }
    }
}

#[test]
fn what_is_shown_can_be_kept_and_that_can_be_undone() {
    let world = World::new();
    let id = shared(&world);
    // Without contradicting values there is no conflict, and an empty list is fine.
    let none = on(&world, "a", &["conflicts"]).ok();
    assert!(
        none.out.is_empty() && none.err.contains("no conflicts"),
        "{none:?}"
    );
    let refused = on(&world, "a", &["conflicts", "settle", &id]);
    refused.fails(1, "nothing of");
    let nowhere = json(&world, "nowhere", &["conflicts"]);
    assert_eq!(nowhere["conflicts"], value!([]));
    let run = on(&world, "a", &["conflicts", "--all", "settle", &id]);
    run.fails(2, "filters belong to");
    update(&world, "a", &id, &["-c", "black tea", "-i", "low"]);
    update(&world, "b", &id, &["-c", "no tea", "-i", "low"]);
    exchange(&world);
    let before = one(&world, "content");
    for args in [
        ["conflicts", "settle", &id, "--field", "importance"].as_slice(),
        &["conflicts", "settle", &id, "--take", "@1"],
    ] {
        let run = on(&world, "a", args);
        run.fails(1, "conflict");
    }
    let run = on(&world, "a", &["conflicts", "settle", &id]).ok();
    assert!(
        run.out.starts_with("updated") && run.err.contains("settled: content"),
        "{run:?}"
    );
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    let get = |db: &str| json(&world, db, &["get", &id])["content"].clone();
    assert_eq!((get("a"), get("b")), (before.0.clone(), before.0.clone()));
    on(&world, "a", &["undo", "--last", "1", "--yes"]).ok();
    exchange(&world);
    assert_eq!(one(&world, "content"), before);
    // A new text settles the conflict, and so does the shown text.
    for text in ["black tea, or none", before.0.as_str().unwrap()] {
        update(&world, "b", &id, &["-c", text]);
        exchange(&world);
        assert!(conflicts(&world).is_empty());
        on(&world, "b", &["undo", "--last", "1", "--yes"]).ok();
        exchange(&world);
        assert_eq!(one(&world, "content"), before);
    }
    // Without a conflict an unchanged value is not written again.
    update(&world, "b", &id, &["-c", "mint"]);
    let again = json(&world, "b", &["update", &id, "-c", "mint"]);
    assert_eq!(again["action"], "unchanged");
}

#[test]
fn what_says_the_same_is_no_conflict() {
    let world = World::new();
    let id = shared(&world);
    update(&world, "a", &id, &["-c", "black tea", "-i", "low"]);
    update(&world, "b", &id, &["-c", "black tea", "-i", "low"]);
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    // Keywords of both machines are kept.
    update(&world, "a", &id, &["-k", "hot"]);
    update(&world, "b", &id, &["-k", "cold"]);
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    // A third machine writes another value.
    carry(&world, "a", "c");
    update(&world, "c", &id, &["-c", "coffee"]);
    update(&world, "a", &id, &["-c", "milk"]);
    update(&world, "b", &id, &["-c", "water"]);
    exchange(&world);
    carry(&world, "c", "a");
    carry(&world, "c", "b");
    let (shown, mut others) = one(&world, "content");
    others.push(shown);
    others.sort_by_key(Value::to_string);
    assert_eq!(value!(others), value!(["coffee", "milk", "water"]));
    let cut = json(&world, "a", &["conflicts", "-t", "elsewhere"]);
    assert_eq!(cut["total"], 0);
    let of = json(&world, "a", &["conflicts", "-t", "prefs", "-l", "1"]);
    assert_eq!(of["total"], 1);
}

#[test]
fn one_key_stored_on_two_machines() {
    let world = World::new();
    let store = |db: &str, more: &[&str]| {
        let args = ["store", "-t", "prefs", "--key", "tea"];
        on(&world, db, &[&args, more].concat()).ok();
    };
    store("a", &["-c", "green tea", "--metadata", "{\"cups\": 2}"]);
    store("b", &["-c", "black tea"]);
    let before = json(&world, "a", &["stats"])["positions"].clone();
    exchange(&world);
    let all = conflicts(&world);
    let mut fields: Vec<_> = all.iter().map(|it| it["field"].as_str().unwrap()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["content", "metadata"]);
    // A machine that imports the conflict is told.
    let told = |world: &World| {
        on(world, "a", &["log", "export", "x.icmx"]).ok();
        on(world, "c", &["log", "import", "x.icmx"]).ok().err
    };
    assert!(told(&world).contains("2 new conflicts"));
    on(&world, "a", &["store", "-t", "t", "-c", "more"]).ok();
    assert!(!told(&world).contains("conflict"));
    exchange(&world);
    // Earlier moments do not list conflicts that were unknown then.
    let then = json(&world, "a", &["conflicts", "--at", &format!("@{before}")]);
    assert_eq!(then["total"], 0);
    let id = all[0]["id"].as_str().unwrap();
    let taken = all[0]["others"][0]["event"].as_str().unwrap();
    let receipt = json(&world, "a", &["conflicts", "settle", id, "--take", taken]);
    assert_eq!(receipt["settled"].as_array().unwrap().len(), 2);
    exchange(&world);
    assert!(conflicts(&world).is_empty());
}

#[test]
fn both_machines_settle_it() {
    for same in [true, false] {
        let world = World::new();
        let id = shared(&world);
        update(&world, "a", &id, &["-c", "black tea"]);
        update(&world, "b", &id, &["-c", "no tea"]);
        exchange(&world);
        let loser = list(&world, "a")[0]["others"][0]["event"].clone();
        on(&world, "a", &["conflicts", "settle", &id]).ok();
        let settle = [
            "conflicts",
            "settle",
            &id,
            "--take",
            loser.as_str().unwrap(),
        ];
        let there = if same { &settle[..3] } else { &settle };
        on(&world, "b", there).ok();
        exchange(&world);
        assert_eq!(conflicts(&world).len(), usize::from(!same));
        let get = |db: &str| json(&world, db, &["get", &id])["content"].clone();
        assert_eq!(get("a"), get("b"));
    }
}

#[test]
fn what_is_withheld_is_said_to_be_and_not_taken() {
    let world = World::new();
    let id = shared(&world);
    update(&world, "a", &id, &["-c", "black tea"]);
    update(&world, "b", &id, &["-c", "no tea"]);
    exchange(&world);
    let loser = list(&world, "a")[0]["others"][0]["event"].clone();
    let loser = loser.as_str().unwrap();
    on(&world, "a", &["redact", loser, "--yes"]).ok();
    exchange(&world);
    let all = conflicts(&world);
    let other = &all[0]["others"][0];
    assert_eq!(
        (&other["withheld"], &other["value"]),
        (&true.into(), &Value::Null)
    );
    let run = on(&world, "a", &["conflicts", "settle", &id, "--take", loser]);
    run.fails(1, "withheld");
    assert!(
        on(&world, "a", &["conflicts"])
            .ok()
            .out
            .contains("(withheld)")
    );
    on(&world, "a", &["conflicts", "settle", &id]).ok();
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    // A conflict of a redacted memory cannot be settled, so it is not listed.
    update(&world, "a", &id, &["-c", "mint"]);
    update(&world, "b", &id, &["-c", "milk"]);
    exchange(&world);
    assert_eq!(conflicts(&world).len(), 1);
    on(&world, "a", &["redact", &id, "--yes"]).ok();
    exchange(&world);
    assert!(conflicts(&world).is_empty());
}

#[test]
fn what_was_forgotten_while_another_changed_it() {
    let world = World::new();
    let id = shared(&world);
    on(&world, "a", &["forget", &id]).ok();
    update(&world, "b", &id, &["-c", "no tea"]);
    exchange(&world);
    let (shown, others) = one(&world, "forgotten");
    assert_eq!(
        (shown, &others),
        (true.into(), &vec![value!({"content": "no tea"})])
    );
    let said = on(&world, "a", &["conflicts"]).ok().out;
    assert!(
        said.contains("written meanwhile") && said.contains("no tea"),
        "{said}"
    );
    let all = conflicts(&world);
    let event = all[0]["others"][0]["event"].as_str().unwrap();
    let run = on(&world, "a", &["conflicts", "settle", &id, "--take", event]);
    let run = run.fails(1, "forgotten");
    assert!(run.err.contains("icm revive"), "{run:?}");
    // A revival brings the memory back with the written text.
    on(&world, "b", &["revive", &id]).ok();
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    for db in ["a", "b"] {
        assert_eq!(json(&world, db, &["get", &id])["content"], "no tea");
    }
    // Settling keeps the memory forgotten, with knowledge of the update.
    on(&world, "a", &["forget", &id]).ok();
    update(&world, "b", &id, &["-c", "mint"]);
    exchange(&world);
    one(&world, "forgotten");
    let receipt = json(&world, "a", &["conflicts", "settle", &id]);
    assert_eq!(receipt["action"], "forgotten");
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    for db in ["a", "b"] {
        assert_eq!(json(&world, db, &["get", &id])["forgotten"], true);
        on(&world, db, &["verify"]).ok();
    }
    // A summary that did not know the memory hides it all the same.
    on(&world, "a", &["revive", &id]).ok();
    on(&world, "a", &["store", "-t", "prefs", "-c", "coffee"]).ok();
    exchange(&world);
    on(
        &world,
        "a",
        &["consolidate", "-t", "prefs", "--summary", "tea", "--yes"],
    )
    .ok();
    update(&world, "b", &id, &["-i", "high"]);
    exchange(&world);
    let (_, others) = one(&world, "forgotten");
    assert_eq!(others, [value!({"importance": "high"})]);
}

#[test]
fn memoirs_and_concepts() {
    let world = World::new();
    let run = |db: &str, args: &[&str]| on(&world, db, &[&["memoir"], args].concat()).ok();
    run(
        "a",
        &["create", "-n", "system", "-d", "how it hangs together"],
    );
    run(
        "a",
        &[
            "add-concept",
            "-m",
            "system",
            "-n",
            "api",
            "-d",
            "the front",
        ],
    );
    exchange(&world);
    for (db, text) in [("a", "REST"), ("b", "GraphQL")] {
        run(db, &["refine", "-m", "system", "-n", "api", "-d", text]);
        run(db, &["describe", "-n", "system", "-d", text]);
        run(db, &["label", "-m", "system", "-n", "api", "-L", text]);
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
        let history = on(&world, "a", &["history", id]).ok();
        assert!(
            history.out.contains("REST") && history.out.contains("GraphQL"),
            "{history:?}"
        );
        let take = conflict["others"][0]["event"].as_str().unwrap();
        on(&world, "b", &["conflicts", "settle", id, "--take", take]).ok();
    }
    exchange(&world);
    assert!(conflicts(&world).is_empty());
    let wanted = |of: &str| {
        let found = all.iter().find(|it| it["of"] == of).unwrap();
        found["others"][0]["value"].clone()
    };
    for db in ["a", "b"] {
        let shown = json(&world, db, &["memoir", "show", "system"]);
        assert_eq!(shown["description"], wanted("memoir"));
        assert_eq!(shown["concept_list"][0]["definition"], wanted("concept"));
        on(&world, db, &["verify"]).ok();
    }
    // One machine deletes the concept while the other refines it.
    run("a", &["delete-concept", "-m", "system", "-n", "api"]);
    run("b", &["refine", "-m", "system", "-n", "api", "-d", "gRPC"]);
    exchange(&world);
    one(&world, "forgotten");
    let id = list(&world, "a")[0]["id"].clone();
    on(&world, "a", &["conflicts", "settle", id.as_str().unwrap()]).ok();
    exchange(&world);
    assert!(conflicts(&world).is_empty());
}
