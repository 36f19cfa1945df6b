//! Topics that need attention.

use serde_json::json;

use super::{count, crowd};
use crate::world::World;

#[test]
fn a_store_says_when_its_topic_is_crowded() {
    let world = crowd(7);
    let store = |world: &World, n: u32| {
        let text = format!("one more of kind{n}");
        world.icm(["store", "-t", "crowd/a", "-c", &text]).ok().err
    };
    let hint = "topic crowd/a has 8 memories: `icm consolidate -t crowd/a`";
    assert!(store(&world, 1).contains(hint));
    world.icm(["rebuild"]).ok();
    let list = world.json(["list", "-t", "crowd/a", "-l", "1"]);
    world.icm(["forget", list[0]["id"].as_str().unwrap()]).ok();
    // The count comes from the view files, without memories forgotten since, and with those stored since.
    assert!(store(&world, 2).contains(hint));
    let nine = world.json(["store", "-t", "crowd/a", "-c", "and a ninth"]);
    assert_eq!(nine["crowded"], 9);
    let elsewhere = world.json(["store", "-t", "crowd", "-c", "beside them"]);
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
        let memory = world.json(["store", "-t", topic, "-c", text]);
        memory["id"].as_str().unwrap().to_owned()
    };
    let [a, b] =
        ["Invoices live in PostgreSQL", "Invoices live in MySQL"].map(|text| store("db", text));
    world.icm(["link", &a, &b, "-r", "contradicts"]).ok();
    let long = "the pool of the billing service holds 20 connections and no more";
    let [one, two] = [long, &long.replace("20", "30")].map(|text| store("pool", text));
    let before = world.now();
    let health = world.json(["health"]);
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
    assert_eq!(health["findings"][1]["first"][0]["ids"], json!([one, two]));
    assert_eq!(
        health["findings"][1]["command"],
        format!("icm link {two} {one} -r supersedes")
    );
    let db = world.json(["health", "-t", "db"]);
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
    world.icm(["import", "jsonl", file.to_str().unwrap()]).ok();
    let imported = world.json(["health", "-t", "imported"]);
    assert_eq!(
        (&imported["memories"], count(&imported, "near_duplicates")),
        (&json!(2), 1)
    );

    // A superseded memory is settled from then on.
    world.icm(["link", &two, &one, "-r", "supersedes"]).ok();
    assert_eq!(
        count(&world.json(["health", "-t", "pool"]), "near_duplicates"),
        0
    );
    let then = world.json(["health", "--at", &before]);
    assert_eq!(count(&then, "near_duplicates"), 1);
    let run = world.icm(["health", "-t", "nowhere"]).ok();
    assert!(run.out.starts_with("0 memories looked at"), "{}", run.out);
}

#[test]
fn a_topic_is_crowded_by_the_memories_of_one_scope() {
    let world = World::new();
    let store = |topic: &str, scope: &str, n: usize| {
        let text = format!("{topic} of {scope} holds word{n}");
        world.json([
            "store",
            &format!("--topic={topic}"),
            "-c",
            &text,
            "--scope",
            scope,
        ])
    };
    for n in 0..7 {
        store("crowd", "global", n);
        assert!(store("crowd", "project:q", n).get("crowded").is_none());
    }
    assert_eq!(count(&world.json(["health"]), "over_full"), 0);
    // A memoir of the same name does not count as a topic.
    world.icm(["memoir", "create", "-n", "crowd"]).ok();
    for n in 0..3 {
        let name = format!("c{n}");
        world
            .icm([
                "memoir",
                "add-concept",
                "-m",
                "crowd",
                "-n",
                &name,
                "-d",
                "a thing",
            ])
            .ok();
    }
    let eighth = store("crowd", "project:q", 7);
    assert_eq!(eighth["crowded"], 8);
    assert_eq!(eighth["crowded_scope"], "project:q");
    let run = world.icm([
        "store", "-t", "crowd", "-c", "one more", "--scope", "global",
    ]);
    let hint = "topic crowd has 8 memories of global: `icm consolidate -t crowd --scope global`";
    let run = run.ok();
    assert!(run.err.contains(hint), "{}", run.err);
    let health = world.json(["health"]);
    let full = &health["findings"][4];
    assert_eq!(full["count"], 2);
    assert_eq!(
        (&full["first"][1]["memories"], &full["first"][1]["scope"]),
        (&json!(8), &json!("project:q"))
    );
    let shown = world.icm(["health"]).ok().out;
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
    world.icm(args.split_terminator('\0'))
}

#[cfg(unix)]
#[test]
fn what_health_names_can_be_pasted() {
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
        world.icm(["import", "jsonl", file.to_str().unwrap()]).ok();
        let shown = world.icm(["health"]).ok().out;
        assert!(shown.contains("1 crowded topic\n"), "{shown}");
        let mut command = shown.lines().filter_map(|line| line.strip_prefix("  → "));
        let command = command.next_back();
        let command = command.unwrap_or_else(|| panic!("{shown}"));
        let run = pasted(&world, command).ok();
        assert!(
            run.out.contains("would stand for 8 memories"),
            "{}",
            run.out
        );
        let text = ["-c", "two more words", "--scope", "project:a b"];
        let topic = format!("--topic={topic}");
        let run = world.icm(["store", &topic].into_iter().chain(text)).ok();
        let (_, hint) = run.err.split_once(": `icm ").expect("a hint");
        let hint = format!("icm {}", hint.trim_end().trim_end_matches('`'));
        let run = pasted(&world, &hint).ok();
        assert!(
            run.err.contains("9 memories") || run.out.contains('9'),
            "{run:?}"
        );
    }
}
