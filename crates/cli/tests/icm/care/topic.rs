//! Topics as a tree, and statistics.

use serde_json::{Value, json};

use super::{crowd, len};
use crate::world::{Look, Says, World};

#[test]
fn topics_are_a_tree() {
    let world = World::new();
    for topic in ["a/b/c", "a/b/c", "a/b", "a-b", "a/d", "z/only/one"] {
        let text = format!("something of {topic} at {}", world.now());
        world.ok(format!("store -t '{topic}' -c '{text}'"));
    }
    let rows = |args: &str| -> Vec<(String, u64, u64)> {
        let topics = world.json(("topics", args));
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
        rows(""),
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
        rows("--depth 1"),
        [row("a", 0, 4), row("a-b", 1, 1), row("z", 0, 1)]
    );
    assert_eq!(rows("--prefix a/b"), [row("a/b", 1, 3), row("a/b/c", 2, 2)]);
    assert_eq!(rows("--flat").len(), 5);
    let shown = world.out("topics");
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

    let stats = world.json("stats");
    stats.has(json!({
        "/by_importance/medium": 6, "/by_trust/user": 6, "/by_scope/global": 6, "mean_weight": 1.0,
        "recalls": 0,
    }));
    world.ok("recall something");
    assert_eq!(world.json("stats")["recalls"], 1);
    assert_eq!(stats["sizes"]["log"], stats["log_bytes"]);
}

#[test]
fn topics_and_stats_are_asked_of_any_moment() {
    let world = World::with_memories();
    world.ok("recall invoices");
    world.ok("memoir create -n m");
    let then = world.now();
    let as_of = |what: &str| world.json(format!("'{what}' --at '{then}'"));
    let (topics, stats) = (world.json("topics"), world.json("stats"));
    assert_eq!(
        (as_of("topics"), as_of("stats")),
        (topics.clone(), stats.clone())
    );
    world.ok("forget -t decisions --yes");
    world.ok("store -t late -c 'came later' -i high");
    world.ok(format!("update {} -t moved/here", world.id("owner")));
    world.ok("recall later");
    world.ok("memoir delete m --yes");

    assert_eq!(as_of("topics"), topics);
    assert_eq!(world.json("topics --prefix people"), json!([]));
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
    let now = world.json("stats");
    now.has(json!({"memories": 2, "forgotten": 2}));
    assert_eq!(past["bytes"], now["bytes"], "bytes are of now");
    let shown = world.out(format!("stats --at '{then}'"));
    assert!(shown.contains(&then) && !shown.contains("size"), "{shown}");
    world.fails("topics --at @99999 => 2: in the future");
}

#[test]
fn long_lists_of_an_event_are_shown_cut() {
    let world = crowd(30);
    let done = world.json("consolidate -t crowd/a --summary thirty");
    let event = done["event"].as_str().unwrap();
    let whole = world.json(format!("log show '{event}'"));
    assert_eq!(len(&whole["refs"]), 30);
    let run = world.ok(format!("log show '{event}'"));
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
    run.err.says("`--json`");
    let first = world.ok("log show @3");
    assert_eq!(first.err, "", "nothing is left out");
}

#[test]
fn invisible_characters_are_in_no_topic_keyword_or_session() {
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
            let mut command = world.command("store -t t -c text");
            let run = crate::world::run(command.env(variable, hidden), b"");
            run.fails(2, "invisible character");
        }
        let line = json!({"topic": hidden, "content": "text"}).to_string();
        let file = world.write("hidden.jsonl", line);
        let run = world
            .icm(format!("import jsonl '{}'", file.display()))
            .ends(1);
        run.err.says("invisible character");
    }
    assert_eq!(world.now(), before);
}

#[test]
fn forgotten_or_absent_memories_exit_with_1() {
    let world = World::with_memories();
    let before = "@2";
    let (gone, other) = (world.id("owner"), world.id("money"));
    world.ok(format!("forget '{gone}'"));
    for memoir in ["m", "dead"] {
        world.ok(format!("memoir create -n '{memoir}'"));
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
    world.ok("memoir delete-concept -m m -n gone");
    world.ok("memoir delete dead --yes");
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    // A tombstone can be shown.
    world.ok(format!("get '{gone}'"));
    let run = world
        .icm(format!("get '{gone}' --at {before} --json"))
        .ends(1);
    assert_eq!(run.json(), Value::Null);
    world.fails(format!("get '{unknown}' => 1: no memory"));
    for id in [gone.as_str(), unknown] {
        world.icm(format!("update {id} -c text")).ends(1);
        world.icm(format!("link {id} {other} -r related")).ends(1);
        world.icm(format!("link '{other}' {id} -r related")).ends(1);
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
            world.icm(("memoir", args)).ends(1);
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
            world.icm(("memoir", args)).ends(1);
        }
    }
    // Other reasons are failures, not answers of "no".
    world
        .icm(format!("link '{other}' '{other}' -r related"))
        .ends(2);
    world.icm("memoir create -n dead").ends(2);
}

#[test]
fn a_topic_has_a_name_at_every_level() {
    let world = World::new();
    for topic in ["a/", "/a", "a//b", "/", "a/ /b"] {
        let args = ["store", "-t", topic, "-c", "c"];
        world.icm(args).fails(2, "has no name");
    }
    let lines = world.write("bad.jsonl", "{\"topic\":\"a/\",\"content\":\"c\"}\n");
    let run = world.icm(format!("import jsonl '{}'", lines.display()));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        format!("{}{}", run.out, run.err).contains("has no name"),
        "{run:?}"
    );
    world.ok("store -t a/b -c c");
    let id = world.json("list")[0]["id"].as_str().unwrap().to_owned();
    world.fails(format!("update {id} -t a/ => 2: has no name"));
}
