//! A store is put back to an older state in place, and then written, which makes two branches of one chain. Texts
//! redacted on either branch stay redacted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::{
    Caller, ExportSince, ListRequest, LogImportAnswer, NoProgress, Receipt, RedactRequest,
    StoreRequest, UndoRequest,
};
use icm_service::{ExportFile, Service};
use replay_tests::env::SimEnv;
use replay_tests::folder::{self, Files};
use replay_tests::store;

const SECRET: &str = "swordfish";

struct World {
    folder: tempfile::TempDir,
    env: Arc<SimEnv>,
}

impl World {
    fn new() -> World {
        World {
            folder: tempfile::tempdir().expect("a temporary folder"),
            env: Arc::new(SimEnv::new(9)),
        }
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self, name: &str) -> Service {
        self.env.advance_ms(1_000);
        store::open(&self.dir(name), Arc::clone(&self.env)).expect("it opens")
    }

    fn store(&self, name: &str, content: &str) -> String {
        self.stored(name, content).id
    }

    fn stored(&self, name: &str, content: &str) -> Receipt {
        let request = StoreRequest {
            key: Some("k".to_owned()).filter(|_| content.contains(SECRET)),
            ..StoreRequest::new("t", content)
        };
        let stored = self.open(name).store(&Caller::default(), request);
        stored.expect("it stores")
    }

    fn redact(&self, name: &str, id: &str) {
        let request = RedactRequest {
            targets: vec![id.to_owned()],
            ..RedactRequest::default()
        };
        let redacted = self.open(name).redact(&Caller::default(), &request);
        redacted.expect("redacted");
    }

    fn give(&self, from: &str, to: &str) -> LogImportAnswer {
        let path = self.dir("export");
        let mut file = std::fs::File::create(&path).expect("created");
        let exported = self
            .open(from)
            .export_log(&ExportSince::Start, &mut file, &NoProgress);
        exported.expect("exported");
        let file = ExportFile::open(&path).expect("it is there");
        let answer = (self.open(to)).import_log(&Caller::default(), &file, false, &NoProgress);
        answer.expect("imported")
    }

    fn holds_secret(&self, name: &str) -> bool {
        let holds = |bytes: &Vec<u8>| {
            let mut windows = bytes.windows(SECRET.len());
            windows.any(|it| it == SECRET.as_bytes())
        };
        folder::read(&self.dir(name)).values().any(holds)
    }

    fn verifies(&self, name: &str) {
        let report = self.open(name).verify(&NoProgress).expect("it reads");
        assert!(report.ok, "{report:#?}");
    }
}

/// Returns the files without views, as in a snapshot of the log.
fn snapshot(dir: &Path) -> Files {
    let mut files = folder::read(dir);
    files.retain(|path, _| !path.starts_with("views"));
    files
}

#[test]
fn a_redaction_that_was_made_before_is_kept() {
    let world = World::new();
    let id = world.store("a", &format!("the word is {SECRET}"));
    let older = snapshot(&world.dir("a"));
    world.store("b", "beside");
    world.give("a", "b");
    world.redact("a", &id);
    world.give("a", "b");
    assert!(!world.holds_secret("b"));
    folder::write(&world.dir("a"), &older);
    world.store("a", "after it was put back");
    assert!(world.holds_secret("a"));
    let answer = world.give("b", "a");
    assert_eq!((answer.forks.len(), answer.redacted), (1, 1), "{answer:?}");
    assert!(!world.holds_secret("a"));
    // A second import adds nothing.
    let again = world.give("b", "a");
    assert_eq!((again.event, again.redacted), (None, 0));
    for name in ["a", "b"] {
        world.verifies(name);
    }
    world.give("a", "b");
    world.verifies("b");
}

#[test]
fn a_machine_that_knew_another_event_of_the_number_did_not_know_the_redaction() {
    let world = World::new();
    let id = world.store("a", &format!("the word is {SECRET}"));
    let older = snapshot(&world.dir("a"));
    world.store("a", "other");
    world.store("b", "beside");
    world.give("a", "b");
    world.store("b", &format!("the word still is {SECRET}"));
    folder::write(&world.dir("a"), &older);
    world.redact("a", &id);
    world.give("a", "b");
    world.give("b", "a");
    for name in ["a", "b"] {
        assert!(!world.holds_secret(name), "{name}");
        world.verifies(name);
    }
}

impl World {
    fn undo(&self, name: &str, events: &[&str]) -> String {
        let request = UndoRequest {
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            ..UndoRequest::default()
        };
        let undone = self.open(name).undo(&Caller::default(), &request);
        undone.expect("undone").event.expect("it is done")
    }

    /// Returns the event that stores a text.
    fn event(&self, name: &str, content: &str) -> String {
        self.stored(name, content).event
    }

    fn contents(&self, name: &str) -> Vec<String> {
        let listed = self.open(name).list(&ListRequest::default());
        let shown = listed.expect("it lists").into_iter();
        let mut contents: Vec<String> = shown.filter_map(|memory| memory.content).collect();
        contents.sort_unstable();
        contents
    }
}

/// `a` gets two branches, `b` has the first of them. An undo on either takes back the events it names, and nothing at
/// the same place of the other branch, in any order of meeting.
#[test]
fn an_undo_reaches_the_branch_that_it_names() {
    let world = World::new();
    world.store("a", "before");
    let older = snapshot(&world.dir("a"));
    let first = world.event("a", "first");
    let first_again = world.event("a", "first again");
    world.store("b", "beside");
    world.give("a", "b");
    world.undo("b", &[&first]);
    folder::write(&world.dir("a"), &older);
    world.store("a", "second");
    let second_again = world.event("a", "second again");
    // The undone event arrives after the undo, and beside events that the undo does not name.
    world.give("b", "a");
    world.give("a", "b");
    let all = ["before", "beside", "first again", "second", "second again"];
    for name in ["a", "b"] {
        assert_eq!(world.contents(name), all, "{name}");
        world.verifies(name);
    }
    // An undo of both branches at one place, in one command, and the undo of that.
    let undo = world.undo("a", &[&first_again, &second_again]);
    world.give("a", "b");
    for name in ["a", "b"] {
        assert_eq!(
            world.contents(name),
            ["before", "beside", "second"],
            "{name}"
        );
        world.verifies(name);
    }
    world.undo("b", &[&undo]);
    world.give("b", "a");
    for name in ["a", "b"] {
        assert_eq!(world.contents(name), all, "{name}");
        world.verifies(name);
    }
    // A new store takes everything.
    world.give("a", "c");
    world.give("b", "c");
    assert_eq!(world.contents("c"), all);
    world.verifies("c");
    let hash = |name: &str| world.open(name).verify(&NoProgress).expect("it reads");
    let hashes = ["a", "b", "c"].map(|name| hash(name).state_hash);
    assert!(hashes.iter().all(|it| *it == hashes[0]), "{hashes:?}");
}
