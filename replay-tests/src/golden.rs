//! Golden samples: bytes that every version must read in the same way. There is a sample of every kind that this
//! version knows, and there are small whole stores. The folder only grows: the bin `golden` adds missing samples and
//! never changes existing ones.
//!
//! `golden/events/KIND.vN.hex` holds one record (frame, head, checks, body) in hexadecimal digits, `KIND.vN.json` its
//! decoded content. `golden/stores/NAME/` holds a store and `expected.json`: the events read from it and the findings
//! of verify. `golden/bundles/NAME.icmx` is the export of that store.

mod event;

pub use event::event;
use event::{MEMORY, OTHER};

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::{ExportSince, ListRequest, NoProgress};
use icm_log::bundle::Since;
use icm_log::facts::{self, Facts, Importance, ScopeKind, Trust};
use icm_log::head::{Head, HeadFields};
use icm_log::kind::{KINDS, Status};
use icm_log::record::{self, Body, Parsed, Record, SALT_LEN};
use icm_log::{
    ActorId, CommandId, Cursor, Durability, EventId, Kind, Log, NewEvent, OriginId, Position,
    RequestKey, ScopeId, Seq, SessionId, SubjectId, Time, hash, payload,
};
use serde_json::{Value, json};

use crate::env::{START_MS, SimEnv};
use crate::folder::Files;
use crate::simdisk::SimDisk;

/// Returns the folder of the golden files.
pub fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

const ORIGIN: OriginId = OriginId(*b"golden origin 01");

/// Returns the record of a kind's sample, as today's code writes it.
pub fn sample(kind: Kind) -> Option<Vec<u8>> {
    let event = event(kind)?;
    let salt = *b"sixteen of salt!";
    let mut body = salt.to_vec();
    body.extend_from_slice(&event.payload);
    let fields = HeadFields {
        origin: ORIGIN,
        seq: Seq(3),
        prev: EventId([2; 32]),
        time: Time(START_MS << 16 | 1),
        position: Position(12),
        kind,
        kind_version: kind.info()?.version,
        batch_index: 1,
        batch_count: 2,
        subject: event.subject,
        command: CommandId(*b"command of 16 b."),
        actor: ActorId(*b"actor of golden!"),
        commitment: hash::commitment(&body),
        session: SessionId(*b"session of 16 b."),
        request: RequestKey(*b"request of 16 b."),
        refs: &event.refs,
        facts: &event.facts,
    };
    let mut head = Vec::new();
    fields.encode(&mut head);
    let mut bytes = Vec::new();
    record::encode(&mut bytes, Seq(2), &head, Some((&salt, &event.payload)));
    Some(bytes)
}

/// Returns the file names (without suffixes) of all samples that must exist, with their kinds.
pub fn sample_names() -> Vec<(String, Kind)> {
    let known = KINDS.iter().filter(|row| row.status != Status::Reserved);
    known
        .map(|row| {
            let name = format!("{}.v{}", row.name, row.version);
            match row.kind {
                // This version has the facts that were added later.
                Kind::MEMORY_RECALLED => (format!("{name}.shown"), row.kind),
                kind => (name, kind),
            }
        })
        .collect()
}

/// Parses `bytes` as exactly one record.
///
/// # Errors
/// The defect found.
pub fn only_record(bytes: &[u8]) -> Result<Record<'_>, String> {
    match record::parse(bytes) {
        Parsed::Record(shape) if shape.record_len() == bytes.len() => Ok(shape.view(bytes)),
        Parsed::Record(shape) => Err(format!("the record ends at byte {}", shape.record_len())),
        other => Err(format!("no record: {other:?}")),
    }
}

