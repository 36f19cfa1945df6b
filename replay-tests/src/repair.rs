//! Makes stores of several small segments, and repairs them below the service.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use icm_log::disk::{Disk, OpenMode};
use icm_log::record::{self, Body, Parsed};
use icm_log::repair::{Repairer, Report, Spare};
use icm_log::segment::{HEADER_LEN, SegmentHeader, SegmentName};
use icm_log::verify::Severity;
use icm_log::{Batch, CommandId, EventId, Log, OriginId, RequestKey, Seq, SessionId, hash};

use crate::env::SimEnv;
use crate::logbed::{self, Seen, numbered};
use crate::simdisk::SimDisk;

/// Folder of the store on a simulated disk.
pub const STORE: &str = "/home/store";
const WAIT: Duration = Duration::from_secs(1);

/// Opens the store.
///
/// # Errors
/// As [`Log::open`].
pub fn open(disk: &SimDisk) -> icm_log::Result<Log> {
    Log::open(Arc::new(disk.clone()), Path::new(STORE))
}

/// Returns an empty disk with the parent folder of the store.
pub fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/home")).expect("created");
    disk.sync_dir(Path::new("/")).expect("synced");
    disk
}

/// Appends batches of numbered events, durably.
///
/// # Panics
/// If an append fails.
pub fn fill(disk: &SimDisk, env: &SimEnv, batches: &[usize], first: u64) {
    let log = open(disk).expect("it opens");
    let mut next = first;
    for count in batches {
        env.advance_ms(1_000);
        let events = (next..).take(*count).map(|n| numbered(n, 24)).collect();
        logbed::append(&log, env, events, icm_log::Durability::Synced).expect("it appends");
        next += *count as u64;
    }
}

/// Returns the records of a segment: start, end, seq, id, and `true` if the record ends its batch.
pub fn records(bytes: &[u8]) -> Vec<(usize, usize, Seq, EventId, bool)> {
    let (mut found, mut at) = (Vec::new(), HEADER_LEN);
    while let Parsed::Record(shape) = record::parse(bytes.get(at..).unwrap_or_default()) {
        let record = shape.view(&bytes[at..]);
        let head = record.parse_head().expect("a head");
        let ends = head.batch_index() + 1 == head.batch_count();
        let end = at + shape.record_len();
        found.push((at, end, record.seq(), hash::event_id(record.head), ends));
        at = end;
    }
    found
}

/// Returns the segments of all chains, in order.
pub fn segments(disk: &SimDisk) -> Vec<PathBuf> {
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|it| it == "icmlog");
    disk.files().into_iter().filter(is_segment).collect()
}

/// Divides the records of a segment into several segments, each of whole batches with at least `events` events. Returns
/// them with their file names.
pub fn cut_up(origin: OriginId, bytes: &[u8], events: usize) -> Vec<(String, Vec<u8>)> {
    let (mut segments, mut begun, mut count) = (Vec::new(), None, 0);
    let records = records(bytes);
    // Zeros may follow the last record.
    let last = records.last().map_or(0, |record| record.1);
    for (start, end, seq, id, ends) in records {
        let (from, first_seq, first) = *begun.get_or_insert((start, seq, id));
        count += 1;
        if ends && count >= events || end == last {
            let mut segment = SegmentHeader::new(origin, first_seq).encode().to_vec();
            segment.extend_from_slice(&bytes[from..end]);
            segments.push((SegmentName::new(first_seq, first).to_string(), segment));
            (begun, count) = (None, 0);
        }
    }
    segments
}

/// Replaces the one segment of a chain by several.
///
/// # Panics
/// If there is more than one segment.
pub fn split(disk: &SimDisk, origin: OriginId, events: usize) {
    let of_chain = |path: &PathBuf| path.to_string_lossy().contains(&origin.to_string());
    let paths: Vec<PathBuf> = segments(disk).into_iter().filter(of_chain).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    let bytes = disk.contents(&paths[0]);
    let dir = paths[0].parent().expect("a folder").to_owned();
    disk.take(&paths[0]);
    for (name, bytes) in cut_up(origin, &bytes, events) {
        disk.put(dir.join(name), &bytes);
    }
}

