//! Random stores with random damage. After a repair the log verifies, holds every whole acknowledged event, and takes
//! appends. With spares nothing is lost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use icm_log::{EventId, Kind};
use replay_tests::env::SimEnv;
use replay_tests::logbed::{self, Seen};
use replay_tests::repair::{self, STORE, check, fill, segments, spares, split, whole_records};
use replay_tests::rng::Rng;
use replay_tests::simdisk::SimDisk;

/// Makes a store of a few chains and segments.
fn store(rng: &mut Rng) -> (SimDisk, SimEnv) {
    let (disk, env) = (repair::disk(), SimEnv::new(rng.next_u64()));
    let mut next = 0;
    for part in 0..1 + rng.below(3) {
        if part > 0 {
            // A clock that goes back by days makes a new origin.
            env.advance_ms(-3 * 24 * 3_600 * 1_000);
        }
        let batches: Vec<usize> = (0..3 + rng.below(8))
            .map(|_| 1 + rng.below(4) as usize)
            .collect();
        fill(&disk, &env, &batches, next);
        next += batches.iter().sum::<usize>() as u64;
        let log = repair::open(&disk).expect("it opens");
        let origin = log.origin().expect("an origin");
        drop(log);
        split(&disk, origin, 1 + rng.below(8) as usize);
    }
    (disk, env)
}

fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    let at = rng.below(bytes.len() as u64) as usize;
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << rng.below(8);
    }
}

/// Damages the store at random. Returns the damage in words.
fn damage(rng: &mut Rng, disk: &SimDisk) -> String {
    let files = segments(disk);
    if files.is_empty() {
        return "nothing is left".to_owned();
    }
    let path = files[rng.below(files.len() as u64) as usize].clone();
    let mut bytes = disk.contents(&path);
    let len = bytes.len() as u64;
    let what = match rng.below(9) {
        0 | 1 => {
            flip(rng, &mut bytes);
            "a flip"
        }
        2 => {
            let from = rng.below(len) as usize;
            let to = (from + rng.below(600) as usize).min(bytes.len());
            bytes[from..to].fill(0);
            "zeros"
        }
        3 => {
            bytes.truncate(rng.below(len) as usize);
            "a cut"
        }
        4 => {
            bytes.extend_from_slice(b"garbage \r\n garbage");
            "garbage behind"
        }
        5 => {
            let from = rng.below(len) as usize;
            let to = (from + rng.below(700) as usize).min(bytes.len());
            let doubled = bytes[from..to].to_vec();
            bytes.splice(to..to, doubled);
            "a doubled block"
        }
        6 => {
            let other = &files[rng.below(files.len() as u64) as usize];
            let others = disk.contents(other);
            disk.put(other, &bytes);
            bytes = others;
            "two swapped"
        }
        7 => {
            disk.take(&path);
            return format!("{} removed", path.display());
        }
        _ => {
            let stray = PathBuf::from(format!("{} (1).icmlog", path.display()));
            disk.put(&stray, &bytes);
            disk.take(&path);
            return format!("{} renamed", path.display());
        }
    };
    disk.put(&path, &bytes);
    format!("{what} in {}", path.display())
}

fn ids(seen: &[Seen]) -> BTreeSet<EventId> {
    seen.iter().map(|seen| seen.id).collect()
}

fn all(disk: &SimDisk) -> Vec<(PathBuf, Vec<u8>)> {
    let files = disk.files().into_iter();
    files
        .map(|path| (path.clone(), disk.contents(&path)))
        .collect()
}

