//! Invariants 4 and 5: a small store, cut at every byte and with every bit of every byte flipped. The events read are a
//! prefix of those written, or a body shows as withheld. Every loss is found and named; nothing panics, nothing changes
//! silently, and a writer never cuts off acknowledged events.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_log::Log;
use icm_log::disk::Disk;
use icm_log::record::{self, Body, Parsed, SALT_LEN};
use icm_log::verify::Report;
use replay_tests::env::SimEnv;
use replay_tests::logbed::{self, Bed, Seen, Step};
use replay_tests::simdisk::SimDisk;

const STORE: &str = "/home/store";

/// A closed store, its events, and the files that a mutation may hit.
struct Store {
    disk: SimDisk,
    events: Vec<Seen>,
    files: Vec<PathBuf>,
}

fn store(with_acked: bool) -> Store {
    let mut bed = Bed::new();
    use Step::{Append, Reopen};
    bed.run(&[
        Append(1, 12),
        Append(2, 30),
        Reopen,
        Append(1, 20),
        Append(1, 8),
    ]);
    assert!(bed.errors.is_empty(), "{:?}", bed.errors);
    let disk = bed.disk.kill();
    if !with_acked {
        disk.take(Path::new(STORE).join("acked"));
    }
    let (events, ended) = logbed::read(&open(&disk).expect("it opens"));
    assert!(ended.is_none() && events.len() == 7, "{events:?}");
    let is_lock = |path: &PathBuf| path.ends_with("lock");
    let files = disk
        .files()
        .into_iter()
        .filter(|path| !is_lock(path))
        .collect();
    Store {
        disk,
        events,
        files,
    }
}

fn open(disk: &SimDisk) -> Result<Log, icm_log::LogError> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Log::open(disk, Path::new(STORE))
}

fn is_segment(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "icmlog")
}

/// The results of the mutations.
#[derive(Debug, Default)]
struct Tally {
    looked_at: u64,
    /// All events and bodies were read.
    whole: u64,
    /// Events are missing at the end.
    shorter: u64,
    /// A body is missing.
    withheld: u64,
    /// A writer appended.
    went_on: u64,
}

impl Store {
    fn mutate(&self, tally: &mut Tally, path: &Path, what: &str, change: impl Fn(&mut Vec<u8>)) {
        let disk = self.disk.kill();
        let mut bytes = disk.contents(path);
        change(&mut bytes);
        disk.put(path, &bytes);
        let what = format!("{} {what}", path.display());
        let judged = catch_unwind(AssertUnwindSafe(|| self.judge(tally, &disk, path)));
        match judged {
            Ok(Ok(())) => tally.looked_at += 1,
            Ok(Err(why)) => panic!("{what}: {why}"),
            Err(_) => panic!("{what}: panics (see above)"),
        }
    }

    fn judge(&self, tally: &mut Tally, disk: &SimDisk, path: &Path) -> Result<(), String> {
        let with_acked = self.files.iter().any(|path| path.ends_with("acked"));
        let before = disk.kill();
        let Ok(log) = open(disk) else {
            // The log reports the defect and reads nothing, so nothing changed silently.
            return Ok(());
        };
        let (seen, ended) = logbed::read(&log);
        let prefix = seen.len() <= self.events.len()
            && seen.iter().zip(&self.events).all(|(seen, written)| {
                let withheld = Seen {
                    payload: None,
                    ..written.clone()
                };
                seen == written || *seen == withheld
            });
        if !prefix {
            return Err(format!(
                "other events are read than were written: {seen:#?}"
            ));
        }
        let report = log
            .verify(&mut |_| {})
            .map_err(|error| format!("verify fails: {error}"))?;
        for file in before.files() {
            if before.contents(&file) != disk.contents(&file) {
                return Err(format!("reading or verifying changed {}", file.display()));
            }
        }
        let shorter = seen.len() < self.events.len();
        let withheld = seen.iter().any(|seen| seen.payload.is_none());
        let named = ended.is_some() || log.refusal().is_some() || !report.findings.is_empty();
        tally.shorter += u64::from(shorter);
        tally.withheld += u64::from(withheld);
        tally.whole += u64::from(!shorter && !withheld);
        if shorter && with_acked && !path.ends_with("acked") {
            if log.refusal().is_none() && ended.is_none() {
                return Err(format!(
                    "acknowledged events are missing, writes go on: {report:?}"
                ));
            }
            if report.ok() {
                return Err(format!(
                    "acknowledged events are missing, verify is content: {report:?}"
                ));
            }
        }
        if withheld && (report.missing_bodies == 0 || report.findings.is_empty()) {
            return Err(format!("a body is missing, verify is content: {report:?}"));
        }
        // Without slots a cut between batches leaves a valid shorter store.
        let clean_cut = !with_acked && self.is_clean_cut(disk, path);
        if is_segment(path)
            && !named
            && !clean_cut
            && self.disk.contents(path) != disk.contents(path)
        {
            return Err(format!("changed bytes are not found: {report:?}"));
        }
        if ended.is_some() {
            // Damage far from the end: events before it are read, and a later reader sees the damage, too.
            return Ok(());
        }
        self.judge_writer(
            tally,
            disk,
            &log,
            &seen,
            with_acked && !path.ends_with("acked"),
            &report,
        )
    }

