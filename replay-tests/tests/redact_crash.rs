//! A redaction below the service, with a power cut or a failed disk operation at every point. Run again, it ends as if
//! nothing had happened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use icm_log::disk::Disk;
use icm_log::facts::LogRedacted;
use icm_log::record::Body;
use icm_log::redact::Redacted;
use icm_log::{
    Batch, CommandId, Durability, EventId, Kind, Log, NewEvent, RequestKey, SessionId, SubjectId,
    payload,
};
use replay_tests::env::SimEnv;
use replay_tests::logbed;
use replay_tests::simdisk::{CrashPlan, SimDisk};

const STORE: &str = "/home/store";
/// Numbers of the events whose bodies are redacted.
const NAMED: [u64; 3] = [2, 3, 5];
const WAIT: Duration = Duration::from_secs(1);

fn open(disk: &SimDisk) -> Log {
    Log::open(Arc::new(disk.clone()), Path::new(STORE)).expect("it opens")
}

/// Makes a store with seven events, all of them durable.
fn before() -> (SimDisk, SimEnv) {
    let (disk, env) = (SimDisk::new(), SimEnv::new(1));
    disk.create_dir_all(Path::new("/home")).expect("created");
    disk.sync_dir(Path::new("/")).expect("synced");
    let log = open(&disk);
    for number in 0..7 {
        let event = logbed::numbered(number, 40);
        logbed::append(&log, &env, vec![event], Durability::Synced).expect("it appends");
    }
    (disk, env)
}

/// Ids of events, and the same events by chain.
type Named = (Vec<EventId>, Redacted);

fn named(log: &Log) -> icm_log::Result<Named> {
    let (seen, error) = logbed::read(log);
    if let Some(error) = error {
        return Err(error);
    }
    let mut ids = Vec::new();
    let mut places = Redacted::new();
    // The chain starts with two events of its own.
    for event in seen
        .iter()
        .filter(|seen| NAMED.contains(&(seen.seq.0.wrapping_sub(3))))
    {
        ids.push(event.id);
        places.entry(event.origin).or_default().insert(event.id);
    }
    assert_eq!(ids.len(), NAMED.len());
    Ok((ids, places))
}

fn is_redacted(log: &Log) -> icm_log::Result<bool> {
    match logbed::read(log) {
        (seen, None) => Ok(seen.iter().any(|seen| seen.kind == Kind::LOG_REDACTED)),
        (_, Some(error)) => Err(error),
    }
}

/// Redacts as the service does, on the log only.
fn redact(disk: &SimDisk, env: &SimEnv) -> icm_log::Result<()> {
    let log = Log::open(Arc::new(disk.clone()), Path::new(STORE))?;
    let (ids, places) = named(&log)?;
    if log.redaction_pending() {
        finish(&log, env, &places)?;
    }
    if is_redacted(&log)? {
        return Ok(());
    }
    let mut writer = log.begin(env, WAIT)?;
    writer.begin_redaction(None)?;
    let event = NewEvent {
        kind: Kind::LOG_REDACTED,
        subject: SubjectId::ZERO,
        refs: ids,
        facts: LogRedacted {
            subjects: Vec::new(),
        }
        .encode(),
        payload: payload::encode(&payload::LogRedacted::default()),
    };
    writer.append(&Batch {
        command: CommandId([9; 16]),
        actor: "user",
        session: SessionId::ZERO,
        request: RequestKey::ZERO,
        events: vec![event],
    })?;
    writer.commit(Durability::Synced)?;
    finish(&log, env, &places)
}

fn finish(log: &Log, env: &SimEnv, places: &Redacted) -> icm_log::Result<()> {
    let mut writer = log.begin(env, WAIT)?;
    if is_redacted(log)? {
        writer.blank(places)?;
    }
    writer.end_redaction()
}

