//! The conditions under which memories expire, as users write them.
//!
//! | form | the memory is hidden |
//! |---|---|
//! | `time 30d`, `time 2026-12-24` | from that time on |
//! | `usage 3` | after three recalls that showed it |
//! | `file-exists PATH` | once the file is gone |
//! | `file-pristine PATH` | once the file is changed or gone |
//! | `period 2026-01-01..2026-02-01`, `period mon-fri 09:00-17:00` | outside of the period |

mod told;
mod week;

use std::path::{Component, Path, PathBuf, is_separator};

use icm_log::facts::{Condition, Expiry};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use crate::error::{Result, ServiceError};
use crate::limits::EXPIRES_LEN_MAX;
use crate::when::{DayMeans, parse_ms, past_or_to_come, rfc3339};

pub use told::{came_true, in_zone, in_zone_left, seen, shown_again, told, told_left};
pub use week::is_within_week;

const FORMS: &str = "write `time 30d`, `usage 3`, `file-exists PATH`, `file-pristine PATH`, \
                     `period 2026-01-01..2026-02-01` or `period mon-fri 09:00-17:00`";

/// A condition as it was given: its kind and numbers, and its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenExpiry {
    /// The kind of condition and its numbers.
    pub facts: Expiry,
    /// The file, without `.`.
    pub path: Option<String>,
    /// The time zone of weekly hours: an IANA name, or an offset.
    pub zone: Option<String>,
}

impl GivenExpiry {
    fn of(facts: Expiry) -> GivenExpiry {
        GivenExpiry {
            facts,
            path: None,
            zone: None,
        }
    }
}

fn invalid(text: &str) -> ServiceError {
    ServiceError::invalid_with(format!("`{text}` is no condition to expire"), FORMS)
}

