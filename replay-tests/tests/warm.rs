//! A process that stays open (a server) beside another that rewrites the log: the server must drop what it remembers of
//! the earlier log.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use icm_api::{
    Action, Caller, ExportSince, ListRequest, LogImportAnswer, NoProgress, RecallRequest,
    RedactRequest, RepairRequest, StoreRequest,
};
use icm_log::bundle::Bundle;
use icm_log::disk::{Disk, OpenMode, RealDisk};
use icm_log::facts::LogRedacted;
use icm_log::{Durability, EventId, Kind, Log, NewEvent, SubjectId, payload};
use icm_service::{ExportFile, Service};
use replay_tests::env::SimEnv;
use replay_tests::{folder, logbed, store};

/// A folder of stores; a test may open each by several services.
struct World {
    folder: tempfile::TempDir,
    seed: std::cell::Cell<u64>,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let seed = std::cell::Cell::new(1);
        World { folder, seed }
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens a store as another process would.
    fn open(&self, name: &str) -> Service {
        self.seed.set(self.seed.get() + 1);
        let env = Arc::new(SimEnv::new(self.seed.get()));
        store::open(&self.dir(name), env).expect("it opens")
    }

    /// Exports a store.
    fn export(&self, from: &str) -> PathBuf {
        let path = self.dir(&format!("{from}.icmx"));
        let mut file = fs::File::create(&path).expect("created");
        let exported = self
            .open(from)
            .export_log(&ExportSince::Start, &mut file, &NoProgress);
        exported.expect("exported");
        path
    }

    /// Imports the export of one store into another.
    fn give(&self, from: &str, to: &str) -> LogImportAnswer {
        import(&self.open(to), &self.export(from))
    }
}

fn import(service: &Service, path: &Path) -> LogImportAnswer {
    let file = ExportFile::open(path).expect("it is there");
    let answer = service.import_log(&Caller::default(), &file, false, &NoProgress);
    answer.expect("imported")
}

fn store(service: &Service, content: &str) -> String {
    let request = StoreRequest::new("t", content);
    let stored = service.store(&Caller::default(), request);
    stored.expect("it stores").id
}

fn redact(service: &Service, id: &str) {
    let request = RedactRequest {
        targets: vec![id.to_owned()],
        ..RedactRequest::default()
    };
    let redacted = service.redact(&Caller::default(), &request);
    redacted.expect("it redacts");
}

/// Returns the contents of all memories; `-` for a withheld one.
fn contents(service: &Service) -> Vec<String> {
    let list = service.list(&ListRequest::default()).expect("it lists");
    let mut contents: Vec<String> = list
        .into_iter()
        .map(|memory| memory.content.unwrap_or_else(|| "-".to_owned()))
        .collect();
    contents.sort();
    contents
}

/// Changes a byte in the middle of a text in the log.
fn damage(dir: &Path, text: &str) {
    let mut folders = vec![dir.join("log")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("it reads") {
            let path = entry.expect("it reads").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).expect("it reads");
            let text = text.as_bytes();
            if let Some(at) = bytes.windows(text.len()).position(|found| found == text) {
                bytes[at + text.len() / 2] ^= 1;
                fs::write(&path, bytes).expect("written");
                return;
            }
        }
    }
    panic!("no file holds it");
}

#[test]
fn a_redaction() {
    let world = World::new();
    let warm = world.open("a");
    let id = store(&warm, "one");
    store(&warm, "two");
    assert_eq!(contents(&warm), ["one", "two"]);
    redact(&world.open("a"), &id);
    assert_eq!(contents(&warm), ["-", "two"]);
    assert_eq!(warm.take_notices(), Vec::<String>::new());
}

