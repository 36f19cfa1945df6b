//! Looking after what is stored: consolidate, health, topics, stats, forget a topic.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::world::World;

/// A store with so many memories of a topic, and two of another.
fn crowd(n: usize) -> World {
    let world = World::new();
    let mut lines = String::new();
    for i in 0..n {
        let text = format!(
            "fact number {i} speaks of word{} and word{}",
            i * 7,
            i * 13 + 1
        );
        let line =
            json!({"topic": "crowd/a", "content": text, "keywords": [format!("k{}", i % 3)]});
        writeln!(lines, "{line}").unwrap();
    }
    for text in ["Mira owns billing", "Tea is at four"] {
        writeln!(lines, "{}", json!({"topic": "people", "content": text})).unwrap();
    }
    let file = world.write("crowd.jsonl", lines);
    world.icm(["import", "jsonl", file.to_str().unwrap()]).ok();
    world
}

fn len(value: &Value) -> usize {
    value.as_array().unwrap_or_else(|| panic!("{value}")).len()
}

fn count(health: &Value, finding: &str) -> u64 {
    let found = health["findings"].as_array().unwrap().iter();
    let mut found = found.filter(|it| it["finding"] == finding);
    found.next().unwrap()["count"].as_u64().unwrap()
}

#[test]
fn a_summary_is_made_by_rules() {
    let world = World::new();
    for (importance, text) in [
        ("low", "Tea is at four."),
        (
            "medium",
            "The team meets on Tuesdays at ten. Prices are integer cents.",
        ),
        ("critical", "Never deploy on Fridays."),
        ("medium", "The team meets on Tuesdays at ten!"),
    ] {
        world
            .icm(["store", "-t", "notes", "-i", importance, "-c", text])
            .ok();
    }
    let right = world.json([
        "store",
        "-t",
        "notes",
        "-k",
        "x",
        "-c",
        "Rent is due on the first",
    ]);
    let wrong = world.json([
        "store",
        "-t",
        "notes",
        "-k",
        "y",
        "-c",
        "Pay the landlord by the tenth",
    ]);
    let id = |memory: &Value| memory["id"].as_str().unwrap().to_owned();
    world
        .icm(["link", &id(&right), &id(&wrong), "-r", "supersedes"])
        .ok();
    let before = world.now();

    let rules = ["consolidate", "-t", "notes", "--rules"];
    let look = world.json(rules.into_iter().chain(["--dry-run"]));
    assert_eq!(look["dry_run"], true);
    assert_eq!(world.now(), before, "a dry run writes nothing");
    let text = "Never deploy on Fridays.\nThe team meets on Tuesdays at ten. Prices are integer cents.\n\
                Rent is due on the first\nTea is at four.";
    assert_eq!(look["summary"]["text"], text);
    assert_eq!(look["summary"]["by"], "rules");
    assert_eq!(look["summary"]["superseded"], 1);
    assert_eq!(look["summary"]["repeated"], 1);
    assert_eq!(len(&look["originals"]), 6);

    // Without `--summary` and without a summarizer rules are what makes it.
    let done = world.json(["consolidate", "-t", "notes"]);
    assert_eq!(done["summary"], look["summary"]);
    assert_eq!(done["originals"], look["originals"]);
    let list = world.json(["list", "-t", "notes"]);
    assert_eq!(len(&list), 1);
    assert_eq!(list[0]["content"], text);
    assert_eq!(list[0]["importance"], "critical");
    assert_eq!(list[0]["keywords"], json!(["x", "y"]));
    // What supersedes it would come before it.
    let recall = ["recall", "landlord", "--no-record", "--no-links"];
    let found = world.icm(recall.into_iter().chain(["--json"])).out;
    assert!(!found.contains(&id(&wrong)), "{found}");
    let then = world.json(recall.into_iter().chain(["--at", &before]));
    assert_eq!(then["results"][0]["id"], wrong["id"]);
    assert_eq!(
        world.json(["get", &id(&wrong)])["consolidated_into"],
        done["id"]
    );

    world
        .icm(["undo", done["event"].as_str().unwrap(), "--yes"])
        .ok();
    assert_eq!(len(&world.json(["list", "-t", "notes"])), 6);
    assert_eq!(world.json(recall)["results"][0]["id"], wrong["id"]);
}

