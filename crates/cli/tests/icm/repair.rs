//! `icm log repair`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{Look, Says, World};

fn segment(world: &World) -> PathBuf {
    let chain = fs::read_dir(world.store().join("log")).unwrap().next();
    let mut files = fs::read_dir(chain.unwrap().unwrap().path()).unwrap();
    files.next().unwrap().unwrap().path()
}

fn flip(path: &Path, from_end: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() - from_end;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Makes a store whose event before the newest one has a damaged head.
pub(crate) fn damaged() -> World {
    let world = World::with_memories();
    let path = segment(&world);
    let len = fs::read(&path).unwrap().len();
    world.ok("store -t t -c 'the last one'");
    let grown = fs::read(&path).unwrap().len();
    flip(&path, grown - len + 150);
    world
}

#[test]
fn a_damaged_log_is_looked_at_repaired_and_written_again() {
    let world = damaged();
    world.icm("log verify").ends(3);
    let refused = world.icm("store -t t -c 'not now'").ends(3);
    refused.err.says("icm log repair");
    let before = fs::read(segment(&world)).unwrap();
    let shown = world.icm("log repair --dry-run").ends(3);
    shown.out.says("gone: 1 event");
    let unconfirmed = world.icm("log repair").ends(2);
    unconfirmed.err.says("--yes");
    assert_eq!(fs::read(segment(&world)).unwrap(), before, "only looked at");

    let done = world.ok("log repair --yes --reason 'a test'");
    done.out.says("repaired");
    done.out.says("aside in torn/");
    let verified = world.ok("log verify");
    verified.out.says("is gone since the repair @");
    world.ok("verify");
    world.ok("store -t t -c 'now it goes'");
    let last = world.ok("log --kind log.repaired --json");
    last.out.says("a test");
    let again = world.ok("log repair");
    assert_eq!(again.out.trim(), "nothing to repair");
    world.ok("log repair --dry-run");
}

/// A recall is recorded after its answer, but never behind damage.
#[test]
fn a_recall_answers_from_what_lies_before_the_damage_and_writes_nothing() {
    let world = damaged();
    let before = fs::read(segment(&world)).unwrap();
    for _ in 0..2 {
        let recalled = world.icm("recall invoices").ends(3);
        recalled.out.says("PostgreSQL");
        assert_eq!(
            recalled.err.matches("note: the log is damaged").count(),
            1,
            "{recalled:#?}"
        );
    }
    assert!(fs::read(segment(&world)).unwrap() == before, "it wrote");
}

#[test]
fn the_shape_of_the_answer_is_always_the_same() {
    let keys = |text: &str| -> Vec<String> {
        let answer: Value = serde_json::from_str(text).unwrap();
        answer.as_object().unwrap().keys().cloned().collect()
    };
    let world = World::new();
    let empty = world.ok("log repair --json");
    let expected = keys(&empty.out);
    assert_eq!(expected.len(), 18, "{expected:?}");
    assert!(!world.store().exists(), "nothing was made");
    let world = damaged();
    let shown = world.icm("log repair --dry-run --json").ends(3);
    assert_eq!(keys(&shown.out), expected);
    let done = world.ok("log repair --yes --json");
    assert_eq!(keys(&done.out), expected);
    let done: Value = serde_json::from_str(&done.out).unwrap();
    done.has(json!({"gone_events": 1, "damaged": true}));
    assert!(done["event"].is_string(), "{done}");
    let again = world.ok("log repair --yes --json");
    assert_eq!(keys(&again.out), expected);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["damaged"], false);
}

#[test]
fn a_store_without_its_store_file_is_written_again_under_a_new_origin() {
    let world = World::with_memories();
    fs::remove_file(world.store().join("store.toml")).unwrap();
    let refused = world.icm("store -t t -c 'not now'").ends(2);
    refused.err.says("icm log repair");
    let done = world.ok("log repair --yes");
    done.out.says("new origin");
    done.out.says("new secret");
    world.ok("store -t t -c 'now it goes'");
    world.ok("verify");
}

