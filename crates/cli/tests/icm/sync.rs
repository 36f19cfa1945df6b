//! `icm sync` between stores through a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::world::{Look, Run, Says, World, tree};

fn store(world: &World, db: &str, content: &str) -> String {
    let stored = world.at(db).json(format!("store -t t -c '{content}'"));
    stored["id"].as_str().unwrap().to_owned()
}

fn sync(world: &World, db: &str) -> Value {
    world.at(db).json("sync target")
}

fn state(world: &World, db: &str) -> Value {
    world.at(db).json("verify")["state_hash"].clone()
}

/// Returns the numbers of received and sent events.
fn moved(answer: &Value) -> (u64, u64) {
    let number = |value: &Value| value.as_u64().unwrap();
    (
        number(&answer["received"]["events"]),
        number(&answer["sent"]["events"]),
    )
}

/// Returns the bundles below a folder.
fn bundles(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = tree(dir).into_iter().map(|(path, _)| path).collect();
    found.retain(|path| path.extension().is_some_and(|it| it == "icmx"));
    found
}

#[test]
fn machines_that_meet_in_a_folder_end_with_the_same_memories_and_settle() {
    let world = World::new();
    let b = world.at("b");
    let target = world.path("target");
    store(&world, "a", "Mira drinks green tea");
    store(&world, "b", "The house uses tabs");
    // A sync without news makes no store, and a dry run changes nothing.
    assert_eq!(moved(&sync(&world, "c")), (0, 0));
    assert!(!world.path("c").exists());
    assert_eq!(moved(&sync(&world, "a")), (0, 3));
    let before = (tree(&target), tree(&world.path("b")));
    let would = b.json("sync target --dry-run");
    assert_eq!(moved(&would), (3, 3));
    assert_eq!(before, (tree(&target), tree(&world.path("b"))));

    // Each import is an event, too.
    assert_eq!(moved(&sync(&world, "b")), (3, 4));
    assert_eq!(moved(&sync(&world, "c")), (7, 4));
    for _ in 0..2 {
        for db in ["a", "b", "c"] {
            sync(&world, db);
        }
    }
    let all = |db: &str| {
        (
            state(&world, db),
            world.at(db).json("stats")["memories"].clone(),
        )
    };
    assert_eq!(all("a").1, 2);
    assert!(all("a") == all("b") && all("b") == all("c"));
    let settled = |db: &str| world.at(db).json("log heads");
    let before = (tree(&target), settled("a"), settled("b"), settled("c"));
    for db in ["c", "a", "b"] {
        assert_eq!(moved(&sync(&world, db)), (0, 0));
    }
    assert_eq!(
        before,
        (tree(&target), settled("a"), settled("b"), settled("c"))
    );

    // One event transfers few bytes, and the number of files stays small after many syncs.
    let big = "long ".repeat(2_000);
    for n in 0..20 {
        store(&world, "a", &format!("{n} {big}"));
    }
    sync(&world, "a");
    for n in 0..12 {
        store(&world, "a", &format!("one more, number {n}"));
        let answer = sync(&world, "a");
        assert!(
            answer["sent"]["bytes"].as_u64().unwrap() < 10_000,
            "{answer}"
        );
        assert_eq!(moved(&answer), (0, 1));
    }
    assert!(bundles(&target).len() <= 8, "{:?}", bundles(&target));
    sync(&world, "b");
    assert_eq!(state(&world, "a"), state(&world, "b"));
}

