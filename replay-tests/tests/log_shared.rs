//! Several openings of one log, as in several processes: each sees the events of the others, and a moment is found at
//! the same place with and without waypoints.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_log::disk::Disk;
use icm_log::{Cursor, Durability, Log, Position, Waypoint};
use proptest::prelude::*;
use replay_tests::env::SimEnv;
use replay_tests::logbed::{append, numbered, read};
use replay_tests::simdisk::SimDisk;

const STORE: &str = "/home/store";

/// An action of one of the openings.
#[derive(Debug, Clone, Copy)]
enum Act {
    Append(usize, Durability),
    Refresh,
    Reopen,
    /// The clock goes back before the newest event, so the next append begins another chain.
    Back,
    /// The newest segment is replaced by a copy, as by a restore or a redaction.
    Replace,
    /// The slots are removed.
    Forget,
}

fn acts() -> impl Strategy<Value = Vec<(usize, Act)>> {
    let act = prop_oneof![
        4 => (1..4_usize).prop_map(|count| Act::Append(count, Durability::Synced)),
        3 => (1..3_usize).prop_map(|count| Act::Append(count, Durability::Lazy)),
        3 => Just(Act::Refresh),
        1 => Just(Act::Reopen),
        1 => Just(Act::Back),
        1 => Just(Act::Replace),
        1 => Just(Act::Forget),
    ];
    prop::collection::vec((0..3_usize, act), 1..30)
}

fn open(disk: &SimDisk) -> Log {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Log::open(disk, Path::new(STORE)).expect("it opens")
}

fn newest_segment(disk: &SimDisk) -> Option<PathBuf> {
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|end| end == "icmlog");
    disk.files().into_iter().rfind(is_segment)
}

/// Runs the actions; after each, the openings that looked agree with a fresh one.
fn run(acts: &[(usize, Act)]) -> SimDisk {
    let disk = SimDisk::new();
    let env = SimEnv::new(5);
    let mut logs: Vec<Log> = (0..3).map(|_| open(&disk)).collect();
    let mut number = 0;
    for (who, act) in acts {
        env.advance_ms(1_000);
        let log = &logs[*who];
        match act {
            Act::Append(count, durability) => {
                let events = (0..*count)
                    .map(|_| {
                        number += 1;
                        numbered(number, 20)
                    })
                    .collect();
                append(log, &env, events, *durability).expect("it is appended");
            }
            Act::Refresh => log.refresh().expect("it reads"),
            Act::Reopen => logs[*who] = open(&disk),
            Act::Back => env.advance_ms(-3 * 24 * 60 * 60 * 1_000),
            Act::Replace => {
                if let Some(path) = newest_segment(&disk) {
                    let bytes = disk.contents(&path);
                    disk.take(&path);
                    disk.put(&path, &bytes);
                }
            }
            Act::Forget => {
                let slots = Path::new(STORE).join("acked");
                if disk.files().contains(&slots) {
                    disk.take(&slots);
                }
            }
        }
        let log = &logs[*who];
        log.refresh().expect("it reads");
        let fresh = open(&disk);
        assert_eq!(log.tip(), fresh.tip(), "after {act:?} of {who}");
        assert_eq!(read(log).0, read(&fresh).0, "after {act:?} of {who}");
        let numbers = read(log)
            .0
            .iter()
            .filter_map(|event| event.number())
            .count() as u64;
        assert_eq!(
            numbers, number,
            "every event is there once, after {act:?} of {who}"
        );
    }
    disk
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_opening_sees_what_the_others_did(acts in acts()) {
        run(&acts);
    }

    #[test]
    fn moments_are_found_the_same_with_waypoints(
        acts in acts(),
        kept in prop::collection::vec(0..4_u8, 200),
    ) {
        let log = open(&run(&acts));
        let mut all = Vec::new();
        let mut times = vec![0, u64::MAX];
        log.scan(&Cursor::START, &mut |event| {
            all.push(Waypoint::of(event));
            times.push(event.head.time().ms());
            ControlFlow::Continue(())
        })
        .expect("it is whole");
        let newest = all.len() as u64;
        let waypoints: Vec<Waypoint> =
            all.iter()
                .zip(kept.iter().cycle())
                .filter(|(_, keep)| **keep > 0)
                .map(|(waypoint, keep)| match keep {
                    1 => wrong(waypoint),
                    _ => *waypoint,
                })
                .collect();
        for position in (0..=newest + 1).map(Position) {
            let plain = log.at_position(position, &()).expect("it reads");
            let found = log.at_position(position, &waypoints).expect("it reads");
            prop_assert_eq!(plain, found, "{}", position);
            let plain = log.cursor_before(position, &()).expect("it reads");
            let found = log.cursor_before(position, &waypoints).expect("it reads");
            prop_assert_eq!(plain, found, "{}", position);
            let near = log.place_before(position, &waypoints).expect("it reads");
            prop_assert!(near.is_start() || near.position < position, "{}", position);
            let mut from_there = Vec::new();
            log.scan_from(&near, (position, &waypoints), &mut |event| {
                from_there.push(event.position);
                ControlFlow::Continue(())
            })
            .expect("it reads");
            let all_after: Vec<_> = (near.position.0 + 1..=newest).map(Position).collect();
            prop_assert_eq!(&from_there, &all_after, "{}", position);
            let back: Vec<_> = (1..=position.0.min(newest)).rev().map(Position).collect();
            let few = Waypoint::back_from(position, &waypoints);
            for known in [&waypoints, &few] {
                let mut found = Vec::new();
                log.scan_back_from((position, known), &mut |event| {
                    found.push(event.position);
                    ControlFlow::Continue(())
                })
                .expect("it reads");
                prop_assert_eq!(&found, &back, "{}", position);
            }
            // The start is the event before, if its waypoint is known and right.
            if let Some(2..) = position.0.checked_sub(2).map(|at| kept[at as usize % kept.len()])
                && position.0 <= newest + 1
            {
                prop_assert_eq!(near.position.0, position.0 - 1);
            }
        }
        for time in times {
            let plain = log.at_time(time, &()).expect("it reads");
            let found = log.at_time(time, &waypoints).expect("it reads");
            prop_assert_eq!(plain, found, "{}", time);
        }
    }
}

