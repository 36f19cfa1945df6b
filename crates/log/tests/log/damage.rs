//! Damage, gaps and newer formats: refused, or set aside.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use icm_log::acked::Slot;
use icm_log::cases::Case;
use icm_log::disk::RealDisk;
use icm_log::*;

use crate::store::{Store, append, case_of, copy_folder, forget, positions, try_append};

#[test]
fn a_refused_writer_leaves_the_evidence_of_what_is_lost() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    append(&log, &store.env, vec![forget(2)]);
    let slots = std::fs::read(store.path.join("acked")).expect("slots");
    let last = store.records().last().expect("a record").0;
    store.put_at(last, &[]);
    // This process has seen all of it durable; it must not record the shorter chain as acknowledged.
    let refused = try_append(&log, &store.env, vec![forget(3)], Durability::Synced);
    assert!(
        matches!(refused, Err(LogError::Damaged { case: Case::M, .. })),
        "{refused:?}"
    );
    assert_eq!(
        std::fs::read(store.path.join("acked")).expect("slots"),
        slots
    );
    assert_eq!(case_of(&store.open()), Some(Case::M));
}

#[test]
fn a_lock_without_an_append_changes_no_byte() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    let slots = std::fs::read(store.path.join("acked")).expect("slots");
    let writer = log.begin(&store.env, Duration::ZERO).expect("lock");
    writer.commit(Durability::Synced).expect("nothing to do");
    assert_eq!(
        std::fs::read(store.path.join("acked")).expect("slots"),
        slots
    );
}

#[test]
fn a_first_record_that_is_torn_is_set_aside_with_its_segment() {
    for damage in [b"garbage".as_slice(), &[0x41; 400], &[]] {
        let store = Store::new();
        append(&store.open(), &store.env, vec![forget(1)]);
        store.forget_slots();
        store.put_at(segment::HEADER_LEN, damage);
        let log = store.open();
        assert_eq!((log.tip(), log.refusal()), (None, None));
        append(&log, &store.env, vec![forget(2)]);
        assert_eq!(positions(&store.open(), &Cursor::START), [1, 2, 3]);
    }
    // A body that was torn in the first batch takes the segment, too.
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    store.forget_slots();
    let (at, mut first) = store.records().remove(0);
    *first.last_mut().expect("a byte") ^= 1;
    store.put_at(at, &first);
    append(&store.open(), &store.env, vec![forget(2)]);
    assert_eq!(positions(&store.open(), &Cursor::START), [1, 2, 3]);
}

#[test]
fn a_wrong_prev_at_the_end_is_a_broken_chain() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    append(&store.open(), &store.env, vec![forget(2)]);
    store.forget_slots();
    store.change_last_head(|head| head[40] ^= 1);
    assert_eq!(case_of(&store.open()), Some(Case::F));
}

#[test]
fn logs_of_a_newer_version_are_refused_and_never_cut() {
    let kind = |head: &mut [u8], code: u16| head[80..82].copy_from_slice(&code.to_le_bytes());
    type Change<'a> = &'a dyn Fn(&mut [u8]);
    let newer: [(&str, Change<'_>); 5] = [
        ("format", &|head| head[0] = 2),
        ("reserved bytes", &|head| head[2] = 1),
        ("codec", &|head| head[84] = 2),
        ("seq", &|head| head[24..32].fill(0xff)),
        ("critical kind", &|head| kind(head, 0x8f77)),
    ];
    for (what, change) in newer {
        let store = Store::new();
        append(&store.open(), &store.env, vec![forget(1)]);
        append(&store.open(), &store.env, vec![forget(2)]);
        store.forget_slots();
        store.change_last_head(change);
        let before = std::fs::read(&store.segments()[0]).expect("read");
        let log = store.open();
        assert!(
            matches!(log.refusal(), Some(Refusal::Newer { .. })),
            "{what}"
        );
        let refused = try_append(&log, &store.env, vec![forget(3)], Durability::Synced);
        assert!(
            matches!(refused, Err(LogError::NewerFormat { .. })),
            "{what}"
        );
        assert_eq!(
            std::fs::read(&store.segments()[0]).expect("read"),
            before,
            "{what}"
        );
        let report = log.verify(&mut |_| {}).expect("verify");
        let codes: Vec<_> = report
            .findings
            .iter()
            .map(|finding| &finding.code)
            .collect();
        assert!(
            codes.iter().any(|code| code.starts_with("newer_")),
            "{what}: {codes:?}"
        );
        if what != "seq" {
            assert!(report.ok(), "{what}: {:?}", report.findings);
        }
    }
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    let (at, mut last) = store.records().pop().expect("a record");
    last[12] = 3;
    let head_end = 24 + u32::from_le_bytes([last[4], last[5], last[6], last[7]]) as usize;
    let check = crc32c::crc32c(&last[4..head_end]);
    last[..4].copy_from_slice(&check.to_le_bytes());
    store.forget_slots();
    store.put_at(at, &last);
    assert!(matches!(
        store.open().refusal(),
        Some(Refusal::Newer { .. })
    ));
    assert!(store.open().verify(&mut |_| {}).expect("verify").ok());
}

#[test]
fn a_slot_whose_record_has_moved_is_found() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    append(&store.open(), &store.env, vec![forget(2)]);
    let mut slots = std::fs::read(store.path.join("acked")).expect("slots");
    for at in acked::SLOT_OFFSETS {
        let Some(slot) = slots.get(at as usize..).and_then(Slot::parse) else {
            continue;
        };
        let moved = Slot {
            offset: slot.offset + 16,
            ..slot
        };
        slots[at as usize..at as usize + acked::SLOT_LEN].copy_from_slice(&moved.encode());
    }
    std::fs::write(store.path.join("acked"), slots).expect("write");
    let log = store.open();
    assert_eq!(log.refusal(), None);
    append(&log, &store.env, vec![forget(3)]);
    assert!(
        store
            .open()
            .verify(&mut |_| {})
            .expect("verify")
            .findings
            .is_empty()
    );
}