#[test]
fn a_redaction_reaches_the_bytes_of_the_others_and_of_the_target() {
    let world = World::new();
    let b = world.at("b");
    let secret = "the safe opens with quartzite";
    let id = store(&world, "a", secret);
    store(&world, "b", "The house uses tabs");
    for db in ["a", "b", "a"] {
        sync(&world, db);
    }
    let old = tree(&world.path("target"));
    let holds = |dir: &str| {
        let files = tree(&world.path(dir));
        let has = |bytes: &[u8]| {
            bytes
                .windows(secret.len())
                .any(|it| it == secret.as_bytes())
        };
        files.iter().any(|(_, bytes)| has(bytes))
    };
    assert!(holds("target") && holds("b"));
    b.ok(format!("redact {id} --yes"));
    let answer = sync(&world, "b");
    assert_eq!(answer["received"]["events"], 0);
    let answer = sync(&world, "a");
    answer.has(json!({"/received/redacted": 1, "/sent/anew": true}));
    for dir in ["a", "b", "target"] {
        assert!(!holds(dir), "{dir}");
    }
    // A late copy does not bring the text back.
    for (name, bytes) in old {
        let name = name.strip_prefix(world.path("target")).unwrap();
        let path = world.path("late").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    for db in ["a", "b"] {
        world.at(db).json("sync late");
        assert!(!holds(db));
    }
    assert_eq!(state(&world, "a"), state(&world, "b"));
}

#[test]
fn files_cut_or_changed_at_the_target_are_told_and_left_alone() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    store(&world, "a", "Mira drinks green tea");
    store(&world, "b", "The house uses tabs");
    sync(&world, "a");
    let target = world.path("target");
    let bundle = bundles(&target).remove(0);
    let index = bundle.with_file_name("index");
    let (whole, listed) = (fs::read(&bundle).unwrap(), fs::read(&index).unwrap());
    let events = b.json("stats")["events"].clone();
    let tried = |what: &str| -> (Run, Value) {
        let run = b.icm("sync target --json");
        assert_eq!(b.json("stats")["events"], events, "{what}");
        let answer = serde_json::from_str(&run.out).unwrap();
        (run, answer)
    };
    for len in [0, 7, 8, 60, whole.len() / 2, whole.len() - 1] {
        fs::write(&bundle, &whole[..len]).unwrap();
        let (run, answer) = tried("cut");
        assert_eq!(run.code, 0);
        let why = answer["not_there"][0]["why"].as_str().unwrap();
        assert_eq!(why, format!("{len} of {} bytes are there", whole.len()));
    }
    for at in [0, 9, 100, whole.len() / 2, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        fs::write(&bundle, &flipped).unwrap();
        let (run, answer) = tried("flipped");
        assert_eq!(run.code, 3);
        answer["refused"][0].has(json!({"why": "it was changed since it was written"}));
        assert!(answer["refused"][0]["writer"].as_str().unwrap().len() == 32);
    }
    fs::remove_file(&bundle).unwrap();
    let (run, answer) = tried("gone");
    assert_eq!(
        (run.code, &answer["not_there"][0]["why"]),
        (0, &"it is not there".into())
    );
    fs::write(&bundle, &whole).unwrap();
    fs::write(&index, &listed[..listed.len() / 2]).unwrap();
    let (run, answer) = tried("index");
    assert_eq!(run.code, 3);
    let why = answer["refused"][0]["why"].as_str().unwrap();
    why.says("cut off");
    // The writer of the file writes it again, and removes leftovers of interrupted syncs.
    fs::write(&bundle, b"short").unwrap();
    let stray = bundle.with_file_name(format!("{}.icmx", "0".repeat(32)));
    fs::write(&stray, b"x").unwrap();
    sync(&world, "a");
    assert!(!stray.exists());
    let read = b.ok("sync target");
    read.out.says("received");
    sync(&world, "a");
    assert_eq!(state(&world, "a"), state(&world, "b"));
    let anew = a.json("sync target --anew");
    anew["sent"].has(json!({"anew": true, "files": 1}));
    sync(&world, "b");
}

#[test]
fn files_that_one_machine_lost_another_puts_back() {
    let world = World::new();
    store(&world, "a", "Mira drinks green tea");
    store(&world, "b", "The house uses tabs");
    for db in ["a", "b", "a"] {
        sync(&world, db);
    }
    // All files of a are gone, and so is a itself; b has the events.
    let a = world.at("a").json("log heads");
    let own = a
        .as_array()
        .unwrap()
        .iter()
        .find(|head| head["own"] == true)
        .unwrap();
    fs::remove_dir_all(world.path("target").join(own["origin"].as_str().unwrap())).unwrap();
    let was = state(&world, "a");
    assert_eq!(moved(&sync(&world, "b")).0, 0);
    assert!(moved(&sync(&world, "c")).0 > 0);
    assert_eq!(state(&world, "c"), was);
    // The same with only the bundles gone.
    sync(&world, "b");
    for bundle in bundles(&world.path("target")) {
        fs::remove_file(bundle).unwrap();
    }
    sync(&world, "b");
    sync(&world, "d");
    assert_eq!(state(&world, "d"), was);
}