    /// Checks that a writer appends or refuses, and never drops events that were acknowledged or read.
    fn judge_writer(
        &self,
        tally: &mut Tally,
        disk: &SimDisk,
        log: &Log,
        seen: &[Seen],
        all_acknowledged: bool,
        report: &Report,
    ) -> Result<(), String> {
        let env = SimEnv::new(99);
        env.advance_ms(60_000);
        let event = logbed::numbered(77, 10);
        if logbed::append(log, &env, vec![event], icm_log::Durability::Synced).is_err() {
            return Ok(());
        }
        tally.went_on += 1;
        let again = open(disk).map_err(|error| format!("after an append: {error}"))?;
        let (now, ended) = logbed::read(&again);
        if let Some(error) = ended {
            return Err(format!("after an append reading ends with {error}"));
        }
        let there = now.len() > seen.len() && now[..seen.len()] == *seen;
        if !there || now.last().and_then(Seen::number) != Some(77) {
            return Err(format!(
                "an append changed what is read before it: {now:#?}"
            ));
        }
        if all_acknowledged && seen.len() < self.events.len() {
            return Err(format!(
                "a writer went on where acknowledged events are missing: {report:?}"
            ));
        }
        Ok(())
    }

    fn is_clean_cut(&self, disk: &SimDisk, path: &Path) -> bool {
        let (whole, now) = (self.disk.contents(path), disk.contents(path));
        // A store whose newest batches were never written has exactly these bytes.
        whole.starts_with(&now) && self.batch_ends(path).contains(&(now.len() as u64))
    }

    /// Returns the offsets at which batches end in a segment.
    fn batch_ends(&self, path: &Path) -> Vec<u64> {
        let log = open(&self.disk).expect("it opens");
        let mut ends = Vec::new();
        log.scan(&icm_log::Cursor::START, &mut |event| {
            if event.place.path == path && event.head.batch_index() + 1 == event.head.batch_count()
            {
                ends.push(event.place.offset + event.place.len as u64);
            }
            std::ops::ControlFlow::Continue(())
        })
        .expect("it reads");
        ends
    }
}

fn every_cut(with_acked: bool) -> Tally {
    let store = store(with_acked);
    let mut tally = Tally::default();
    for path in &store.files {
        for len in 0..store.disk.contents(path).len() {
            store.mutate(&mut tally, path, &format!("cut to {len} bytes"), |bytes| {
                bytes.truncate(len);
            });
        }
    }
    tally
}

fn every_flip(with_acked: bool) -> Tally {
    let store = store(with_acked);
    let mut tally = Tally::default();
    for path in &store.files {
        for at in 0..store.disk.contents(path).len() {
            for bit in 0..8 {
                store.mutate(
                    &mut tally,
                    path,
                    &format!("bit {bit} of byte {at} flipped"),
                    |bytes| {
                        bytes[at] ^= 1 << bit;
                    },
                );
            }
        }
    }
    tally
}

