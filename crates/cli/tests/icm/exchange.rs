//! `icm log export` and `icm log import` between stores.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{Look, Says, World, tree};

pub(crate) fn carry(world: &World, from: &str, to: &str) -> Value {
    world.at(from).ok("log export x.icmx");
    world.at(to).json("log import x.icmx")
}

fn store(world: &World, db: &str, key: &str, content: &str) {
    world
        .at(db)
        .ok(format!("store -t t --key '{key}' -c '{content}'"));
}

fn state(world: &World, db: &str) -> Value {
    world.at(db).json("verify")["state_hash"].clone()
}

#[test]
fn two_machines_end_with_the_same_memories() {
    let world = World::new();
    let [a, b, c] = ["a", "b", "c"].map(|db| world.at(db));
    store(&world, "a", "tea", "Mira drinks green tea");
    store(&world, "a", "billing", "Mira owns billing");
    store(&world, "b", "tea", "Mira drinks black coffee");
    store(&world, "b", "tabs", "The house uses tabs");
    let before = b.json("stats")["positions"].clone();
    let would = a.icm("log export a.icmx --json");
    let exported = would.ok().json();
    exported.has(json!({"events": 4, "origins": 1}));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(world.path("a.icmx"))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
    let files = tree(&world.path("b"));
    let preview = b.json("log import a.icmx --dry-run");
    preview.has(json!({"added": 4, "dry_run": true}));
    assert_eq!(tree(&world.path("b")), files, "a preview changes nothing");

    let learned = carry(&world, "a", "b");
    learned.has(json!({"added": 4, "unchanged": 0}));
    let found = b.ok("recall 'who owns billing'");
    found.out.says("Mira owns billing");
    // One key is one memory, and the log keeps both texts.
    let list = b.json("list --all");
    assert_eq!(list.count(), 3, "{list}");
    let tea = list
        .as_array()
        .unwrap()
        .iter()
        .find(|memory| memory["key"] == "tea");
    let id = tea.unwrap()["id"].as_str().unwrap().to_owned();
    let history = b.out(format!("log --id {id}"));
    history.says("green tea");
    history.says("black coffee");
    let earlier = format!("@{before}");
    let then = b
        .icm(format!("recall billing --at '{earlier}' --json"))
        .ends(1);
    assert_eq!(then.json()["results"].count(), 0);

    carry(&world, "b", "a");
    assert_eq!(state(&world, "a"), state(&world, "b"));
    for db in ["a", "b"] {
        world
            .at(db)
            .ok(format!("update {id} -c 'Mira drinks {db}'"));
    }
    carry(&world, "a", "b");
    carry(&world, "b", "a");
    assert_eq!(state(&world, "a"), state(&world, "b"));
    let shown = |db: &str| world.at(db).json(format!("get {id}"))["content"].clone();
    assert_eq!(shown("a"), shown("b"));
    // Repeating the exchange changes nothing.
    for (from, to) in [("a", "b"), ("b", "a"), ("a", "b")] {
        let learned = carry(&world, from, to);
        learned.has(json!({"added": 0, "event": null}));
    }
    // Into an empty store through a pipe, and after the views were removed.
    let export = world.command("log export - --db a").output().unwrap();
    let run = world.icm_with("log import - --db c", &export.stdout).ok();
    run.out.says("imported");
    assert_eq!(state(&world, "c"), state(&world, "a"));
    c.ok("rebuild");
    assert_eq!(shown("c"), shown("a"));
    for db in ["a", "b", "c"] {
        world.at(db).ok("verify");
        world.at(db).ok("log verify");
    }
    // The last command is that of this machine.
    store(&world, "a", "own", "The last word");
    store(&world, "b", "other", "From the other one");
    carry(&world, "b", "a");
    a.ok("undo --last 1 --yes");
    let keys = a.json("list --all");
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
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|db| world.at(db));
    store(&world, "a", "note", "the swordfish is in the cellar");
    store(&world, "a", "other", "nothing to hide");
    carry(&world, "a", "b");
    carry(&world, "b", "c");
    let id = a.json("list")[0]["id"].as_str().unwrap().to_owned();
    let id = match a.json(format!("get {id}"))["key"] == "note" {
        true => id,
        false => a.json("list")[1]["id"].as_str().unwrap().to_owned(),
    };
    // Meanwhile another machine updates the memory.
    c.ok(format!("update {id} -c 'the swordfish is in the attic'"));
    c.ok("recall swordfish");
    std::fs::copy(world.path("x.icmx"), world.path("old.icmx")).unwrap();
    a.ok(format!("redact {id} --yes"));
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
    let late = b.json("log import old.icmx");
    assert_eq!(late["refilled_payloads"], 0, "{late}");
    let fresh = d.json("log import old.icmx");
    assert_eq!(fresh["left_out"], 0);
    assert!(holds(&world.path("d"), "swordfish"));
    carry(&world, "b", "d");
    assert!(!holds(&world.path("d"), "swordfish"));
    carry(&world, "c", "b");
    carry(&world, "b", "a");
    carry(&world, "c", "d");
    for db in ["a", "b", "c", "d"] {
        let get = world.at(db).ok(format!("get {id}"));
        assert!(get.out.contains("withheld"), "{db}: {get:?}");
        world.at(db).ok("log verify");
        assert_eq!(state(&world, db), state(&world, "a"), "{db}");
    }
}

