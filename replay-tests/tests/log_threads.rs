//! Threads share the lock and its syncs; events acknowledged to any of them survive.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use icm_log::env::Env;
use icm_log::{Batch, CommandId, Durability, Log, LogError, RequestKey, SessionId};
use replay_tests::env::SimEnv;
use replay_tests::logbed::{self, Seen, numbered};
use replay_tests::simdisk::{CrashPlan, OpKind, SimDisk};

const STORE: &str = "/store";
const THREADS: u64 = 6;
const EACH: u64 = 12;

fn append(log: &Log, env: &dyn Env, number: u64) -> Result<(), LogError> {
    let mut writer = log.begin(env, Duration::from_secs(20))?;
    let batch = Batch {
        command: CommandId([9; 16]),
        actor: "user",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events: vec![numbered(number, 40)],
    };
    writer.append(&batch)?;
    writer.commit(Durability::Synced)
}

/// Lets every thread append its numbers; returns the acknowledged ones.
fn race(log: &Log, env: &SimEnv, from: u64) -> BTreeSet<u64> {
    let acknowledged = Mutex::new(BTreeSet::new());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let acknowledged = &acknowledged;
            scope.spawn(move || {
                for index in 0..EACH {
                    let number = from + thread * EACH + index;
                    if append(log, env, number).is_ok() {
                        acknowledged.lock().expect("no panic").insert(number);
                    }
                }
            });
        }
    });
    acknowledged.into_inner().expect("no panic")
}

/// Checks that after each crash the log holds `acknowledged`, in a sound chain.
fn check(disk: &SimDisk, acknowledged: &BTreeSet<u64>) {
    for plan in CrashPlan::all(1) {
        let found = disk.crash(plan);
        let log = Log::open(Arc::new(found), Path::new(STORE)).expect("it opens");
        let (seen, ended) = logbed::read(&log);
        assert!(
            ended.is_none() && log.refusal().is_none(),
            "{plan:?}: {ended:?}"
        );
        logbed::check_chain(&seen).unwrap_or_else(|why| panic!("{plan:?}: {why}"));
        let numbers: Vec<_> = seen.iter().filter_map(Seen::number).collect();
        let there: BTreeSet<_> = numbers.iter().copied().collect();
        assert_eq!(
            there.len(),
            numbers.len(),
            "{plan:?}: something is there twice"
        );
        let lost: Vec<_> = acknowledged.difference(&there).collect();
        assert!(
            lost.is_empty(),
            "{plan:?}: lost {lost:?}\n{}",
            disk.trace_text()
        );
    }
}

#[test]
fn all_are_acknowledged_and_survive() {
    let (disk, env) = (SimDisk::new(), SimEnv::new(1));
    let log = Log::open(Arc::new(disk.clone()), Path::new(STORE)).expect("it opens");
    let acknowledged = race(&log, &env, 1);
    assert_eq!(acknowledged.len() as u64, THREADS * EACH);
    check(&disk, &acknowledged);
    let syncs = disk
        .trace()
        .iter()
        .filter(|op| op.kind == OpKind::Sync)
        .count() as u64;
    assert!(
        syncs <= THREADS * EACH + 10,
        "a sync is shared, never repeated: {syncs}"
    );
}

#[test]
fn a_failure_in_the_middle_loses_nothing_that_was_acknowledged() {
    let mut failures = 0;
    for seed in 0..40 {
        let (disk, env) = (SimDisk::new(), SimEnv::new(seed));
        disk.seed_faults(seed);
        let log = Log::open(Arc::new(disk.clone()), Path::new(STORE)).expect("it opens");
        append(&log, &env, u64::MAX).expect("it appends");
        disk.fail_at(disk.op_count() + 1 + seed * 5);
        let mut acknowledged = race(&log, &env, 1);
        failures += THREADS * EACH - acknowledged.len() as u64;
        disk.heal();
        check(&disk, &acknowledged);
        acknowledged.extend(race(&log, &env, 1_000));
        acknowledged.insert(u64::MAX);
        check(&disk, &acknowledged);
    }
    assert!(failures > 5, "{failures}");
}