/// Parses a condition. `now_ms` is the clock, `zone` the time zone of the user.
///
/// # Errors
/// `Invalid` for a text of no form. A time that has passed is no error: see [`refuse_passed`].
pub fn parse(text: &str, now_ms: u64, zone: &TimeZone) -> Result<GivenExpiry> {
    let text = text.trim();
    if text.len() > EXPIRES_LEN_MAX {
        return Err(ServiceError::invalid(format!(
            "the condition to expire has {} bytes, the limit is {EXPIRES_LEN_MAX}",
            text.len()
        )));
    }
    let (form, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    if rest.is_empty() {
        return Err(invalid(text));
    }
    match form.to_ascii_lowercase().replace('_', "-").as_str() {
        "time" => {
            let first = end_of(rest, now_ms, zone)?;
            Ok(GivenExpiry::of(Expiry::of(Condition::TIME, first, 0)))
        }
        "usage" => match rest.parse::<u64>() {
            Ok(count) if count > 0 => Ok(GivenExpiry::of(Expiry::of(Condition::USAGE, count, 0))),
            _ => Err(ServiceError::invalid_with(
                format!("`{rest}` is no number of recalls"),
                "write for instance `usage 3`",
            )),
        },
        "file-exists" | "file-exist" => Ok(of_file(Condition::FILE_EXISTS, rest)),
        "file-pristine" => Ok(of_file(Condition::FILE_PRISTINE, rest)),
        "period" => match rest.split_once("..") {
            Some((from, until)) => period(from.trim(), until.trim(), now_ms, zone),
            None => week::parse(rest, zone),
        },
        _ => Err(invalid(text)),
    }
}

/// Returns an error for a condition whose time has passed. The error names the time in `zone`.
///
/// # Errors
/// `Invalid` if the memory would be hidden for ever from the start.
pub fn refuse_passed(given: &GivenExpiry, now_ms: u64, zone: &TimeZone) -> Result<()> {
    let end = match given.facts.condition {
        Condition::TIME => given.facts.first,
        Condition::PERIOD => given.facts.second,
        _ => u64::MAX,
    };
    match end <= now_ms {
        true => {
            let end = told::told_end(end, zone);
            let at = if end.starts_with("at ") { "" } else { "at " };
            Err(ServiceError::invalid_with(
                format!("a memory cannot expire {at}{end}: that has passed"),
                "give a later time, or a duration such as `time 30d`",
            ))
        }
        false => Ok(()),
    }
}

/// Returns a condition with an absolute path and a named time zone, as another process of this machine understands it.
/// Other texts are returned unchanged.
pub fn settled(text: &str, folder: &Path, zone: &TimeZone) -> String {
    let Ok(given) = parse(text, 0, zone) else {
        return text.to_owned();
    };
    let path = given.path.map(|path| {
        let path = folder.join(path);
        without_dots(&path.to_string_lossy())
    });
    match given.facts.condition {
        Condition::WEEKLY | Condition::FILE_EXISTS | Condition::FILE_PRISTINE => {
            to_text(&given.facts, path.as_deref(), given.zone.as_deref())
        }
        _ => text.to_owned(),
    }
}

/// Returns a condition as [`parse`] reads it.
pub fn to_text(facts: &Expiry, path: Option<&str>, zone: Option<&str>) -> String {
    let path = path.unwrap_or("(withheld)");
    let time = |ms: u64| match ms {
        0 | u64::MAX => String::new(),
        ms => rfc3339(ms),
    };
    match facts.condition {
        Condition::TIME => format!("time {}", rfc3339(facts.first)),
        Condition::USAGE => format!("usage {}", facts.first),
        Condition::FILE_EXISTS => format!("file-exists {path}"),
        Condition::FILE_PRISTINE => format!("file-pristine {path}"),
        Condition::PERIOD => format!("period {}..{}", time(facts.first), time(facts.second)),
        Condition::WEEKLY => week::to_text(facts, zone),
        Condition(code) => format!("condition {code}"),
    }
}

fn of_file(condition: Condition, path: &str) -> GivenExpiry {
    GivenExpiry {
        path: Some(without_dots(path)),
        ..GivenExpiry::of(Expiry::of(condition, 0, 0))
    }
}

/// Returns a path without `.`. A `..` stays: the folder that it leads to depends on links. The rest of the path is kept as
/// it was written.
fn without_dots(path: &str) -> String {
    if !path.split(is_separator).any(|part| part == ".") {
        return path.to_owned();
    }
    let parts = Path::new(path).components();
    let parts: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
    match parts.to_str() {
        Some(parts) if !parts.is_empty() => parts.to_owned(),
        _ => path.to_owned(),
    }
}

fn now(now_ms: u64, zone: &TimeZone, text: &str) -> Result<Zoned> {
    let now = Timestamp::from_millisecond(i64::try_from(now_ms).unwrap_or(i64::MAX));
    Ok(now.map_err(|_| invalid(text))?.to_zoned(zone.clone()))
}

fn ms_of(timestamp: Timestamp) -> u64 {
    u64::try_from(timestamp.as_millisecond()).unwrap_or(0)
}

/// Returns the first moment after a time: a duration from now, a date (as a whole), or a time.
fn end_of(text: &str, now_ms: u64, zone: &TimeZone) -> Result<u64> {
    let no_time = || {
        ServiceError::invalid_with(
            format!("`{text}` is no time to expire at"),
            "write a duration such as `30d` or `8h`, `tomorrow 9:00`, a date or RFC 3339 \
             (2026-11-02T10:00:00Z)",
        )
    };
    if let Ok(span) = text.parse::<Span>() {
        let then = now(now_ms, zone, text)?.checked_add(span);
        let then = then.map_err(|_| no_time())?;
        return match span.is_positive() {
            true => Ok(ms_of(then.timestamp())),
            false => Err(no_time()),
        };
    }
    if let Some(date) = date(text) {
        let next = date.checked_add(1.day()).map_err(|_| no_time())?;
        let start = next.to_zoned(zone.clone()).map_err(|_| no_time())?;
        return Ok(ms_of(start.timestamp()));
    }
    // A day as an end counts as a whole.
    if text.eq_ignore_ascii_case("tomorrow") {
        let then = now(now_ms, zone, text)?.checked_add(1.day());
        let day = then.map_err(|_| no_time())?.date().to_string();
        return end_of(&day, now_ms, zone);
    }
    let ms = past_or_to_come(text, now_ms, zone, DayMeans::End)?;
    ms.and_then(|ms| u64::try_from(ms).ok()).ok_or_else(no_time)
}

fn date(text: &str) -> Option<Date> {
    let is_date = text.len() == 10
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    text.parse().ok().filter(|_| is_date)
}

fn period(from: &str, until: &str, now_ms: u64, zone: &TimeZone) -> Result<GivenExpiry> {
    let text = || format!("{from}..{until}");
    let first = match from {
        "" => 0,
        from => {
            let ms = parse_ms(from, now_ms, zone, DayMeans::Start)?;
            let ms = ms.and_then(|ms| u64::try_from(ms).ok());
            ms.ok_or_else(|| invalid(&format!("period {}", text())))?
        }
    };
    let second = match until {
        "" => u64::MAX,
        until => end_of(until, now_ms, zone)?,
    };
    if first >= second || from.is_empty() && until.is_empty() {
        return Err(ServiceError::invalid_with(
            format!("the period `{}` has no length", text()),
            "give the earlier time first; a date stands for its whole day",
        ));
    }
    let facts = Expiry::of(Condition::PERIOD, first, second);
    Ok(GivenExpiry::of(facts))
}

#[cfg(test)]
mod tests;