/// Returns the content of a record as JSON.
///
/// # Errors
/// The defect found.
pub fn describe(bytes: &[u8]) -> Result<Value, String> {
    let record = only_record(bytes)?;
    let head = record.parse_head().map_err(|error| error.to_string())?;
    if !record.keeps_commitment(&head) {
        return Err("salt and payload are not those that the head commits to".to_owned());
    }
    let facts = Facts::of(&head).map_err(|error| error.to_string())?;
    let payload = record.body.payload().and_then(payload::to_json);
    let refs: Vec<_> = (0..head.ref_count())
        .map(|index| ref_of(&head, index))
        .collect();
    Ok(json!({
        "id": head.id().to_string(),
        "origin": head.origin().to_string(),
        "seq": head.seq().0,
        "prev": head.prev().to_string(),
        "time": head.time().0,
        "position": head.position().0,
        "kind": head.kind().name(),
        "critical": head.kind().is_critical(),
        "kind_version": head.kind_version(),
        "batch": [head.batch_index(), head.batch_count()],
        "subject": head.subject().to_string(),
        "command": head.command().to_string(),
        "actor": head.actor().to_string(),
        "session": head.session().to_string(),
        "request": head.request().to_string(),
        "commitment": icm_log::to_hex(&head.commitment()),
        "refs": refs,
        "facts": facts.to_json(),
        "payload": payload,
        "synced": record.synced.0,
    }))
}

fn ref_of(head: &Head<'_>, index: usize) -> String {
    head.refs()
        .nth(index)
        .map(|id| id.to_string())
        .unwrap_or_default()
}

/// Parses a record and encodes it again.
///
/// # Errors
/// The defect found.
pub fn encode_again(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let record = only_record(bytes)?;
    let head = record.parse_head().map_err(|error| error.to_string())?;
    let refs: Vec<_> = head.refs().collect();
    let fields = HeadFields {
        origin: head.origin(),
        seq: head.seq(),
        prev: head.prev(),
        time: head.time(),
        position: head.position(),
        kind: head.kind(),
        kind_version: head.kind_version(),
        batch_index: head.batch_index(),
        batch_count: head.batch_count(),
        subject: head.subject(),
        command: head.command(),
        actor: head.actor(),
        commitment: head.commitment(),
        session: head.session(),
        request: head.request(),
        refs: &refs,
        facts: head.facts(),
    };
    let mut encoded = Vec::new();
    fields.encode(&mut encoded);
    let mut again = Vec::new();
    let body = match record.body {
        Body::Present { salt, payload } => {
            let salt: &[u8; SALT_LEN] = salt.try_into().expect("the salt has its length");
            Some((salt, payload))
        }
        Body::Withheld => None,
        Body::Damaged => return Err("a damaged body cannot be encoded".to_owned()),
    };
    record::encode(&mut again, record.synced, &encoded, body);
    Ok(again)
}

/// Returns the output of `icm log export` for a store.
///
/// # Panics
/// If the log cannot be exported.
pub fn export(files: &Files) -> Vec<u8> {
    let disk = SimDisk::new();
    disk.hold(Path::new(STORE), files);
    let log = Log::open(Arc::new(disk), Path::new(STORE)).expect("it opens");
    let mut out = Vec::new();
    log.export(&Since::Start, u64::MAX, &mut out, &mut |_| {})
        .expect("it is exported");
    out
}

/// Returns the output of `icm log export --format cloudevents` for a store.
///
/// # Panics
/// If the log cannot be exported.
pub fn cloudevents(files: &Files) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    crate::folder::write(&dir, files);
    let service = crate::store::open(&dir, Arc::new(SimEnv::new(0))).expect("it opens");
    let mut out = Vec::new();
    service
        .export_cloudevents(&ExportSince::Start, &mut out, &NoProgress)
        .expect("it is exported");
    out
}

/// Folder on the simulated disk in which golden stores are built and read.
pub const STORE: &str = "/golden/store";

/// Names of the golden stores that today's code can build.
pub const STORES: [&str; 13] = [
    "life",
    "two-origins",
    "torn-tail",
    "damaged-payload",
    "undone",
    "linked",
    "faded",
    "carried",
    "answered",
    "woken",
    "reminded",
    "expired",
    "corrected",
];

/// Names of the golden stores that only earlier versions wrote. `zero-tail` was written by `icm serve` of 0.1.0 before
/// its release: zeros up to 64 KiB follow its last record. Its fingerprint was replaced by zeros, as in a backup.
pub const OLD_STORES: [&str; 1] = ["zero-tail"];

/// Returns the names of all golden stores.
pub fn store_names() -> impl Iterator<Item = &'static str> {
    STORES.into_iter().chain(OLD_STORES)
}

/// Returns the files of a golden store, without the notes about it.
pub fn store(name: &str) -> Files {
    let mut files = crate::folder::read(&dir().join("stores").join(name));
    take_notes(&mut files);
    files
}

