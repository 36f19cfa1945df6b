//! Checks `damaged/CATALOGUE.md`: each damaged store is made anew, opened, verified, repaired and verified again
//! exactly as its row says.

mod cases;

use cases::CASES;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::error::ServiceError;
use icm_api::{
    Caller, NoProgress, RecallRequest, RedactRequest, RepairAnswer, RepairRequest, StoreRequest,
};
use icm_log::ACKED_FILE;
use icm_log::acked::{SLOT_OFFSETS, Slot};
use icm_log::disk::RealDisk;
use icm_log::facts::{ImportedRange, LogImported};
use icm_log::record::{self, Body, Parsed, SALT_LEN};
use icm_log::segment::HEADER_LEN;
use icm_log::{Durability, EventId, Kind, Log, NewEvent, OriginId, Seq, SubjectId};
use icm_service::Service;
use replay_tests::env::SimEnv;
use replay_tests::folder::{self, Files};
use replay_tests::logbed;
use replay_tests::repair::{cut_up, records};
use replay_tests::store;

/// Memories of the store before the damage.
const MEMORIES: u64 = 12;
/// Least number of events in a segment.
const EVENTS: usize = 3;

/// The store, and the ways to damage it.
struct Bed {
    dir: PathBuf,
    origin: OriginId,
    env: Arc<SimEnv>,
}

impl Bed {
    fn segments(&self) -> Vec<PathBuf> {
        self.segments_of(self.origin)
    }

    fn segments_of(&self, origin: OriginId) -> Vec<PathBuf> {
        folder::files(&self.chain(origin))
    }

    fn chain(&self, origin: OriginId) -> PathBuf {
        self.dir.join("log").join(origin.to_string())
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(path).expect("it is read");
        change(&mut bytes);
        fs::write(path, bytes).expect("it is written");
    }

    /// Changes the `n`-th record of the `segment`-th segment; `change` gets the bytes, its start and its end.
    fn change_record(
        &self,
        (segment, n): (usize, usize),
        change: impl FnOnce(&mut Vec<u8>, usize, usize),
    ) {
        self.change(&self.segments()[segment], |bytes| {
            let record = records(bytes)[n];
            change(bytes, record.0, record.1);
        });
    }

    fn last(&self) -> PathBuf {
        self.segments().pop().expect("there are some")
    }

    fn slot(&self) -> Slot {
        let slot = icm_log::acked::read(&RealDisk, &self.dir).expect("it is read");
        slot.expect("there is one")
    }

    fn write_slot(&self, slot: &Slot) {
        let mut bytes = vec![0; 608];
        let at = SLOT_OFFSETS[(slot.generation % 2) as usize] as usize;
        bytes[at..at + 96].copy_from_slice(&slot.encode());
        fs::write(self.dir.join(ACKED_FILE), bytes).expect("it is written");
    }

    /// Redacts the text of event 8, by event 15, and stores another memory.
    fn redact(&self) {
        let (service, caller) = (self.service().expect("it opens"), Caller::default());
        let eighth = service.log_show("@8").expect("an event").entry;
        let request = RedactRequest {
            targets: vec![eighth.subject.expect("a memory")],
            ..RedactRequest::default()
        };
        service.redact(&caller, &request).expect("redacted");
        drop(service);
        assert_eq!(write(self, "after the redaction"), "0");
    }

    fn service(&self) -> Result<Service, ServiceError> {
        store::open(&self.dir, Arc::clone(&self.env))
    }

    /// Learns another machine's chain of three segments whole.
    fn learn(&self) -> OriginId {
        let elsewhere = tempfile::tempdir().expect("a folder");
        let env = SimEnv::new(77);
        let log = Log::open(Arc::new(RealDisk), elsewhere.path()).expect("it opens");
        for n in 0..7 {
            let event = logbed::numbered(n, 30);
            logbed::append(&log, &env, vec![event], Durability::Synced).expect("it appends");
        }
        let tip = log.tip().expect("there are events");
        let foreign = elsewhere.path().join("log").join(tip.origin.to_string());
        let bytes = fs::read(&folder::files(&foreign)[0]).expect("it is read");
        fs::create_dir_all(self.chain(tip.origin)).expect("created");
        for (name, bytes) in cut_up(tip.origin, &bytes, EVENTS) {
            fs::write(self.chain(tip.origin).join(name), bytes).expect("written");
        }
        let range = ImportedRange {
            origin: tip.origin,
            base: EventId::ZERO,
            head: tip.event,
            from_seq: Seq(1),
            to_seq: tip.seq,
        };
        let event = NewEvent {
            kind: Kind::LOG_IMPORTED,
            subject: SubjectId::ZERO,
            refs: Vec::new(),
            facts: LogImported {
                ranges: vec![range],
            }
            .encode(),
            payload: vec![0x80],
        };
        let log = Log::open(Arc::new(RealDisk), &self.dir).expect("it opens");
        logbed::append(&log, &*self.env, vec![event], Durability::Synced).expect("it appends");
        tip.origin
    }
}

