//! The log on the real disk.
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use icm_log::acked::Slot;
use icm_log::cases::Case;
use icm_log::disk::{DirEntry, Disk, DiskFile, DiskLock, OpenMode, RealDisk, Stamp};
use icm_log::env::Env;
use icm_log::record::{self, Body, Parsed};
use icm_log::*;

struct TestEnv(AtomicU64);
impl Env for TestEnv {
    fn now_ms(&self) -> u64 {
        1_700_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("randomness");
    }
    fn machine_id(&self) -> Option<String> {
        Some("test".into())
    }
}

fn forget(n: u8) -> NewEvent {
    NewEvent {
        kind: Kind::MEMORY_FORGOTTEN,
        subject: SubjectId([n; 16]),
        refs: vec![],
        facts: facts::Alive { causal_length: 2 }.encode(),
        payload: payload::encode(&payload::MemoryForgotten::default()),
    }
}

fn batch_of(events: Vec<NewEvent>) -> Batch<'static> {
    Batch {
        command: CommandId([1; 16]),
        actor: "user",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events,
    }
}

fn try_append(
    log: &Log,
    env: &TestEnv,
    events: Vec<NewEvent>,
    durability: Durability,
) -> Result<Vec<Appended>> {
    let mut writer = log.begin(env, Duration::from_secs(5))?;
    let appended = writer.append(&batch_of(events))?;
    writer.commit(durability)?;
    Ok(appended)
}

fn append(log: &Log, env: &TestEnv, events: Vec<NewEvent>) -> Vec<Appended> {
    try_append(log, env, events, Durability::Synced).expect("append")
}

fn positions(log: &Log, from: &Cursor) -> Vec<u64> {
    let mut seen = Vec::new();
    log.scan(from, &mut |event| {
        seen.push(event.position.0);
        ControlFlow::Continue(())
    })
    .expect("scan");
    seen
}

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
    // a copy mints an origin of its own and carries positions on
    let copy = dir.path().join("copy");
    let status = std::process::Command::new("cp")
        .arg("-r")
        .arg(&path)
        .arg(&copy)
        .status();
    assert!(status.expect("cp").success());
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

/// The real disk, counting syncs of segments; the next one fails when told so.
#[derive(Default)]
struct Watched {
    syncs: AtomicU64,
    fail: AtomicBool,
    /// All changes seem to have been at the same time.
    no_clock: AtomicBool,
    /// What happens just before a segment is read beyond its first 16 KiB.
    meanwhile: Mutex<Option<Meanwhile>>,
}

type Meanwhile = Box<dyn FnOnce() + Send>;

struct WatchedDisk(Arc<Watched>);

struct WatchedFile(Arc<Watched>, Arc<dyn DiskFile>, bool);

impl Disk for WatchedDisk {
    fn read_dir(&self, dir: &Path) -> std::io::Result<Vec<DirEntry>> {
        RealDisk.read_dir(dir)
    }
    fn open(&self, path: &Path, mode: OpenMode) -> std::io::Result<Arc<dyn DiskFile>> {
        let segment = path.extension().is_some_and(|end| end == "icmlog");
        let file = RealDisk.open(path, mode)?;
        Ok(Arc::new(WatchedFile(self.0.clone(), file, segment)))
    }
    fn create_dir_all(&self, dir: &Path) -> std::io::Result<()> {
        RealDisk.create_dir_all(dir)
    }
    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> std::io::Result<()> {
        RealDisk.remove_file(path)
    }
    fn sync_dir(&self, dir: &Path) -> std::io::Result<()> {
        RealDisk.sync_dir(dir)
    }
    fn identity(&self, path: &Path) -> std::io::Result<u64> {
        RealDisk.identity(path)
    }
    fn stamp(&self, path: &Path) -> std::io::Result<Option<(Stamp, bool)>> {
        let found = RealDisk.stamp(path)?;
        Ok(found.map(
            |(stamp, settled)| match self.0.no_clock.load(Ordering::Relaxed) {
                true => (
                    Stamp {
                        changed: 0,
                        ..stamp
                    },
                    true,
                ),
                false => (stamp, settled),
            },
        ))
    }
    fn try_lock(&self, path: &Path) -> std::io::Result<Option<Box<dyn DiskLock>>> {
        RealDisk.try_lock(path)
    }
}

