//! Invariant 2: acknowledged events survive a failure of any disk operation and a power cut after any of them, and a
//! prefix of the written events is recovered. Invariant 7 is checked along the way.

use std::path::{Path, PathBuf};

use icm_log::disk::Disk;
use replay_tests::logbed::{Bed, Step, WORKLOAD};
use replay_tests::simdisk::{CrashPlan, Op, OpKind, SimDisk};

/// Returns a disk with the parent folder of the store.
fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/home")).expect("created");
    disk.sync_dir(Path::new("/")).expect("synced");
    disk
}

/// Runs the whole workload without faults.
fn whole() -> Bed {
    let mut bed = Bed::on(disk());
    bed.run(WORKLOAD);
    assert!(bed.errors.is_empty(), "{:?}", bed.errors);
    let found = bed.check(&bed.disk.kill()).expect("nothing failed");
    assert_eq!(found, bed.tried.len());
    bed
}

/// Crashes in every way and checks each result. Returns the number of checks.
fn crash_everyhow(bed: &Bed, seeds: u64, what: &str) -> u64 {
    let mut checked = 0;
    for plan in CrashPlan::all(seeds) {
        if let Err(why) = bed.check(&bed.disk.crash(plan)) {
            panic!("{what}, {plan:?}: {why}\n{}", bed.disk.trace_text());
        }
        checked += 1;
    }
    checked
}

#[test]
fn power_fails_after_every_operation() {
    let trace = whole().disk.trace();
    let (mut checked, mut cuts) = (0, 0);
    for n in 1..=trace.len() {
        // The disk is the same between two changes.
        if n > 1 && !trace[n - 2].kind.changes() {
            continue;
        }
        let mut bed = Bed::on(disk());
        bed.disk.power_off_at(n as u64);
        bed.run(WORKLOAD);
        checked += crash_everyhow(&bed, 3, &format!("the power fails before operation {n}"));
        cuts += 1;
    }
    assert!(
        cuts > 30 && checked > 1_000,
        "{cuts} cuts, {checked} stores looked at"
    );
}

#[test]
fn every_operation_fails_once() {
    let count = whole().disk.op_count();
    let mut failed = 0;
    for n in 1..=count {
        for seed in 0..2 {
            let mut bed = Bed::on(disk());
            bed.disk.seed_faults(seed);
            bed.disk.fail_at(n);
            bed.run(WORKLOAD);
            failed += u64::from(!bed.errors.is_empty());
            bed.disk.heal();
            let what = format!("operation {n} fails");
            if let Err(why) = bed.check_contents(&bed.disk.kill()) {
                panic!("{what}: {why}\n{}", bed.disk.trace_text());
            }
            crash_everyhow(&bed, 1, &what);
        }
    }
    assert!(
        failed > count / 2,
        "{failed} of {count} failures were noticed"
    );
}

#[test]
fn the_disk_is_full_from_some_operation_on_and_later_has_room() {
    let count = whole().disk.op_count();
    for n in 1..=count {
        let mut bed = Bed::on(disk());
        bed.disk.fail_from(n);
        bed.run(WORKLOAD);
        bed.disk.heal();
        bed.run(&[Step::Append(2, 50), Step::Reopen, Step::Append(1, 50)]);
        let last = bed.tried.iter().rev().take(2);
        assert!(
            last.clone().all(|(_, acknowledged)| *acknowledged),
            "{:?}",
            bed.errors
        );
        crash_everyhow(&bed, 1, &format!("everything fails from operation {n} on"));
    }
}

#[test]
fn a_disk_that_fills_up_loses_nothing() {
    for capacity in (0..4_000).step_by(37) {
        let mut bed = Bed::on(disk());
        bed.disk.set_capacity(Some(capacity));
        bed.run(WORKLOAD);
        bed.disk.heal();
        crash_everyhow(&bed, 1, &format!("{capacity} bytes of room"));
    }
}

#[test]
fn folders_above_the_store_are_durable_too() {
    let mut bed = Bed::new();
    bed.run(&[Step::Append(1, 10)]);
    crash_everyhow(&bed, 2, "a store two new folders deep");
}

/// Steps on a store of an earlier version, which wrote zeros ahead of the log's end.
const OVER_ZEROS: &[Step] = &[
    Step::Append(1, 40),
    Step::Lazy(2, 5_000),
    Step::Append(1, 300),
];

/// The zeros of an earlier version reach up to a multiple of this, in bytes.
const ZEROS_TO: usize = 64 * 1_024;

fn segment_on(disk: &SimDisk) -> PathBuf {
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "icmlog");
    let segments: Vec<_> = disk.files().into_iter().filter(is_segment).collect();
    assert_eq!(segments.len(), 1);
    segments[0].clone()
}

/// Makes a store whose segment ends in zeros.
fn with_zeros() -> Bed {
    let mut bed = Bed::on(disk());
    bed.run(&[Step::Append(1, 40), Step::Append(2, 200)]);
    let path = segment_on(&bed.disk);
    let mut bytes = bed.disk.contents(&path);
    bytes.resize(ZEROS_TO, 0);
    // On the new disk everything is durable, and operations are counted from 1.
    let disk = bed.disk.kill();
    disk.put(&path, &bytes);
    bed.disk = disk.kill();
    bed.restart(bed.tried.clone());
    bed
}

#[test]
fn power_fails_after_every_operation_of_an_append_over_zeros() {
    let mut whole = with_zeros();
    whole.run(OVER_ZEROS);
    assert!(whole.errors.is_empty(), "{:?}", whole.errors);
    assert_eq!(whole.check(&whole.disk.kill()), Ok(5));
    let bytes = whole.disk.contents(segment_on(&whole.disk));
    assert!(bytes.len() < ZEROS_TO, "the zeros were cut");
    let trace = whole.disk.trace();
    let cut = |op: &Op| op.kind == OpKind::Truncate;
    assert_eq!(trace.iter().filter(|op| cut(op)).count(), 1);
    let (mut checked, mut cuts) = (0, 0);
    for n in 1..=trace.len() {
        if n > 1 && !trace[n - 2].kind.changes() {
            continue;
        }
        let mut bed = with_zeros();
        bed.disk.power_off_at(n as u64);
        bed.run(OVER_ZEROS);
        let what = format!("the power fails before operation {n}");
        checked += crash_everyhow(&bed, 8, &what);
        cuts += 1;
    }
    assert!(
        cuts > 5 && checked > 300,
        "{cuts} cuts, {checked} stores looked at"
    );
}

#[test]
fn every_operation_of_an_append_over_zeros_fails_once() {
    let mut whole = with_zeros();
    whole.run(OVER_ZEROS);
    let mut failed = 0;
    for n in 1..=whole.disk.op_count() {
        let mut bed = with_zeros();
        bed.disk.seed_faults(n);
        bed.disk.fail_at(n);
        bed.run(OVER_ZEROS);
        failed += usize::from(!bed.errors.is_empty());
        bed.disk.heal();
        let what = format!("operation {n} fails");
        if let Err(why) = bed.check_contents(&bed.disk.kill()) {
            panic!("{what}: {why}\n{}", bed.disk.trace_text());
        }
        crash_everyhow(&bed, 2, &what);
    }
    assert!(failed > 10, "{failed} failures were noticed");
}