fn flip(bytes: &mut [u8], at: usize) {
    bytes[at] ^= 0x10;
}

/// A row of the catalogue, or the row found.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    case: String,
    recall: String,
    store: String,
    verify: String,
    repair: String,
    gone: String,
    after: String,
}

fn catalogue() -> BTreeMap<String, Row> {
    let text = include_str!("../../damaged/CATALOGUE.md");
    let mut rows = BTreeMap::new();
    let is_row = |line: &&str| line.starts_with("| `") && line.matches('|').count() == 10;
    for line in text.lines().filter(is_row) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, case, recall, store, verify, repair, gone, after] = cells[..] else {
            panic!("a row has nine cells: {line}");
        };
        let row = Row {
            case: case.to_owned(),
            recall: recall.to_owned(),
            store: store.to_owned(),
            verify: verify.to_owned(),
            repair: repair.to_owned(),
            gone: gone.to_owned(),
            after: after.to_owned(),
        };
        let before = rows.insert(name.trim_matches('`').to_owned(), row);
        assert!(before.is_none(), "two rows are called {name}");
    }
    rows
}

fn exit_code(error: &ServiceError) -> &'static str {
    match error {
        ServiceError::Damaged { .. } => "3",
        ServiceError::NotFound { .. } => "1",
        _ => "2",
    }
}

/// Looks for imports below the service.
fn has_foreign(bed: &Bed) -> bool {
    let log = Log::open(Arc::new(RealDisk), &bed.dir);
    log.is_ok_and(|log| {
        let (seen, _) = logbed::read(&log);
        seen.iter().any(|seen| seen.kind == Kind::LOG_IMPORTED)
    })
}

/// Returns the request for all memories.
fn memories() -> RecallRequest {
    RecallRequest {
        limit: Some(100),
        ..RecallRequest::new("number")
    }
}

fn recall(bed: &Bed) -> String {
    if has_foreign(bed) {
        let log = Log::open(Arc::new(RealDisk), &bed.dir).expect("it opens");
        let (seen, ended) = logbed::read(&log);
        let shown =
            |seen: &&logbed::Seen| seen.kind == Kind::MEMORY_STORED && seen.payload.is_some();
        let code = if ended.is_some() { 3 } else { 0 };
        return format!("{code}, {}", seen.iter().filter(shown).count());
    }
    let service = match bed.service() {
        Ok(service) => service,
        Err(error) => return exit_code(&error).to_owned(),
    };
    match service.recall(&Caller::default(), &memories()) {
        Err(error) => exit_code(&error).to_owned(),
        Ok(_) if service.damage().is_some() => "3".to_owned(),
        Ok(answer) => format!("0, {}", answer.results.len()),
    }
}

fn write(bed: &Bed, content: &str) -> String {
    if has_foreign(bed) {
        let log = Log::open(Arc::new(RealDisk), &bed.dir).expect("it opens");
        let event = logbed::numbered(100, 10);
        let appended = logbed::append(&log, &*bed.env, vec![event], Durability::Synced);
        return if appended.is_ok() { "0" } else { "3" }.to_owned();
    }
    let request = StoreRequest::new("t", content);
    let stored = bed
        .service()
        .and_then(|service| service.store(&Caller::default(), request));
    stored
        .map_or_else(|error| exit_code(&error), |_| "0")
        .to_owned()
}

/// Returns the exit code of `icm log verify`, and its worst finding.
fn verify(bed: &Bed) -> (String, String) {
    let log = match Log::open(Arc::new(RealDisk), &bed.dir) {
        Ok(log) => log,
        Err(_) => return ("–".to_owned(), "2".to_owned()),
    };
    let Ok(report) = log.verify(&mut |_| {}) else {
        return ("–".to_owned(), "2".to_owned());
    };
    let code = if report.ok() { "0" } else { "3" };
    let mut findings = report.findings.iter().collect::<Vec<_>>();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    match findings.first() {
        None => ("A".to_owned(), code.to_owned()),
        Some(finding) => {
            let case = finding
                .case
                .map_or("–".to_owned(), |case| format!("{case:?}"));
            (case, format!("{code}, {}", finding.code.replace('_', " ")))
        }
    }
}

fn repair(bed: &Bed) -> (String, String) {
    let request = RepairRequest::default();
    let answer = bed
        .service()
        .and_then(|service| service.log_repair(&Caller::default(), &request, &[], &NoProgress));
    match answer {
        Err(ServiceError::NewerFormat { .. }) => ("refused: newer".to_owned(), "–".to_owned()),
        Err(error) => (format!("refused: {}", exit_code(&error)), "–".to_owned()),
        Ok(answer) if !answer.damaged => ("nothing".to_owned(), "–".to_owned()),
        Ok(answer) => (done(&answer), gone(&answer)),
    }
}

