//! A store in a folder of its own, and functions that append to it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use icm_log::cases::Case;
use icm_log::disk::RealDisk;
use icm_log::env::Env;
use icm_log::record::{self, Body, Parsed};
use icm_log::*;

use crate::watched::{Watched, WatchedDisk};

pub(crate) struct TestEnv(pub(crate) AtomicU64);
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

pub(crate) fn forget(n: u8) -> NewEvent {
    NewEvent {
        kind: Kind::MEMORY_FORGOTTEN,
        subject: SubjectId([n; 16]),
        refs: vec![],
        facts: facts::Alive { causal_length: 2 }.encode(),
        payload: payload::encode(&payload::MemoryForgotten::default()),
    }
}

pub(crate) fn batch_of(events: Vec<NewEvent>) -> Batch<'static> {
    Batch {
        command: CommandId([1; 16]),
        actor: "user",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events,
    }
}

pub(crate) fn try_append(
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

pub(crate) fn append(log: &Log, env: &TestEnv, events: Vec<NewEvent>) -> Vec<Appended> {
    try_append(log, env, events, Durability::Synced).expect("append")
}

pub(crate) fn positions(log: &Log, from: &Cursor) -> Vec<u64> {
    let mut seen = Vec::new();
    log.scan(from, &mut |event| {
        seen.push(event.position.0);
        ControlFlow::Continue(())
    })
    .expect("scan");
    seen
}

/// A store in a folder of its own.
pub(crate) struct Store {
    _dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) env: TestEnv,
}

impl Store {
    pub(crate) fn new() -> Store {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("store");
        let env = TestEnv(AtomicU64::new(0));
        Store {
            _dir: dir,
            path,
            env,
        }
    }

    pub(crate) fn open(&self) -> Log {
        Log::open(Arc::new(RealDisk), &self.path).expect("open")
    }

    /// Opens the log on a disk on which all changes have the same time.
    pub(crate) fn without_clock(&self) -> (Log, Arc<Watched>) {
        let (log, watched) = self.watched();
        watched.no_clock.store(true, Ordering::Relaxed);
        (log, watched)
    }

    pub(crate) fn watched(&self) -> (Log, Arc<Watched>) {
        let watched = Arc::new(Watched::default());
        let disk = Arc::new(WatchedDisk(watched.clone()));
        (Log::open(disk, &self.path).expect("open"), watched)
    }

    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let origin = self.open().origin().expect("an origin");
        let dir = self.path.join(LOG_DIR).join(origin.to_string());
        let mut paths: Vec<_> = std::fs::read_dir(dir)
            .expect("a chain")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        paths
    }

    pub(crate) fn forget_slots(&self) {
        let _ = std::fs::remove_file(self.path.join("acked"));
    }

    /// Returns offsets and bytes of the records of the newest segment.
    pub(crate) fn records(&self) -> Vec<(usize, Vec<u8>)> {
        let bytes = std::fs::read(self.segments().last().expect("a segment")).expect("read");
        let (mut at, mut records) = (segment::HEADER_LEN, Vec::new());
        while let Parsed::Record(shape) = record::parse(&bytes[at..]) {
            let record = bytes[at..at + shape.record_len()].to_vec();
            records.push((at, record));
            at += shape.record_len();
        }
        records
    }

    /// Changes the head of the last record and gives it a good check.
    pub(crate) fn change_last_head(&self, change: impl Fn(&mut [u8])) {
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

    pub(crate) fn put_at(&self, at: usize, with: &[u8]) {
        let path = self.segments().pop().expect("a segment");
        let mut bytes = std::fs::read(&path).expect("read");
        bytes.truncate(at);
        bytes.extend_from_slice(with);
        std::fs::write(&path, bytes).expect("write");
    }
}

pub(crate) fn case_of(log: &Log) -> Option<Case> {
    match log.refusal() {
        Some(Refusal::Damaged { case, .. }) => Some(case),
        _ => None,
    }
}

/// Copies a folder and all in it. A process that is started for it would hold the locks of other tests for a moment.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
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
