//! Every golden file is read, and there are no other files. Invariants 1 and 21 on the samples.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_log::bundle::Bundle;
use icm_log::disk::{Disk, OpenMode};
use icm_log::env::Env;
use icm_log::record::{self, Parsed};
use icm_log::{Durability, Log, StoreFile};
use replay_tests::env::SimEnv;
use replay_tests::simdisk::SimDisk;
use replay_tests::{folder, golden, logbed};
use serde_json::Value;

fn names_in(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).expect("the folder is read");
    entries
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("it is read")).expect("it is JSON")
}

/// Names of samples that today's code no longer writes.
const OLD_SAMPLES: [&str; 1] = ["memory.recalled.v1"];

#[test]
fn every_event_sample_is_read_as_it_always_was() {
    let dir = golden::dir().join("events");
    let mut known: Vec<_> = golden::sample_names()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    known.extend(OLD_SAMPLES.map(str::to_owned));
    let expected: BTreeSet<_> = known
        .iter()
        .flat_map(|name| [format!("{name}.hex"), format!("{name}.json")])
        .collect();
    assert_eq!(
        names_in(&dir),
        expected,
        "`cargo run -p replay-tests --bin golden` adds samples"
    );
    for name in &known {
        let text = fs::read_to_string(dir.join(format!("{name}.hex"))).expect("it is read");
        let bytes = golden::from_lines(&text).expect("hexadecimal digits");
        let described = golden::describe(&bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(described, json(&dir.join(format!("{name}.json"))), "{name}");
        assert!(
            !described["facts"].is_null(),
            "{name}: `Facts::of` lacks it"
        );
        assert_eq!(
            golden::encode_again(&bytes),
            Ok(bytes.clone()),
            "{name}: encode after decode"
        );
        assert_eq!(
            described["kind"].as_str(),
            name.rsplit_once(".v").map(|(kind, _)| kind)
        );
    }
}

#[test]
fn todays_code_writes_the_samples() {
    for (name, kind) in golden::sample_names() {
        let path = golden::dir().join("events").join(format!("{name}.hex"));
        let text = fs::read_to_string(path).expect("it is read");
        let today = golden::sample(kind).expect("a known kind");
        assert_eq!(
            text,
            golden::to_lines(&today),
            "the format of {name} has changed"
        );
    }
}

#[test]
fn every_store_is_read_as_it_always_was() {
    let dir = golden::dir().join("stores");
    let expected: BTreeSet<_> = golden::store_names().map(str::to_owned).collect();
    assert_eq!(
        names_in(&dir),
        expected,
        "`cargo run -p replay-tests --bin golden` adds stores"
    );
    for name in expected {
        let mut files = folder::read(&dir.join(&name));
        let notes = golden::take_notes(&mut files);
        let described: Value =
            serde_json::from_slice(&notes[golden::EXPECTED]).expect("it is JSON");
        assert!(files.len() >= 2, "{name} holds a store");
        assert_eq!(golden::describe_store(&files), described, "{name}");
        let hash = notes.get(&golden::state_hash_file());
        assert_eq!(
            hash.map(|bytes| String::from_utf8_lossy(bytes)).as_deref(),
            Some(&*golden::state_hash(&files)),
            "{name}: a new version of the fold adds its hash, an old one keeps it"
        );
    }
}

/// The bytes may differ (they name the program's version); the purpose of each store must hold.
#[test]
fn todays_code_builds_the_stores() {
    let essence = |described: &Value| {
        let kinds = described["events"].as_array().expect("a list").iter();
        let kinds: Vec<_> = kinds.map(|event| event["kind"].clone()).collect();
        (
            kinds,
            described["findings"].clone(),
            described["heads"].as_array().map(Vec::len),
        )
    };
    for name in golden::STORES {
        let path = golden::dir()
            .join("stores")
            .join(name)
            .join(golden::EXPECTED);
        let today = golden::describe_store(&golden::build(name));
        assert_eq!(essence(&today), essence(&json(&path)), "{name}");
    }
}

/// The same events always give the same bytes, and every earlier export stays readable.
#[test]
fn every_bundle_is_what_it_always_was() {
    let dir = golden::dir().join("bundles");
    let expected: BTreeSet<_> = golden::store_names()
        .map(|name| format!("{name}.icmx"))
        .collect();
    assert_eq!(names_in(&dir), expected);
    for name in golden::store_names() {
        let files = golden::store(name);
        let bytes = fs::read(dir.join(format!("{name}.icmx"))).expect("it is read");
        assert!(
            golden::export(&files) == bytes,
            "the export of {name} has changed"
        );
        let disk = SimDisk::new();
        disk.put("/bundle", &bytes);
        let file = disk.open(Path::new("/bundle"), OpenMode::Read);
        let bundle = Bundle::read(file.expect("put"), Path::new("/bundle"), &mut |_| {});
        let bundle = bundle.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(bundle.events() > 2, "{name}: {bundle:?}");
    }
}

/// Other programs read these lines, so their content must stay.
#[test]
fn every_event_is_told_as_it_always_was() {
    let dir = golden::dir().join("cloudevents");
    let expected: BTreeSet<_> = golden::store_names()
        .map(|name| format!("{name}.jsonl"))
        .collect();
    assert_eq!(names_in(&dir), expected);
    for name in golden::store_names() {
        let files = golden::store(name);
        let before = fs::read_to_string(dir.join(format!("{name}.jsonl"))).expect("it is read");
        let today = String::from_utf8(golden::cloudevents(&files)).expect("it is text");
        assert_eq!(today, before, "the events of {name}");
        assert!(today.lines().count() > 2, "{name}");
    }
}

/// Earlier versions wrote zeros ahead of the log's end. Such a store opens and verifies (see above); its first append
/// cuts the zeros.
#[test]
fn the_zeros_of_an_earlier_version_are_read_and_the_next_append_cuts_them() {
    let store = Path::new(golden::STORE);
    let files = golden::store("zero-tail");
    let is_segment = |path: &&PathBuf| path.extension().is_some_and(|end| end == "icmlog");
    let segments: Vec<_> = files.keys().filter(is_segment).collect();
    assert_eq!(segments.len(), 1);
    let bytes = &files[segments[0]];
    let last = bytes.iter().rposition(|byte| *byte != 0);
    let end = last.expect("a record") + 1;
    assert!(bytes.len() == 65_536 && end < 4_096, "{end}");

    let disk = SimDisk::new();
    disk.hold(store, &files);
    let open = || Log::open(Arc::new(disk.clone()), store).expect("it opens");
    let env = SimEnv::new(0);
    env.advance_ms(365 * 24 * 60 * 60 * 1_000);
    let log = open();
    // The fingerprint of this machine lets the append continue the store's chain.
    let folder = disk.identity(store).expect("a folder");
    let machine = env.machine_id().expect("a machine");
    let digest = blake3::hash(format!("icm fingerprint v1\n{machine}\n{folder}").as_bytes());
    let store_file = StoreFile {
        origin: log.origin().expect("an origin"),
        fingerprint: icm_log::to_hex(&digest.as_bytes()[..16]),
        secret: log.secret().expect("a secret"),
        here: Vec::new(),
        continues: None,
        older: Vec::new(),
    };
    store_file.write(&disk, store).expect("it is written");
    drop(log);

    let segment = store.join(segments[0]);
    let log = open();
    let before = log.verify(&mut |_| {}).expect("it verifies");
    assert_eq!((before.events, before.findings.len()), (10, 0));
    assert_eq!(&disk.contents(&segment), bytes, "reading changes no byte");
    let event = logbed::numbered(1, 50);
    logbed::append(&log, &env, vec![event], Durability::Synced).expect("it appends");
    let after = disk.contents(&segment);
    assert_eq!(after[..end], bytes[..end]);
    let record = &after[end..];
    let Parsed::Record(shape) = record::parse(record) else {
        panic!("a record stands where the zeros began");
    };
    assert_eq!(shape.record_len(), record.len(), "nothing follows it");
    let report = open().verify(&mut |_| {}).expect("it verifies");
    assert_eq!((report.events, report.findings.len()), (11, 0));
    assert!(log.take_notices().is_empty());
}
