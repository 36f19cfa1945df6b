//! `icm log export` and `icm log import` between stores.

use std::path::Path;

use serde_json::Value;

use crate::world::{Run, World, tree};

/// Runs `icm` on another store of the same world.
pub(crate) fn on(world: &World, db: &str, args: &[&str]) -> Run {
    world.icm(args.iter().copied().chain(["--db", db]))
}

pub(crate) fn json(world: &World, db: &str, args: &[&str]) -> Value {
    on(world, db, &[args, &["--json"]].concat()).ok().json()
}

pub(crate) fn carry(world: &World, from: &str, to: &str) -> Value {
    on(world, from, &["log", "export", "x.icmx"]).ok();
    json(world, to, &["log", "import", "x.icmx"])
}

fn store(world: &World, db: &str, key: &str, content: &str) {
    on(
        world,
        db,
        &["store", "-t", "t", "--key", key, "-c", content],
    )
    .ok();
}

fn state(world: &World, db: &str) -> Value {
    json(world, db, &["verify"])["state_hash"].clone()
}

#[test]
fn two_machines_end_with_the_same_memories() {
    let world = World::new();
    store(&world, "a", "tea", "Mira drinks green tea");
    store(&world, "a", "billing", "Mira owns billing");
    store(&world, "b", "tea", "Mira drinks black coffee");
    store(&world, "b", "tabs", "The house uses tabs");
    let before = json(&world, "b", &["stats"])["positions"].clone();
    let would = on(&world, "a", &["log", "export", "a.icmx", "--json"]);
    let exported = would.ok().json();
    assert_eq!(
        (&exported["events"], &exported["origins"]),
        (&4.into(), &1.into())
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(world.path("a.icmx"))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
    let files = tree(&world.path("b"));
    let preview = json(&world, "b", &["log", "import", "a.icmx", "--dry-run"]);
    assert_eq!(
        (&preview["added"], &preview["dry_run"]),
        (&4.into(), &true.into())
    );
    assert_eq!(tree(&world.path("b")), files, "a preview changes nothing");

    let learned = carry(&world, "a", "b");
    assert_eq!(
        (&learned["added"], &learned["unchanged"]),
        (&4.into(), &0.into())
    );
    let found = on(&world, "b", &["recall", "who owns billing"]).ok();
    assert!(found.out.contains("Mira owns billing"), "{found:?}");
    // One key is one memory, and the log keeps both texts.
    let list = json(&world, "b", &["list", "--all"]);
    assert_eq!(list.as_array().unwrap().len(), 3, "{list}");
    let tea = list
        .as_array()
        .unwrap()
        .iter()
        .find(|memory| memory["key"] == "tea");
    let id = tea.unwrap()["id"].as_str().unwrap().to_owned();
    let history = on(&world, "b", &["log", "--id", &id]).ok().out;
    assert!(
        history.contains("green tea") && history.contains("black coffee"),
        "{history}"
    );
    let earlier = format!("@{before}");
    let then = on(
        &world,
        "b",
        &["recall", "billing", "--at", &earlier, "--json"],
    )
    .ends(1);
    assert_eq!(then.json()["results"].as_array().unwrap().len(), 0);

    carry(&world, "b", "a");
    assert_eq!(state(&world, "a"), state(&world, "b"));
    for db in ["a", "b"] {
        on(
            &world,
            db,
            &["update", &id, "-c", &format!("Mira drinks {db}")],
        )
        .ok();
    }
    carry(&world, "a", "b");
    carry(&world, "b", "a");
    assert_eq!(state(&world, "a"), state(&world, "b"));
    let shown = |db: &str| json(&world, db, &["get", &id])["content"].clone();
    assert_eq!(shown("a"), shown("b"));
    // Repeating the exchange changes nothing.
    for (from, to) in [("a", "b"), ("b", "a"), ("a", "b")] {
        let learned = carry(&world, from, to);
        assert_eq!(
            (&learned["added"], &learned["event"]),
            (&0.into(), &Value::Null)
        );
    }
    // Into an empty store through a pipe, and after the views were removed.
    let export = world
        .command(["log", "export", "-", "--db", "a"])
        .output()
        .unwrap();
    let run = world
        .icm_with(["log", "import", "-", "--db", "c"], &export.stdout)
        .ok();
    assert!(run.out.contains("imported"), "{run:?}");
    assert_eq!(state(&world, "c"), state(&world, "a"));
    on(&world, "c", &["rebuild"]).ok();
    assert_eq!(shown("c"), shown("a"));
    for db in ["a", "b", "c"] {
        on(&world, db, &["verify"]).ok();
        on(&world, db, &["log", "verify"]).ok();
    }
    // The last command is that of this machine.
    store(&world, "a", "own", "The last word");
    store(&world, "b", "other", "From the other one");
    carry(&world, "b", "a");
    on(&world, "a", &["undo", "--last", "1", "--yes"]).ok();
    let keys = json(&world, "a", &["list", "--all"]);
    let keys: Vec<_> = keys
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["key"].clone())
        .collect();
    assert!(
        keys.contains(&"other".into()) && !keys.contains(&"own".into()),
        "{keys:?}"
    );
}

