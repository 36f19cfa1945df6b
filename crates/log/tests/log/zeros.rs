//! Zeros after the end of a segment, as an earlier version wrote them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use icm_log::cases::Case;
use icm_log::disk::RealDisk;
use icm_log::*;

use crate::store::{Store, TestEnv, append, forget, positions, try_append};
use crate::watched::{Watched, WatchedDisk, meanwhile};

/// Returns the length of the newest segment, and the end of its records.
fn lens(store: &Store) -> (u64, u64) {
    let len = std::fs::metadata(store.segments().last().expect("a segment"));
    let (at, last) = store.records().pop().expect("a record");
    (len.expect("it is there").len(), (at + last.len()) as u64)
}

/// An earlier version wrote zeros up to a multiple of this.
const ZEROS_TO: u64 = 64 * 1_024;

/// Puts zeros after the end of the newest segment, as an earlier version wrote them.
fn put_zeros(store: &Store) {
    let path = store.segments().pop().expect("a segment");
    let (len, end) = lens(store);
    assert_eq!(len, end, "no zeros are there yet");
    let file = std::fs::File::options().write(true).open(path);
    let len = (end / ZEROS_TO + 1) * ZEROS_TO;
    file.expect("open").set_len(len).expect("zeros");
}

#[test]
fn a_segment_ends_with_its_last_record() {
    let store = Store::new();
    // Without a clock the handle for writing is kept from one append to the next.
    let (log, _) = store.without_clock();
    for n in 0..20 {
        append(&log, &store.env, vec![forget(n)]);
        let (len, end) = lens(&store);
        assert_eq!(len, end, "{n}");
    }
}

#[test]
fn the_first_append_cuts_the_zeros_of_an_earlier_version() {
    let store = Store::new();
    let (log, _) = store.without_clock();
    append(&log, &store.env, vec![forget(1)]);
    // The process that has the segment open, and one that opens it.
    for log in [log, store.open()] {
        put_zeros(&store);
        let path = store.segments().pop().expect("a segment");
        let before = std::fs::read(&path).expect("read");
        drop(log.begin(&store.env, Duration::ZERO).expect("lock"));
        let after = std::fs::read(&path).expect("read");
        assert!(before == after, "a lock without an append changes no byte");
        append(&log, &store.env, vec![forget(2)]);
        let (len, end) = lens(&store);
        assert_eq!(len, end);
        let report = log.verify(&mut |_| {}).expect("verify");
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        assert!(log.take_notices().is_empty());
    }
    assert_eq!(positions(&store.open(), &Cursor::START).len(), 5);
}

#[test]
fn an_append_over_zeros_is_seen_though_no_stamp_shows_it() {
    let store = Store::new();
    let (log, watched) = store.without_clock();
    let open = || Log::open(Arc::new(WatchedDisk(watched.clone())), &store.path).expect("open");
    append(&log, &store.env, vec![forget(0)]);
    put_zeros(&store);
    let len = lens(&store).0;
    let (other, reader) = (open(), open());
    for n in 0..8 {
        let writer = if n % 2 == 0 { &other } else { &log };
        let appended = append(writer, &store.env, vec![forget(n)]);
        // An earlier version leaves the file as long as it was.
        put_zeros(&store);
        assert_eq!(lens(&store).0, len);
        reader.refresh().expect("it reads");
        assert_eq!(reader.tip().map(|tip| tip.event), Some(appended[0].event));
    }
    let there: Vec<u64> = (1..=11).collect();
    assert_eq!(positions(&reader, &Cursor::START), there);
    let report = open().verify(&mut |_| {}).expect("verify");
    assert!(report.ok() && report.findings.is_empty());
}

#[test]
fn a_torn_append_over_zeros_is_set_aside() {
    let store = Store::new();
    let (log, _) = store.without_clock();
    for n in 0..8 {
        append(&log, &store.env, vec![forget(n)]);
    }
    drop(log);
    let first_half = store.records()[4].1[..200].to_vec();
    for left in [first_half, vec![0x41; 40]] {
        let path = store.segments().pop().expect("a segment");
        let (_, end) = lens(&store);
        put_zeros(&store);
        let mut bytes = std::fs::read(&path).expect("read");
        bytes[end as usize..][..left.len()].copy_from_slice(&left);
        std::fs::write(&path, bytes).expect("write");
        let log = store.open();
        let before = log.tip().expect("a tip").position.0;
        append(&log, &store.env, vec![forget(9)]);
        let notices = log.take_notices();
        let said = format!("set {} unacknowledged bytes aside", left.len());
        assert!(notices.iter().any(|it| it.contains(&said)), "{notices:?}");
        let there: Vec<u64> = (1..=before + 1).collect();
        assert_eq!(positions(&store.open(), &Cursor::START), there);
        let (len, now) = lens(&store);
        assert!(len == now && now > end, "{len} {now} {end}");
    }
}