/// Files that a store wrote before it was moved are removed on request. Events that a restored store writes reach the
/// other machines.
#[test]
fn a_store_that_was_moved_or_put_back() {
    let world = World::new();
    let [c, d, moved] = ["c", "d", "moved"].map(|db| world.at(db));
    let secret = "the safe opens with quartzite";
    let id = store(&world, "a", secret);
    sync(&world, "a");
    copy(&world.path("a"), &world.path("moved"));
    fs::remove_dir_all(world.path("a")).unwrap();
    moved.ok(format!("redact {id} --yes"));
    let answer = sync(&world, "moved");
    assert_eq!(answer["sent"]["outdated"].count(), 1, "{answer}");
    let holds = || {
        let files = tree(&world.path("target"));
        let has = |bytes: &[u8]| {
            bytes
                .windows(secret.len())
                .any(|it| it == secret.as_bytes())
        };
        files.iter().any(|(_, bytes)| has(bytes))
    };
    assert!(holds());
    moved.json("sync target --anew");
    assert!(!holds());
    sync(&world, "b");
    assert_eq!(state(&world, "b"), state(&world, "moved"));

    store(&world, "c", "Mira drinks green tea");
    c.json("sync other");
    copy(&world.path("c/log"), &world.path("old"));
    store(&world, "c", "The house uses tabs");
    for db in ["c", "d"] {
        world.at(db).json("sync other");
    }
    fs::remove_dir_all(world.path("c/log")).unwrap();
    copy(&world.path("old"), &world.path("c/log"));
    fs::remove_file(world.path("c/acked")).unwrap();
    store(&world, "c", "written after it was put back");
    for db in ["c", "d"] {
        world.at(db).json("sync other");
    }
    let found = d.ok("list --all");
    found.out.says("written after it was put back");
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for (path, bytes) in tree(from) {
        let path = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// An import that was interrupted before it was learned is learned by the next sync.
#[test]
fn waiting_events_are_learned() {
    let world = World::new();
    let b = world.at("b");
    store(&world, "a", "Mira drinks green tea");
    store(&world, "b", "The house uses tabs");
    for (path, bytes) in tree(&world.path("a/log")) {
        let to = world
            .path("b/log")
            .join(path.strip_prefix(world.path("a/log")).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, bytes).unwrap();
    }
    assert_eq!(b.json("stats")["memories"], 1);
    assert_eq!(moved(&sync(&world, "b")).0, 3);
    assert_eq!(b.json("stats")["memories"], 2);
}

/// If a file matches its index but is no bundle, the other files are read and the bad one is reported.
#[test]
fn files_that_are_no_bundle_stop_nobody() {
    let world = World::new();
    let b = world.at("b");
    store(&world, "a", "Mira drinks green tea");
    sync(&world, "a");
    let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
    let name = format!("{}.icmx", &digest(b"no bundle at all")[..32]);
    let dir = world.path("target").join("0".repeat(32));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join(&name), b"no bundle at all").unwrap();
    let writer = "0".repeat(32);
    let head = "1".repeat(64);
    let lines = format!(
        "{{\"icm_sync\":1,\"writer\":\"{writer}\",\"redactions\":0}}\n{{\"file\":\"{name}\",\"bytes\":16,\
         \"ranges\":[{{\"origin\":\"{writer}\",\"from_seq\":1,\"to_seq\":1,\"head\":\"{head}\"}}]}}\n"
    );
    let end = digest(lines.as_bytes());
    fs::write(dir.join("index"), format!("{lines}{{\"end\":\"{end}\"}}\n")).unwrap();
    let run = b.icm("sync target --json");
    assert_eq!(run.code, 3, "{run:?}");
    let answer: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(moved(&answer).0, 3);
    let why = answer["refused"][0]["why"].as_str().unwrap();
    why.says("is no file of `icm log export`");
}

/// A process that ends with the test.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Two watching machines: each gets the other's new memories within a moment, and waits for incomplete files.
#[test]
fn a_watcher_takes_new_lines() {
    let world = World::new();
    let c = world.at("c");
    store(&world, "a", "Mira drinks green tea");
    store(&world, "b", "The house uses tabs");
    let watching = ["a", "b"].map(|db| {
        let mut watch = world.command(format!("sync target --watch 1 -q --db '{db}'"));
        watch.stdin(Stdio::null()).stdout(Stdio::null());
        Watching(watch.spawn().unwrap())
    });
    let both = |memories: u64| {
        let begun = std::time::Instant::now();
        while ["a", "b"]
            .iter()
            .any(|db| world.at(db).json("stats")["memories"] != memories)
        {
            assert!(begun.elapsed().as_secs() < 60, "they never meet");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    both(2);
    store(&world, "b", "Invoices live in PostgreSQL");
    both(3);
    // A bundle of a third machine that arrives after its index.
    store(&world, "c", "The build runs on Fridays");
    c.json("sync elsewhere");
    let elsewhere = world.path("elsewhere");
    let bundle = bundles(&elsewhere).remove(0);
    let index = bundle.with_file_name("index");
    let to = |path: &Path| {
        world
            .path("target")
            .join(path.strip_prefix(&elsewhere).unwrap())
    };
    fs::create_dir(to(bundle.parent().unwrap())).unwrap();
    fs::copy(&index, to(&index)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    fs::copy(&bundle, to(&bundle)).unwrap();
    both(4);
    drop(watching);
    assert_eq!(state(&world, "a"), state(&world, "b"));
}

#[test]
fn a_target_that_is_none_is_told_of() {
    let world = World::new();
    let a = world.at("a");
    store(&world, "a", "Mira drinks green tea");
    fs::write(world.path("file"), b"x").unwrap();
    for (target, what) in [
        ("file", "is no folder"),
        ("nowhere/deep", "no folder for"),
        ("a", "not apart from the store"),
        ("a/within", "not apart from the store"),
        ("gopher://x", "no target that icm knows"),
        ("", "the target has no name"),
    ] {
        let run = a.icm(format!("sync '{target}'"));
        assert_eq!(run.code, 2, "{target}: {run:?}");
        assert!(run.err.contains(what), "{target}: {run:?}");
    }
    assert!(!world.path("a/within").exists());
    // The same if the store does not exist yet.
    let run = world.at("target/store").icm("sync target");
    run.err.says("not apart from the store");
    // A dry run makes no folder.
    a.ok("sync target --dry-run");
    assert!(!world.path("target").exists());
}

/// A changed bundle of a vanished machine: any machine with all of its events writes the bundle again.
#[test]
fn changed_files_are_written_anew_by_any_machine_that_has_them() {
    let world = World::new();
    let [b, c] = ["b", "c"].map(|db| world.at(db));
    store(&world, "a", "Mira drinks green tea");
    sync(&world, "a");
    let changed = bundles(&world.path("target")).remove(0);
    sync(&world, "b");
    let mut bytes = fs::read(&changed).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&changed, bytes).unwrap();
    store(&world, "b", "The house uses tabs");
    sync(&world, "b");
    let run = c.icm("-q sync target");
    assert_eq!(run.code, 3, "{run:?}");
    run.err.says("it was changed");
    run.err.says("--anew");
    b.icm("sync target --anew").ends(3);
    c.icm("sync target").ends(3);
    assert_eq!(state(&world, "c"), state(&world, "b"));
    assert_eq!(c.json("stats")["memories"], 2);
}

/// A foreign file that lists the events of a machine does not keep that machine from writing its own.
#[test]
fn a_machine_puts_its_own_events_there_whatever_others_list() {
    let world = World::new();
    let [b, c] = ["b", "c"].map(|db| world.at(db));
    store(&world, "b", "The house uses tabs");
    let heads = b.json("verify")["origins"][0].clone();
    let text = |name: &str| heads[name].as_str().unwrap().to_owned();
    let (writer, origin, head) = ("cd".repeat(16), text("origin"), text("head"));
    let file = format!("{}.icmx", "12".repeat(16));
    let dir = world.path("target").join(&writer);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(&file), [b'J'; 100]).unwrap();
    let lines = format!(
        "{{\"icm_sync\":1,\"writer\":\"{writer}\",\"redactions\":0}}\n{{\"file\":\"{file}\",\"bytes\":100,\
         \"ranges\":[{{\"origin\":\"{origin}\",\"from_seq\":1,\"to_seq\":{},\"head\":\"{head}\"}}]}}\n",
        heads["seq"]
    );
    let end = blake3::hash(lines.as_bytes()).to_hex();
    fs::write(dir.join("index"), format!("{lines}{{\"end\":\"{end}\"}}\n")).unwrap();
    assert_eq!(moved(&sync(&world, "b")), (0, 3));
    // The other file is no bundle.
    c.icm("sync target").ends(3);
    assert_eq!(state(&world, "c"), state(&world, "b"));
}

/// The lock of a sync outlives a redaction, which deletes other files of the folder.
#[test]
fn two_syncs_of_a_store_wait_for_each_other_after_a_redaction_came() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    let id = store(&world, "a", "the safe opens with quartzite");
    sync(&world, "a");
    sync(&world, "b");
    a.ok(format!("redact {id} --yes"));
    sync(&world, "a");
    let lock = fs::File::open(world.path("b/sync.lock")).unwrap();
    sync(&world, "b");
    assert!(b.json(format!("get {id}"))["content"].is_null());
    lock.lock().unwrap();
    b.fails("sync target => 2: another `icm sync` of this store is running");
}

#[test]
fn urls_of_folders_and_other_names() {
    let world = World::new();
    let a = world.at("a");
    store(&world, "a", "Mira drinks green tea");
    fs::create_dir(world.path("my folder")).unwrap();
    let folder = world.path("my folder/icm");
    let url = format!("file://{}", folder.display()).replace(' ', "%20");
    a.ok(format!("sync '{url}'"));
    assert_eq!(bundles(&folder).len(), 1);
    let local = url.replace("file://", "file://localhost");
    a.ok(format!("sync '{local}'"));
    for bad in ["file://relative", "file:relative", "file:"] {
        a.icm(format!("sync '{bad}'"))
            .fails(2, "names no folder of this machine");
    }
    a.fails("sync - => 2: `-` is no target");
    a.fails("sync --watch target => 2: give the target before `--watch`");
    a.fails("log export --since no/heads - => 2: there is no file no/heads");
    fs::write(world.path("kept.jsonl"), "kept").unwrap();
    let kept = world.path("kept.jsonl");
    let words = ["export", "markdown", "-o", kept.to_str().unwrap()];
    a.icm(words).fails(2, "is a file of another kind");
    assert_eq!(fs::read(kept).unwrap(), b"kept");
}

/// A folder in the place of the own index is reported, and nothing is written there.
#[test]
fn an_own_index_that_is_no_file_is_told_of() {
    let world = World::new();
    let a = world.at("a");
    store(&world, "a", "Mira drinks green tea");
    sync(&world, "a");
    let index = tree(&world.path("target"))
        .into_iter()
        .map(|(path, _)| path)
        .find(|path| path.ends_with("index"));
    let index = index.unwrap();
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    let before = bundles(&world.path("target"));
    for content in ["The house uses tabs", "Deploys happen on Tuesdays"] {
        store(&world, "a", content);
        let run = a.icm("sync target");
        assert_eq!(run.code, 3, "{run:?}");
        run.err.says("left alone: index of ");
    }
    assert_eq!(bundles(&world.path("target")), before);
    fs::remove_dir(&index).unwrap();
    assert_eq!(moved(&sync(&world, "a")).1, 5);
}
