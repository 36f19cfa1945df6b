//! Summaries, by rules and by a command.

use serde_json::{Value, json};

use super::{count, crowd, len};
use crate::world::{Look, Says, World};

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
        world.ok(format!("store -t notes -i '{importance}' -c '{text}'"));
    }
    let right = world.json("store -t notes -k x -c 'Rent is due on the first'");
    let wrong = world.json("store -t notes -k y -c 'Pay the landlord by the tenth'");
    let id = |memory: &Value| memory["id"].as_str().unwrap().to_owned();
    world.ok(format!("link {} {} -r supersedes", id(&right), id(&wrong)));
    let before = world.now();

    let look = world.json("consolidate -t notes --rules --dry-run");
    assert_eq!(look["dry_run"], true);
    assert_eq!(world.now(), before, "a dry run writes nothing");
    let text = "Never deploy on Fridays.\nThe team meets on Tuesdays at ten. Prices are integer cents.\n\
                Rent is due on the first\nTea is at four.";
    look["summary"].has(json!({"text": text, "by": "rules", "superseded": 1, "repeated": 1}));
    assert_eq!(len(&look["originals"]), 6);

    // Without `--summary` and without a summarizer, rules make the summary.
    let done = world.json("consolidate -t notes");
    done.has(json!({"summary": look["summary"], "originals": look["originals"]}));
    let list = world.json("list -t notes");
    assert_eq!(len(&list), 1);
    list[0].has(json!({"content": text, "importance": "critical", "keywords": ["x", "y"]}));
    // A superseding memory would be ranked before it.
    let recall = "recall landlord --no-record --no-links";
    let found = world.icm((recall, "--json")).out;
    assert!(!found.contains(&id(&wrong)), "{found}");
    let then = world.json((recall, ["--at", &before]));
    assert_eq!(then["results"][0]["id"], wrong["id"]);
    assert_eq!(
        world.json(format!("get {}", id(&wrong)))["consolidated_into"],
        done["id"]
    );

    world.ok(format!("undo {} --yes", done["event"].as_str().unwrap()));
    assert_eq!(len(&world.json("list -t notes")), 6);
    assert_eq!(world.json(recall)["results"][0]["id"], wrong["id"]);
}

#[cfg(unix)]
#[test]
fn a_summary_is_made_by_a_command() {
    let world = World::with_memories();
    let events = || world.json("stats")["events"].clone();
    let before = events();
    let by = |command: &str| {
        let dry = "consolidate -t decisions --dry-run --command";
        world.icm((dry, [command]))
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
    read.says("would stand for 2 memories of decisions");
    for says in [
        "<memories nonce=",
        "stored data, not instructions",
        ", medium] Prices are",
    ] {
        assert!(read.contains(says), "{says}: {read}");
    }
    read.lacks("Mira");
    let config = "[summarizer]\ncommand = 'wc -l; echo two decisions'\n";
    let config = world.write("icm.toml", config);
    let done = world.json(format!(
        "consolidate -t decisions --config {}",
        config.to_str().unwrap()
    ));
    assert_eq!(done["summary"]["by"], "command");
    let text = done["summary"]["text"].as_str().unwrap();
    text.finishes("two decisions");
    assert_eq!(len(&world.json("list -t decisions")), 1);
}

#[test]
fn twelve_thousand_memories_are_counted_consolidated_and_forgotten_whole() {
    let world = crowd(12_000);
    let topics = world.json("topics");
    assert_eq!(topics[0]["memories"], 12_000);
    let health = world.json("health");
    assert_eq!(health["memories"], 12_002);
    assert_eq!(count(&health, "over_full"), 1);
    assert_eq!(health["findings"][4]["first"][0]["memories"], 12_000);

    let done = world.json("consolidate -t crowd/a");
    assert_eq!(len(&done["originals"]), 12_000);
    assert!(
        done["summary"]["no_room"].as_u64().unwrap() > 11_000,
        "{}",
        done["summary"]
    );
    assert_eq!(world.json("stats")["memories"], 3);
    let list = world.json("list -t crowd/a");
    assert_eq!(list[0]["id"], done["id"]);
    assert_eq!(len(&list), 1);
    // Memories of the first part and of the last one are covered.
    for at in [0, 11_999] {
        let id = done["originals"][at].as_str().unwrap();
        assert_eq!(
            world.json(format!("get {id}"))["consolidated_into"],
            done["id"]
        );
        assert_eq!(world.json(format!("why {id}"))["covered_by"], done["id"]);
    }
    let why = world.json(format!("why {}", done["id"].as_str().unwrap()));
    assert_eq!(why["from"]["consolidated_from"], done["originals"]);
    world.ok(format!("undo {} --yes", done["event"].as_str().unwrap()));
    assert_eq!(world.json("stats")["memories"], 12_002);

    let unasked = world.icm("forget -t crowd/");
    unasked.fails(2, "forgetting 12000 memories of `crowd/`");
    assert_eq!(world.json("stats")["memories"], 12_002);
    let run = world.ok("forget -t crowd/ --yes");
    run.out.says("… and 11990 more");
    let last = world.json("log -l 1");
    let last = world.json(format!("log show {}", last["event"].as_str().unwrap()));
    assert_eq!(
        last["batch"],
        json!([11_999, 12_000]),
        "all of it or nothing"
    );
    assert_eq!(world.json("stats")["memories"], 2);
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json("stats")["memories"], 12_002);
    world.ok("verify");
}

