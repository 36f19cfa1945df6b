//! A full segment is closed and the next one begun, with a power cut at every step.

use std::path::Path;

use icm_log::disk::Disk;
use icm_log::segment::SEGMENT_LEN_TARGET;
use replay_tests::logbed::{Bed, Step};
use replay_tests::simdisk::{CrashPlan, Names, SimDisk, Writes};

/// Two batches that leave too little room for a third of the same size, and one without a sync: it must be durable
/// before the next segment begins.
const FILL: [Step; 3] = [
    Step::Append(31, 1_000_000),
    Step::Append(31, 1_000_000),
    Step::Lazy(1, 50),
];
/// A third large batch, and two small ones in the new segment.
const ROLL: [Step; 4] = [
    Step::Append(6, 1_000_000),
    Step::Append(1, 50),
    Step::Lazy(1, 50),
    Step::Append(1, 50),
];

fn full() -> Bed {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/home")).expect("created");
    disk.sync_dir(Path::new("/")).expect("synced");
    let mut bed = Bed::on(disk);
    bed.run(&FILL);
    assert!(bed.errors.is_empty(), "{:?}", bed.errors);
    bed
}

fn segments(disk: &SimDisk) -> usize {
    let is_segment = |path: &&std::path::PathBuf| path.extension().is_some_and(|e| e == "icmlog");
    disk.files().iter().filter(is_segment).count()
}

#[test]
fn power_fails_while_a_segment_rolls() {
    let mut whole = full();
    let before = whole.disk.trace().len();
    whole.run(&ROLL);
    assert!(whole.errors.is_empty(), "{:?}", whole.errors);
    assert_eq!(segments(&whole.disk), 2, "{}", whole.disk.trace_text());
    assert_eq!(whole.check(&whole.disk.kill()), Ok(7));
    let longest = whole
        .disk
        .files()
        .iter()
        .map(|path| whole.disk.contents(path).len())
        .max();
    assert!(
        longest.is_some_and(|len| len as u64 <= SEGMENT_LEN_TARGET),
        "{longest:?}"
    );

    let trace = whole.disk.trace();
    let plans = [
        (Writes::Dropped, Names::Dropped),
        (Writes::Dropped, Names::Kept),
        (Writes::Halved, Names::Kept),
        (Writes::Reordered, Names::Some),
    ];
    let mut cuts = 0;
    let mut fresh = full();
    let filled = (fresh.disk.kill(), fresh.tried.clone());
    for n in before + 1..=trace.len() {
        if !trace[n - 2].kind.changes() && n != before + 1 {
            continue;
        }
        fresh.disk = filled.0.kill();
        fresh.restart(filled.1.clone());
        // The copy of the disk counts its operations from 1.
        fresh.disk.power_off_at((n - before) as u64);
        fresh.run(&ROLL);
        for (writes, names) in plans {
            let plan = CrashPlan {
                writes,
                names,
                seed: n as u64,
            };
            if let Err(why) = fresh.check(&fresh.disk.crash(plan)) {
                panic!(
                    "before operation {n}, {plan:?}: {why}\n{}",
                    fresh.disk.trace_text()
                );
            }
        }
        cuts += 1;
    }
    assert!(cuts > 8, "{cuts}");
}
