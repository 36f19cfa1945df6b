//! Repairs with the help of another copy, and repairs after a redaction that the copy does not know.

use std::path::Path;
use std::sync::Arc;

use icm_api::{Caller, ExportSince, NoProgress, RedactRequest, RepairRequest, StoreRequest};
use icm_log::ACKED_FILE;
use icm_service::{ExportFile, Service};
use replay_tests::env::SimEnv;
use replay_tests::logbed::Seen;
use replay_tests::repair::{self, STORE, check, fill, records, segments, spares};
use replay_tests::simdisk::SimDisk;
use replay_tests::{folder, store};

/// Makes a store with a torn byte in its last event, which nothing proves durable, and a whole copy.
fn torn(byte: fn((usize, usize)) -> usize) -> (SimDisk, SimDisk, SimEnv) {
    let (disk, env) = (repair::disk(), SimEnv::new(3));
    fill(&disk, &env, &[1, 1, 1, 1], 0);
    let copy = disk.kill();
    let path = &segments(&disk)[0];
    let mut bytes = disk.contents(path);
    let last = *records(&bytes).last().expect("a record");
    bytes[byte((last.0, last.1))] ^= 1;
    disk.put(path, &bytes);
    disk.put(Path::new(STORE).join(ACKED_FILE), b"");
    (disk.kill(), copy, env)
}

fn in_head((start, _): (usize, usize)) -> usize {
    start + 60
}

fn in_payload((_, end): (usize, usize)) -> usize {
    end - 1
}

/// Exported events were durable, and another machine may have written on under the origin.
#[test]
fn recalled_memories_are_evidence() {
    for (byte, minted) in [(in_head as fn(_) -> _, true), (in_payload, false)] {
        let (disk, copy, env) = torn(byte);
        let report = repair::repair(&disk, &env, &[]).expect("it looks");
        assert!(report.is_empty(), "a torn tail is no damage: {report:?}");
        let report = repair::repair(&disk, &env, &spares(&copy)).expect("repaired");
        assert_eq!(report.new_origin.is_some(), minted, "{report:?}");
        let whole = check(&copy).expect("the copy is whole");
        assert_eq!(check(&disk).expect("it is whole"), whole);
        let again = repair::repair(&disk, &env, &spares(&copy)).expect("it looks");
        assert!(again.is_empty(), "{again:?}");
        fill(&disk, &env, &[1], 9);
        let seen = check(&disk).expect("it goes on");
        let origin = seen.last().expect("an event").origin;
        assert!(seen.starts_with(&whole));
        assert_eq!(origin != whole[0].origin, minted);
    }
}

#[test]
fn a_new_origin_carries_on_wherever_the_repair_was_stopped() {
    let (disk, copy, env) = torn(in_head);
    let whole = check(&copy).expect("the copy is whole");
    repair::repair(&disk, &env, &spares(&copy)).expect("repaired");
    for n in 0..disk.op_count() {
        let (disk, copy, env) = torn(in_head);
        disk.power_off_at(n);
        let _ = repair::repair(&disk, &env, &spares(&copy));
        let found = disk.kill();
        repair::repair(&found, &env, &spares(&copy)).expect("repaired");
        fill(&found, &env, &[1], 9);
        let seen = check(&found).expect("it goes on");
        let origin = seen.last().expect("an event").origin;
        assert!(seen.starts_with(&whole), "operation {n}");
        assert_ne!(origin, whole[0].origin, "operation {n}");
    }
}

/// The newest chain is gone, and the older one lost the event that the newest one continued from.
#[test]
fn the_end_of_two_chains_is_lost() {
    for whole in [false, true] {
        let (disk, env) = (repair::disk(), SimEnv::new(3));
        fill(&disk, &env, &[1, 1, 1], 0);
        let older = segments(&disk);
        disk.take(Path::new(STORE).join("store.toml"));
        repair::repair(&disk, &env, &[]).expect("a new origin");
        fill(&disk, &env, &[1, 1], 10);
        for path in segments(&disk) {
            if !older.contains(&path) || whole {
                disk.take(path);
                continue;
            }
            let bytes = disk.contents(&path);
            let last = records(&bytes).last().expect("a record").0;
            disk.put(&path, &bytes[..last]);
        }
        let report = repair::repair(&disk, &env, &[]).expect("repaired");
        assert!(report.new_origin.is_some(), "{report:?}");
        let seen = check(&disk).expect("it is in order");
        assert_eq!(
            seen.iter().filter_map(Seen::number).count(),
            if whole { 0 } else { 2 }
        );
        let again = repair::repair(&disk, &env, &[]).expect("it looks");
        assert!(again.is_empty(), "{again:?}");
        fill(&disk, &env, &[1], 20);
        check(&disk).expect("it goes on");
    }
}

fn store_text(service: &Service, content: &str) -> String {
    let request = StoreRequest::new("t", content);
    let stored = service.store(&Caller::default(), request);
    stored.expect("it stores").id
}

/// The event of a redaction is lost; the repair must keep the redacted text out.
#[test]
fn a_redaction_that_was_lost_is_said_again() {
    const SECRET: &str = "swordfish";
    let folder = tempfile::tempdir().expect("a folder");
    let (env, dir) = (Arc::new(SimEnv::new(5)), folder.path().join("store"));
    let service = store::open(&dir, Arc::clone(&env)).expect("it opens");
    let id = store_text(&service, SECRET);
    let export = folder.path().join("export");
    let mut file = std::fs::File::create(&export).expect("created");
    service
        .export_log(&ExportSince::Start, &mut file, &NoProgress)
        .expect("exported");
    let request = RedactRequest {
        targets: vec![id],
        ..RedactRequest::default()
    };
    let redacted = service.redact(&Caller::default(), &request);
    let redacted = redacted.expect("redacted");
    store_text(&service, "something else");
    drop(service);
    let chain = folder::files(&dir.join("log"));
    let mut bytes = std::fs::read(&chain[0]).expect("it is read");
    let event = redacted.event.expect("an event");
    let record = records(&bytes);
    let record = record.iter().find(|record| record.3.to_string() == event);
    bytes[record.expect("its record").0 + 60] ^= 1;
    std::fs::write(&chain[0], bytes).expect("written");

    let service = store::open(&dir, env).expect("it opens");
    let file = ExportFile::open(&export).expect("it opens");
    let spares = file.spares(&NoProgress).expect("it is whole");
    let (caller, request) = (Caller::default(), RepairRequest::default());
    let repaired = service.log_repair(&caller, &request, &spares, &NoProgress);
    let repaired = repaired.expect("repaired");
    assert_eq!((repaired.gone_events, repaired.redacted.len()), (1, 1));
    assert_eq!(repaired.refilled_payloads, 0);
    let report = service.verify(&NoProgress).expect("it reads");
    assert!(report.ok, "{report:#?}");
    let answer = service.import_log(&caller, &file, false, &NoProgress);
    assert_eq!(answer.expect("imported").refilled_payloads, 0);
    drop(service);
    for (path, bytes) in folder::read(&dir) {
        let found = bytes
            .windows(SECRET.len())
            .any(|it| it == SECRET.as_bytes());
        assert!(!found, "{}", path.display());
    }
}