/// Repairs a log as the service does.
///
/// # Errors
/// As [`icm_log::Writer::repair`].
pub fn repair(disk: &SimDisk, env: &SimEnv, spares: &[Spare]) -> icm_log::Result<Report> {
    repair_log(&open(disk)?, env, spares)
}

/// Repairs an open log as the service does.
///
/// # Errors
/// As [`icm_log::Writer::repair`].
pub fn repair_log(log: &Log, env: &SimEnv, spares: &[Spare]) -> icm_log::Result<Report> {
    let planned = log.plan_repair(spares, &mut |_| {})?;
    if planned.is_empty() {
        return Ok(planned);
    }
    let mut writer = log.begin_repair(env, WAIT)?;
    let batch = Batch {
        command: CommandId([9; 16]),
        actor: "user",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events: Vec::new(),
    };
    let who = Repairer {
        batch: &batch,
        reason: None,
    };
    let (report, _) = writer.repair(spares, &who, &mut |_| {})?;
    Ok(report)
}

/// Returns all segments of an undamaged copy, as spares.
///
/// # Panics
/// If a segment is not whole.
pub fn spares(disk: &SimDisk) -> Vec<Spare> {
    let mut spares = Vec::new();
    for path in segments(disk) {
        let bytes = disk.contents(&path);
        let header = SegmentHeader::parse(&bytes).expect("a header");
        let records = records(&bytes);
        let (first, last) = (records[0], records[records.len() - 1]);
        spares.push(Spare {
            file: disk.open(&path, OpenMode::Read).expect("it opens"),
            path,
            origin: header.origin,
            from_seq: first.2,
            to_seq: last.2,
            start: first.0 as u64,
            end: last.1 as u64,
        });
    }
    spares
}

/// Returns the ids of all whole records, with their bodies, anywhere in the files of a store; skips paths with a name
/// in `skip`.
pub fn whole_records(disk: &SimDisk, skip: &[&str]) -> BTreeSet<EventId> {
    let mut found = BTreeSet::new();
    let skipped = |path: &Path| {
        skip.iter()
            .any(|part| path.to_string_lossy().contains(part))
    };
    for path in disk.files().into_iter().filter(|path| !skipped(path)) {
        let bytes = disk.contents(&path);
        for at in 0..bytes.len() {
            if let Parsed::Record(shape) = record::parse(&bytes[at..]) {
                let record = shape.view(&bytes[at..]);
                if record.parse_head().is_ok() && record.body != Body::Damaged {
                    found.insert(hash::event_id(record.head));
                }
            }
        }
    }
    found
}

/// Checks a repaired store, and returns its events without the fields that differ from run to run.
///
/// # Errors
/// The defect, in one line.
pub fn check(disk: &SimDisk) -> Result<Vec<Seen>, String> {
    let log = open(disk).map_err(|error| format!("it does not open: {error}"))?;
    if let Some(refusal) = log.refusal() {
        return Err(format!("writes are refused: {refusal:?}"));
    }
    let report = log.verify(&mut |_| {}).map_err(|error| error.to_string())?;
    if let Some(bad) = report
        .findings
        .iter()
        .find(|it| it.severity != Severity::Notice)
    {
        return Err(format!("verify finds {bad:?}"));
    }
    let (seen, ended) = logbed::read(&log);
    if let Some(error) = ended {
        return Err(format!("reading ends with: {error}"));
    }
    let mut back = Vec::new();
    log.scan_back(None, &mut |event| {
        back.push(event.id);
        std::ops::ControlFlow::Continue(())
    })
    .map_err(|error| format!("reading backwards ends with: {error}"))?;
    back.reverse();
    if !seen.iter().map(|seen| seen.id).eq(back) {
        return Err("backwards there are other events than forwards".to_owned());
    }
    for event in &seen {
        let at = log.at_position(event.position, &());
        let at = at.map_err(|error| format!("{}: {error}", event.position))?;
        if at.is_none_or(|tip| tip.position < event.position) {
            return Err(format!("position {} is not found", event.position));
        }
    }
    let leftover = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "new") || path.ends_with("repairing")
    };
    match disk.files().iter().find(|path| leftover(path)) {
        Some(path) => Err(format!("{} is left over", path.display())),
        None => Ok(seen),
    }
}