/// Builds a store.
///
/// # Panics
/// If the log misbehaves, or for an unknown name.
pub fn build(name: &str) -> Files {
    let env = SimEnv::new(name.len() as u64);
    let disk = SimDisk::new();
    let append = |disk: &SimDisk, mut events: Vec<NewEvent>| {
        env.advance_ms(60_000);
        let log = Log::open(Arc::new(disk.clone()), Path::new(STORE)).expect("it opens");
        let (before, _) = crate::logbed::read(&log);
        let newest = before.iter().rev().find(|seen| seen.subject == MEMORY);
        for event in &mut events {
            event.refs = newest.map(|seen| seen.id).into_iter().collect();
        }
        crate::logbed::append(&log, &env, events, Durability::Synced).expect("it appends");
    };
    let of_kinds = |kinds: &[Kind]| -> Vec<NewEvent> {
        kinds
            .iter()
            .map(|kind| event(*kind).expect("a known kind"))
            .collect()
    };
    append(&disk, of_kinds(&[Kind::MEMORY_STORED]));
    match name {
        "life" => {
            append(&disk, of_kinds(&[Kind::MEMORY_UPDATED]));
            append(&disk, of_kinds(&[Kind::MEMORY_RECALLED]));
            append(&disk, of_kinds(&[Kind::MEMORY_FORGOTTEN]));
            append(
                &disk,
                of_kinds(&[Kind::MEMORY_REVIVED, Kind::LOG_ACTOR_NAMED]),
            );
        }
        "undone" => {
            append(&disk, of_kinds(&[Kind::MEMORY_UPDATED]));
            append(&disk, of_kinds(&[Kind::MEMORY_RECALLED]));
            // First the update; then the recall and the undo of the update, so that the update counts again.
            for (from, to) in [(4, 4), (5, 6)] {
                let log = Log::open(Arc::new(disk.clone()), Path::new(STORE)).expect("it opens");
                let (before, _) = crate::logbed::read(&log);
                let head = before.iter().find(|seen| seen.seq == Seq(to));
                let head = head.expect("it was appended");
                let mut undo = event(Kind::LOG_UNDONE).expect("a known kind");
                undo.facts = facts::LogUndone {
                    ranges: vec![facts::UndoneRange {
                        origin: head.origin,
                        from_seq: Seq(from),
                        to_seq: Seq(to),
                        head: head.id,
                    }],
                }
                .encode();
                append(&disk, vec![undo]);
            }
        }
        "linked" => {
            let mut other = event(Kind::MEMORY_STORED).expect("a known kind");
            other.subject = OTHER;
            // The key is removed, or the event would store the first memory again.
            other.facts[16..32].fill(0);
            append(&disk, vec![other]);
            append(&disk, of_kinds(&[Kind::MEMORY_LINKED, Kind::MEMORY_LINKED]));
            // The event removes the second link; the first one stays.
            append(&disk, of_kinds(&[Kind::MEMORY_UNLINKED]));
        }
        "carried" => {
            let mut other = event(Kind::MEMORY_STORED).expect("a known kind");
            other.subject = OTHER;
            // The key is removed, or the event would store the first memory again.
            other.facts[16..32].fill(0);
            other.payload = payload::encode(&payload::MemoryStored {
                topic: "prefs",
                content: "Likes tea from elsewhere",
                carried_created_at_ms: Some(1_700_000_000_123),
                carried_updated_at_ms: Some(1_710_000_000_456),
                ..payload::MemoryStored::default()
            });
            append(&disk, vec![other]);
            append(&disk, of_kinds(&[Kind::MEMORY_UPDATED]));
        }
        "answered" => {
            let mut recalled = event(Kind::MEMORY_RECALLED).expect("a known kind");
            recalled.payload = payload::encode(&payload::MemoryRecalled {
                query: "what tea?",
                floor_ppm: Some(120_000),
                fits_ppm: vec![830_000],
                ..payload::MemoryRecalled::default()
            });
            append(&disk, vec![recalled]);
        }
        "woken" => {
            append(&disk, of_kinds(&[Kind::SESSION_STARTED]));
            append(&disk, of_kinds(&[Kind::MEMORY_PINNED]));
            append(&disk, of_kinds(&[Kind::MEMORY_RECALLED]));
            append(&disk, of_kinds(&[Kind::SESSION_ENDED]));
        }
        "reminded" => {
            append(&disk, of_kinds(&[Kind::ALERT_SET, Kind::ALERT_SET]));
            let log = Log::open(Arc::new(disk.clone()), Path::new(STORE)).expect("it opens");
            let (before, _) = crate::logbed::read(&log);
            let mut delivered = event(Kind::ALERT_DELIVERED).expect("a known kind");
            delivered.refs = before.last().map(|seen| seen.id).into_iter().collect();
            env.advance_ms(60_000);
            crate::logbed::append(&log, &env, vec![delivered], Durability::Synced)
                .expect("it appends");
        }
        "expired" => {
            let mut set = event(Kind::MEMORY_UPDATED).expect("a known kind");
            set.facts = facts::MemoryUpdated {
                fields: facts::fields::EXPIRES,
                scope_kind: None,
                importance: None,
                trust: None,
                keywords_added: 0,
                name: icm_log::Name::ZERO,
                scope_id: ScopeId::ZERO,
                removed: Vec::new(),
                expiry: Some(facts::Expiry::of(facts::Condition::FILE_PRISTINE, 0, 0)),
            }
            .encode();
            set.payload = payload::encode(&payload::MemoryUpdated {
                expires: Some(payload::ExpiresText {
                    path: Some("/src/icm/Cargo.lock"),
                    zone: None,
                    len: Some(3),
                    modified_ms: Some(1_790_000_000_000),
                    hash: Some("00ff"),
                }),
                ..payload::MemoryUpdated::default()
            });
            append(&disk, vec![set]);
            // The event that set the condition is the newest one of the memory, so it is the first of the refs.
            append(&disk, of_kinds(&[Kind::MEMORY_EXPIRED]));
        }
        "corrected" => {
            append(&disk, of_kinds(&[Kind::FEEDBACK_RECORDED]));
            append(&disk, of_kinds(&[Kind::FEEDBACK_APPLIED]));
        }
        "faded" => {
            append(&disk, of_kinds(&[Kind::MEMORY_DECAYED]));
            append(&disk, of_kinds(&[Kind::MEMORY_PRUNED]));
            append(
                &disk,
                of_kinds(&[Kind::MEMORY_DECAYED, Kind::MEMORY_RECALLED]),
            );
        }
        "two-origins" => {
            // A copy of the store in another folder continues under a new origin.
            let copy = SimDisk::new();
            copy.hold(
                Path::new("/elsewhere"),
                &Files::from([("file".into(), Vec::new())]),
            );
            copy.hold(Path::new(STORE), &disk.below(Path::new(STORE)));
            append(&copy, of_kinds(&[Kind::MEMORY_UPDATED]));
            return without_lock(copy.below(Path::new(STORE)));
        }
        "torn-tail" | "damaged-payload" => {
            append(&disk, of_kinds(&[Kind::MEMORY_UPDATED]));
            append(&disk, of_kinds(&[Kind::MEMORY_RECALLED]));
            let mut files = without_lock(disk.below(Path::new(STORE)));
            let is_segment = |path: &&mut Vec<u8>| path.starts_with(&icm_log::segment::MAGIC);
            let segment = files
                .values_mut()
                .find(is_segment)
                .expect("there is a segment");
            if name == "torn-tail" {
                segment.truncate(segment.len() - 10);
                files.remove(Path::new("acked"));
            } else {
                let text = b"Likes black tea";
                let at = segment
                    .windows(text.len())
                    .position(|window| window == text);
                segment[at.expect("the text is there")] ^= 0x20;
            }
            return files;
        }
        other => panic!("no store `{other}`"),
    }
    without_lock(disk.below(Path::new(STORE)))
}