#[test]
fn files_that_are_no_export_are_refused() {
    let world = World::with_memories();
    let db = world.store();
    let files = tree(&db);
    world.ok("log export whole.icmx");
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
        world.icm(format!("log import '{file}'")).fails(code, says);
        let repair = ["log", "repair", "--from", file, "--dry-run"];
        world.icm(repair).fails(code, says);
    }
    world.fails("log export nowhere/x => 2: nowhere");
    let run = world.icm("log export - --json").ends(2);
    run.err.says("cannot be combined with an export on stdout");
    assert_eq!(tree(&db), files);
    std::fs::create_dir(world.path("folder")).unwrap();
    let run = world.fails("log export folder => 2: a folder");
    run.err.says("name a file in it");
}

#[cfg(unix)]
#[test]
fn endless_inputs_are_not_read_and_a_store_is_not_written_over() {
    let world = World::with_memories();
    let files = tree(&world.store());
    world.fails("log import /dev/zero => 2: no file of `icm log export`");
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
        b.ok(format!("store -t t -c 'number {n}'"));
    }
    b.ok("log export b.icmx");
    a.ok("store -t t -c own");
    let file = b.path("b.icmx");
    a.ok(format!("log import '{}'", file.display()));
    let mut events = a.ok("log --json").json_lines();
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

    let run = a.icm("log export a.icmx");
    assert_eq!(run.code, 3, "{run:?}");
    run.err.says("left out");
}

/// The history has the value of the other machine that lost against the shown one.
#[test]
fn history_shows_what_lost() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    store(&world, "a", "tea", "Mira drinks green tea");
    carry(&world, "a", "b");
    let id = a.json("list")[0]["id"].as_str().unwrap().to_owned();
    a.ok(format!("update {id} -c 'Mira drinks water'"));
    b.ok(format!("update {id} -c 'Mira drinks coffee'"));
    carry(&world, "b", "a");
    carry(&world, "a", "b");
    for db in ["a", "b"] {
        let shown = world.at(db).json(format!("get {id}"))["content"].clone();
        let lost = match shown == "Mira drinks coffee" {
            true => "Mira drinks water",
            false => "Mira drinks coffee",
        };
        let history = world.at(db).json(format!("history {id}"));
        let texts: Vec<_> = history.as_array().unwrap().iter().collect();
        let held = texts
            .iter()
            .filter(|it| it["memory"]["content"] == lost)
            .count();
        let not_shown = texts.iter().filter(|it| it["not_shown"] == lost).count();
        // On the machine that wrote it the value held for a while.
        assert_eq!(held.min(1) + not_shown, 1, "{db} {history}");
        let said = world.at(db).out(format!("history {id}"));
        said.says(lost);
        assert_eq!(
            said.matches("not shown: another value holds").count(),
            not_shown,
            "{said}"
        );
    }
    let not_shown = ["a", "b"].map(|db| {
        let history = world.at(db).json(format!("history {id}")).to_string();
        history.matches("not_shown").count()
    });
    assert_eq!(not_shown.iter().sum::<usize>(), 1, "{not_shown:?}");
    // The line has no trailing space without a position.
    let again = a.out("log import x.icmx");
    again.finishes("here already\n");
}

