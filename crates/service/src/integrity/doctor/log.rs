//! Checks of the log: its ends or all events, kinds of newer versions, and the clock.

use std::ops::ControlFlow;

use icm_log::verify::{Finding, Severity};
use icm_log::{Cursor, Log, LogError, Refusal, SKEW_MAX_MS, Tip};
use icm_projections::fold::day_of;

use super::{Checks, Patient, quoted};
use crate::history::pauses::EventDays;
use crate::upkeep::decay::day_text;
use icm_api::error::plain;
use icm_api::when::rfc3339;

/// Milliseconds that a clock may run behind the newest event without a warning.
const SKEW_FINE_MS: u64 = 60_000;
/// Days without an event from which on a wrong clock is likelier than an unused store. Raised, fewer pauses are
/// reported.
const PAUSE_FINE_DAYS: u32 = 365;
/// Bytes up to which the whole log is read, which takes no time to notice. Raised, the doctor takes longer.
const READ_ALL_MAX_BYTES: u64 = 32 << 20;

pub(super) fn log(patient: &Patient<'_>, log: &Log, checks: &mut Checks) {
    let repair = || Some(patient.icm("log repair"));
    match log.refusal() {
        Some(refusal @ Refusal::Damaged { .. }) => {
            checks.damaged = true;
            let why = plain(refusal.to_error(patient.dir));
            let why = format!(
                "{why}; what is before can be read: keep a copy of the folder, then repair it"
            );
            checks.problem("log", why, repair());
        }
        Some(Refusal::Newer { what }) => {
            let why = format!("a newer icm wrote it ({what}): update icm to write again");
            checks.problem("format", why, None);
        }
        Some(Refusal::NoStoreFile { why }) => {
            let why = format!(
                "{why}: it can be read but not written; put it back from a backup, or have a new \
                 one made"
            );
            checks.problem("log", why, repair());
        }
        Some(Refusal::Repairing) => {
            let why = "a repair was begun and is not finished: nothing is written until it is";
            checks.problem("log", why.to_owned(), repair());
        }
        None => {}
    }
    if log.redaction_pending() {
        let why = "one was begun and waits to be finished, what it takes out may still be there: any \
                   command that reads memories finishes it";
        checks.warning("redaction", why.to_owned(), Some(patient.icm("stats")));
    }
    if patient.whole {
        every_event(patient, log, checks);
    } else if log.refusal().is_none() {
        ends(patient, log, checks);
    }
}

/// Checks the ends of the log, if reading all takes long and the ends are in order; else checks every event.
fn ends(patient: &Patient<'_>, log: &Log, checks: &mut Checks) {
    let (len_bytes, heads) = match (log.len_bytes(), log.heads()) {
        (Ok(len_bytes), Ok(heads)) => (len_bytes, heads),
        // Damage hides a chain's head.
        (Ok(_), Err(LogError::Damaged { .. })) => return every_event(patient, log, checks),
        (Err(error), _) | (_, Err(error)) => return checks.failed("log", &error.into()),
    };
    // The head is missing, too, if nothing of a chain is known to be durable.
    let is_headed = |tip: Tip| heads.iter().any(|head| head.origin == tip.origin);
    match log.tip() {
        Some(tip) if len_bytes > READ_ALL_MAX_BYTES && is_headed(tip) => {
            let chains = match heads.len() {
                1 => "1 chain".to_owned(),
                n => format!("{n} chains"),
            };
            let said = format!(
                "newest event @{}, {chains}; only the ends were looked at, `--full` reads all",
                tip.position
            );
            checks.ok("log", said);
        }
        _ => every_event(patient, log, checks),
    }
}

fn every_event(patient: &Patient<'_>, log: &Log, checks: &mut Checks) {
    let progress = patient.progress;
    progress.start("verifying the log", log.len_bytes().ok());
    let report = log.verify(&mut |bytes| progress.advance(bytes));
    progress.finish();
    let report = match report {
        Ok(report) => report,
        Err(error) => return checks.failed("log", &error.into()),
    };
    let worst = report
        .findings
        .iter()
        .max_by_key(|finding| finding.severity);
    let more = match report.findings.len() {
        0 | 1 => String::new(),
        n => format!(" (the worst of {n} findings)"),
    };
    let Some(finding) = worst else {
        let said = match report.events {
            0 => "no events yet".to_owned(),
            events => format!("{events} events, each of them whole"),
        };
        checks.ok("log", said);
        return unknown_kinds(log, checks);
    };
    let place = match finding.file.as_os_str().is_empty() {
        true => String::new(),
        false => format!("{}: ", finding.file.display()),
    };
    let why = format!("{place}{}{more}", finding.message);
    match finding.severity {
        Severity::Notice => {
            let (advice, command) = advice(patient, finding, report.findings.len() > 1);
            checks.warning("log", format!("{why}{advice}"), command);
        }
        Severity::Newer => checks.warning("log", format!("{why}; update icm"), None),
        Severity::Damage => {
            checks.damaged = true;
            let command = match finding.code.as_str() {
                // The message of the finding says how to remove it.
                "redacted_payload" => "log verify",
                _ => "log repair",
            };
            checks.problem("log", why, Some(patient.icm(command)));
        }
    }
    unknown_kinds(log, checks);
}