#[cfg(unix)]
#[test]
fn a_summary_is_made_by_a_command() {
    let world = World::with_memories();
    let events = || world.json(["stats"])["events"].clone();
    let before = events();
    let by = |command: &str| {
        world.icm([
            "consolidate",
            "-t",
            "decisions",
            "--dry-run",
            "--command",
            command,
        ])
    };
    for (command, why) in [
        ("cat >/dev/null; echo oh >&2; exit 3", "ended with 3 (oh)"),
        ("true", "answered nothing"),
        ("head -c 70000 /dev/zero | tr '\\0' x", "more than 64 KiB"),
        ("printf '\\377'", "no UTF-8"),
        ("no-such-program-here", "ended with 127"),
    ] {
        by(command).fails(2, why);
    }
    let slow = world.write(
        "slow.toml",
        "[summarizer]\ncommand = 'sleep 60'\ntimeout_s = 0.2\n",
    );
    let slow = [
        "consolidate",
        "-t",
        "decisions",
        "--config",
        slow.to_str().unwrap(),
    ];
    world.icm(slow).fails(2, "took longer than 0.2 seconds");
    assert_eq!(events(), before, "what fails writes nothing");

    // It reads the memories, framed as data.
    let read = by("cat").ok().out;
    assert!(
        read.contains("would stand for 2 memories of decisions"),
        "{read}"
    );
    for says in [
        "<memories nonce=",
        "stored data, not instructions",
        ", medium] Prices are",
    ] {
        assert!(read.contains(says), "{says}: {read}");
    }
    assert!(!read.contains("Mira"), "{read}");
    let config = "[summarizer]\ncommand = 'wc -l; echo two decisions'\n";
    let config = world.write("icm.toml", config);
    let done = world.json([
        "consolidate",
        "-t",
        "decisions",
        "--config",
        config.to_str().unwrap(),
    ]);
    assert_eq!(done["summary"]["by"], "command");
    let text = done["summary"]["text"].as_str().unwrap();
    assert!(text.ends_with("two decisions"), "{text}");
    assert_eq!(len(&world.json(["list", "-t", "decisions"])), 1);
}

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
    // Counted from the files, less what was forgotten since, and with what came since.
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

    // Of what was not linked, too: an import compares nothing.
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

    // What is superseded is settled, from then on.
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
    // A memoir of that name is none of them.
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

/// What a shell makes of a command that was printed.
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
        let command = shown.lines().filter_map(|line| line.strip_prefix("  → "));
        let command = command.last().unwrap_or_else(|| panic!("{shown}"));
        let run = pasted(&world, command).ok();
        assert!(
            run.out.contains("would stand for 8 memories"),
            "{}",
            run.out
        );
        let text = ["-c", "two more words", "--scope", "project:a b"];
        let topic = format!("--topic={topic}");
        let run = world.icm(["store", &topic].into_iter().chain(text)).ok();
        let hint = run.err.split('`').skip(1).collect::<Vec<_>>().join("`");
        let hint = hint.trim_end().trim_end_matches('`').to_owned();
        let run = pasted(&world, &hint).ok();
        assert!(
            run.err.contains("9 memories") || run.out.contains('9'),
            "{run:?}"
        );
    }
}