/// A recall asked before a redaction must not be recorded after it.
#[test]
fn a_recall_that_is_not_written_yet() {
    for asked_before in [true, false] {
        let world = World::new();
        let warm = world.open("a");
        let id = store(&warm, "swordfish");
        let request = RecallRequest {
            record: true,
            floor: Some(0.0),
            ..RecallRequest::new("swordfish")
        };
        let ask = || warm.recall(&Caller::default(), &request).expect("recalled");
        if asked_before {
            ask();
        }
        redact(&world.open("a"), &id);
        if !asked_before {
            ask();
        }
        warm.record_recalls();
        let bytes: Vec<u8> = folder::read(&world.dir("a").join("log"))
            .into_values()
            .flatten()
            .collect();
        let text = b"swordfish";
        let written = bytes.windows(text.len()).any(|it| it == text);
        // A later recall that asks for the word records the word again.
        assert_eq!(written, !asked_before);
    }
}

/// A server whose store is moved away must not begin another store in its place.
#[test]
fn a_store_that_is_moved_away() {
    let world = World::new();
    let warm = world.open("a");
    let gone = store(&warm, "gone");
    redact(&warm, &gone);
    store(&warm, "one");
    fs::rename(world.dir("a"), world.dir("elsewhere")).expect("moved");
    let request = StoreRequest::new("t", "two");
    let error = warm.store(&Caller::default(), request.clone());
    let error = error.expect_err("it is gone").to_string();
    assert!(error.contains("moved or removed"), "{error}");
    assert!(warm.list(&ListRequest::default()).is_err());
    assert!(!world.dir("a").exists());
    fs::rename(world.dir("elsewhere"), world.dir("a")).expect("moved back");
    warm.store(&Caller::default(), request).expect("it is back");
    assert_eq!(contents(&warm), ["-", "one", "two"]);
}

/// A damaged text may still be read from the bytes, and may come back.
#[test]
fn a_redaction_of_what_is_damaged() {
    let world = World::new();
    let id = store(&world.open("a"), "swordfish and chips");
    store(&world.open("b"), "three");
    world.give("a", "b");
    damage(&world.dir("a"), "chips");
    redact(&world.open("a"), &id);
    let bytes: Vec<u8> = folder::read(&world.dir("a"))
        .into_values()
        .flatten()
        .collect();
    let text = b"swordfish";
    assert!(!bytes.windows(text.len()).any(|it| it == text));
    assert_eq!(world.give("b", "a").refilled_payloads, 0);
}

#[test]
fn a_redaction_that_an_import_brought() {
    let world = World::new();
    let warm = world.open("a");
    let id = store(&warm, "one");
    store(&warm, "two");
    store(&world.open("b"), "three");
    world.give("a", "b");
    assert_eq!(contents(&warm), ["one", "two"]);
    redact(&world.open("b"), &id);
    world.give("b", "a");
    assert_eq!(contents(&warm), ["-", "three", "two"]);
}

#[test]
fn a_payload_that_an_import_gave_back() {
    let world = World::new();
    for text in ["one", "two"] {
        store(&world.open("a"), text);
    }
    store(&world.open("b"), "three");
    world.give("a", "b");
    world.give("b", "a");
    for views_on_disk in [false, true] {
        damage(&world.dir("a"), "one");
        let warm = world.open("a");
        if views_on_disk {
            warm.rebuild(&NoProgress).expect("it builds");
        }
        assert_eq!(contents(&warm), ["-", "three", "two"]);
        assert_eq!(world.give("b", "a").refilled_payloads, 1);
        assert_eq!(contents(&warm), ["one", "three", "two"]);
    }
}

/// The import was killed after it had restored the payload, and before its other work.
#[test]
fn a_payload_that_an_import_gave_back_which_another_process_finished() {
    let world = World::new();
    store(&world.open("a"), "one");
    let export = world.export("a");
    damage(&world.dir("a"), "one");
    let warm = world.open("a");
    assert_eq!(contents(&warm), ["-"]);
    {
        let log = Log::open(Arc::new(RealDisk), &world.dir("a")).expect("it opens");
        let file = RealDisk.open(&export, OpenMode::Read).expect("it opens");
        let bundle = Bundle::read(file, &export, &mut |_| {}).expect("it is whole");
        let env = SimEnv::new(99);
        let mut writer = log.begin(&env, Duration::from_secs(1)).expect("it begins");
        let learned = writer.learn(&bundle).expect("it learns");
        assert_eq!(learned.refilled_bodies, 1);
    }
    assert_eq!(contents(&world.open("a")), ["one"]);
    assert_eq!(contents(&warm), ["one"]);
}