/// Returns the advice for a finding that is no damage. Most of these are known and explained, such as the losses of a
/// repair: no command changes them.
fn advice(patient: &Patient<'_>, finding: &Finding, more: bool) -> (&'static str, Option<String>) {
    let (advice, command) = match finding.code.as_str() {
        "stray_file" => {
            let path = quoted(&patient.dir.join(&finding.file));
            ("; move it out of the store", Some(format!("ls -ld {path}")))
        }
        "torn_tail" | "incomplete_batch" | "damaged_header" => {
            ("; the next write moves it to torn/", None)
        }
        _ => ("", None),
    };
    match more {
        true => (advice, Some(patient.icm("log verify"))),
        false => (advice, command),
    }
}

fn unknown_kinds(log: &Log, checks: &mut Checks) {
    let mut unknown = 0_u64;
    let scanned = log.scan(&Cursor::START, &mut |event| {
        unknown += u64::from(event.head.kind().info().is_none());
        ControlFlow::Continue(())
    });
    // The check of the log says where it cannot be read.
    match unknown {
        0 if scanned.is_err() => {}
        0 => checks.ok("format", "every kind of event is known"),
        n => {
            let why = format!("{n} events of a kind that this version does not know; update icm");
            checks.warning("format", why, None);
        }
    }
}

/// Checks the clock. Events never go back in time, so a clock that does affects every write.
pub(super) fn clock(patient: &Patient<'_>, log: &Log, checks: &mut Checks) {
    let Some(tip) = log.tip() else { return };
    let now_ms = patient.env.now_ms();
    let ahead_ms = tip.time.ms().saturating_sub(now_ms);
    let message = format!(
        "the newest event is of {}, and the clock shows {}",
        rfc3339(tip.time.ms()),
        rfc3339(now_ms)
    );
    if ahead_ms > SKEW_MAX_MS {
        let why = format!("{message}: set it before anything is written, or a new chain begins");
        checks.warning("clock", why, Some("date".to_owned()));
    } else if ahead_ms > SKEW_FINE_MS {
        checks.warning(
            "clock",
            format!("{message}: set it"),
            Some("date".to_owned()),
        );
    } else {
        pauses(patient, log, tip, checks);
    }
}

/// Checks for pauses in the log: a clock that was wrong leaves one, and so does a store that is not used.
fn pauses(patient: &Patient<'_>, log: &Log, tip: Tip, checks: &mut Checks) {
    let now_ms = patient.env.now_ms();
    let (newest_day, today) = (day_of(tip.time.ms()), day_of(now_ms));
    let mut said = "not behind the newest event".to_owned();
    let mut longest_days = 0;
    if now_ms.saturating_sub(tip.time.ms()) >= SKEW_MAX_MS {
        longest_days = today - newest_day;
        said = format!(
            "the newest event is of {}, {longest_days} days before the clock's {}: if something was written since, \
             one of the two clocks is wrong",
            rfc3339(tip.time.ms()),
            rfc3339(now_ms)
        );
    }
    let is_read = patient.whole || log.len_bytes().is_ok_and(|len| len <= READ_ALL_MAX_BYTES);
    // Another check reports a log that cannot be read.
    let days = is_read
        .then(|| EventDays::read(log, today))
        .and_then(Result::ok);
    let pause = days.and_then(|days| days.longest_since(0));
    if let Some(pause) = pause.filter(|pause| pause.days() > 1) {
        longest_days = longest_days.max(pause.days());
        said = format!(
            "{said}; the longest time without events was {} days, from {} to {}",
            pause.days(),
            day_text(pause.from_day),
            day_text(pause.to_day)
        );
    }
    if longest_days < PAUSE_FINE_DAYS {
        return checks.ok("clock", said);
    }
    let why = format!(
        "{said}: if a clock was wrong, what was stored before seems too old and fades too early"
    );
    checks.warning("clock", why, Some(patient.icm("prune --dry-run")));
}