fn without_lock(mut files: Files) -> Files {
    files.remove(Path::new(icm_log::LOCK_FILE));
    files
}

/// Returns the events read from a store, and the findings of verify.
///
/// # Panics
/// If the store cannot be opened.
pub fn describe_store(files: &Files) -> Value {
    let disk = SimDisk::new();
    disk.hold(Path::new(STORE), files);
    let log = Log::open(Arc::new(disk), Path::new(STORE)).expect("it opens");
    let mut events = Vec::new();
    let ended = log.scan(&Cursor::START, &mut |event| {
        events.push(json!({
            "position": event.position.0,
            "event": event.id.to_string(),
            "kind": event.head.kind().name(),
            "facts": Facts::of(&event.head).map(|facts| facts.to_json()).ok(),
            "payload": event.body.payload().and_then(payload::to_json),
        }));
        ControlFlow::Continue(())
    });
    let report = log.verify(&mut |_| {}).expect("it verifies");
    let heads: Vec<_> = report
        .heads
        .iter()
        .map(|head| {
            json!({
                "origin": head.origin.to_string(),
                "seq": head.seq.0,
                "event": head.event.to_string(),
                "own": head.own,
            })
        })
        .collect();
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| json!({ "code": finding.code, "severity": finding.severity, "seq": finding.seq }))
        .collect();
    let state = describe_state(files);
    json!({
        "state": state,
        "heads": heads,
        "positions": report.positions.0,
        "missing_bodies": report.missing_bodies,
        "findings": findings,
        "refuses_writes": log.refusal().is_some(),
        "reading_ends_with": ended.err().map(|error| error.to_string()),
        "events": events,
    })
}