#[test]
fn files_of_a_newer_version_are_not_touched() {
    let world = World::with_memories();
    let path = world.store().join("store.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("format = 1", "format = 99", 1)).unwrap();
    let refused = world.icm("log repair --yes").ends(2);
    refused.err.says("newer");
}

#[test]
fn a_repair_that_was_begun_is_finished_and_nothing_else_writes() {
    let world = World::with_memories();
    fs::write(world.store().join("repairing"), "# begun\n").unwrap();
    world.ok("list");
    let refused = world.icm("store -t t -c 'not now'").ends(2);
    refused.err.says("icm log repair");
    let checkup = world.icm("doctor").ends(1);
    checkup.out.says("log repair");
    world.ok("log repair --yes");
    world.ok("store -t t -c 'now it goes'");
}

#[test]
fn a_redaction_that_was_begun_is_finished_after_the_repair() {
    let world = damaged();
    let marker = world.store().join("redacting");
    fs::write(&marker, "begun").unwrap();
    world.ok("log repair --yes");
    world.ok("list");
    assert!(!marker.exists(), "it was finished");
    world.ok("verify");
}

/// Bytes are missing within a payload, so its length reaches into the next event.
#[test]
fn files_beside_a_payload_that_is_too_short_are_kept() {
    let world = World::new();
    let big = format!("big {}", "x".repeat(3_000));
    for text in [big.as_str(), "the intact neighbour", "later 1", "later 2"] {
        world.ok(format!("store -t a -c '{text}'"));
    }
    let log = world.store().join("log");
    let chain = std::fs::read_dir(&log).unwrap().next().unwrap().unwrap();
    let segment = std::fs::read_dir(chain.path()).unwrap().next().unwrap();
    let segment = segment.unwrap().path();
    let bytes = std::fs::read(&segment).unwrap();
    let at = bytes.windows(8).position(|window| window == b"xxxxxxxx");
    let at = at.unwrap();
    let cut = [&bytes[..at + 500], &bytes[at + 1_000..]].concat();
    std::fs::write(&segment, cut).unwrap();
    world.ok("log repair --yes");
    let list = world.out("list");
    for text in ["the intact neighbour", "later 1", "later 2"] {
        list.says(text);
    }
    world.ok("log verify");
}

/// Missing events come back from an export of another machine.
#[test]
fn an_export_gives_back_what_is_gone() {
    let world = World::with_memories();
    world.ok("log export all.icmx");
    let log = world.store().join("log");
    let chain = std::fs::read_dir(&log).unwrap().next().unwrap().unwrap();
    let segment = std::fs::read_dir(chain.path()).unwrap().next().unwrap();
    let segment = segment.unwrap().path();
    let mut bytes = std::fs::read(&segment).unwrap();
    // A bit in the head of the event about prices.
    let at = bytes
        .windows(6)
        .position(|window| window == b"Prices")
        .unwrap();
    bytes[at - 200] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let run = world.icm("log repair --from nowhere.icmx --yes");
    run.fails(2, "nowhere.icmx");
    let all = std::fs::read(world.path("all.icmx")).unwrap();
    let piped = world.icm_with("log repair --from - --dry-run", &all);
    assert!(piped.ends(3).out.contains("no event is gone"));
    let done = world.icm_with("log repair --from - --yes --json", &all);
    let done = done.ok().json();
    assert_eq!(done["gone"].count(), 0, "{done}");
    let list = world.out("list");
    list.says("Prices are integer cents");
    let report = world.json("verify");
    assert_eq!(report["findings"].count(), 0, "{report}");
}

/// A lost payload is reported by its memory as far as known, and an explained loss needs no command.
#[test]
fn a_lost_payload_is_told_by_its_memory() {
    for rebuilt in [true, false] {
        let world = World::with_memories();
        let id = world.id("money");
        if rebuilt {
            world.ok("rebuild");
        }
        let path = segment(&world);
        let mut bytes = fs::read(&path).unwrap();
        let text = b"Prices are";
        let at = (bytes.windows(text.len())).position(|window| window == text);
        bytes[at.unwrap()] ^= 1;
        fs::write(&path, bytes).unwrap();
        let shown = world.icm("log repair --dry-run").ends(3);
        let done = world.ok("log repair --yes");
        for out in [shown.out, done.out] {
            let of = match rebuilt {
                true => format!("memory.stored of {id} in decisions"),
                false => format!("memory.stored of {id}"),
            };
            out.says(&of);
        }
        let checkup = world.json("doctor --full");
        let log = checkup["checks"].as_array().unwrap().iter();
        let log: Vec<_> = log.filter(|check| check["name"] == "log").collect();
        assert_eq!(log.len(), 1, "{checkup}");
        assert_eq!(log[0]["status"], "warning", "{checkup}");
        assert_eq!(log[0]["command"], Value::Null, "{checkup}");
    }
}

/// Bytes that are set aside lie in `torn/`, and events that an export brings back count again.
#[test]
fn events_set_aside_stay_and_those_put_back_count() {
    let world = World::new();
    for n in 0..4 {
        world.ok(format!("store -t t -c 'number {n}'"));
    }
    world.ok("log export all.icmx");
    let log = world.store().join("log");
    let chain = std::fs::read_dir(log).unwrap().next().unwrap().unwrap();
    let segment = std::fs::read_dir(chain.path()).unwrap().next().unwrap();
    let path = segment.unwrap().path();
    let bytes = std::fs::read(&path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    std::fs::write(&path, &bytes[..end - 20]).unwrap();
    let repaired = world.json("log repair --yes");
    assert_eq!(repaired["gone_events"], 1, "{repaired}");
    let torn: Vec<_> = std::fs::read_dir(world.store().join("torn"))
        .unwrap()
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    let text = b"number 3";
    let holds = |bytes: &Vec<u8>| bytes.windows(text.len()).any(|it| it == text);
    assert!(torn.iter().any(holds), "{torn:?}");
    assert_eq!(world.count("list"), 3);

    let file = world.path("all.icmx");
    let file = file.to_str().unwrap();
    let repaired = world.json(format!("log repair --from '{file}' --yes"));
    assert_eq!(repaired["refilled_events"], 1, "{repaired}");
    assert_eq!(world.count("list"), 4);
    assert_eq!(world.json("verify")["ok"], true);
    world.ok(format!("log repair --from '{file}'"));
}

/// A reader does not see events behind damage, which does not prove that they do not exist.
#[test]
fn events_that_may_lie_behind_the_damage_are_not_told_to_be_missing() {
    let world = damaged();
    let last = world.icm("log show @99").ends(3);
    last.err.says("no event");
    world.icm("get nothing-like-it").ends(3);
    world.icm("undo @99 --dry-run").ends(3);
    let whole = World::with_memories();
    whole.icm("log show @99").ends(1);
}

/// The newest acknowledged event is unreachable from the front, and the record of a recall lies behind it.
#[test]
fn heads_behind_damage_are_an_error() {
    let world = World::with_memories();
    world.ok("recall invoices");
    let bytes = fs::read(segment(&world)).unwrap();
    let at = bytes.windows(8).position(|window| window == b"database");
    let mut bytes = bytes;
    bytes[at.unwrap() - 200] ^= 1;
    fs::write(segment(&world), bytes).unwrap();
    let heads = world.icm("log heads").ends(3);
    assert!(heads.out.is_empty(), "{heads:#?}");
    heads.err.says("icm log repair");
}

/// A lost payload that was redacted later does not come back.
#[test]
fn payloads_redacted_since_are_not_brought_back() {
    let world = World::with_memories();
    let export = world.path("all.icmx");
    let money = world.id("money");
    let icm = |args: &[&str]| world.icm(args);
    icm(&["log", "export", export.to_str().unwrap()]).ok();
    let mut bytes = fs::read(segment(&world)).unwrap();
    let at = bytes.windows(7).position(|window| window == b"integer");
    bytes[at.unwrap()] ^= 1;
    fs::write(segment(&world), bytes).unwrap();
    icm(&["log", "repair", "--yes"]).ok();
    let from = ["log", "repair", "--yes", "--from", export.to_str().unwrap()];
    let look = icm(&[&from[..], &["--dry-run"]].concat()).ends(3);
    look.out.says("1 payload back");
    icm(&["redact", &money, "--yes"]).ok();
    assert_eq!(icm(&from).ok().out.trim(), "nothing to repair");
}