impl DiskFile for WatchedFile {
    fn len(&self) -> std::io::Result<u64> {
        self.1.len()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        if self.2 && offset >= 16 * 1_024 {
            let meanwhile = self.0.meanwhile.lock().expect("a lock").take();
            if let Some(meanwhile) = meanwhile {
                meanwhile();
            }
        }
        self.1.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.1.write_at(bytes, offset)
    }
    fn truncate(&self, len: u64) -> std::io::Result<()> {
        self.1.truncate(len)
    }
    fn sync(&self) -> std::io::Result<()> {
        if self.2 {
            self.0.syncs.fetch_add(1, Ordering::Relaxed);
            if self.0.fail.swap(false, Ordering::Relaxed) {
                return Err(std::io::Error::other("the disk said no"));
            }
        }
        self.1.sync()
    }
    fn stamp(&self) -> std::io::Result<Stamp> {
        let stamp = self.1.stamp()?;
        Ok(match self.0.no_clock.load(Ordering::Relaxed) {
            true => Stamp {
                changed: 0,
                ..stamp
            },
            false => stamp,
        })
    }
}

/// A store in a folder of its own.
struct Store {
    _dir: tempfile::TempDir,
    path: PathBuf,
    env: TestEnv,
}

impl Store {
    fn new() -> Store {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("store");
        let env = TestEnv(AtomicU64::new(0));
        Store {
            _dir: dir,
            path,
            env,
        }
    }

    fn open(&self) -> Log {
        Log::open(Arc::new(RealDisk), &self.path).expect("open")
    }

    /// As if all happened in one tick of a clock.
    fn without_clock(&self) -> (Log, Arc<Watched>) {
        let (log, watched) = self.watched();
        watched.no_clock.store(true, Ordering::Relaxed);
        (log, watched)
    }

    fn watched(&self) -> (Log, Arc<Watched>) {
        let watched = Arc::new(Watched::default());
        let disk = Arc::new(WatchedDisk(watched.clone()));
        (Log::open(disk, &self.path).expect("open"), watched)
    }

    fn segments(&self) -> Vec<PathBuf> {
        let origin = self.open().origin().expect("an origin");
        let dir = self.path.join(LOG_DIR).join(origin.to_string());
        let mut paths: Vec<_> = std::fs::read_dir(dir)
            .expect("a chain")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        paths
    }

    fn forget_slots(&self) {
        let _ = std::fs::remove_file(self.path.join("acked"));
    }

    /// Offsets and bytes of the records of the newest segment.
    fn records(&self) -> Vec<(usize, Vec<u8>)> {
        let bytes = std::fs::read(self.segments().last().expect("a segment")).expect("read");
        let (mut at, mut records) = (segment::HEADER_LEN, Vec::new());
        while let Parsed::Record(shape) = record::parse(&bytes[at..]) {
            let record = bytes[at..at + shape.record_len()].to_vec();
            records.push((at, record));
            at += shape.record_len();
        }
        records
    }

    /// Changes the head of the last record, its check made good again.
    fn change_last_head(&self, change: impl Fn(&mut [u8])) {
        let (at, bytes) = self.records().pop().expect("a record");
        let Parsed::Record(shape) = record::parse(&bytes) else {
            panic!("a record");
        };
        let whole = shape.view(&bytes);
        let mut head = whole.head.to_vec();
        change(&mut head);
        let Body::Present { salt, payload } = whole.body else {
            panic!("a body");
        };
        let salt = salt.try_into().expect("a salt");
        let mut changed = Vec::new();
        record::encode(&mut changed, whole.synced, &head, Some((salt, payload)));
        self.put_at(at, &changed);
    }

    fn put_at(&self, at: usize, with: &[u8]) {
        let path = self.segments().pop().expect("a segment");
        let mut bytes = std::fs::read(&path).expect("read");
        bytes.truncate(at);
        bytes.extend_from_slice(with);
        std::fs::write(&path, bytes).expect("write");
    }
}

fn case_of(log: &Log) -> Option<Case> {
    match log.refusal() {
        Some(Refusal::Damaged { case, .. }) => Some(case),
        _ => None,
    }
}

#[test]
fn a_refused_writer_leaves_the_evidence_of_what_is_lost() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    append(&log, &store.env, vec![forget(2)]);
    let slots = std::fs::read(store.path.join("acked")).expect("slots");
    let last = store.records().last().expect("a record").0;
    store.put_at(last, &[]);
    // This process has seen all of it durable; it must not note the shorter chain as acknowledged.
    let refused = try_append(&log, &store.env, vec![forget(3)], Durability::Synced);
    assert!(
        matches!(refused, Err(LogError::Damaged { case: Case::M, .. })),
        "{refused:?}"
    );
    assert_eq!(
        std::fs::read(store.path.join("acked")).expect("slots"),
        slots
    );
    assert_eq!(case_of(&store.open()), Some(Case::M));
}

#[test]
fn a_lock_without_an_append_changes_no_byte() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    let slots = std::fs::read(store.path.join("acked")).expect("slots");
    let writer = log.begin(&store.env, Duration::ZERO).expect("lock");
    writer.commit(Durability::Synced).expect("nothing to do");
    assert_eq!(
        std::fs::read(store.path.join("acked")).expect("slots"),
        slots
    );
}

