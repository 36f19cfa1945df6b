//! `icm log repair`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::World;

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

/// A store whose event before the newest one has a damaged head.
fn damaged() -> World {
    let world = World::with_memories();
    let path = segment(&world);
    let len = fs::read(&path).unwrap().len();
    world.icm(["store", "-t", "t", "-c", "the last one"]).ok();
    let grown = fs::read(&path).unwrap().len();
    flip(&path, grown - len + 150);
    world
}

#[test]
fn a_damaged_log_is_looked_at_repaired_and_written_again() {
    let world = damaged();
    world.icm(["log", "verify"]).ends(3);
    let refused = world.icm(["store", "-t", "t", "-c", "not now"]).ends(3);
    assert!(refused.err.contains("icm log repair"), "{}", refused.err);
    let before = fs::read(segment(&world)).unwrap();
    let shown = world.icm(["log", "repair", "--dry-run"]).ends(3);
    assert!(shown.out.contains("gone: 1 event"), "{}", shown.out);
    let unconfirmed = world.icm(["log", "repair"]).ends(2);
    assert!(unconfirmed.err.contains("--yes"), "{}", unconfirmed.err);
    assert_eq!(fs::read(segment(&world)).unwrap(), before, "only looked at");

    let done = world
        .icm(["log", "repair", "--yes", "--reason", "a test"])
        .ok();
    assert!(done.out.contains("repaired"), "{}", done.out);
    assert!(done.out.contains("aside in torn/"), "{}", done.out);
    let verified = world.icm(["log", "verify"]).ok();
    assert!(
        verified.out.contains("is gone since the repair @"),
        "{}",
        verified.out
    );
    world.icm(["verify"]).ok();
    world.icm(["store", "-t", "t", "-c", "now it goes"]).ok();
    let last = world.icm(["log", "--kind", "log.repaired", "--json"]).ok();
    assert!(last.out.contains("a test"), "{}", last.out);
    let again = world.icm(["log", "repair"]).ok();
    assert_eq!(again.out.trim(), "nothing to repair");
    world.icm(["log", "repair", "--dry-run"]).ok();
}

#[test]
fn the_shape_of_the_answer_is_always_the_same() {
    let keys = |text: &str| -> Vec<String> {
        let answer: Value = serde_json::from_str(text).unwrap();
        answer.as_object().unwrap().keys().cloned().collect()
    };
    let world = World::new();
    let empty = world.icm(["log", "repair", "--json"]).ok();
    let expected = keys(&empty.out);
    assert_eq!(expected.len(), 16, "{expected:?}");
    assert!(!world.store().exists(), "nothing was made");
    let world = damaged();
    let shown = world.icm(["log", "repair", "--dry-run", "--json"]).ends(3);
    assert_eq!(keys(&shown.out), expected);
    let done = world.icm(["log", "repair", "--yes", "--json"]).ok();
    assert_eq!(keys(&done.out), expected);
    let done: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(done["gone_events"], 1);
    assert_eq!(done["damaged"], true);
    assert!(done["event"].is_string(), "{done}");
    let again = world.icm(["log", "repair", "--yes", "--json"]).ok();
    assert_eq!(keys(&again.out), expected);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["damaged"], false);
}

#[test]
fn a_store_without_its_store_file_is_written_again_under_a_new_origin() {
    let world = World::with_memories();
    fs::remove_file(world.store().join("store.toml")).unwrap();
    let refused = world.icm(["store", "-t", "t", "-c", "not now"]).ends(2);
    assert!(refused.err.contains("icm log repair"), "{}", refused.err);
    let done = world.icm(["log", "repair", "--yes"]).ok();
    assert!(done.out.contains("new origin"), "{}", done.out);
    assert!(done.out.contains("new secret"), "{}", done.out);
    world.icm(["store", "-t", "t", "-c", "now it goes"]).ok();
    world.icm(["verify"]).ok();
}

#[test]
fn what_a_newer_version_wrote_is_not_touched() {
    let world = World::with_memories();
    let path = world.store().join("store.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("format = 1", "format = 99", 1)).unwrap();
    let refused = world.icm(["log", "repair", "--yes"]).ends(2);
    assert!(refused.err.contains("newer"), "{}", refused.err);
}

#[test]
fn a_repair_that_was_begun_is_finished_and_nothing_else_writes() {
    let world = World::with_memories();
    fs::write(world.store().join("repairing"), "# begun\n").unwrap();
    world.icm(["list"]).ok();
    let refused = world.icm(["store", "-t", "t", "-c", "not now"]).ends(2);
    assert!(refused.err.contains("icm log repair"), "{}", refused.err);
    let checkup = world.icm(["doctor"]).ends(1);
    assert!(checkup.out.contains("log repair"), "{}", checkup.out);
    world.icm(["log", "repair", "--yes"]).ok();
    world.icm(["store", "-t", "t", "-c", "now it goes"]).ok();
}

#[test]
fn a_redaction_that_was_begun_is_finished_after_the_repair() {
    let world = damaged();
    let marker = world.store().join("redacting");
    fs::write(&marker, "begun").unwrap();
    world.icm(["log", "repair", "--yes"]).ok();
    world.icm(["list"]).ok();
    assert!(!marker.exists(), "it was finished");
    world.icm(["verify"]).ok();
}