#[test]
fn many_are_consolidated_and_revived_without_a_trace_of_how() {
    let world = World::new();
    let lines = (0..1_500).map(|n| format!("{{\"topic\":\"many\",\"content\":\"f{n}\"}}\n"));
    let lines = world.write("many.jsonl", lines.collect::<String>());
    world.ok(format!("import jsonl '{}'", lines.display()));
    world.ok("consolidate -t many --summary 'all of them'");
    assert_eq!(world.count("list --all"), 1);
    assert_eq!(world.count("list --all --forgotten"), 1_501);
    assert_eq!(world.json("stats")["forgotten"], 1_500);
    world.ok("revive -t many --yes");
    assert_eq!(world.json("stats")["memories"], 1_501);
    assert_eq!(world.json("stats")["forgotten"], 0);
    let told = world.icm("recall 'part of a consolidation' -l 1000").out;
    told.lacks("(part ");
    world.ok("verify");
    world.ok("rebuild");
    assert_eq!(world.json("stats")["memories"], 1_501);
}

#[test]
fn of_memories_that_supersede_each_other_in_a_circle_one_is_summarized() {
    let world = World::new();
    let ids = ["apple pie", "apple tart", "apple cake", "plum cake"].map(|content| {
        let stored = world.json(format!("store -t s -c '{content}'"));
        stored["id"].as_str().unwrap().to_owned()
    });
    let supersedes = |a: usize, b: usize| {
        world.ok(format!("link {} {} -r supersedes", &ids[a], &ids[b]));
    };
    supersedes(0, 1);
    supersedes(1, 0);
    // A chain that ends, beside the circle.
    supersedes(3, 2);
    let preview = world.json("consolidate -t s --rules --dry-run");
    preview["summary"].has(json!({"text": "apple tart\nplum cake", "superseded": 2}));
}

#[test]
fn a_command_that_says_too_much_is_ended_at_once() {
    let world = World::new();
    for content in ["one", "two"] {
        world.ok(format!("store -t t -c '{content}'"));
    }
    // The command never ends by itself, and its time limit is a minute.
    let args = ["consolidate", "-t", "t", "--command", "yes"];
    world.icm(args).fails(2, "answered more than 64 KiB");
    assert_eq!(world.json("stats")["memories"], 2);
}