#[test]
fn whatever_happens_to_a_store_it_is_repaired() {
    let (mut repaired, mut lost, mut whole) = (0, 0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let (disk, env) = store(&mut rng);
        let (before, _) = logbed::read(&repair::open(&disk).expect("it opens"));
        let mut what = Vec::new();
        for _ in 0..1 + rng.below(4) {
            what.push(damage(&mut rng, &disk));
        }
        match rng.below(10) {
            0 => {
                disk.take(Path::new(STORE).join("acked"));
                what.push("no slots".to_owned());
            }
            1 => {
                disk.take(Path::new(STORE).join("store.toml"));
                what.push("no store.toml".to_owned());
            }
            2 => {
                let path = Path::new(STORE).join("store.toml");
                let mut bytes = disk.contents(&path);
                flip(&mut rng, &mut bytes);
                disk.put(&path, &bytes);
                what.push("a flip in store.toml".to_owned());
            }
            _ => {}
        }
        let has_slot = !what.iter().any(|what| what == "no slots");
        let has_store = !what.iter().any(|what| what.ends_with("store.toml"));
        let there = whole_records(&disk, &[]);
        let planned = repair::open(&disk).map(|log| log.plan_repair(&[], &mut |_| {}));
        let report = repair::repair(&disk, &env, &[]);
        let report =
            report.unwrap_or_else(|error| panic!("seed {seed}, {what:?}: {error}\n{planned:#?}"));
        let fail = |why: &str| -> ! { panic!("seed {seed}, {what:?}: {why}\n{report:#?}") };
        let mut seen = check(&disk).unwrap_or_else(|why| fail(&why));
        repaired += u32::from(!report.is_empty());
        lost += u32::from(!report.gone.is_empty());
        whole += u32::from(report.is_empty());
        let now = ids(&seen);
        let still = whole_records(&disk, &[]);
        for event in before.iter().filter(|event| there.contains(&event.id)) {
            if !still.contains(&event.id) {
                fail(&format!("seq {} is in no file any more", event.seq));
            }
            // Without `store.toml`, only the first event of a chain names the chain that it continues.
            if has_slot && has_store && !now.contains(&event.id) {
                fail(&format!(
                    "seq {} at {} is not read",
                    event.seq, event.position
                ));
            }
        }
        let files = all(&disk);
        let again =
            repair::repair(&disk, &env, &[]).unwrap_or_else(|error| fail(&error.to_string()));
        if !again.is_empty() || files != all(&disk) {
            fail(&format!("a second repair changes something: {again:?}"));
        }
        env.advance_ms(10 * 24 * 3_600 * 1_000);
        fill(&disk, &env, &[1, 2], 1_000);
        let later = check(&disk).unwrap_or_else(|why| fail(&format!("going on: {why}")));
        seen.truncate(later.len());
        if !later.starts_with(&seen) {
            fail("what was there is not there after an append");
        }
    }
    assert!(
        repaired > 900 && lost > 500 && whole > 20,
        "{repaired} repaired, {lost} lost something, {whole} needed nothing"
    );
}

#[test]
fn with_spares_of_everything_nothing_is_lost() {
    let (mut refilled, mut bodies) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let (disk, env) = store(&mut rng);
        let (before, _) = logbed::read(&repair::open(&disk).expect("it opens"));
        let copy = disk.kill();
        let mut what = Vec::new();
        for _ in 0..1 + rng.below(4) {
            what.push(damage(&mut rng, &disk));
        }
        // Half of the stores are first repaired without spares; the lost events come back later.
        let twice = rng.coin();
        if twice {
            let first = repair::repair(&disk, &env, &[]);
            let first = first.unwrap_or_else(|error| panic!("seed {seed}, {what:?}: {error}"));
            if first.new_origin.is_some() {
                continue; // the lost end of the old chain comes back by an import, not by a repair
            }
        }
        let report = repair::repair(&disk, &env, &spares(&copy));
        let report = report.unwrap_or_else(|error| panic!("seed {seed}, {what:?}: {error}"));
        let fail =
            |why: &str| -> ! { panic!("seed {seed}, {what:?}, {twice}: {why}\n{report:#?}") };
        let seen = check(&disk).unwrap_or_else(|why| fail(&why));
        // The events that the first repair wrote are there, too.
        let (seen, later) = seen.split_at(before.len().min(seen.len()));
        let of_repair = |it: &Seen| [Kind::LOG_REPAIRED, Kind::LOG_ACTOR_NAMED].contains(&it.kind);
        if seen != before || !later.iter().all(of_repair) || !twice && !later.is_empty() {
            let brief = |seen: &[Seen]| -> Vec<String> {
                let said = |it: &Seen| format!("{}:{}:{}", it.position, it.seq, it.kind.name());
                seen.iter().map(said).collect()
            };
            fail(&format!("{:?}\n{:?}", brief(seen), brief(&before)));
        }
        refilled += u32::from(report.refilled_events > 0);
        bodies += u32::from(report.refilled_payloads > 0);
        let again = repair::repair(&disk, &env, &spares(&copy));
        assert!(again.expect("it looks").is_empty());
    }
    assert!(
        refilled > 100 && bodies > 5,
        "{refilled} refilled, {bodies} with payloads"
    );
}