#[test]
fn a_first_record_that_is_torn_is_set_aside_with_its_segment() {
    for damage in [b"garbage".as_slice(), &[0x41; 400], &[]] {
        let store = Store::new();
        append(&store.open(), &store.env, vec![forget(1)]);
        store.forget_slots();
        store.put_at(segment::HEADER_LEN, damage);
        let log = store.open();
        assert_eq!((log.tip(), log.refusal()), (None, None));
        append(&log, &store.env, vec![forget(2)]);
        assert_eq!(positions(&store.open(), &Cursor::START), [1, 2, 3]);
    }
    // A body that was torn in the first batch takes the segment, too.
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    store.forget_slots();
    let (at, mut first) = store.records().remove(0);
    *first.last_mut().expect("a byte") ^= 1;
    store.put_at(at, &first);
    append(&store.open(), &store.env, vec![forget(2)]);
    assert_eq!(positions(&store.open(), &Cursor::START), [1, 2, 3]);
}

#[test]
fn a_wrong_prev_at_the_end_is_a_broken_chain() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    append(&store.open(), &store.env, vec![forget(2)]);
    store.forget_slots();
    store.change_last_head(|head| head[40] ^= 1);
    assert_eq!(case_of(&store.open()), Some(Case::F));
}

#[test]
fn what_a_newer_version_wrote_is_refused_and_never_cut() {
    let kind = |head: &mut [u8], code: u16| head[80..82].copy_from_slice(&code.to_le_bytes());
    type Change<'a> = &'a dyn Fn(&mut [u8]);
    let newer: [(&str, Change<'_>); 5] = [
        ("format", &|head| head[0] = 2),
        ("reserved bytes", &|head| head[2] = 1),
        ("codec", &|head| head[84] = 2),
        ("seq", &|head| head[24..32].fill(0xff)),
        ("critical kind", &|head| kind(head, 0x8f77)),
    ];
    for (what, change) in newer {
        let store = Store::new();
        append(&store.open(), &store.env, vec![forget(1)]);
        append(&store.open(), &store.env, vec![forget(2)]);
        store.forget_slots();
        store.change_last_head(change);
        let before = std::fs::read(&store.segments()[0]).expect("read");
        let log = store.open();
        assert!(
            matches!(log.refusal(), Some(Refusal::Newer { .. })),
            "{what}"
        );
        let refused = try_append(&log, &store.env, vec![forget(3)], Durability::Synced);
        assert!(
            matches!(refused, Err(LogError::NewerFormat { .. })),
            "{what}"
        );
        assert_eq!(
            std::fs::read(&store.segments()[0]).expect("read"),
            before,
            "{what}"
        );
        let report = log.verify(&mut |_| {}).expect("verify");
        let codes: Vec<_> = report
            .findings
            .iter()
            .map(|finding| &finding.code)
            .collect();
        assert!(
            codes.iter().any(|code| code.starts_with("newer_")),
            "{what}: {codes:?}"
        );
        if what != "seq" {
            assert!(report.ok(), "{what}: {:?}", report.findings);
        }
    }
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    let (at, mut last) = store.records().pop().expect("a record");
    last[12] = 3;
    let head_end = 24 + u32::from_le_bytes([last[4], last[5], last[6], last[7]]) as usize;
    let check = crc32c::crc32c(&last[4..head_end]);
    last[..4].copy_from_slice(&check.to_le_bytes());
    store.forget_slots();
    store.put_at(at, &last);
    assert!(matches!(
        store.open().refusal(),
        Some(Refusal::Newer { .. })
    ));
    assert!(store.open().verify(&mut |_| {}).expect("verify").ok());
}

#[test]
fn a_slot_whose_record_has_moved_is_found() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    append(&store.open(), &store.env, vec![forget(2)]);
    let mut slots = std::fs::read(store.path.join("acked")).expect("slots");
    for at in acked::SLOT_OFFSETS {
        let Some(slot) = slots.get(at as usize..).and_then(Slot::parse) else {
            continue;
        };
        let moved = Slot {
            offset: slot.offset + 16,
            ..slot
        };
        slots[at as usize..at as usize + acked::SLOT_LEN].copy_from_slice(&moved.encode());
    }
    std::fs::write(store.path.join("acked"), slots).expect("write");
    let log = store.open();
    assert_eq!(log.refusal(), None);
    append(&log, &store.env, vec![forget(3)]);
    assert!(
        store
            .open()
            .verify(&mut |_| {})
            .expect("verify")
            .findings
            .is_empty()
    );
}

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

