//! A repair is stopped at every disk operation. Run again, it ends as if nothing had happened.

use std::path::{Path, PathBuf};

use icm_log::disk::{Disk, OpenMode};
use replay_tests::env::SimEnv;
use replay_tests::logbed::Seen;
use replay_tests::repair::{self, STORE, check, fill, records, segments, split, whole_records};
use replay_tests::simdisk::{CrashPlan, SimDisk};

/// Makes a store of five segments.
fn store() -> (SimDisk, SimEnv) {
    let (disk, env) = (repair::disk(), SimEnv::new(3));
    fill(&disk, &env, &[1, 3, 1, 2, 4, 1, 2], 0);
    let origin = repair::open(&disk).expect("it opens").origin();
    split(&disk, origin.expect("an origin"), 3);
    assert_eq!(segments(&disk).len(), 5);
    (disk, env)
}

fn change(disk: &SimDisk, path: &Path, with: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = disk.contents(path);
    with(&mut bytes);
    disk.put(path, &bytes);
}

/// A name, and a damage to the store.
type Damage = (&'static str, fn(&SimDisk, &[PathBuf]));

const DAMAGES: [Damage; 9] = [
    ("a head in the middle", |disk, files| {
        change(disk, &files[1], |bytes| {
            let record = records(bytes)[1];
            bytes[record.0 + 40] ^= 1;
        });
    }),
    ("a payload", |disk, files| {
        change(disk, &files[1], |bytes| {
            let record = records(bytes)[1];
            bytes[record.1 - 1] ^= 1;
        });
    }),
    ("a segment in the middle", |disk, files| {
        disk.take(&files[2]);
    }),
    ("the newest segment", |disk, files| {
        disk.take(&files[4]);
    }),
    (
        "the newest segment is zeros, and nothing was acknowledged",
        |disk, files| {
            change(disk, &files[4], |bytes| bytes.fill(0));
            change(disk, &files[3], |bytes| {
                let record = records(bytes)[1];
                bytes.truncate(record.1);
            });
            disk.put(Path::new(STORE).join("acked"), b"");
        },
    ),
    ("two segments swapped", |disk, files| {
        let (one, other) = (disk.contents(&files[1]), disk.contents(&files[2]));
        disk.put(&files[1], &other);
        disk.put(&files[2], &one);
    }),
    ("a segment under a wrong name", |disk, files| {
        let bytes = disk.contents(&files[1]);
        disk.take(&files[1]);
        let name = files[1].to_string_lossy();
        let (stem, _) = name.rsplit_once('-').expect("a name");
        disk.put(format!("{stem}-0123456789abcdef.icmlog"), &bytes);
    }),
    ("everything at once", |disk, files| {
        change(disk, &files[0], |bytes| bytes[3] ^= 1);
        change(disk, &files[1], |bytes| {
            let records = records(bytes);
            bytes[records[0].1 - 1] ^= 1;
            bytes[records[2].0 + 40] ^= 1;
        });
        change(disk, &files[2], |bytes| bytes.extend_from_slice(b"garbage"));
        disk.take(&files[4]);
    }),
    ("no store.toml", |disk, files| {
        disk.take(Path::new(STORE).join("store.toml"));
        change(disk, &files[1], |bytes| {
            let record = records(bytes)[1];
            bytes[record.0 + 40] ^= 1;
        });
    }),
];

fn damaged(damage: &Damage) -> (SimDisk, SimEnv) {
    let (disk, env) = store();
    damage.1(&disk, &segments(&disk));
    for path in disk.files() {
        let file = disk.open(&path, OpenMode::Write).expect("it opens");
        file.sync().expect("synced");
        for dir in path.ancestors().skip(1) {
            disk.sync_dir(dir).expect("synced");
        }
    }
    (disk.kill(), env)
}

/// Returns the events without the random ids, which a second repair makes anew.
fn content(seen: &[Seen]) -> Vec<(u64, String, Option<u64>, bool)> {
    seen.iter()
        .map(|seen| {
            let kind = seen.kind.name();
            (seen.position.0, kind, seen.number(), seen.payload.is_some())
        })
        .collect()
}

#[test]
fn damaged_stores_are_repaired() {
    for damage in &DAMAGES {
        let (disk, env) = damaged(damage);
        let there = whole_records(&disk, &["torn"]);
        let report = repair::repair(&disk, &env, &[]);
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", damage.0));
        assert!(!report.is_empty(), "{}", damage.0);
        let seen = check(&disk).unwrap_or_else(|why| panic!("{}: {why}", damage.0));
        for id in &there {
            assert!(
                seen.iter().any(|seen| seen.id == *id),
                "{}: an event that was whole is not there any more",
                damage.0
            );
        }
        let after: Vec<_> = disk
            .files()
            .iter()
            .map(|path| disk.contents(path))
            .collect();
        let again = repair::repair(&disk, &env, &[]).expect("it looks");
        assert!(again.is_empty(), "{}: {again:?}", damage.0);
        let later: Vec<_> = disk
            .files()
            .iter()
            .map(|path| disk.contents(path))
            .collect();
        assert!(after == later, "{}", damage.0);
        fill(&disk, &env, &[2], 100);
        check(&disk).unwrap_or_else(|why| panic!("{}, going on: {why}", damage.0));
    }
}

#[test]
fn power_fails_at_every_point_of_a_repair() {
    let (mut checked, mut resumed) = (0, 0);
    for damage in &DAMAGES {
        let (disk, env) = damaged(damage);
        let there = whole_records(&disk, &[]);
        repair::repair(&disk, &env, &[]).expect("it repairs");
        let whole = content(&check(&disk).expect("all is well"));
        let trace = disk.trace();
        for n in 1..=trace.len() {
            // The disk is the same between two changes.
            if n > 1 && !trace[n - 2].kind.changes() {
                continue;
            }
            let (disk, env) = damaged(damage);
            disk.power_off_at(n as u64);
            let _ = repair::repair(&disk, &env, &[]);
            for plan in CrashPlan::all(1) {
                let found = disk.crash(plan);
                let what = || format!("{}, operation {n}, {plan:?}", damage.0);
                let log =
                    repair::open(&found).unwrap_or_else(|error| panic!("{}: {error}", what()));
                resumed += u32::from(log.repair_pending());
                drop(log);
                repair::repair(&found, &env, &[])
                    .unwrap_or_else(|error| panic!("{}: {error}\n{}", what(), disk.trace_text()));
                let seen = check(&found)
                    .unwrap_or_else(|why| panic!("{}: {why}\n{}", what(), disk.trace_text()));
                assert_eq!(content(&seen), whole, "{}\n{}", what(), disk.trace_text());
                let now = whole_records(&found, &[]);
                assert!(there.is_subset(&now), "{}", what());
                checked += 1;
            }
        }
    }
    assert!(
        checked > 500 && resumed > 100,
        "{checked} checked, {resumed} resumed"
    );
}