/// Checks the store after a complete redaction.
fn check(disk: &SimDisk, ids: &[EventId]) -> Result<(), String> {
    let log = open(disk);
    let (seen, error) = logbed::read(&log);
    if let Some(error) = error {
        return Err(error.to_string());
    }
    let all: Vec<EventId> = seen.iter().map(|seen| seen.id).collect();
    if all[..ids.len()] != *ids {
        return Err("ids have changed".to_owned());
    }
    let missing = seen.iter().filter(|seen| seen.payload.is_none());
    let missing: Vec<u64> = missing.map(|seen| seen.seq.0 - 3).collect();
    if missing != NAMED {
        return Err(format!("bodies that are gone: {missing:?}"));
    }
    let report = log.verify(&mut |_| {}).map_err(|error| error.to_string())?;
    if !report.findings.is_empty() || report.missing_bodies != NAMED.len() as u64 {
        return Err(format!("{report:?}"));
    }
    if log.redaction_pending() {
        return Err("the marker is still there".to_owned());
    }
    for path in disk.files() {
        let bytes = disk.contents(&path);
        for number in NAMED {
            let text = logbed::numbered(number, 40).payload;
            if bytes.windows(text.len()).any(|window| window == text) {
                return Err(format!("{} holds {number}", path.display()));
            }
        }
    }
    Ok(())
}

fn ids(disk: &SimDisk) -> Vec<EventId> {
    let (seen, _) = logbed::read(&open(disk));
    seen.iter().map(|seen| seen.id).collect()
}

#[test]
fn a_redaction_takes_bodies_out_and_nothing_else() {
    let (disk, env) = before();
    let ids = ids(&disk);
    redact(&disk, &env).expect("it is redacted");
    check(&disk, &ids).expect("all is well");
    let log = open(&disk);
    let event = logbed::numbered(8, 40);
    logbed::append(&log, &env, vec![event], Durability::Synced).expect("the log goes on");
    let withheld = log.scan(&icm_log::Cursor::START, &mut |event| {
        let is_named = NAMED.contains(&event.head.seq().0.wrapping_sub(3));
        assert_eq!(event.body == Body::Withheld, is_named);
        std::ops::ControlFlow::Continue(())
    });
    withheld.expect("it reads");
}

#[test]
fn power_fails_at_every_point_of_a_redaction() {
    let (disk, env) = before();
    let (ids, count) = (ids(&disk), disk.op_count());
    redact(&disk, &env).expect("it is redacted");
    let last = disk.op_count();
    let (mut checked, mut resumed) = (0, 0);
    for n in count + 1..=last {
        let (disk, env) = before();
        disk.power_off_at(n);
        let _ = redact(&disk, &env);
        for plan in CrashPlan::all(2) {
            let found = disk.crash(plan);
            resumed += u32::from(open(&found).redaction_pending());
            redact(&found, &env).unwrap_or_else(|error| panic!("operation {n}, {plan:?}: {error}"));
            if let Err(why) = check(&found, &ids) {
                panic!("operation {n}, {plan:?}: {why}\n{}", disk.trace_text());
            }
            checked += 1;
        }
    }
    assert!(
        checked > 100 && resumed > 20,
        "{checked} checked, {resumed} resumed"
    );
}

#[test]
fn every_operation_of_a_redaction_fails_once() {
    let (disk, env) = before();
    let (ids, count) = (ids(&disk), disk.op_count());
    redact(&disk, &env).expect("it is redacted");
    let mut failed = 0;
    for n in count + 1..=disk.op_count() {
        let (disk, env) = before();
        disk.fail_at(n);
        failed += u32::from(redact(&disk, &env).is_err());
        disk.heal();
        redact(&disk, &env).unwrap_or_else(|error| panic!("operation {n}: {error}"));
        if let Err(why) = check(&disk, &ids) {
            panic!("operation {n}: {why}\n{}", disk.trace_text());
        }
    }
    assert!(failed > 10, "{failed} failures were noticed");
}
