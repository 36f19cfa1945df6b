//! Topics that need attention.

use serde_json::json;

use super::{count, crowd};
use crate::world::{Look, Says, World};

#[test]
fn a_store_says_when_its_topic_is_crowded() {
    let world = crowd(7);
    let store = |world: &World, n: u32| {
        let text = format!("one more of kind{n}");
        world.ok(format!("store -t crowd/a -c '{text}'")).err
    };
    let hint = "topic crowd/a has 8 memories: `icm consolidate -t crowd/a`";
    assert!(store(&world, 1).contains(hint));
    world.ok("rebuild");
    let list = world.json("list -t crowd/a -l 1");
    world.ok(format!("forget {}", list[0]["id"].as_str().unwrap()));
    // The count comes from the view files, without memories forgotten since, and with those stored since.
    assert!(store(&world, 2).contains(hint));
    let nine = world.json("store -t crowd/a -c 'and a ninth'");
    assert_eq!(nine["crowded"], 9);
    let elsewhere = world.json("store -t crowd -c 'beside them'");
    assert!(elsewhere.get("crowded").is_none(), "{elsewhere}");
    let config = world.write("icm.toml", "[consolidate]\nhint_over = 0\n");
    let off = [
        "store",
        "-t",
        "crowd/a",
        "-c",
        "quiet",
        "--config",
        config.to_str().unwrap(),
    ];
    assert!(world.json(off).get("crowded").is_none());
}

#[test]
fn health_counts_what_wants_a_look() {
    let world = World::new();
    let store = |topic: &str, text: &str| {
        let memory = world.json(format!("store -t '{topic}' -c '{text}'"));
        memory["id"].as_str().unwrap().to_owned()
    };
    let [a, b] =
        ["Invoices live in PostgreSQL", "Invoices live in MySQL"].map(|text| store("db", text));
    world.ok(format!("link '{a}' '{b}' -r contradicts"));
    let long = "the pool of the billing service holds 20 connections and no more";
    let [one, two] = [long, &long.replace("20", "30")].map(|text| store("pool", text));
    let before = world.now();
    let health = world.json("health");
    assert_eq!(health["memories"], 4);
    for (finding, expected) in [
        ("stale", 0),
        ("near_duplicates", 1),
        ("contradictions", 1),
        ("never_recalled", 0),
        ("over_full", 0),
    ] {
        assert_eq!(count(&health, finding), expected, "{finding}: {health}");
    }
    health["findings"][1].has(json!({
        "/first/0/ids": [one, two], "command": format!("icm link {two} {one} -r supersedes"),
    }));
    let db = world.json("health -t db");
    assert_eq!(
        (count(&db, "near_duplicates"), count(&db, "contradictions")),
        (0, 1)
    );

    // Memories without links count, too: an import compares no texts.
    let lines = ["four", "five"].map(|n| {
        let text = format!("the gate of the northern yard is shut at {n} every single day");
        json!({"topic": "imported", "content": text}).to_string()
    });
    let file = world.write("near.jsonl", lines.join("\n"));
    world.ok(format!("import jsonl '{}'", file.display()));
    let imported = world.json("health -t imported");
    assert_eq!(
        (&imported["memories"], count(&imported, "near_duplicates")),
        (&json!(2), 1)
    );

    // A superseded memory is settled from then on.
    world.ok(format!("link {two} {one} -r supersedes"));
    assert_eq!(count(&world.json("health -t pool"), "near_duplicates"), 0);
    let then = world.json(format!("health --at {before}"));
    assert_eq!(count(&then, "near_duplicates"), 1);
    let run = world.ok("health -t nowhere");
    run.out.begins("0 memories looked at");
}

#[test]
fn a_topic_is_crowded_by_the_memories_of_one_scope() {
    let world = World::new();
    let store = |topic: &str, scope: &str, n: usize| {
        let text = format!("{topic} of {scope} holds word{n}");
        world.json(format!(
            "store --topic={topic} -c '{text}' --scope '{scope}'"
        ))
    };
    for n in 0..7 {
        store("crowd", "global", n);
        assert!(store("crowd", "project:q", n).get("crowded").is_none());
    }
    assert_eq!(count(&world.json("health"), "over_full"), 0);
    // A memoir of the same name does not count as a topic.
    world.ok("memoir create -n crowd");
    for n in 0..3 {
        let name = format!("c{n}");
        world.ok(format!(
            "memoir add-concept -m crowd -n '{name}' -d 'a thing'"
        ));
    }
    let eighth = store("crowd", "project:q", 7);
    eighth.has(json!({"crowded": 8, "crowded_scope": "project:q"}));
    let run = world.icm("store -t crowd -c 'one more' --scope global");
    let hint = "topic crowd has 8 memories of global: `icm consolidate -t crowd --scope global`";
    let run = run.ok();
    run.err.says(hint);
    let health = world.json("health");
    let full = &health["findings"][4];
    full.has(json!({"count": 2, "/first/1/memories": 8, "/first/1/scope": "project:q"}));
    let shown = world.out("health");
    for line in ["2 crowded topics", "  crowd 8 memories of project:q"] {
        assert!(shown.lines().any(|it| it == line), "{line}: {shown}");
    }
}

/// Returns the arguments that a shell makes of a printed command, and runs icm with them.
#[cfg(unix)]
fn pasted(world: &World, command: &str) -> crate::world::Run {
    let rest = command.strip_prefix("icm ").expect("a command of icm");
    let args = std::process::Command::new("bash")
        .args(["-c", &format!("printf '%s\\0' {rest}")])
        .output()
        .unwrap();
    let args = String::from_utf8(args.stdout).unwrap();
    world.icm(args.split_terminator('\0').collect::<Vec<_>>())
}

#[cfg(unix)]
#[test]
fn commands_that_health_names_can_be_pasted() {
    let topics = [
        "-dash",
        "two  spaces",
        "it's $HOME; `x`",
        "~",
        "plain/one",
        "--",
        "späße",
    ];
    for topic in topics {
        let world = World::new();
        let line = |scope: &str, n: usize| {
            let text = format!("{n}{n} words");
            json!({"topic": topic, "content": text, "scope": scope}).to_string()
        };
        let lines = (0..8).map(|n| line("project:a b", n));
        let lines: Vec<_> = lines.chain([line("global", 99)]).collect();
        let file = world.write("lines.jsonl", lines.join("\n"));
        world.ok(format!("import jsonl '{}'", file.display()));
        let shown = world.out("health");
        shown.says("1 crowded topic\n");
        let mut command = shown.lines().filter_map(|line| line.strip_prefix("  → "));
        let command = command.next_back();
        let command = command.unwrap_or_else(|| panic!("{shown}"));
        let run = pasted(&world, command).ok();
        run.out.says("would stand for 8 memories");
        let text = "-c 'two more words' --scope 'project:a b'";
        let run = world.ok((["store", &format!("--topic={topic}")], text));
        let (_, hint) = run.err.split_once(": `icm ").expect("a hint");
        let hint = format!("icm {}", hint.trim_end().trim_end_matches('`'));
        let run = pasted(&world, &hint).ok();
        assert!(
            run.err.contains("9 memories") || run.out.contains('9'),
            "{run:?}"
        );
    }
}