#[test]
fn segments_that_are_gone_and_strays_are_named() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    let path = store.segments().remove(0);
    let name = path
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .to_uppercase();
    std::fs::copy(&path, path.with_file_name(name)).expect("copy");
    let report = store.open().verify(&mut |_| {}).expect("verify");
    let codes: Vec<_> = report
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(codes, ["stray_file"]);

    let later = "00000000000000000007-0123456789abcdef.icmlog";
    std::fs::rename(&path, path.with_file_name(later)).expect("rename");
    assert_eq!(case_of(&store.open()), Some(Case::E));
}

#[test]
fn whole_events_stay_when_the_newest_known_event_is_damaged() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    try_append(&log, &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    let reader = store.open();
    let before = reader.tip().expect("a tip").position;
    let (at, mut last) = store.records().pop().expect("a record");
    *last.last_mut().expect("a byte") ^= 1;
    store.put_at(at, &last);
    for log in [&log, &reader] {
        log.refresh().expect("refresh");
        let tip = log.tip().expect("the events before are whole");
        assert_eq!(tip.position.0 + 1, before.0);
        assert_eq!(positions(log, &Cursor::START).len() as u64, tip.position.0);
    }
}

#[test]
fn going_back_says_that_what_is_newest_cannot_be_reached() {
    let store = Store::new();
    let log = store.open();
    for n in 1..=4 {
        append(&log, &store.env, vec![forget(n)]);
    }
    let (at, _) = store.records()[2];
    let path = store.segments().remove(0);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[at + 30] ^= 1;
    std::fs::write(&path, bytes).expect("write");
    for most in [1, 100] {
        let mut seen = Vec::new();
        let ended = store.open().scan_back(None, &mut |event| {
            seen.push(event.position.0);
            match seen.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        assert_eq!(seen, [2, 1][..most.min(2)]);
        assert!(
            matches!(ended, Err(LogError::Damaged { case: Case::C, .. })),
            "{ended:?}"
        );
    }
}

#[test]
fn a_copy_of_a_damaged_log_is_not_carried_on() {
    let store = Store::new();
    let log = store.open();
    for n in 1..=4 {
        append(&log, &store.env, vec![forget(n)]);
    }
    drop(log);
    let (at, _) = store.records()[2];
    let path = store.segments().remove(0);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[at + 30] ^= 1;
    std::fs::write(&path, bytes).expect("write");
    // The slot lies beyond the damage; only a writer that continues the chain reads that far back.
    let copy = store.path.with_file_name("copy");
    copy_folder(&store.path, &copy);
    let log = Log::open(Arc::new(RealDisk), &copy).expect("open");
    let refused = try_append(&log, &store.env, vec![forget(9)], Durability::Synced);
    assert!(
        matches!(refused, Err(LogError::Damaged { case: Case::C, .. })),
        "{refused:?}"
    );
    let origins = std::fs::read_dir(copy.join(LOG_DIR)).expect("read").count();
    assert_eq!(origins, 1, "no chain was begun");
}