/// An update that was undone before the import never showed, and lost against no other value.
#[test]
fn history_says_what_was_undone_elsewhere() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    store(&world, "a", "tea", "Mira drinks green tea");
    carry(&world, "a", "b");
    let id = a.json("list")[0]["id"].as_str().unwrap().to_owned();
    a.ok(format!("update {id} -c 'Mira drinks water'"));
    a.ok("undo --last 1 --yes");
    b.ok(format!("update {id} -c 'Mira drinks coffee'"));
    carry(&world, "a", "b");
    let history = b.json(format!("history {id}"));
    let mut versions = history.as_array().unwrap().iter();
    let undone = versions.find(|it| it["not_shown"] == "Mira drinks water");
    assert!(undone.unwrap()["undone_at"].is_u64(), "{history}");
    let said = b.out(format!("history {id}"));
    said.says("not shown: its event is undone");
    said.lacks("another value holds");
}

#[test]
fn new_events_alone_are_exported() {
    let world = World::new();
    let [a, b, c] = ["a", "b", "c"].map(|db| world.at(db));
    store(&world, "a", "tea", "Mira drinks green tea");
    carry(&world, "a", "b");
    let heads = b.out("log heads");
    std::fs::write(world.path("heads.txt"), heads).unwrap();
    let was = a.json("verify")["positions"].clone();
    store(&world, "a", "billing", "Mira owns billing");
    for since in ["heads.txt", &format!("@{was}")] {
        let exported = a.json(format!("log export --since '{since}' x.icmx"));
        assert_eq!(exported["events"], 1, "{since}");
    }
    let learned = b.json("log import x.icmx");
    learned.has(json!({"added": 1, "unchanged": 0}));
    assert_eq!(state(&world, "a"), state(&world, "b"));
    let gap = c.icm("log import x.icmx");
    assert!(gap.code == 2 && gap.err.contains("from seq 1"), "{gap:?}");
    std::fs::write(world.path("odd.txt"), "no heads").unwrap();
    for (since, what) in [
        ("odd.txt", "is no line of `icm log heads`"),
        ("@99", "in the future"),
    ] {
        let run = a.icm(format!("log export --since '{since}' y.icmx"));
        assert!(run.code == 2 && run.err.contains(what), "{run:?}");
        assert!(!world.path("y.icmx").exists());
    }
}

/// A script that merges machines may meet a store that does not exist yet.
#[test]
fn a_store_that_is_not_there_is_exported_as_an_empty_bundle() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    let heads = a.out("log heads");
    world.write("heads.txt", &heads);
    for args in [
        "log export x.icmx",
        "log export x.icmx --since heads.txt",
        "log export x.icmx --since yesterday",
        "log export x.icmx --since @0",
    ] {
        let exported = a.json(args);
        exported.has(json!({"events": 0, "origins": 0}));
        assert!(!world.path("a").exists(), "{args:?} made a store");
        // The empty bundle can be imported into an existing store and into a new one.
        store(&world, "b", "tea", "Mira drinks green tea");
        let before = b.json("stats")["positions"].clone();
        for db in ["b", "c"] {
            let imported = world.at(db).json("log import x.icmx");
            assert_eq!(imported["added"], 0, "{db}: {imported}");
        }
        assert_eq!(b.json("stats")["positions"], before);
        assert!(
            !world.path("c").exists(),
            "an import of nothing made a store"
        );
    }
    let lines = a.ok("log export - --format cloudevents");
    assert_eq!(lines.out, "");
    assert!(!world.path("a").exists());
    let bundle = a.ok("log export x.icmx");
    bundle.err.says("there is no store at");
}
