//! The log on the real disk.

mod damage;
mod store;
mod syncs;
mod watched;
mod zeros;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use icm_log::disk::RealDisk;
use icm_log::*;

use store::{TestEnv, append, copy_folder, forget, positions};

#[test]
fn store_reopen_walk() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("store");
    let env = TestEnv(AtomicU64::new(0));
    let disk = Arc::new(RealDisk);
    let log = Log::open(disk.clone(), &path).expect("open");
    assert!(log.tip().is_none() && !path.exists());
    let first = append(&log, &env, vec![forget(1)]);
    assert_eq!(first[0].position, Position(3), "the first store is @3");
    let more = append(&log, &env, vec![forget(2), forget(3)]);
    drop(log);
    let log = Log::open(disk.clone(), &path).expect("reopen");
    assert_eq!(log.tip().map(|tip| tip.event), Some(more[1].event));
    assert_eq!(positions(&log, &Cursor::START), [1, 2, 3, 4, 5]);
    let cursor = log.cursor_before(Position(4), &()).expect("cursor");
    assert_eq!(cursor.position, Position(3));
    assert_eq!(positions(&log, &cursor), [4, 5]);
    assert!(log.holds(&log.end()).expect("holds"));
    assert_eq!(
        log.at_position(Position(4), &())
            .expect("at")
            .map(|t| t.position),
        Some(Position(5))
    );
    assert_eq!(
        log.at_time(first[0].time.ms(), &())
            .expect("at")
            .map(|t| t.position),
        Some(Position(3))
    );
    assert_eq!(log.at_time(5, &()).expect("at"), None);
    let mut back = Vec::new();
    log.scan_back(None, &mut |event| {
        back.push(event.position.0);
        ControlFlow::Continue(())
    })
    .expect("back");
    assert_eq!(back, [5, 4, 3, 2, 1]);
    let report = log.verify(&mut |_| {}).expect("verify");
    assert!(
        report.ok() && report.findings.is_empty(),
        "{:?}",
        report.findings
    );
    assert_eq!((report.events, report.positions), (5, Position(5)));
    // A copy mints an origin of its own and continues the positions.
    let copy = dir.path().join("copy");
    copy_folder(&path, &copy);
    let other = Log::open(disk, &copy).expect("open the copy");
    assert_eq!(other.tip(), log.tip());
    let there = append(&other, &env, vec![forget(4)]);
    assert_eq!(there[0].position, Position(8));
    assert_ne!(other.origin(), log.origin());
    assert_eq!(positions(&other, &Cursor::START), [1, 2, 3, 4, 5, 6, 7, 8]);
    let report = other.verify(&mut |_| {}).expect("verify");
    assert!(report.ok(), "{:?}", report.findings);
    assert_eq!(report.positions, Position(8));
}

#[test]
fn many_threads_one_chain() {
    let dir = tempfile::tempdir().expect("tempdir");
    let env = TestEnv(AtomicU64::new(0));
    let log = Log::open(Arc::new(RealDisk), dir.path()).expect("open");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (log, env) = (&log, &env);
            scope.spawn(move || {
                for _ in 0..25 {
                    append(log, env, vec![forget(thread)]);
                }
            });
        }
    });
    assert_eq!(log.tip().map(|tip| tip.position), Some(Position(202)));
    assert!(log.verify(&mut |_| {}).expect("verify").findings.is_empty());
}