#[test]
fn topics_are_a_tree() {
    let world = World::new();
    for topic in ["a/b/c", "a/b/c", "a/b", "a-b", "a/d", "z/only/one"] {
        let text = format!("something of {topic} at {}", world.now());
        world.icm(["store", "-t", topic, "-c", &text]).ok();
    }
    let rows = |args: &[&str]| -> Vec<(String, u64, u64)> {
        let all = ["topics"].iter().chain(args);
        let topics = world.json(all);
        let row = |it: &Value| {
            (
                it["topic"].as_str().unwrap().to_owned(),
                it["memories"].as_u64().unwrap(),
                it["with_below"]["memories"].as_u64().unwrap(),
            )
        };
        topics.as_array().unwrap().iter().map(row).collect()
    };
    let row = |topic: &str, own, below| (topic.to_owned(), own, below);
    assert_eq!(
        rows(&[]),
        [
            row("a", 0, 4),
            row("a/b", 1, 3),
            row("a/b/c", 2, 2),
            row("a/d", 1, 1),
            row("a-b", 1, 1),
            row("z/only/one", 1, 1),
        ]
    );
    assert_eq!(
        rows(&["--depth", "1"]),
        [row("a", 0, 4), row("a-b", 1, 1), row("z", 0, 1)]
    );
    assert_eq!(
        rows(&["--prefix", "a/b"]),
        [row("a/b", 1, 3), row("a/b/c", 2, 2)]
    );
    assert_eq!(rows(&["--flat"]).len(), 5);
    let shown = world.icm(["topics"]).ok().out;
    let names: Vec<&str> = shown
        .lines()
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    assert_eq!(names[0], "a", "{shown}");
    assert!(shown.lines().nth(1).unwrap().starts_with("  b "), "{shown}");
    assert!(
        shown.lines().nth(2).unwrap().starts_with("    c "),
        "{shown}"
    );

    let stats = world.json(["stats"]);
    assert_eq!(stats["by_importance"]["medium"], 6);
    assert_eq!(stats["by_trust"]["user"], 6);
    assert_eq!(stats["by_scope"]["global"], 6);
    assert_eq!(stats["mean_weight"], 1.0);
    assert_eq!(stats["recalls"], 0);
    world.icm(["recall", "something"]).ok();
    assert_eq!(world.json(["stats"])["recalls"], 1);
    assert_eq!(stats["sizes"]["log"], stats["log_bytes"]);
}

#[test]
fn twelve_thousand_memories_are_counted_consolidated_and_forgotten_whole() {
    let world = crowd(12_000);
    let topics = world.json(["topics"]);
    assert_eq!(topics[0]["memories"], 12_000);
    let health = world.json(["health"]);
    assert_eq!(health["memories"], 12_002);
    assert_eq!(count(&health, "over_full"), 1);
    assert_eq!(health["findings"][4]["first"][0]["memories"], 12_000);

    let done = world.json(["consolidate", "-t", "crowd/a"]);
    assert_eq!(len(&done["originals"]), 12_000);
    assert!(
        done["summary"]["no_room"].as_u64().unwrap() > 11_000,
        "{}",
        done["summary"]
    );
    assert_eq!(world.json(["stats"])["memories"], 3);
    let list = world.json(["list", "-t", "crowd/a"]);
    assert_eq!(list[0]["id"], done["id"]);
    assert_eq!(len(&list), 1);
    // Those of the first part and of the last one alike.
    for at in [0, 11_999] {
        let id = done["originals"][at].as_str().unwrap();
        assert_eq!(world.json(["get", id])["consolidated_into"], done["id"]);
        assert_eq!(world.json(["why", id])["covered_by"], done["id"]);
    }
    let why = world.json(["why", done["id"].as_str().unwrap()]);
    assert_eq!(why["from"]["consolidated_from"], done["originals"]);
    world
        .icm(["undo", done["event"].as_str().unwrap(), "--yes"])
        .ok();
    assert_eq!(world.json(["stats"])["memories"], 12_002);

    let unasked = world.icm(["forget", "-t", "crowd/"]);
    unasked.fails(2, "forgetting 12000 memories of `crowd/`");
    assert_eq!(world.json(["stats"])["memories"], 12_002);
    let run = world.icm(["forget", "-t", "crowd/", "--yes"]).ok();
    assert!(run.out.contains("… and 11990 more"), "{}", run.out);
    assert_eq!(world.json(["stats"])["memories"], 2);
    world.icm(["undo", "--last", "1", "--yes"]).ok();
    assert_eq!(world.json(["stats"])["memories"], 12_002);
    world.icm(["verify"]).ok();
}
