//! `icm wake-up`, `icm pin` and `icm unpin`.

use serde_json::{Value, json};

use crate::world::{Look, Says, World, run};

fn ids(pack: &Value) -> Vec<String> {
    let items = pack["items"].as_array().unwrap().iter();
    items
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_pack_has_pins_rules_and_preferences_and_nothing_else() {
    let world = World::new();
    world.icm("wake-up").ends(1);
    let rule = world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    let liked = world.stored("-t preferences/git -c 'Likes short commit messages'");
    let high = world.stored("-t ops -c 'Backups run at 3 am' -i high");
    let usual = world.stored("-t ops -c 'The port is 5433'");
    let elsewhere =
        world.stored(r#"-t ops -c "Another project's rule" -i critical --scope project:other"#);
    world
        .icm(["forget", &world.stored("-t ops -c Gone -i critical")])
        .ok();

    let pack = world.json("wake-up");
    let shown = ids(&pack);
    assert_eq!(shown.len(), 3, "{pack}");
    for id in [&rule, &liked, &high] {
        assert!(shown.contains(id), "{pack}");
    }
    assert!(!shown.contains(&usual) && !shown.contains(&elsewhere));
    pack.has(json!({"tokens": pack["text"].as_str().unwrap().len().div_ceil(4)}));

    world.ok(format!("pin '{usual}'"));
    let pack = world.json("wake-up --no-record");
    assert_eq!(ids(&pack)[0], usual, "a pin stands first: {pack}");
    assert_eq!(pack["items"][0]["reasons"][0], "pinned");
    assert_eq!(
        world.json(format!("get '{usual}'"))["pinned_until"],
        "unpinned"
    );
    world.ok(format!("unpin '{usual}'"));
    assert_eq!(ids(&world.json("wake-up --no-record")).len(), 3);

    // A superseded memory is left out.
    let new = world.stored("-t rules -c 'Never push to main on Thursdays' -i critical");
    world.ok(format!("link {new} '{rule}' -r supersedes"));
    let shown = ids(&world.json("wake-up --no-record"));
    assert!(shown.contains(&new) && !shown.contains(&rule), "{shown:?}");
}

#[test]
fn a_pack_stays_within_its_budget_and_says_what_it_left_out() {
    let world = World::new();
    for n in 0..12 {
        let text = format!("rule {n}: {}", format!("word{n} ").repeat(30));
        world.stored(format!("-t rules -c '{text}' -i high"));
    }
    let mut before = 0;
    for budget in [60, 200, 500, 2_000] {
        let pack = world.icm(format!("wake-up --no-record --json --budget {budget}"));
        let pack = pack.json();
        let tokens = pack["tokens"].as_u64().unwrap();
        assert!(tokens <= budget, "{tokens} of {budget}");
        let shown = ids(&pack).len() as u64;
        assert_eq!(shown + pack["left_out"].as_u64().unwrap(), 12);
        assert!(shown >= before);
        before = shown;
    }
    assert_eq!(before, 12);
    world.fails("wake-up --budget 10 => 2: from 50 to 1000000");
}

#[test]
fn changes_since_the_last_session_of_the_project_are_told() {
    let world = World::new();
    let project = world.path("widgets");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let old = world.stored("-t ops -c 'Known before the session'");
    let hook = |event: &str, session: &str| {
        let input = serde_json::json!({"session_id": session, "cwd": project, "source": "startup"});
        world
            .icm_with(
                format!("hook codex '{event}'"),
                input.to_string().as_bytes(),
            )
            .ok()
            .out
    };
    hook("SessionStart", "s1");
    hook("SessionEnd", "s1");
    let new = world.stored("-t ops -c 'Learned after the session'");
    let low = world.stored("-t ops -c 'Of no weight' -i low");
    let woken = hook("SessionStart", "s2");
    woken.says(&new);
    woken.says("changed since the last session");
    assert!(!woken.contains(&old) && !woken.contains(&low), "{woken}");
}

#[test]
fn memories_of_an_earlier_session_are_known_after_a_compaction() {
    let world = World::new();
    let project = world.path("widgets");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let start = |session: &str, source: &str| {
        let input = serde_json::json!({"session_id": session, "cwd": project, "source": source});
        let args = ["hook", "claude-code", "SessionStart"];
        world.icm_with(args, input.to_string().as_bytes()).ok().out
    };
    start("long", "startup");
    let args = ["store", "-t", "ops", "-c", "The port is 5433", "--json"];
    let receipt = run(world.command(args).env("ICM_SESSION", "long"), b"")
        .ok()
        .out;
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    let own = receipt["id"].as_str().unwrap().to_owned();
    start("other", "startup");
    let before = world.stored(r#"-t ops -c "Of nobody's session""#);
    start("other", "clear");
    // The views are written, so that the answer also comes from files.
    world.ok("rebuild");
    let woken = start("long", "compact");
    woken.says(&own);
    woken.lacks(&before);
}

#[test]
fn pins_are_events_as_any_other() {
    let world = World::new();
    let id = world.stored("-t ops -c 'The port is 5433'");
    let receipt = world.json(format!("pin {id} --for 7d"));
    assert_eq!(receipt[0]["action"], "pinned");
    let until = world.json(format!("get {id}"))["pinned_until"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(until.ends_with('Z'), "{until}");
    assert_eq!(
        world.json(format!("pin {id}"))[0]["action"],
        "pinned",
        "now without an end"
    );
    assert_eq!(world.json(format!("pin {id}"))[0]["action"], "unchanged");
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json(format!("get {id}"))["pinned_until"], until);
    let history = world.json(format!("history {id}"));
    let kinds = history.texts("kind");
    assert!(kinds.contains(&"memory.pinned".to_owned()), "{kinds:?}");
    let pinned = history
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["kind"] == "memory.pinned")
        .unwrap();
    assert_eq!(pinned["changed"], serde_json::json!(["pinned"]));
    assert_eq!(
        pinned["updated_at"], history[0]["updated_at"],
        "a pin is no change of what it says"
    );

    world.fails("pin 01ZZZZZZZZ => 1: no memory");
    for time in ["soon", "-3d", "1 month"] {
        world.icm(format!("pin {id} --for={time}")).ends(2);
    }
    let shown = world.out(format!("get {id}"));
    shown.says("pinned");
    shown.says("until 20");
    let diff = world.json("diff @3");
    diff["changed"][0].has(json!({"fields": ["pinned_until"]}));
    world.ok(format!("forget {id}"));
    world.fails(format!("pin {id} => 2: is forgotten"));
}

#[test]
fn a_pin_is_found_behind_thousands_of_newer_memories() {
    let world = World::new();
    let pinned = world.stored("-t ops -c 'The port is 5433'");
    world.ok(format!("pin '{pinned}'"));
    let line = |n: usize| {
        format!("{{\"topic\":\"t\",\"content\":\"Rule number {n}\",\"importance\":\"high\"}}\n")
    };
    let lines: String = (0..2_100).map(line).collect();
    let file = world.write("rules.jsonl", lines);
    world.ok(format!("import jsonl '{}'", file.display()));
    assert_eq!(ids(&world.json("wake-up --no-record"))[0], pinned);
}