fn large_event() -> NewEvent {
    NewEvent {
        payload: vec![0xc0; 40 * 1_024],
        ..forget(9)
    }
}

#[test]
fn an_append_over_zeros_that_are_being_read_is_no_damage() {
    let store = Store::new();
    let (log, watched) = store.without_clock();
    for n in 0..8 {
        append(&log, &store.env, vec![forget(n)]);
    }
    put_zeros(&store);
    let zeros = std::fs::read(store.segments().pop().expect("a segment")).expect("read");
    let append_one = || {
        let path = store.path.clone();
        move || {
            let log = Log::open(Arc::new(RealDisk), &path).expect("open");
            append(&log, &TestEnv(AtomicU64::new(1_000)), vec![large_event()]);
        }
    };
    meanwhile(&watched, append_one());
    let report = log.verify(&mut |_| {}).expect("verify");
    assert!(
        report.ok() && report.findings.is_empty(),
        "{:?}",
        report.findings
    );
    assert!(watched.meanwhile.lock().expect("a lock").is_none());

    // Opening looks at the end. This version cuts the zeros, an earlier one writes over them.
    let segment = store.segments().pop().expect("a segment");
    for keeps_length in [false, true] {
        std::fs::write(&segment, &zeros).expect("write");
        store.forget_slots();
        let watched = Arc::new(Watched::default());
        let (change, segment) = (append_one(), segment.clone());
        meanwhile(&watched, move || {
            change();
            if keeps_length {
                let file = std::fs::File::options().write(true).open(segment);
                file.expect("open").set_len(ZEROS_TO).expect("zeros");
            }
        });
        let disk = Arc::new(WatchedDisk(watched.clone()));
        let opened = Log::open(disk, &store.path).expect("open");
        assert!(watched.meanwhile.lock().expect("a lock").is_none());
        assert_eq!(opened.refusal(), None, "{keeps_length}");
        let there: Vec<u64> = (1..=11).collect();
        assert_eq!(positions(&opened, &Cursor::START), there);
    }
}

#[test]
fn a_record_that_is_read_half_written_is_no_damage() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    let slots = std::fs::read(store.path.join("acked")).expect("read");
    let path = store.segments().pop().expect("a segment");
    let end = lens(&store).1 as usize;
    append(&log, &store.env, vec![large_event()]);
    // The record of this one says that the large one is durable.
    append(&log, &store.env, vec![forget(2)]);
    drop(log);
    let whole = std::fs::read(&path).expect("read");
    std::fs::write(&path, &whole[..end + 20 * 1_024]).expect("write");
    std::fs::write(store.path.join("acked"), slots).expect("write");
    let watched = Arc::new(Watched::default());
    meanwhile(&watched, move || {
        std::fs::write(&path, whole).expect("write");
    });
    let disk = Arc::new(WatchedDisk(watched.clone()));
    let opened = Log::open(disk, &store.path).expect("open");
    assert!(watched.meanwhile.lock().expect("a lock").is_none());
    assert_eq!(opened.refusal(), None);
    assert_eq!(positions(&opened, &Cursor::START), [1, 2, 3, 4, 5]);
}

#[test]
fn an_older_copy_that_is_put_back_in_place_is_seen() {
    for with_zeros in [false, true] {
        let store = Store::new();
        let (log, _) = store.without_clock();
        for n in 0..8 {
            append(&log, &store.env, vec![forget(n)]);
        }
        if with_zeros {
            put_zeros(&store);
        }
        let path = store.segments().pop().expect("a segment");
        let older = std::fs::read(&path).expect("read");
        append(&log, &store.env, vec![forget(8)]);
        std::fs::write(&path, &older).expect("write");
        let tried = try_append(&log, &store.env, vec![forget(9)], Durability::Synced);
        assert!(
            matches!(tried, Err(LogError::Damaged { case: Case::M, .. })),
            "{with_zeros} {tried:?}"
        );
        assert!(std::fs::read(&path).expect("read") == older);
    }
}

#[test]
fn the_zeros_of_a_segment_that_is_closed_are_cut() {
    let store = Store::new();
    let (log, _) = store.without_clock();
    let large = || NewEvent {
        payload: vec![0xc0; record::PAYLOAD_LEN_MAX],
        ..forget(1)
    };
    append(&log, &store.env, (0..31).map(|_| large()).collect());
    append(&log, &store.env, (0..31).map(|_| large()).collect());
    put_zeros(&store);
    let (_, end) = lens(&store);
    append(&log, &store.env, (0..3).map(|_| large()).collect());
    let segments = store.segments();
    assert_eq!(segments.len(), 2);
    let closed = std::fs::metadata(&segments[0]).expect("it is there");
    assert_eq!(closed.len(), end);
}