#[test]
fn cut_at_every_byte_with_slots() {
    let tally = every_cut(true);
    assert!(
        tally.looked_at > 2_500 && tally.shorter > 1_500,
        "{tally:?}"
    );
}

#[test]
fn cut_at_every_byte_without_slots() {
    let tally = every_cut(false);
    assert!(
        tally.looked_at > 2_000 && tally.shorter > 1_500 && tally.went_on > 1_000,
        "{tally:?}"
    );
}

#[test]
fn every_bit_flipped_with_slots() {
    let tally = every_flip(true);
    assert!(
        tally.looked_at > 20_000 && tally.withheld > 500 && tally.shorter > 5_000,
        "{tally:?}"
    );
}

#[test]
fn every_bit_flipped_without_slots() {
    let tally = every_flip(false);
    assert!(
        tally.looked_at > 16_000 && tally.shorter > 5_000 && tally.went_on > 500,
        "{tally:?}"
    );
}

#[test]
fn zeroed_and_overwritten_ranges() {
    for with_acked in [true, false] {
        let store = store(with_acked);
        let mut tally = Tally::default();
        for path in store.files.iter().filter(|path| is_segment(path)) {
            let len = store.disk.contents(path).len();
            for start in (0..len).step_by(61) {
                for size in [1, 100, 512, 4_096] {
                    for fill in [0, 0xff, 0x41] {
                        let end = (start + size).min(len);
                        let what = format!("{start}..{end} filled with {fill}");
                        store.mutate(&mut tally, path, &what, |bytes| {
                            bytes[start..end].fill(fill)
                        });
                    }
                }
            }
        }
        assert!(tally.looked_at > 300, "{tally:?}");
    }
}

/// Bytes change together with the checksums of the frame, so only hashes show the change.
#[test]
fn changes_with_their_checks_made_right() {
    let store = store(true);
    let path = store
        .files
        .iter()
        .find(|path| is_segment(path))
        .expect("there is a segment");
    let whole = store.disk.contents(path);
    let (mut offset, mut looked_at) = (icm_log::segment::HEADER_LEN, 0);
    while offset < whole.len() {
        let Parsed::Record(shape) = record::parse(&whole[offset..]) else {
            panic!("a record")
        };
        let original = shape.view(&whole[offset..]);
        let Body::Present { salt, payload } = original.body else {
            panic!("a body")
        };
        let salt: &[u8; SALT_LEN] = salt.try_into().expect("a salt");
        let body_len = SALT_LEN + payload.len();
        for at in 0..original.head.len() + body_len {
            let (mut head, mut salt, mut payload) =
                (original.head.to_vec(), *salt, payload.to_vec());
            match at.checked_sub(head.len()) {
                None => head[at] ^= 1,
                Some(at) if at < SALT_LEN => salt[at] ^= 1,
                Some(at) => payload[at - SALT_LEN] ^= 1,
            }
            let mut changed = whole[..offset].to_vec();
            record::encode(
                &mut changed,
                original.synced,
                &head,
                Some((&salt, &payload)),
            );
            changed.extend_from_slice(&whole[offset + shape.record_len()..]);
            let disk = store.disk.kill();
            disk.put(path, &changed);
            let Ok(log) = open(&disk) else { continue };
            let report = log.verify(&mut |_| {}).expect("it verifies");
            assert!(
                !report.findings.is_empty(),
                "byte {at} of the record at {offset} was changed, verify is content"
            );
            looked_at += 1;
        }
        offset += shape.record_len();
    }
    assert!(looked_at > 1_500, "{looked_at}");
}

#[test]
fn files_that_are_missing() {
    let store = store(true);
    for path in &store.files {
        let disk = store.disk.kill();
        disk.take(path);
        let mut tally = Tally::default();
        if let Err(why) = store.judge(&mut tally, &disk, path) {
            // A missing segment cannot be compared; all other checks apply.
            assert!(!is_segment(path), "{} removed: {why}", path.display());
            panic!("{} removed: {why}", path.display());
        }
    }
}