fn done(answer: &RepairAnswer) -> String {
    match (&answer.new_origin, answer.new_secret) {
        (None, _) => "repaired",
        (Some(_), false) => "new origin",
        (Some(_), true) => "new origin and secret",
    }
    .to_owned()
}

fn gone(answer: &RepairAnswer) -> String {
    let mut said = Vec::new();
    for gone in &answer.gone {
        said.push(match gone.events {
            0 => format!("before {}", gone.from_seq),
            1 => format!("{}", gone.from_seq),
            _ => format!("{}–{}", gone.from_seq, gone.to_seq),
        });
    }
    said.extend(
        answer
            .payloads
            .iter()
            .map(|it| format!("payload {}", it.seq)),
    );
    let again = answer.redacted.iter();
    said.extend(again.map(|it| format!("redacted {}", it.seq)));
    match said.is_empty() {
        true => "nothing".to_owned(),
        false => said.join(", "),
    }
}

#[test]
fn every_damaged_store_is_as_the_catalogue_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let (env, dir) = (Arc::new(SimEnv::new(5)), folder.path().join("store"));
    let service = store::open(&dir, Arc::clone(&env)).expect("it opens");
    for n in 0..MEMORIES {
        env.advance_ms(1_000);
        let request = StoreRequest::new("t", format!("memory number {n}\nof the store"));
        service
            .store(&Caller::default(), request)
            .expect("it stores");
    }
    let origin = service.log_handle().origin().expect("an origin");
    drop(service);
    let mut bed = Bed { dir, origin, env };
    let path = bed.segments()[0].clone();
    let bytes = fs::read(&path).expect("it is read");
    fs::remove_file(&path).expect("removed");
    for (name, bytes) in cut_up(origin, &bytes, EVENTS) {
        fs::write(path.with_file_name(name), bytes).expect("written");
    }
    assert_eq!(bed.segments().len(), 5, "five segments");
    let whole: Files = folder::read(&bed.dir);

    let mut rows = catalogue();
    let (mut ran, mut wrong) = (0, Vec::new());
    for (name, damage) in CASES {
        let mut look = |of: fn(&Bed) -> String| {
            // The folder stays, or the store would count as a copy.
            folder::write(&bed.dir, &whole);
            bed.env = Arc::new(SimEnv::new(ran));
            bed.env.advance_ms(3_600_000);
            damage(&bed);
            of(&bed)
        };
        let recalled = look(recall);
        let stored = look(|bed| write(bed, "another"));
        let look_at_all = || {
            folder::write(&bed.dir, &whole);
            damage(&bed);
            let (case, verified) = verify(&bed);
            let (repair, gone) = repair(&bed);
            let after = match repair.starts_with("refused") {
                true => "–".to_owned(),
                false => {
                    let (_, verified) = verify(&bed);
                    let again = repair_again(&bed);
                    format!("{verified}; {}{again}", recall(&bed))
                }
            };
            (case, verified, repair, gone, after)
        };
        let (case, verify, repair, gone, after) = look_at_all();
        let found = Row {
            case,
            recall: recalled,
            store: stored,
            verify,
            repair,
            gone,
            after,
        };
        ran += 1;
        match rows.remove(*name) {
            Some(row) if row == found => {}
            row => wrong.push(format!(
                "{name}: {}\n| `{name}` | | {} | {} | {} | {} | {} | {} | {} |",
                row.map_or("no row".to_owned(), |row| format!("{row:?}")),
                found.case,
                found.recall,
                found.store,
                found.verify,
                found.repair,
                found.gone,
                found.after,
            )),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.is_empty(), "rows without a case: {rows:?}");
    assert!(ran >= 20, "{ran}");
}

/// Checks that a second repair finds nothing to do, and that writes work.
fn repair_again(bed: &Bed) -> String {
    let (again, _) = repair(bed);
    let written = write(bed, "after the repair");
    match (again.as_str(), written.as_str()) {
        ("nothing", "0") => String::new(),
        _ => format!("; again {again}, store {written}"),
    }
}

#[test]
fn imports_that_are_not_refused_verify_afterwards() {
    let rows = catalogue();
    let refused = |row: &&Row| row.repair.starts_with("refused");
    for (name, row) in rows.iter().filter(|(_, row)| !refused(row)) {
        assert!(row.after.starts_with('0'), "{name}: {row:?}");
        assert!(!row.after.contains("again"), "{name}: {row:?}");
    }
    assert!(rows.values().filter(refused).count() < 4 && rows.len() > 40);
}
