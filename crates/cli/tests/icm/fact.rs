//! `icm fact`: one current value for each subject and attribute.

use serde_json::{Value, json};

use crate::exchange::carry;
use crate::world::{Look, Says, World, run};

/// Returns the values of the history with their moments.
fn history(world: &World, fact: &str) -> Vec<(String, String)> {
    let values = world.list(format!("fact history {fact}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let values = values.iter();
    values
        .map(|it| (text(&it["value"]), text(&it["valid_from"])))
        .collect()
}

#[test]
fn a_fact_is_set_and_set_again() {
    let world = World::new();
    let first = world.json("fact set deploy version 1.0 --from 2024-01-05T00:00:00Z");
    first.has(json!({
        "action": "stored",
        "topic": "facts/deploy",
        "/set/value": "1.0",
        "/set/valid_until": null,
        "/current/value": "1.0",
    }));
    let id = first["id"].as_str().unwrap();
    let again = world.ok("fact set deploy version 2.0");
    again.out.begins(format!("updated {id} in facts/deploy @"));
    assert_eq!(again.err, "");
    world
        .ok("fact set deploy version 2.0")
        .out
        .begins(format!("unchanged {id}"));

    let shown = world.out("fact get deploy version");
    shown.begins(format!("{id}  deploy  version  since "));
    shown.finishes("  │ 2.0\n");
    let fact = world.json("fact get deploy version");
    fact.has(json!({"id": id, "scope": "global", "subject": "deploy", "attribute": "version"}));
    fact.has(json!({"value": "2.0", "valid_until": null, "actor": "user"}));
    let then = world.json("fact get deploy version --valid-at 2024-01-06");
    then.has(json!({"value": "1.0", "valid_from": "2024-01-05T00:00:00Z"}));

    // It is a memory with a key.
    let memory = world.json(format!("get {id}"));
    memory
        .has(json!({"topic": "facts/deploy", "key": "version", "content": "deploy version: 2.0"}));
    world.ok(format!("forget {id}"));
    let gone = world.fails("fact get deploy version => 1: `version` of `deploy` was forgotten, 2");
    gone.err.says(format!("icm revive {id}"));
}

#[test]
fn a_late_value_is_history_and_a_planned_one_waits() {
    let world = World::new();
    world.ok("fact set billing 'on call' Mira --from 2024-02-02T09:00:00Z");
    let late = world.ok("fact set billing 'on call' Jun --from 2024-01-05T09:00:00Z");
    late.err.says(
        "valid from 2024-01-05 09:00; the current value is still `Mira`, from 2024-02-02 09:00",
    );
    let planned = world.ok("fact set billing 'on call' Ada --from 2100-01-04T09:00:00Z");
    planned.err.says("the current value is still `Mira`");

    let fact = world.json("fact get billing 'on call'");
    fact.has(json!({"value": "Mira", "valid_until": "2100-01-04T09:00:00Z"}));
    let next = world.json("fact get billing 'on call' --valid-at 2100-02-01");
    next.has(json!({"value": "Ada"}));
    assert_eq!(
        history(&world, "billing 'on call'"),
        [
            ("Jun".into(), "2024-01-05T09:00:00Z".into()),
            ("Mira".into(), "2024-02-02T09:00:00Z".into()),
            ("Ada".into(), "2100-01-04T09:00:00Z".into()),
        ]
    );
    let text = world.out("fact history billing 'on call'");
    text.says("from 2024-01-05 09:00  until 2024-02-02 09:00 ");
    text.says("until 2100-01-04 09:00  current  learnt ");
    text.says("from 2100-01-04 09:00 ");
    let text = world.out("fact get billing 'on call'");
    text.says("since 2024-02-02 09:00, until 2100-01-04 09:00");
    text.says("next from 2100-01-04 09:00: Ada");
    let text = world.out("fact list");
    text.says("Mira\n");
    text.says("next from 2100-01-04 09:00: Ada\n");
    let planned = world.ok("fact set billing deputy Kim --from 2100-01-01");
    planned.err.says("there is no value until then");
    let none = world.fails("fact get billing deputy => 1: `deputy` of `billing` has no value yet");
    none.err.says("planned, valid from 2100-01-01 00:00");
    none.err.says("icm fact history billing deputy");
    let text = world.out("fact get billing");
    text.says("planned from 2100-01-01 00:00: Kim");
    let list = world.json("fact list");
    assert_eq!(list.texts("state"), ["planned", "current"], "{list}");
    list.has(json!({"/1/next/value": "Ada", "/1/next/valid_from": "2100-01-04T09:00:00Z"}));
}

#[test]
fn what_was_known_and_what_was_valid_are_asked_apart() {
    let world = World::new();
    world.ok("fact set deploy version 2.0 --from 2024-02-05T00:00:00Z");
    let then = world.now();
    world.ok("fact set deploy version 1.0 --from 2024-01-05T00:00:00Z");
    let late = world.json("fact set deploy version 3.0 --from 2024-03-05T00:00:00Z");

    let known = world.json(format!("fact get deploy version --at {then}"));
    known.has(json!({"value": "2.0", "valid_until": null}));
    world
        .icm(format!(
            "fact get deploy version --at {then} --valid-at 2024-01-10"
        ))
        .fails(1, "has no value at");
    let now = world.json("fact get deploy version --valid-at 2024-01-10");
    now.has(json!({"value": "1.0"}));
    assert_eq!(
        history(&world, &format!("deploy version --at {then}")).len(),
        1
    );

    world.ok("undo --last 1 --yes");
    world
        .json("fact get deploy version")
        .has(json!({"value": "2.0"}));
    let before = format!("@{}", late["position"]);
    world
        .json(format!("fact get deploy version --at {before}"))
        .has(json!({"value": "3.0"}));
}

#[test]
fn facts_are_listed_by_subject() {
    let world = World::new();
    assert_eq!(world.count("fact list"), 0);
    world.ok("fact list").err.says("no facts");
    world.ok("fact set deploy version 2.0");
    world.ok("fact set billing owner Mira");
    world.ok("fact set billing 'on call' Jun");
    world.ok("fact set billing owner Ada --scope project:shop");
    world.ok("store -t facts/billing -c 'A memory without a key is no fact'");
    let list = world.json("fact list");
    assert_eq!(list.texts("value"), ["Jun", "Mira", "Ada", "2.0"], "{list}");
    assert_eq!(world.count("fact list --scope project:shop"), 1);
    assert_eq!(world.count("fact list -l 2"), 2);
    let of_billing = world.json("fact get billing");
    assert_eq!(of_billing.texts("attribute"), ["on call", "owner"]);
    let text = world.out("fact list");
    assert_eq!(text.lines().count(), 4, "{text}");
    text.says("deploy");

    let missing = world.icm("fact get payroll --json");
    assert_eq!((missing.code, missing.out.trim()), (1, "[]"));
    let missing = world.icm("fact get billing colour --json");
    assert_eq!((missing.code, missing.out.trim()), (1, "null"));
    let missing = world.icm("fact history billing colour --json");
    assert_eq!((missing.code, missing.out.trim()), (1, "[]"));
}

#[test]
fn a_fact_of_the_project_counts_in_its_folder() {
    let world = World::new();
    world.write(".icm-project", "shop\n");
    world.ok("fact set deploy version 1.0");
    world.ok("fact set deploy version 2.0 --scope project");
    let version =
        |args: &str| world.json(format!("fact get deploy version {args}"))["value"].clone();
    assert_eq!(version(""), "2.0");
    assert_eq!(version("--scope global"), "1.0");
    std::fs::remove_file(world.path(".icm-project")).unwrap();
    assert_eq!(version(""), "1.0");
    world.ok("fact set build image 'debian 12' --scope project:bank");
    let hidden = world.fails("fact get build image => 1: there is no fact `image` of `build` here");
    hidden.err.says("--scope project:bank");
}

#[test]
fn a_value_from_stdin_is_cut_in_lists() {
    let world = World::new();
    let text = "a line\nand another one";
    world
        .icm_with("fact set deploy notes -", text.as_bytes())
        .ok();
    let fact = world.json("fact get deploy notes");
    assert_eq!(fact["value"], text);
    world.out("fact list").says("a line and another one");
    world.ok("fact set deploy offset -5");
    assert_eq!(world.json("fact get deploy offset")["value"], "-5");
    let secret = world.icm("fact set deploy password 'password = hunter2hunter2'");
    secret.fails(2, "secret");
}

#[test]
fn two_machines_end_with_the_same_values() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    a.ok("fact set deploy version 1.0 --from 2024-01-05T00:00:00Z");
    carry(&world, "a", "b");
    a.ok("fact set deploy version 3.0 --from 2024-03-05T00:00:00Z");
    b.ok("fact set deploy version 2.0 --from 2024-02-05T00:00:00Z");
    // Each sets another fact under the same name, too.
    a.ok("fact set billing owner Mira --from 2024-01-01T00:00:00Z");
    b.ok("fact set billing owner Jun --from 2024-02-01T00:00:00Z");
    carry(&world, "a", "b");
    carry(&world, "b", "a");
    for world in [&a, &b] {
        let values = history(world, "deploy version");
        let values: Vec<&str> = values.iter().map(|(value, _)| value.as_str()).collect();
        assert_eq!(values, ["1.0", "2.0", "3.0"]);
        let fact = world.json("fact get deploy version");
        fact.has(json!({"value": "3.0"}));
        let owner = world.json("fact get billing owner");
        owner.has(json!({"value": "Jun"}));
        assert_eq!(history(world, "billing owner").len(), 2);
    }
    assert_eq!(
        a.json("fact list").texts("id"),
        b.json("fact list").texts("id")
    );
}

#[test]
fn a_settled_value_is_the_current_one() {
    for takes_other in [false, true] {
        let world = World::new();
        let [a, b] = ["a", "b"].map(|db| world.at(db));
        a.ok("fact set deploy version 1.0 --from 2024-01-05T00:00:00Z");
        carry(&world, "a", "b");
        a.ok("fact set deploy version 3.0 --from 2024-03-05T00:00:00Z");
        b.ok("fact set deploy version 2.0 --from 2024-02-05T00:00:00Z");
        carry(&world, "b", "a");
        let conflicts = a.json("conflicts");
        assert_eq!(conflicts["total"], 1, "{conflicts}");
        conflicts.has(json!({
            "/conflicts/0/shown/valid_from": "2024-02-05T00:00:00Z",
            "/conflicts/0/others/0/valid_from": "2024-03-05T00:00:00Z",
        }));
        let of_text = conflicts["conflicts"].as_array().unwrap().iter();
        let mut of_text = of_text.filter(|conflict| conflict["field"] == "content");
        let conflict = of_text.next().unwrap();
        let id = conflict["id"].as_str().unwrap();
        let (take, value) = match takes_other {
            false => (String::new(), &conflict["shown"]["value"]),
            true => {
                let other = &conflict["others"][0];
                (
                    format!("--take {}", other["event"].as_str().unwrap()),
                    &other["value"],
                )
            }
        };
        let settled = a.json(format!("conflicts settle {id} {take}"));
        assert_eq!(settled["settled"], json!(["content"]), "{settled}");
        assert_eq!(a.json("conflicts")["total"], 0);
        carry(&world, "a", "b");
        for world in [&a, &b] {
            let text = world.json(format!("get {id}"))["content"].clone();
            assert_eq!(text, *value);
            let fact = world.json("fact get deploy version")["value"].clone();
            let fact = fact.as_str().unwrap();
            assert_eq!(text, format!("deploy version: {fact}"));
            // The other value of that moment is corrected.
            let values = 3 + usize::from(fact == "2.0");
            assert_eq!(history(world, "deploy version").len(), values);
        }
    }
}

#[test]
fn an_undo_of_an_earlier_value_shows_it() {
    let world = World::new();
    world.ok("fact set deploy version 2.0 --from 2024-02-05T00:00:00Z");
    world.ok("fact set deploy version 1.0 --from 2024-01-05T00:00:00Z");
    let preview = world.ok("undo --last 1 --dry-run").out;
    preview.says("1 command: 1 value of a fact changed");
    preview.lacks("created_at");
    preview.says("from 2024-01-05 00:00 until 2024-02-05 00:00");
    preview.says("    - 1.0\n    + (no value)");
    let done = world.json("undo --last 1 --yes");
    done.has(json!({"/facts/0/before": "1.0", "/facts/0/after": null}));
}

#[test]
fn times_are_local_except_in_json() {
    let world = World::new();
    let icm = |args: &str| run(world.command(args).env("TZ", "Asia/Tokyo"), b"").ok();
    icm("fact set deploy version 1.0 --from 2024-01-05T00:00:00Z");
    let planned = icm("fact set deploy version 3.0 --from 2100-01-04T00:00:00Z");
    planned.err.says("valid from 2100-01-04 09:00; ");
    for args in ["get deploy version", "history deploy version", "list"] {
        let text = icm(&format!("fact {args}")).out;
        text.says("2100-01-04 09:00");
        assert!(!text.contains("00:00"), "{text}");
    }
    let json = icm("fact list --json").json();
    json.has(json!({"/0/valid_from": "2024-01-05T00:00:00Z"}));
}

#[test]
fn a_planned_fact_is_not_expired() {
    let world = World::new();
    world.ok("store -t notes -c 'The office is closed on Friday'");
    let planned = world.json("fact set deploy version 3.0 --from 2100-01-04T09:00:00Z");
    let id = planned["id"].as_str().unwrap();
    assert_eq!(world.count("list --expired"), 0);
    let revived = world.ok(format!("revive {id}"));
    revived.out.begins(format!("unchanged {id}"));
    (revived.err).says("nothing to bring back: the fact is planned, valid from 2100-01-04 09:00");
    let memory = world.json(format!("get {id}"));
    memory.has(json!({"planned_from": "2100-01-04T09:00:00Z"}));
    assert_eq!(memory["expired"], json!(null));
    world
        .out(format!("get {id}"))
        .says("valid from 2100-01-04 09:00, hidden until then");
    world
        .out("diff @1")
        .says("planned, valid from 2100-01-04 09:00");
}

#[test]
fn a_store_over_a_fact_is_refused() {
    let world = World::new();
    world.ok("fact set deploy version 1.0");
    let refused = world.icm("store -t facts/deploy --key version -c 2.0");
    let refused = refused.fails(2, "is a fact");
    refused.err.says("icm fact set deploy version VALUE");
    world
        .json("fact get deploy version")
        .has(json!({"value": "1.0"}));
}

#[test]
fn a_moment_without_a_zone_is_local() {
    let world = World::new();
    let mut set = world.command("fact set deploy version 1.0 --from '2024-01-05 09:00' --json");
    let receipt = run(set.env("TZ", "Asia/Tokyo"), b"").ok().json();
    receipt.has(json!({"/set/valid_from": "2024-01-05T00:00:00Z"}));
}

#[test]
fn an_export_counts_the_planned_values_that_it_leaves_out() {
    let world = World::new();
    world.ok("fact set deploy version 1.0");
    for (value, from) in [("2.0", "2090-01-05"), ("3.0", "2091-01-05")] {
        world.ok(format!("fact set deploy version {value} --from {from}"));
    }
    for format in ["jsonl", "markdown"] {
        let export = world.ok(format!("export {format}"));
        export.err.says("2 planned values of facts were left out\n");
        export.err.says("1 memory exported\n");
        // At that time only one of them was planned.
        let then = world.ok(format!("export {format} --at @3"));
        then.err.lacks("planned");
    }
}