/// Returns every row that the service shows of a store.
fn describe_state(files: &Files) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    crate::folder::write(&dir, files);
    let env = Arc::new(SimEnv::new(0));
    env.advance_ms(24 * 60 * 60 * 1_000);
    let service = crate::store::open(&dir, env).expect("it opens");
    let request = ListRequest {
        forgotten: true,
        ..ListRequest::default()
    };
    let memories = service.list(&request).expect("it lists");
    let rows: Vec<_> = memories
        .iter()
        .map(|memory| {
            json!({
                "id": memory.id,
                "topic": memory.topic,
                "content": memory.content,
                "importance": memory.importance,
                "keywords": memory.keywords,
                "key": memory.key,
                "scope": memory.scope,
                "trust": memory.trust,
                "source": memory.source,
                "forgotten": memory.forgotten,
                "access_count": memory.access_count,
                "created_at": memory.created_at,
                "updated_at": memory.updated_at,
                "occurred_at": memory.occurred_at,
                "withheld": memory.withheld,
            })
        })
        .collect();
    json!({ "rows": rows })
}

/// Returns the state hash of a store, which changes only with the version of the fold.
pub fn state_hash(files: &Files) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    crate::folder::write(&dir, files);
    let service = crate::store::open(&dir, Arc::new(SimEnv::new(0))).expect("it opens");
    let report = service.verify(&NoProgress).expect("it verifies");
    format!("{}\n", report.state_hash.expect("a fold afresh has one"))
}

/// Returns the name of the file with the state hash of a golden store; each version of the fold has its own.
pub fn state_hash_file() -> String {
    format!("{STATE_HASH}{}", icm_projections::fold::FOLD_VERSION)
}

/// Prefix of these names.
pub const STATE_HASH: &str = "state_hash.v";

/// Removes the notes about a golden store from its files, and returns them by name.
pub fn take_notes(files: &mut Files) -> BTreeMap<String, Vec<u8>> {
    let is_note = |name: &str| name == EXPECTED || name.starts_with(STATE_HASH);
    let names: Vec<_> = files
        .keys()
        .filter_map(|path| path.to_str().filter(|name| is_note(name)))
        .map(str::to_owned)
        .collect();
    let take = |name: String| {
        let bytes = files.remove(Path::new(&name))?;
        Some((name, bytes))
    };
    names.into_iter().filter_map(take).collect()
}

/// Name of the notes file beside a golden store's own files.
pub const EXPECTED: &str = "expected.json";

/// Returns bytes in hexadecimal digits, 32 bytes a line.
pub fn to_lines(bytes: &[u8]) -> String {
    bytes
        .chunks(32)
        .map(|line| icm_log::to_hex(line) + "\n")
        .collect()
}

/// Parses lines of hexadecimal digits.
pub fn from_lines(text: &str) -> Option<Vec<u8>> {
    icm_log::from_hex(&text.split_whitespace().collect::<String>())
}

/// Returns JSON with indents, for people and diffs.
pub fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
