//! `icm redact` for texts outside readable events, and redacted texts that are put back.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{Args, Run, Says, World, tree};

const SECRET: &str = "Open-Sesame/wörd";

fn segments(store: &Path) -> Vec<PathBuf> {
    let files = tree(&store.join("log")).into_iter().map(|file| file.0);
    files
        .filter(|path| path.extension().is_some_and(|it| it == "icmlog"))
        .collect()
}

fn segment_with(store: &Path, text: &str) -> PathBuf {
    let mut segments = segments(store).into_iter();
    let holds = |path: &PathBuf| contains(&fs::read(path).unwrap(), text.as_bytes());
    segments.find(holds).expect("a segment holds it")
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn is_anywhere(store: &Path, text: &str) -> bool {
    (tree(store).iter()).any(|(_, bytes)| contains(bytes, text.as_bytes()))
}

/// Runs `icm` on another store, with `--yes`.
fn on_other(world: &World, store: &Path, args: impl Args) -> Run {
    world.at(store.to_str().unwrap()).icm((args, "--yes"))
}

/// Makes a store with a secret under the key `pw`, and an export of the store.
fn exported() -> (World, String) {
    let world = World::with_memories();
    let content = format!("{SECRET} once");
    world.ok(format!("store -t t --key pw -c '{content}'"));
    let export = world.path("all.icmx");
    world.ok(format!("log export '{}'", export.display()));
    let export = export.to_str().unwrap().to_owned();
    (world, export)
}

fn copy(from: &Path, to: &Path) {
    let args = ["-r".as_ref(), from.as_os_str(), to.as_os_str()];
    let copied = std::process::Command::new("cp").args(args).status();
    assert!(copied.unwrap().success());
}

fn redact(world: &World, more: &str) -> Run {
    world.icm(format!("redact --match '{SECRET}' '{more}'"))
}

/// The next writer moves unacknowledged bytes to `torn/`.
#[test]
fn a_text_in_torn_is_taken_away() {
    let world = World::with_memories();
    let path = segments(&world.store()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(format!("half a record, with {SECRET} in it").as_bytes());
    fs::write(&path, bytes).unwrap();
    let look = redact(&world, "--dry-run").ok();
    look.out.begins("would take away log/");
    world.ok("store -t t -c 'the next one'");
    fs::write(world.store().join("mine"), SECRET).unwrap();
    let events = world.json("verify")["events"].clone();

    let look = redact(&world, "--dry-run").ok();
    look.out.begins("would take away torn/");
    assert!(is_anywhere(&world.store(), SECRET));
    redact(&world, "-q").fails(2, "removing 1 file of torn/ for good");
    let done = redact(&world, "--yes").ok();
    done.out.says("removed 1 file of torn/");
    done.out.says("mine: no file of the store");
    fs::remove_file(world.store().join("mine")).unwrap();
    assert!(!is_anywhere(&world.store(), SECRET));
    redact(&world, "--yes").fails(1, "nothing in the store holds that");
    assert_eq!(world.json("verify")["events"], events);
}

#[test]
fn a_text_in_a_damaged_payload_goes() {
    let world = World::with_memories();
    let content = format!("{SECRET} and bbb");
    world.ok(format!("store -t t -c '{content}'"));
    let path = segments(&world.store()).remove(0);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(3)
        .position(|window| window == b"bbb")
        .unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    world.ok("store -t t -c 'the next one'");

    redact(&world, "--yes").ok();
    assert!(!is_anywhere(&world.store(), SECRET));
    world.ok("verify");
}

#[test]
fn a_text_is_found_in_base64_and_within_json() {
    let world = World::with_memories();
    // Base64 of `x Open-Sesame/wörd y`, and the text escaped within JSON.
    for content in [
        "eCBPcGVuLVNlc2FtZS93w7ZyZCB5",
        r#"{"a": "Open-Sesame/w\u00f6rd"}"#,
    ] {
        world.ok(format!("store -t t -c '{content}' --allow-secret"));
    }
    let look: Value = world.json(format!("redact --match '{SECRET}' --dry-run"));
    assert_eq!(look["events"], 2, "{look}");
}

/// A sync tool, or a person with an old copy, restores a file from before the redaction.
#[test]
fn a_redacted_text_that_is_put_back_is_told() {
    let (world, export) = exported();
    let other = world.path("other");
    let on_other = |args: &str| on_other(&world, &other, args);
    on_other(&format!("log import '{export}'")).ok();
    let path = segment_with(&other, SECRET);
    let before = fs::read(&path).unwrap();
    on_other(&format!("redact --match '{SECRET}'")).ok();
    on_other("verify").ok();
    fs::write(&path, before).unwrap();
    // Verify does not report texts while a redaction waits to be finished.
    fs::write(other.join("redacting"), "").unwrap();
    on_other("log verify").ok();
    fs::remove_file(other.join("redacting")).unwrap();
    let told = on_other("verify").ends(3);
    let (_, command) = told.out.split_once("`icm redact ").expect("the command");
    let event = command.split('`').next().unwrap();
    on_other(&format!("redact '{event}'")).ok();
    assert!(!is_anywhere(&other, SECRET));
    on_other("verify").ok();
}

/// The event of a redaction is lost, and the text belongs to another machine.
#[test]
fn a_repair_tells_the_texts_of_others_that_nothing_explains() {
    let (world, export) = exported();
    let other = world.path("other");
    let on_other = |args: &str| on_other(&world, &other, args);
    on_other("store -t t -c 'here first'").ok();
    on_other(&format!("log import '{export}'")).ok();
    let own = segment_with(&other, "here first");
    let before = fs::read(&own).unwrap().len();
    on_other(&format!("redact --match '{SECRET}'")).ok();
    on_other("store -t t -c 'and the next one'").ok();
    let mut bytes = fs::read(&own).unwrap();
    bytes[before + 60] ^= 1; // in the head of the redaction
    fs::write(&own, bytes).unwrap();

    let repaired = on_other("log repair --json").ok().json();
    let told = repaired["unexplained"].as_array().unwrap();
    assert_eq!(told.len(), 1, "{repaired}");
    assert_eq!(repaired["redacted"], serde_json::json!([]));
    // An import would bring the text back.
    let unsaid = world.path("unsaid");
    copy(&other, &unsaid);
    world
        .at(unsaid.to_str().unwrap())
        .ok(format!("log import '{export}'"));
    assert!(is_anywhere(&unsaid, SECRET));
    // A person who knows of the redaction can repeat it together with others. After that no import brings the text
    // back.
    let event = told[0]["event"].as_str().unwrap();
    let first = on_other("log --kind memory.stored --json").ok();
    let first = first.json_lines().into_iter().last().unwrap();
    on_other(&format!(
        "redact '{event}' {}",
        first["event"].as_str().unwrap()
    ))
    .ok();
    on_other(&format!("log import '{export}'")).ok();
    assert!(!is_anywhere(&other, SECRET));
}

/// The folder was copied, which began a new chain, and then the old `store.toml` was put back.
#[test]
fn an_older_store_file_hides_nothing() {
    let world = World::with_memories();
    let old = fs::read(world.store().join("store.toml")).unwrap();
    let moved = world.path("moved");
    fs::rename(world.store(), &moved).unwrap();
    copy(&moved, &world.store());
    fs::remove_dir_all(&moved).unwrap();
    world.ok("store -t t -c 'the newest one'");
    assert_eq!(fs::read_dir(world.store().join("log")).unwrap().count(), 2);

    // With an older `acked` nothing is known to be missing, but verify reports the chain.
    fs::write(world.store().join("store.toml"), &old).unwrap();
    let acked = fs::read(world.store().join("acked")).unwrap();
    fs::remove_file(world.store().join("acked")).unwrap();
    let verified = world.ok("log verify");
    verified.out.says("never learned");
    fs::write(world.store().join("acked"), acked).unwrap();

    let list = world.ok("list");
    list.out.says("the newest one");
    list.err.says("older than the log");
    world.icm("verify").ends(3);
    world.fails("store -t t -c 'not now' => 2: older than the log");
    world.ok("log repair --yes");
    world.ok("store -t t -c 'now it goes'");
    let list = world.ok("list");
    assert_eq!(list.out.lines().count(), 5, "{list:#?}");
    world.ok("verify");
}

/// A file of a sync tool beside a segment, with an event of no chain of this store.
#[test]
fn a_copy_with_an_event_of_no_chain_is_named() {
    let world = World::with_memories();
    let elsewhere = world.path("elsewhere");
    let on_other = |args: &str| on_other(&world, &elsewhere, args);
    on_other(&format!("store -t t -c '{SECRET} too'")).ok();
    let copy = segments(&world.store())[0].with_file_name("conflict copy.icmlog");
    fs::copy(&segments(&elsewhere)[0], &copy).unwrap();
    let id = world.id("owner");
    let done = world.ok(format!("redact {id} --yes"));
    done.out.says("conflict copy.icmlog: no file");
}

/// If a repair loses the event that told the author of an update about a redaction, it names the text that goes with
/// it.
#[test]
fn a_repair_says_which_texts_go_with_what_is_gone() {
    let world = World::with_memories();
    let content = format!("{SECRET} once");
    world.ok(format!("store -t t --key pw -c '{content}'"));
    let (first, second) = (world.path("first.icmx"), world.path("second.icmx"));
    world.ok(format!("log export '{}'", first.display()));
    let other = world.path("other");
    let on_other = |args: &str| on_other(&world, &other, args);
    on_other("store -t t -c 'here first'").ok();
    on_other(&format!("log import '{}'", first.display())).ok();
    world.ok(format!("redact {} --yes", world.id("pw")));
    world.ok(format!("log export '{}'", second.display()));
    let own = segment_with(&other, "here first");
    let before = fs::read(&own).unwrap().len();
    on_other(&format!("log import '{}'", second.display())).ok();
    let id = on_other("list --json --all").ok().json();
    let id = id
        .as_array()
        .unwrap()
        .iter()
        .find(|memory| memory["content"].is_null());
    let id = id.unwrap()["id"].as_str().unwrap().to_owned();
    on_other(&format!("update {id} -c harmless")).ok();
    let mut bytes = fs::read(&own).unwrap();
    bytes[before + 60] ^= 1; // in the head of the import
    fs::write(&own, bytes).unwrap();
    let look = on_other("log repair --dry-run").ends(3);
    look.out.says("the payload of @");
    look.out.says("memory.updated");
    let from = on_other(&format!("log repair --from '{}'", second.display()));
    assert!(from.code == 0, "{from:#?}");
}
