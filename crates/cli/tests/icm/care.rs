//! Looking after what is stored: consolidate, health, topics, stats, forget a topic.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::world::World;

/// A store with so many memories of a topic, and two of another.
fn crowd(n: usize) -> World {
    let world = World::new();
    let mut lines = String::new();
    for i in 0..n {
        let text = format!("fact{i} word{}", i * 13 + 1);
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
fn topics_and_stats_are_asked_of_any_moment() {
    let world = World::with_memories();
    world.icm(["recall", "invoices"]).ok();
    world.icm(["memoir", "create", "-n", "m"]).ok();
    let then = world.now();
    let as_of = |what: &str| world.json([what, "--at", &then]);
    let (topics, stats) = (world.json(["topics"]), world.json(["stats"]));
    assert_eq!(
        (as_of("topics"), as_of("stats")),
        (topics.clone(), stats.clone())
    );
    world.icm(["forget", "-t", "decisions", "--yes"]).ok();
    world
        .icm(["store", "-t", "late", "-c", "came later", "-i", "high"])
        .ok();
    world
        .icm(["update", &world.id("owner"), "-t", "moved/here"])
        .ok();
    world.icm(["recall", "later"]).ok();
    world.icm(["memoir", "delete", "m", "--yes"]).ok();

    assert_eq!(as_of("topics"), topics);
    assert_eq!(world.json(["topics", "--prefix", "people"]), json!([]));
    let prefix = ["topics", "--prefix", "people", "--at", &then];
    assert_eq!(world.json(prefix)[0]["memories"], 1);
    let past = as_of("stats");
    for field in [
        "memories",
        "forgotten",
        "topics",
        "memoirs",
        "concepts",
        "events",
        "positions",
        "first_event_at",
        "last_event_at",
        "by_importance",
        "by_scope",
        "by_trust",
        "mean_weight",
        "oldest_at",
        "newest_at",
        "recalls",
        "basis",
    ] {
        assert_eq!(past[field], stats[field], "{field}");
    }
    let now = world.json(["stats"]);
    assert_eq!(
        (&now["memories"], &now["forgotten"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(past["bytes"], now["bytes"], "bytes are of now");
    let shown = world.icm(["stats", "--at", &then]).ok().out;
    assert!(shown.contains(&then) && !shown.contains("size"), "{shown}");
    world
        .icm(["topics", "--at", "@99999"])
        .fails(2, "in the future");
}

#[test]
fn long_lists_of_an_event_are_shown_cut() {
    let world = crowd(30);
    let done = world.json(["consolidate", "-t", "crowd/a", "--summary", "thirty"]);
    let event = done["event"].as_str().unwrap();
    let whole = world.json(["log", "show", event]);
    assert_eq!(len(&whole["refs"]), 30);
    let run = world.icm(["log", "show", event]).ok();
    let refs: Vec<&str> = whole["refs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        run.out.contains(refs[9]) && !run.out.contains(refs[10]),
        "{}",
        run.out
    );
    assert_eq!(
        run.out.matches("… and 20 more").count(),
        2,
        "refs and facts: {}",
        run.out
    );
    assert!(run.err.contains("`--json`"), "{}", run.err);
    let first = world.icm(["log", "show", "@3"]).ok();
    assert_eq!(first.err, "", "nothing is left out");
}

#[test]
fn what_cannot_be_seen_is_in_no_topic_keyword_or_session() {
    let world = World::with_memories();
    let before = world.now();
    let id = world.id("owner");
    for hidden in ["a\u{200b}b", "a\u{202e}b", "\u{feff}ab"] {
        for args in [
            ["store", "-c", "text", "-t", hidden].as_slice(),
            &["store", "-c", "text", "-t", "t", "-k", hidden],
            &["update", &id, "-t", hidden],
            &["update", &id, "-k", hidden],
        ] {
            world.icm(args).fails(2, "invisible character");
        }
        for variable in ["ICM_SESSION", "ICM_ACTOR"] {
            let mut command = world.command(["store", "-t", "t", "-c", "text"]);
            let run = crate::world::run(command.env(variable, hidden), b"");
            run.fails(2, "invisible character");
        }
        let line = json!({"topic": hidden, "content": "text"}).to_string();
        let file = world.write("hidden.jsonl", line);
        let run = world
            .icm(["import", "jsonl", file.to_str().unwrap()])
            .ends(1);
        assert!(run.err.contains("invisible character"), "{}", run.err);
    }
    assert_eq!(world.now(), before);
}

#[test]
fn what_is_forgotten_or_not_there_is_1() {
    let world = World::with_memories();
    let before = "@2";
    let (gone, other) = (world.id("owner"), world.id("money"));
    world.icm(["forget", &gone]).ok();
    for memoir in ["m", "dead"] {
        world.icm(["memoir", "create", "-n", memoir]).ok();
        for name in ["c", "gone"] {
            let args = [
                "memoir",
                "add-concept",
                "-m",
                memoir,
                "-n",
                name,
                "-d",
                "text",
            ];
            world.icm(args).ok();
        }
    }
    world
        .icm(["memoir", "delete-concept", "-m", "m", "-n", "gone"])
        .ok();
    world.icm(["memoir", "delete", "dead", "--yes"]).ok();
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    // A tombstone can be looked at.
    world.icm(["get", &gone]).ok();
    let run = world.icm(["get", &gone, "--at", before, "--json"]).ends(1);
    assert_eq!(run.json(), Value::Null);
    world.icm(["get", unknown]).fails(1, "no memory");
    for id in [gone.as_str(), unknown] {
        world.icm(["update", id, "-c", "text"]).ends(1);
        world.icm(["link", id, &other, "-r", "related"]).ends(1);
        world.icm(["link", &other, id, "-r", "related"]).ends(1);
    }
    for memoir in ["dead", "nowhere"] {
        for args in [
            ["show", memoir].as_slice(),
            &["inspect", "-m", memoir, "c"],
            &["export", "-m", memoir, "-f", "dot"],
            &["search", "-m", memoir, "text"],
            &["refine", "-m", memoir, "-n", "c", "-d", "other"],
            &[
                "link", "-m", memoir, "--from", "c", "--to", "gone", "-r", "part-of",
            ],
        ] {
            world.icm(["memoir"].iter().chain(args)).ends(1);
        }
    }
    for concept in ["gone", "nowhere"] {
        for args in [
            ["inspect", "-m", "m", concept].as_slice(),
            &["refine", "-m", "m", "-n", concept, "-d", "other"],
            &[
                "link", "-m", "m", "--from", "c", "--to", concept, "-r", "part-of",
            ],
        ] {
            world.icm(["memoir"].iter().chain(args)).ends(1);
        }
    }
    // What cannot be done for another reason has failed.
    world.icm(["link", &other, &other, "-r", "related"]).ends(2);
    world.icm(["memoir", "create", "-n", "dead"]).ends(2);
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
    let last = world.json(["log", "-l", "1"]);
    let last = world.json(["log", "show", last["event"].as_str().unwrap()]);
    assert_eq!(
        last["batch"],
        json!([11_999, 12_000]),
        "all of it or nothing"
    );
    assert_eq!(world.json(["stats"])["memories"], 2);
    world.icm(["undo", "--last", "1", "--yes"]).ok();
    assert_eq!(world.json(["stats"])["memories"], 12_002);
    world.icm(["verify"]).ok();
}

#[test]
fn many_are_consolidated_and_revived_without_a_trace_of_how() {
    let world = World::new();
    let lines = (0..1_500).map(|n| format!("{{\"topic\":\"many\",\"content\":\"f{n}\"}}\n"));
    let lines = world.write("many.jsonl", lines.collect::<String>());
    world.icm(["import", "jsonl", lines.to_str().unwrap()]).ok();
    world
        .icm(["consolidate", "-t", "many", "--summary", "all of them"])
        .ok();
    let count = |args: &[&str]| world.json(args).as_array().unwrap().len();
    assert_eq!(count(&["list", "--all"]), 1);
    assert_eq!(count(&["list", "--all", "--forgotten"]), 1_501);
    assert_eq!(world.json(["stats"])["forgotten"], 1_500);
    world.icm(["revive", "-t", "many", "--yes"]).ok();
    assert_eq!(world.json(["stats"])["memories"], 1_501);
    assert_eq!(world.json(["stats"])["forgotten"], 0);
    let told = world
        .icm(["recall", "part of a consolidation", "-l", "1000"])
        .out;
    assert!(!told.contains("(part "), "{told}");
    world.icm(["verify"]).ok();
    world.icm(["rebuild"]).ok();
    assert_eq!(world.json(["stats"])["memories"], 1_501);
}

#[test]
fn of_memories_that_supersede_each_other_in_a_circle_one_is_summarized() {
    let world = World::new();
    let ids = ["apple pie", "apple tart", "apple cake", "plum cake"].map(|content| {
        let stored = world.json(["store", "-t", "s", "-c", content]);
        stored["id"].as_str().unwrap().to_owned()
    });
    let supersedes = |a: usize, b: usize| {
        world
            .icm(["link", &ids[a], &ids[b], "-r", "supersedes"])
            .ok();
    };
    supersedes(0, 1);
    supersedes(1, 0);
    // Beside the circle, a way that ends.
    supersedes(3, 2);
    let preview = world.json(["consolidate", "-t", "s", "--rules", "--dry-run"]);
    assert_eq!(
        preview["summary"]["text"], "apple tart\nplum cake",
        "{preview}"
    );
    assert_eq!(preview["summary"]["superseded"], 2);
}

#[test]
fn a_topic_has_a_name_at_every_level() {
    let world = World::new();
    for topic in ["a/", "/a", "a//b", "/", "a/ /b"] {
        let args = ["store", "-t", topic, "-c", "c"];
        world.icm(args).fails(2, "has no name");
    }
    let lines = world.write("bad.jsonl", "{\"topic\":\"a/\",\"content\":\"c\"}\n");
    let run = world.icm(["import", "jsonl", lines.to_str().unwrap()]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        format!("{}{}", run.out, run.err).contains("has no name"),
        "{run:?}"
    );
    world.icm(["store", "-t", "a/b", "-c", "c"]).ok();
    let id = world.json(["list"])[0]["id"].as_str().unwrap().to_owned();
    world
        .icm(["update", &id, "-t", "a/"])
        .fails(2, "has no name");
}

#[test]
fn a_command_that_says_too_much_is_ended_at_once() {
    let world = World::new();
    for content in ["one", "two"] {
        world.icm(["store", "-t", "t", "-c", content]).ok();
    }
    // It never ends by itself, and the time it has is a minute.
    let args = ["consolidate", "-t", "t", "--command", "yes"];
    world.icm(args).fails(2, "answered more than 64 KiB");
    assert_eq!(world.json(["stats"])["memories"], 2);
}