fn holds(folder: &Path, text: &str) -> bool {
    let files = tree(folder);
    let mut files = files.iter();
    files.any(|(_, bytes)| {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    })
}

#[test]
fn a_redaction_travels() {
    let world = World::new();
    store(&world, "a", "note", "the swordfish is in the cellar");
    store(&world, "a", "other", "nothing to hide");
    carry(&world, "a", "b");
    carry(&world, "b", "c");
    let id = json(&world, "a", &["list"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let id = match json(&world, "a", &["get", &id])["key"] == "note" {
        true => id,
        false => json(&world, "a", &["list"])[1]["id"]
            .as_str()
            .unwrap()
            .to_owned(),
    };
    // Meanwhile another machine updates the memory.
    on(
        &world,
        "c",
        &["update", &id, "-c", "the swordfish is in the attic"],
    )
    .ok();
    on(&world, "c", &["recall", "swordfish"]).ok();
    std::fs::copy(world.path("x.icmx"), world.path("old.icmx")).unwrap();
    on(&world, "a", &["redact", &id, "--yes"]).ok();
    assert!(!holds(&world.path("a"), "swordfish"));

    let learned = carry(&world, "a", "b");
    assert!(learned["redacted"].as_u64().unwrap() > 0, "{learned}");
    assert!(!holds(&world.path("b"), "swordfish"));
    carry(&world, "b", "c");
    assert!(
        !holds(&world.path("c"), "swordfish"),
        "what was written meanwhile goes, too"
    );
    // A late copy does not bring the text back.
    let late = json(&world, "b", &["log", "import", "old.icmx"]);
    assert_eq!(late["refilled_payloads"], 0, "{late}");
    let fresh = json(&world, "d", &["log", "import", "old.icmx"]);
    assert_eq!(fresh["left_out"], 0);
    assert!(holds(&world.path("d"), "swordfish"));
    carry(&world, "b", "d");
    assert!(!holds(&world.path("d"), "swordfish"));
    carry(&world, "c", "b");
    carry(&world, "b", "a");
    carry(&world, "c", "d");
    for db in ["a", "b", "c", "d"] {
        let get = on(&world, db, &["get", &id]).ok();
        assert!(get.out.contains("withheld"), "{db}: {get:?}");
        on(&world, db, &["log", "verify"]).ok();
        assert_eq!(state(&world, db), state(&world, "a"), "{db}");
    }
}

#[test]
fn what_is_no_export_is_refused() {
    let world = World::with_memories();
    let db = world.store();
    let files = tree(&db);
    world.icm(["log", "export", "whole.icmx"]).ok();
    let whole = std::fs::read(world.path("whole.icmx")).unwrap();
    world.write("cut.icmx", &whole[..whole.len() - 1]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    world.write("flipped.icmx", &flipped);
    world.write("text.jsonl", "{\"topic\":\"t\",\"content\":\"c\"}\n");
    world.write("empty", "");
    for (file, code, says) in [
        ("cut.icmx", 3, "cut off"),
        ("flipped.icmx", 3, "not whole"),
        ("text.jsonl", 2, "no file of `icm log export`"),
        ("empty", 2, "no file of `icm log export`"),
        ("nowhere.icmx", 2, "nowhere.icmx"),
        (".", 2, "a folder"),
    ] {
        world.icm(["log", "import", file]).fails(code, says);
        let repair = ["log", "repair", "--from", file, "--dry-run"];
        world.icm(repair).fails(code, says);
    }
    world
        .icm(["log", "export", "nowhere/x"])
        .fails(2, "nowhere");
    let run = world.icm(["log", "export", "-", "--json"]).ends(2);
    assert!(
        run.err
            .contains("cannot be combined with an export on stdout"),
        "{run:?}"
    );
    assert_eq!(tree(&db), files);
    std::fs::create_dir(world.path("folder")).unwrap();
    let run = world.icm(["log", "export", "folder"]).fails(2, "a folder");
    assert!(run.err.contains("name a file in it"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_not_read_and_a_store_is_not_written_over() {
    let world = World::with_memories();
    let files = tree(&world.store());
    world
        .icm(["log", "import", "/dev/zero"])
        .fails(2, "no file of `icm log export`");
    let inside = world.store().join("store.toml");
    for args in [
        ["log", "export", inside.to_str().unwrap()].as_slice(),
        &["export", "jsonl", "-o", inside.to_str().unwrap()],
    ] {
        world.icm(args).fails(2, "lies in the store itself");
    }
    assert_eq!(tree(&world.store()), files);
}

/// Events behind damage cannot be exported, and the export says so.
#[test]
fn an_export_of_a_damaged_log_says_what_it_lacks() {
    let (a, b) = (World::new(), World::new());
    for n in 0..3 {
        b.icm(["store", "-t", "t", "-c", &format!("number {n}")])
            .ok();
    }
    b.icm(["log", "export", "b.icmx"]).ok();
    a.icm(["store", "-t", "t", "-c", "own"]).ok();
    let file = b.path("b.icmx");
    a.icm(["log", "import", file.to_str().unwrap()]).ok();
    let mut events = a.icm(["log", "--json"]).ok().json_lines();
    events.retain(|event| event["kind"] == "memory.stored");
    assert_eq!(events.len(), 4);
    // The second memory of the other machine's chain gets a flipped bit in its head.
    let text = b"number 1";
    let holds = |bytes: &[u8]| bytes.windows(text.len()).position(|it| it == text);
    let mut changed = 0;
    for chain in std::fs::read_dir(a.store().join("log")).unwrap() {
        let segment = std::fs::read_dir(chain.unwrap().path()).unwrap().next();
        let path = segment.unwrap().unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(at) = holds(&bytes) {
            bytes[at - 200] ^= 1;
            std::fs::write(path, bytes).unwrap();
            changed += 1;
        }
    }
    assert_eq!(changed, 1);

    let run = a.icm(["log", "export", "a.icmx"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.err.contains("left out"), "{run:?}");
}

/// The history has the value of the other machine that lost against the shown one.
#[test]
fn history_shows_what_lost() {
    let world = World::new();
    store(&world, "a", "tea", "Mira drinks green tea");
    carry(&world, "a", "b");
    let id = json(&world, "a", &["list"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    on(&world, "a", &["update", &id, "-c", "Mira drinks water"]).ok();
    on(&world, "b", &["update", &id, "-c", "Mira drinks coffee"]).ok();
    carry(&world, "b", "a");
    carry(&world, "a", "b");
    for db in ["a", "b"] {
        let shown = json(&world, db, &["get", &id])["content"].clone();
        let lost = match shown == "Mira drinks coffee" {
            true => "Mira drinks water",
            false => "Mira drinks coffee",
        };
        let history = json(&world, db, &["history", &id]);
        let texts: Vec<_> = history.as_array().unwrap().iter().collect();
        let held = texts
            .iter()
            .filter(|it| it["memory"]["content"] == lost)
            .count();
        let not_shown = texts.iter().filter(|it| it["not_shown"] == lost).count();
        // On the machine that wrote it the value held for a while.
        assert_eq!(held.min(1) + not_shown, 1, "{db} {history}");
        let said = on(&world, db, &["history", &id]).ok().out;
        assert!(said.contains(lost), "{said}");
        assert_eq!(
            said.matches("not shown: another value holds").count(),
            not_shown,
            "{said}"
        );
    }
    let not_shown = ["a", "b"].map(|db| {
        let history = json(&world, db, &["history", &id]).to_string();
        history.matches("not_shown").count()
    });
    assert_eq!(not_shown.iter().sum::<usize>(), 1, "{not_shown:?}");
    // The line has no trailing space without a position.
    let again = on(&world, "a", &["log", "import", "x.icmx"]).ok().out;
    assert!(again.ends_with("here already\n"), "{again:?}");
}

/// An update that was undone before the import never showed, and lost against no other value.
#[test]
fn history_says_what_was_undone_elsewhere() {
    let world = World::new();
    store(&world, "a", "tea", "Mira drinks green tea");
    carry(&world, "a", "b");
    let id = json(&world, "a", &["list"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    on(&world, "a", &["update", &id, "-c", "Mira drinks water"]).ok();
    on(&world, "a", &["undo", "--last", "1", "--yes"]).ok();
    on(&world, "b", &["update", &id, "-c", "Mira drinks coffee"]).ok();
    carry(&world, "a", "b");
    let history = json(&world, "b", &["history", &id]);
    let mut versions = history.as_array().unwrap().iter();
    let undone = versions.find(|it| it["not_shown"] == "Mira drinks water");
    assert!(undone.unwrap()["undone_at"].is_u64(), "{history}");
    let said = on(&world, "b", &["history", &id]).ok().out;
    assert!(said.contains("not shown: its event is undone"), "{said}");
    assert!(!said.contains("another value holds"), "{said}");
}

#[test]
fn what_is_new_alone_is_exported() {
    let world = World::new();
    store(&world, "a", "tea", "Mira drinks green tea");
    carry(&world, "a", "b");
    let heads = on(&world, "b", &["log", "heads"]).ok().out;
    std::fs::write(world.path("heads.txt"), heads).unwrap();
    let was = json(&world, "a", &["verify"])["positions"].clone();
    store(&world, "a", "billing", "Mira owns billing");
    for since in ["heads.txt", &format!("@{was}")] {
        let exported = json(&world, "a", &["log", "export", "--since", since, "x.icmx"]);
        assert_eq!(exported["events"], 1, "{since}");
    }
    let learned = json(&world, "b", &["log", "import", "x.icmx"]);
    assert_eq!(
        (&learned["added"], &learned["unchanged"]),
        (&1.into(), &0.into())
    );
    assert_eq!(state(&world, "a"), state(&world, "b"));
    let gap = on(&world, "c", &["log", "import", "x.icmx"]);
    assert!(gap.code == 2 && gap.err.contains("from seq 1"), "{gap:?}");
    std::fs::write(world.path("odd.txt"), "no heads").unwrap();
    for (since, what) in [
        ("odd.txt", "is no line of `icm log heads`"),
        ("@99", "in the future"),
    ] {
        let run = on(&world, "a", &["log", "export", "--since", since, "y.icmx"]);
        assert!(run.code == 2 && run.err.contains(what), "{run:?}");
        assert!(!world.path("y.icmx").exists());
    }
}

/// A script that merges machines may meet a store that does not exist yet.
#[test]
fn a_store_that_is_not_there_is_exported_as_an_empty_bundle() {
    let world = World::new();
    let heads = on(&world, "a", &["log", "heads"]).ok().out;
    world.write("heads.txt", &heads);
    for args in [
        &["log", "export", "x.icmx"][..],
        &["log", "export", "x.icmx", "--since", "heads.txt"],
        &["log", "export", "x.icmx", "--since", "yesterday"],
        &["log", "export", "x.icmx", "--since", "@0"],
    ] {
        let exported = json(&world, "a", args);
        assert_eq!(
            (&exported["events"], &exported["origins"]),
            (&0.into(), &0.into())
        );
        assert!(!world.path("a").exists(), "{args:?} made a store");
        // The empty bundle can be imported into an existing store and into a new one.
        store(&world, "b", "tea", "Mira drinks green tea");
        let before = json(&world, "b", &["stats"])["positions"].clone();
        for db in ["b", "c"] {
            let imported = json(&world, db, &["log", "import", "x.icmx"]);
            assert_eq!(imported["added"], 0, "{db}: {imported}");
        }
        assert_eq!(json(&world, "b", &["stats"])["positions"], before);
        assert!(
            !world.path("c").exists(),
            "an import of nothing made a store"
        );
    }
    let lines = on(
        &world,
        "a",
        &["log", "export", "-", "--format", "cloudevents"],
    )
    .ok();
    assert_eq!(lines.out, "");
    assert!(!world.path("a").exists());
    let bundle = on(&world, "a", &["log", "export", "x.icmx"]).ok();
    assert!(
        bundle.err.contains("there is no store at"),
        "{}",
        bundle.err
    );
}