/// Recalls alone are appended without a sync, from many processes; whoever opens the log looks at what no sync has
/// followed, so that stays little.
#[test]
fn what_is_appended_without_a_sync_is_synced_now_and_then() {
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
fn what_a_new_origin_continues_is_durable_and_missed_when_it_goes() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    try_append(&store.open(), &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    let copy = Store::new();
    std::fs::create_dir_all(&copy.path).expect("folder");
    let status = std::process::Command::new("cp")
        .args(["-r", &format!("{}/.", store.path.display())])
        .arg(&copy.path)
        .status();
    assert!(status.expect("cp").success());
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
    // The operating system tells of a failed write once: trying again proves nothing.
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

/// How long the newest segment is, and where its records end.
fn lens(store: &Store) -> (u64, u64) {
    let len = std::fs::metadata(store.segments().last().expect("a segment"));
    let (at, last) = store.records().pop().expect("a record");
    (len.expect("it is there").len(), (at + last.len()) as u64)
}

/// An earlier version wrote zeros up to a multiple of this.
const ZEROS_TO: u64 = 64 * 1_024;

/// Puts zeros behind the newest segment's end, as an earlier version wrote them.
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

/// Runs `change` just before a segment is read beyond its first 16 KiB, once.
fn meanwhile(watched: &Watched, change: impl FnOnce() + Send + 'static) {
    *watched.meanwhile.lock().expect("a lock") = Some(Box::new(change));
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

#[test]
fn segments_that_are_gone_and_strays_are_named() {
    let store = Store::new();
    append(&store.open(), &store.env, vec![forget(1)]);
    let path = store.segments().remove(0);
    let name = path
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .to_uppercase();
    std::fs::copy(&path, path.with_file_name(name)).expect("copy");
    let report = store.open().verify(&mut |_| {}).expect("verify");
    let codes: Vec<_> = report
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(codes, ["stray_file"]);

    let later = "00000000000000000007-0123456789abcdef.icmlog";
    std::fs::rename(&path, path.with_file_name(later)).expect("rename");
    assert_eq!(case_of(&store.open()), Some(Case::E));
}

#[test]
fn what_is_whole_stays_when_the_newest_event_known_is_damaged() {
    let store = Store::new();
    let log = store.open();
    append(&log, &store.env, vec![forget(1)]);
    try_append(&log, &store.env, vec![forget(2)], Durability::Lazy).expect("append");
    let reader = store.open();
    let before = reader.tip().expect("a tip").position;
    let (at, mut last) = store.records().pop().expect("a record");
    *last.last_mut().expect("a byte") ^= 1;
    store.put_at(at, &last);
    for log in [&log, &reader] {
        log.refresh().expect("refresh");
        let tip = log.tip().expect("the events before are whole");
        assert_eq!(tip.position.0 + 1, before.0);
        assert_eq!(positions(log, &Cursor::START).len() as u64, tip.position.0);
    }
}

#[test]
fn going_back_says_that_what_is_newest_cannot_be_reached() {
    let store = Store::new();
    let log = store.open();
    for n in 1..=4 {
        append(&log, &store.env, vec![forget(n)]);
    }
    let (at, _) = store.records()[2];
    let path = store.segments().remove(0);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[at + 30] ^= 1;
    std::fs::write(&path, bytes).expect("write");
    for most in [1, 100] {
        let mut seen = Vec::new();
        let ended = store.open().scan_back(None, &mut |event| {
            seen.push(event.position.0);
            match seen.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        assert_eq!(seen, [2, 1][..most.min(2)]);
        assert!(
            matches!(ended, Err(LogError::Damaged { case: Case::C, .. })),
            "{ended:?}"
        );
    }
}

#[test]
fn a_copy_of_a_damaged_log_is_not_carried_on() {
    let store = Store::new();
    let log = store.open();
    for n in 1..=4 {
        append(&log, &store.env, vec![forget(n)]);
    }
    drop(log);
    let (at, _) = store.records()[2];
    let path = store.segments().remove(0);
    let mut bytes = std::fs::read(&path).expect("read");
    bytes[at + 30] ^= 1;
    std::fs::write(&path, bytes).expect("write");
    // The slot lies beyond the damage; only who continues the chain looks back so far.
    let copy = store.path.with_file_name("copy");
    copy_folder(&store.path, &copy);
    let log = Log::open(Arc::new(RealDisk), &copy).expect("open");
    let refused = try_append(&log, &store.env, vec![forget(9)], Durability::Synced);
    assert!(
        matches!(refused, Err(LogError::Damaged { case: Case::C, .. })),
        "{refused:?}"
    );
    let origins = std::fs::read_dir(copy.join(LOG_DIR)).expect("read").count();
    assert_eq!(origins, 1, "no chain was begun");
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("create");
    for entry in std::fs::read_dir(from).expect("read") {
        let entry = entry.expect("entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy_folder(&from, &to),
            false => drop(std::fs::copy(&from, &to).expect("copy")),
        }
    }
}