/// Returns a waypoint whose place holds another event.
fn wrong(waypoint: &Waypoint) -> Waypoint {
    let mut bytes = waypoint.encode();
    bytes[40] ^= 1;
    let check = crc32c::crc32c(&bytes[8..]);
    bytes[..4].copy_from_slice(&check.to_le_bytes());
    Waypoint::parse(&bytes).expect("its check is right")
}

#[test]
fn waypoints_there_and_back() {
    let disk = run(&[(0, Act::Append(2, Durability::Synced))]);
    let mut found = Vec::new();
    open(&disk)
        .scan(&Cursor::START, &mut |event| {
            found.push(Waypoint::of(event));
            ControlFlow::Continue(())
        })
        .expect("it is whole");
    assert!(found.len() >= 2);
    for waypoint in found {
        let bytes = waypoint.encode();
        assert_eq!(Waypoint::parse(&bytes), Some(waypoint));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let parsed = Waypoint::parse(&flipped);
            let unused = (32..64).contains(&bit);
            assert_eq!(parsed.is_some(), unused, "bit {bit}");
        }
    }
}

/// Another process appends over several pages and its sync fails. This process, which has the segment open, reads what
/// is there, appends, and is told that all is durable; so it must be.
#[test]
fn a_write_that_another_process_could_not_sync_is_repeated() {
    let long = || (2..12).map(|number| numbered(number, 2_000)).collect();
    let mut failed = 0;
    for (n, seed) in (1..40).flat_map(|n| (0..4).map(move |seed| (n, seed))) {
        let disk = SimDisk::new();
        disk.seed_faults(seed);
        let env = SimEnv::new(5);
        let (one, other) = (open(&disk), open(&disk));
        append(&one, &env, vec![numbered(1, 20)], Durability::Synced).expect("it is appended");
        disk.fail_at(disk.op_count() + n);
        let tried = append(&other, &env, long(), Durability::Synced);
        disk.heal();
        one.refresh().expect("it reads");
        let whole = one.tip().map(|tip| tip.position) == Some(Position(13));
        if tried.is_ok() || !whole {
            continue;
        }
        failed += 1;
        append(&one, &env, vec![numbered(12, 20)], Durability::Synced).expect("it is appended");
        for plan in replay_tests::simdisk::CrashPlan::all(3) {
            let found = open(&disk.crash(plan));
            let (seen, ended) = read(&found);
            assert!(ended.is_none(), "operation {n}, {plan:?}: {ended:?}");
            let newest = seen.last().and_then(|event| event.number());
            assert_eq!(newest, Some(12), "operation {n}, {plan:?}");
        }
    }
    assert!(failed > 0, "a sync failed");
}
