//! The moments at which appends are synced, and the effects of a failed sync.

use std::sync::atomic::Ordering;
use std::time::Duration;

use icm_log::acked::Slot;
use icm_log::cases::Case;
use icm_log::*;

use crate::store::{Store, append, batch_of, case_of, copy_folder, forget, try_append};

#[test]
fn a_commit_without_an_append_waits_for_what_was_found() {
    let store = Store::new();
    let (log, watched) = store.watched();
    append(&log, &store.env, vec![forget(1)]);
    try_append(&log, &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    let seqs = |log: &Log| -> Vec<u64> {
        let heads = log.heads().expect("heads");
        heads.iter().map(|tip| tip.seq.0).collect()
    };
    assert_eq!(seqs(&log), [3], "heads stop at what is durable");
    let commit = || {
        let before = watched.syncs.load(Ordering::Relaxed);
        let writer = log.begin(&store.env, Duration::ZERO).expect("lock");
        writer.commit(Durability::Synced).expect("commit");
        watched.syncs.load(Ordering::Relaxed) - before
    };
    assert_eq!(commit(), 1, "the lazy event is made durable");
    assert_eq!(commit(), 0, "there is nothing left to do");
    assert_eq!(seqs(&log), [4]);
}

/// Many processes append recalls without a sync. An open of the log reads every event that no sync has followed, so
/// their number stays small.
#[test]
fn lazy_appends_are_synced_now_and_then() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    let slots = || std::fs::read(store.path.join("acked")).expect("slots");
    let acked = || {
        let slots = slots();
        let slot = |at: &u64| slots.get(*at as usize..).and_then(Slot::parse);
        let seqs = acked::SLOT_OFFSETS
            .iter()
            .filter_map(slot)
            .map(|slot| slot.seq.0);
        seqs.max().expect("a slot")
    };
    let first = acked();
    for n in 1..LAZY_MAX {
        try_append(&store.open(), &store.env, vec![forget(2)], Durability::Lazy).expect("append");
        assert_eq!(acked(), first, "{n}");
    }
    try_append(&store.open(), &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    assert_eq!(acked(), first + LAZY_MAX);
}

#[test]
fn the_chain_that_a_new_origin_continues_is_durable_and_missed_when_it_goes() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    try_append(&store.open(), &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    let copy = Store::new();
    copy_folder(&store.path, &copy.path);
    let (log, watched) = copy.watched();
    drop(log.begin(&copy.env, Duration::ZERO).expect("lock"));
    assert_eq!(watched.syncs.load(Ordering::Relaxed), 1);
    let old = log.tip().expect("a tip");
    assert_ne!(log.origin(), Some(old.origin));
    // The event that store.toml names goes before the new chain begins.
    let dir = copy.path.join(LOG_DIR).join(old.origin.to_string());
    let path = std::fs::read_dir(dir)
        .expect("dir")
        .next()
        .expect("one")
        .expect("one")
        .path();
    let bytes = std::fs::read(&path).expect("read");
    std::fs::write(&path, &bytes[..bytes.len() - 250]).expect("write");
    assert_eq!(case_of(&copy.open()), Some(Case::M));
    let report = copy.open().verify(&mut |_| {}).expect("verify");
    let found = |code| report.findings.iter().any(|finding| finding.code == code);
    assert!(found("continued_missing"), "{:?}", report.findings);
}

#[test]
fn a_sync_that_fails_while_a_segment_is_closed_fails_all_that_waited() {
    let store = Store::new();
    let (log, watched) = store.watched();
    let large = || NewEvent {
        payload: vec![0xc0; record::PAYLOAD_LEN_MAX],
        ..forget(1)
    };
    append(&log, &store.env, (0..31).map(|_| large()).collect());
    append(&log, &store.env, (0..31).map(|_| large()).collect());
    try_append(&log, &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    watched.fail.store(true, Ordering::Relaxed);
    let mut writer = log.begin(&store.env, Duration::ZERO).expect("lock");
    let batch = batch_of((0..3).map(|_| large()).collect());
    writer
        .append(&batch)
        .expect_err("the segment that is closed cannot be synced");
    // The kernel reports a failed write-back once: another sync proves nothing.
    writer
        .append(&batch)
        .expect_err("not before the log was read anew");
    writer
        .commit(Durability::Synced)
        .expect_err("nothing is acknowledged");
    append(&log, &store.env, (0..3).map(|_| large()).collect());
    assert_eq!(store.segments().len(), 2);
    assert!(
        store
            .open()
            .verify(&mut |_| {})
            .expect("verify")
            .findings
            .is_empty()
    );
}
