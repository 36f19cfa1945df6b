//! Summaries, by rules and by a command.

use serde_json::{Value, json};

use super::{count, crowd, len};
use crate::world::World;

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

    // Without `--summary` and without a summarizer, rules make the summary.
    let done = world.json(["consolidate", "-t", "notes"]);
    assert_eq!(done["summary"], look["summary"]);
    assert_eq!(done["originals"], look["originals"]);
    let list = world.json(["list", "-t", "notes"]);
    assert_eq!(len(&list), 1);
    assert_eq!(list[0]["content"], text);
    assert_eq!(list[0]["importance"], "critical");
    assert_eq!(list[0]["keywords"], json!(["x", "y"]));
    // A superseding memory would be ranked before it.
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

    // The command reads the memories, framed as data.
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
    // Memories of the first part and of the last one are covered.
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
    // A chain that ends, beside the circle.
    supersedes(3, 2);
    let preview = world.json(["consolidate", "-t", "s", "--rules", "--dry-run"]);
    assert_eq!(
        preview["summary"]["text"], "apple tart\nplum cake",
        "{preview}"
    );
    assert_eq!(preview["summary"]["superseded"], 2);
}

#[test]
fn a_command_that_says_too_much_is_ended_at_once() {
    let world = World::new();
    for content in ["one", "two"] {
        world.icm(["store", "-t", "t", "-c", content]).ok();
    }
    // The command never ends by itself, and its time limit is a minute.
    let args = ["consolidate", "-t", "t", "--command", "yes"];
    world.icm(args).fails(2, "answered more than 64 KiB");
    assert_eq!(world.json(["stats"])["memories"], 2);
}