/// In the walk of a machine that lost them, the events keep their positions, so the end of the walk stays the same.
#[test]
fn events_that_a_repair_gave_up_and_that_came_back() {
    let world = World::new();
    for text in ["one", "two", "three"] {
        store(&world.open("a"), text);
    }
    let export = world.export("a");
    // The damage is in the head, so that no part of the event verifies.
    damage_head(&world.dir("a"), "two");
    let warm = world.open("a");
    let repair = |service: &Service| {
        let request = RepairRequest::default();
        let answer = service.log_repair(&Caller::default(), &request, &[], &NoProgress);
        answer.expect("repaired")
    };
    assert_eq!(contents(&warm), ["one"]);
    assert_eq!(repair(&world.open("a")).gone_events, 1);
    assert_eq!(contents(&warm), ["one", "three"]);
    let learned = import(&world.open("a"), &export);
    assert_eq!((learned.refilled_events, learned.event), (1, None));
    assert_eq!(contents(&warm), ["one", "three", "two"]);
    store(&warm, "four");
    assert_eq!(contents(&world.open("a")), ["four", "one", "three", "two"]);
    assert!(warm.verify(&NoProgress).expect("it verifies").ok);
}

/// The redaction was killed after its event was written; any process that meets it finishes it.
#[test]
fn a_redaction_that_was_only_begun() {
    let world = World::new();
    let warm = world.open("a");
    let id = store(&warm, "one");
    store(&warm, "two");
    assert_eq!(contents(&warm), ["one", "two"]);
    let event = warm.history(&id).expect("it is there").remove(0).event;
    {
        let log = Log::open(Arc::new(RealDisk), &world.dir("a")).expect("it opens");
        let env = SimEnv::new(99);
        let writer = log.begin(&env, Duration::from_secs(1)).expect("it begins");
        writer.begin_redaction(None).expect("it is said");
        drop(writer);
        let redacted = NewEvent {
            kind: Kind::LOG_REDACTED,
            subject: SubjectId::ZERO,
            refs: vec![EventId::parse_hex(&event).expect("an id")],
            facts: LogRedacted { subjects: vec![] }.encode(),
            payload: payload::encode(&payload::LogRedacted { reason: None }),
        };
        logbed::append(&log, &env, vec![redacted], Durability::Synced).expect("it appends");
    }
    assert_eq!(contents(&warm), ["-", "two"]);
    assert!(!world.dir("a").join("redacting").exists());
}

/// A command also decides by the new log: it now changes a memory that it would have left alone before.
#[test]
fn a_command_decides_by_what_is_there_now() {
    let world = World::new();
    let warm = world.open("a");
    let id = store(&warm, "one");
    assert_eq!(contents(&warm), ["one"]);
    redact(&world.open("a"), &id);
    let request = icm_api::UpdateRequest {
        id: id.clone(),
        content: Some("one".to_owned()),
        ..Default::default()
    };
    let updated = warm.update(&Caller::default(), request).expect("updated");
    assert_eq!(updated.action, Action::Updated);
    assert_eq!(contents(&warm), ["one"]);
}

/// Changes a byte of the head before a text.
fn damage_head(dir: &Path, text: &str) {
    let chain = fs::read_dir(dir.join("log")).expect("it reads").next();
    let chain = chain.expect("a chain").expect("it reads").path();
    let segment = fs::read_dir(chain).expect("it reads").next();
    let path = segment.expect("a segment").expect("it reads").path();
    let mut bytes = fs::read(&path).expect("it reads");
    let text = text.as_bytes();
    let at = bytes.windows(text.len()).position(|found| found == text);
    let at = at.expect("it is there");
    bytes[at - 120] ^= 1;
    fs::write(&path, bytes).expect("written");
}
