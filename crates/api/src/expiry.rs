//! The conditions under which memories expire, as users write them.
//!
//! | form | the memory is hidden |
//! |---|---|
//! | `time 30d`, `time 2026-12-24` | from that time on |
//! | `usage 3` | after three recalls that showed it |
//! | `file-exists PATH` | once the file is gone |
//! | `file-pristine PATH` | once the file is changed or gone |
//! | `period 2026-01-01..2026-02-01`, `period mon-fri 09:00-17:00` | outside of the period |

use std::path::Path;

use icm_log::facts::{Condition, Expiry};
use jiff::civil::Date;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use crate::error::{Result, ServiceError};
use crate::limits::EXPIRES_LEN_MAX;
use crate::when::{DayMeans, local, parse_ms, past_or_to_come, rfc3339};

const FORMS: &str = "write `time 30d`, `usage 3`, `file-exists PATH`, `file-pristine PATH`, \
                     `period 2026-01-01..2026-02-01` or `period mon-fri 09:00-17:00`";
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const EVERY_DAY: u8 = 0b111_1111;
const MINUTES_A_DAY: u16 = 24 * 60;

/// A condition as it was given: its kind and numbers, and its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenExpiry {
    /// The kind of condition and its numbers.
    pub facts: Expiry,
    /// The file, as it was written.
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
            None => weekly(rest, zone),
        },
        _ => Err(invalid(text)),
    }
}

/// Returns an error for a condition whose time has passed.
///
/// # Errors
/// `Invalid` if the memory would be hidden for ever from the start.
pub fn refuse_passed(given: &GivenExpiry, now_ms: u64) -> Result<()> {
    let end = match given.facts.condition {
        Condition::TIME => given.facts.first,
        Condition::PERIOD => given.facts.second,
        _ => u64::MAX,
    };
    match end <= now_ms {
        true => Err(ServiceError::invalid_with(
            format!(
                "a memory cannot expire at {}: that has passed",
                rfc3339(end)
            ),
            "give a later time, or a duration such as `time 30d`",
        )),
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
        path.to_string_lossy().into_owned()
    });
    match given.facts.condition {
        Condition::WEEKLY | Condition::FILE_EXISTS | Condition::FILE_PRISTINE => {
            to_text(&given.facts, path.as_deref(), given.zone.as_deref())
        }
        _ => text.to_owned(),
    }
}

/// Returns a condition that [`to_text`] wrote with its times in a zone, to the minute: `time 2026-12-24`. A day stands for
/// the whole of it, as in a condition of a user. Another text is returned unchanged.
pub fn in_zone(text: &str, zone: &TimeZone) -> String {
    let Ok(GivenExpiry { facts, .. }) = parse(text, 0, zone) else {
        return text.to_owned();
    };
    match facts.condition {
        Condition::TIME => format!("time {}", end_in(facts.first, zone)),
        Condition::PERIOD => {
            let from = match facts.first {
                0 => String::new(),
                ms => start_in(ms, zone),
            };
            let until = match facts.second {
                u64::MAX => String::new(),
                ms => end_in(ms, zone),
            };
            format!("period {from}..{until}")
        }
        _ => text.to_owned(),
    }
}

/// Returns what a condition that [`to_text`] wrote means for a memory, for people, with times in a zone: `expires after 3
/// recalls`, `expires 2026-12-27 09:00`, `is shown mon-fri 09:00-17:00 Europe/Berlin`.
pub fn told(text: &str, zone: &TimeZone) -> String {
    let Ok(GivenExpiry { facts, path, .. }) = parse(text, 0, zone) else {
        return format!("expires: {text}");
    };
    let path = path.unwrap_or_default();
    match facts.condition {
        Condition::TIME => format!("expires {}", told_end(facts.first, zone)),
        Condition::USAGE => match facts.first {
            1 => "expires after 1 recall".to_owned(),
            recalls => format!("expires after {recalls} recalls"),
        },
        Condition::FILE_EXISTS => format!("expires once {path} is gone"),
        Condition::FILE_PRISTINE => format!("expires once {path} is changed or gone"),
        Condition::PERIOD => {
            let mut words = vec!["is shown".to_owned()];
            if facts.first > 0 {
                words.push(format!("from {}", start_in(facts.first, zone)));
            }
            if facts.second < u64::MAX {
                let end = told_end(facts.second, zone);
                words.push(format!("until {}", end.trim_start_matches("at ")));
            }
            words.join(" ")
        }
        // As in names of zones elsewhere, UTC is no place.
        _ => {
            let hours = text.trim_start_matches("period ");
            format!("is shown {}", hours.replace(" Etc/UTC", " UTC"))
        }
    }
}

/// Returns the start of a period in a zone: a day if the start is its first moment.
fn start_in(ms: u64, zone: &TimeZone) -> String {
    let time = local(ms, zone);
    time.strip_suffix(" 00:00").unwrap_or(&time).to_owned()
}

/// Returns an end in a zone: the day before if the end is the first moment of a day.
fn end_in(ms: u64, zone: &TimeZone) -> String {
    let time = local(ms, zone);
    let day = time
        .strip_suffix(" 00:00")
        .and_then(|day| day.parse::<Date>().ok());
    match day.and_then(|day| day.yesterday().ok()) {
        Some(day) => day.to_string(),
        None => time,
    }
}

fn told_end(ms: u64, zone: &TimeZone) -> String {
    let end = end_in(ms, zone);
    match end.contains(' ') {
        true => end,
        false => format!("at the end of {end}"),
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
        Condition::WEEKLY => weekly_text(facts, zone),
        Condition(code) => format!("condition {code}"),
    }
}

/// Returns `true` if a moment lies within weekly hours. Hours that pass midnight belong to the day on which they begin.
/// Without a readable zone the hours are those of UTC.
pub fn is_within_week(facts: &Expiry, zone: Option<&str>, ms: u64) -> bool {
    let zone = zone.and_then(zone_of).unwrap_or(TimeZone::UTC);
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let then = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    let then = then.to_zoned(zone);
    let day = then.weekday().to_monday_zero_offset();
    let minute =
        u16::from(then.hour().unsigned_abs()) * 60 + u16::from(then.minute().unsigned_abs());
    let has = |day: i8| facts.days & (1 << day.rem_euclid(7)) != 0;
    let (from, until) = (facts.from_minute, facts.until_minute);
    match from < until {
        true => has(day) && (from..until).contains(&minute),
        false => has(day) && minute >= from || has(day - 1) && minute < until,
    }
}

fn of_file(condition: Condition, path: &str) -> GivenExpiry {
    GivenExpiry {
        path: Some(path.to_owned()),
        ..GivenExpiry::of(Expiry::of(condition, 0, 0))
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
            "write a duration such as `30d` or `8h`, a date or RFC 3339 (2026-11-02T10:00:00Z)",
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

fn weekly(text: &str, zone: &TimeZone) -> Result<GivenExpiry> {
    let no_hours = || invalid(&format!("period {text}"));
    let mut facts = Expiry {
        days: 0,
        until_minute: MINUTES_A_DAY,
        ..Expiry::of(Condition::WEEKLY, 0, 0)
    };
    let (mut has_hours, mut named) = (false, None);
    for word in text.split_whitespace() {
        if let Some(days) = days(word).filter(|_| facts.days == 0 && !has_hours) {
            facts.days = days;
        } else if let Some((from, until)) = hours(word).filter(|_| !has_hours) {
            (facts.from_minute, facts.until_minute) = (from, until);
            has_hours = true;
        } else if named.is_none() && zone_of(word).is_some() {
            named = Some(word.to_owned());
        } else {
            return Err(no_hours());
        }
    }
    if facts.days == 0 {
        if !has_hours {
            return Err(no_hours());
        }
        facts.days = EVERY_DAY;
    }
    Ok(GivenExpiry {
        zone: named.or_else(|| Some(zone_text(zone))),
        ..GivenExpiry::of(facts)
    })
}

/// Returns the bits of days such as `mon-fri` or `sat,sun`.
fn days(word: &str) -> Option<u8> {
    let day = |name: &str| {
        let name = name.get(..3)?.to_ascii_lowercase();
        DAYS.iter().position(|day| *day == name)
    };
    let mut bits = 0;
    for part in word.split(',') {
        if !part
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
        {
            return None;
        }
        let (from, until) = part.split_once('-').unwrap_or((part, part));
        let (mut at, until) = (day(from)?, day(until)?);
        bits |= 1 << at;
        while at != until {
            at = (at + 1) % 7;
            bits |= 1 << at;
        }
    }
    Some(bits)
}

/// Returns the minutes of hours such as `09:00-17:00`.
fn hours(word: &str) -> Option<(u16, u16)> {
    let minute = |text: &str| {
        let (hour, minute) = text.split_once(':')?;
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        let is_time = hour <= 24 && minute < 60;
        let all = is_time.then(|| hour * 60 + minute)?;
        (all <= MINUTES_A_DAY).then_some(all)
    };
    let (from, until) = word.split_once('-')?;
    let (from, until) = (minute(from)?, minute(until)?);
    (from < MINUTES_A_DAY).then_some((from, until))
}

fn weekly_text(facts: &Expiry, zone: Option<&str>) -> String {
    let mut words = vec!["period".to_owned()];
    if facts.days & EVERY_DAY != EVERY_DAY || is_whole_day(facts) {
        words.push(days_text(facts.days));
    }
    if !is_whole_day(facts) {
        let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        let (from, until) = (time(facts.from_minute), time(facts.until_minute));
        words.push(format!("{from}-{until}"));
    }
    words.extend(zone.map(str::to_owned));
    words.join(" ")
}

fn is_whole_day(facts: &Expiry) -> bool {
    (facts.from_minute, facts.until_minute) == (0, MINUTES_A_DAY)
}

/// Returns days as ranges: `mon-fri`, `mon,wed-thu`.
fn days_text(bits: u8) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < 7 {
        if bits & (1 << at) == 0 {
            at += 1;
            continue;
        }
        let from = at;
        while at + 1 < 7 && bits & (1 << (at + 1)) != 0 {
            at += 1;
        }
        parts.push(match from == at {
            true => DAYS[from].to_owned(),
            false => format!("{}-{}", DAYS[from], DAYS[at]),
        });
        at += 1;
    }
    parts.join(",")
}

/// Returns the IANA name of a zone, or its offset.
fn zone_text(zone: &TimeZone) -> String {
    let printer = DateTimePrinter::new();
    printer
        .time_zone_to_string(zone)
        .unwrap_or_else(|_| "UTC".to_owned())
}

/// Returns the zone of an IANA name or an offset.
fn zone_of(text: &str) -> Option<TimeZone> {
    DateTimeParser::new().parse_time_zone(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T12:00:00Z, a Saturday.
    const NOW: u64 = 1_795_262_400_000;

    fn read(text: &str) -> GivenExpiry {
        parse(text, NOW, &TimeZone::UTC).expect(text)
    }

    fn written(text: &str) -> String {
        let GivenExpiry { facts, path, zone } = read(text);
        to_text(&facts, path.as_deref(), zone.as_deref())
    }

    #[test]
    fn conditions_as_users_write_them() {
        for (text, expect) in [
            ("time 30d", "time 2026-12-21T12:00:00Z"),
            ("time 2 weeks", "time 2026-12-05T12:00:00Z"),
            ("time 2026-12-24", "time 2026-12-25T00:00:00Z"),
            ("time 2026-11-21", "time 2026-11-22T00:00:00Z"),
            ("Time 2026-12-24T10:00:00Z", "time 2026-12-24T10:00:00Z"),
            ("usage 3", "usage 3"),
            ("file-exists  a b.txt ", "file-exists a b.txt"),
            ("file_exist /x", "file-exists /x"),
            ("file-pristine /x", "file-pristine /x"),
            (
                "period 2026-01-01..2026-02-01",
                "period 2026-01-01T00:00:00Z..2026-02-02T00:00:00Z",
            ),
            ("period 2027-01-01..", "period 2027-01-01T00:00:00Z.."),
            ("period ..2027-01-01", "period ..2027-01-02T00:00:00Z"),
            (
                "period mon-fri 09:00-17:00",
                "period mon-fri 09:00-17:00 UTC",
            ),
            ("period 22:00-06:00", "period 22:00-06:00 UTC"),
            ("period Sat,sunday", "period sat-sun UTC"),
            (
                "period fri-mon 9:00-24:00",
                "period mon,fri-sun 09:00-24:00 UTC",
            ),
            ("period mon-sun", "period mon-sun UTC"),
            (
                "period mon 08:00-09:00 Europe/Berlin",
                "period mon 08:00-09:00 Europe/Berlin",
            ),
        ] {
            assert_eq!(written(text), expect, "{text}");
            assert_eq!(written(expect), expect, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_five_forms() {
        for text in [
            "",
            "time",
            "soon 3",
            "usage 0",
            "usage many",
            "period",
            "time -3d",
            "time soon",
            "period mon-fry 09:00-17:00",
            "period 09:00",
            "period 25:00-26:00",
            "period ..",
            "period 2026-02-01..2026-01-01",
            "period mon tue",
        ] {
            let refused = parse(text, NOW, &TimeZone::UTC);
            assert!(refused.is_err(), "{text}: {refused:?}");
        }
        let error = parse("soon 3", NOW, &TimeZone::UTC).expect_err("no form");
        let hint = error.hint().unwrap_or_default();
        for form in ["time", "usage", "file-exists", "file-pristine", "period"] {
            assert!(hint.contains(form), "{hint}");
        }
        assert!(refuse_passed(&read("time 2020-01-01"), NOW).is_err());
        assert!(refuse_passed(&read("period 2020-01-01..2020-02-01"), NOW).is_err());
        assert!(refuse_passed(&read("period 2020-01-01.."), NOW).is_ok());
    }

    #[test]
    fn another_process_understands_a_settled_condition() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        let settle = |text| settled(text, Path::new("/w"), &zone);
        assert_eq!(settle("file-exists a/b"), "file-exists /w/a/b");
        assert_eq!(settle("file-pristine /a"), "file-pristine /a");
        assert_eq!(settle("period mon"), "period mon -08:00");
        assert_eq!(settle("time 3d"), "time 3d");
        assert_eq!(settle("nonsense"), "nonsense");
    }

    #[test]
    fn conditions_are_told_in_the_zone_of_the_reader() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        for (text, shown, meaning) in [
            (
                "time 2026-12-24T09:30:12.345Z",
                "time 2026-12-24 01:30",
                "expires 2026-12-24 01:30",
            ),
            (
                "time 2026-12-24T08:00:00Z",
                "time 2026-12-23",
                "expires at the end of 2026-12-23",
            ),
            ("usage 3", "usage 3", "expires after 3 recalls"),
            ("usage 1", "usage 1", "expires after 1 recall"),
            (
                "file-exists /a b",
                "file-exists /a b",
                "expires once /a b is gone",
            ),
            (
                "file-pristine /a",
                "file-pristine /a",
                "expires once /a is changed or gone",
            ),
            (
                "period 2027-01-01T08:00:00Z..2027-02-01T08:00:00Z",
                "period 2027-01-01..2027-01-31",
                "is shown from 2027-01-01 until the end of 2027-01-31",
            ),
            (
                "period 2027-01-01T09:00:00Z..",
                "period 2027-01-01 01:00..",
                "is shown from 2027-01-01 01:00",
            ),
            (
                "period mon 08:00-09:00 Europe/Berlin",
                "period mon 08:00-09:00 Europe/Berlin",
                "is shown mon 08:00-09:00 Europe/Berlin",
            ),
            (
                "period mon Etc/UTC",
                "period mon Etc/UTC",
                "is shown mon UTC",
            ),
            ("condition 9", "condition 9", "expires: condition 9"),
        ] {
            assert_eq!(in_zone(text, &zone), shown);
            assert_eq!(told(text, &zone), meaning);
        }
    }

    #[test]
    fn hours_of_the_week_are_those_of_the_zone() {
        let within = |text: &str, at: &str| {
            let given = read(text);
            let at: Timestamp = at.parse().expect("a time");
            is_within_week(&given.facts, given.zone.as_deref(), ms_of(at))
        };
        // 2026-11-20 is a Friday.
        let office = "period mon-fri 09:00-17:00";
        assert!(within(office, "2026-11-20T09:00:00Z"));
        assert!(within(office, "2026-11-20T16:59:59Z"));
        assert!(!within(office, "2026-11-20T17:00:00Z"));
        assert!(!within(office, "2026-11-21T10:00:00Z"), "a Saturday");
        let berlin = "period mon-fri 09:00-17:00 +01:00";
        assert!(within(berlin, "2026-11-20T08:00:00Z"));
        assert!(!within(berlin, "2026-11-20T16:00:00Z"));
        let night = "period fri 22:00-06:00";
        assert!(within(night, "2026-11-20T23:00:00Z"));
        assert!(within(night, "2026-11-21T05:59:00Z"), "the night of Friday");
        assert!(!within(night, "2026-11-21T23:00:00Z"));
        assert!(!within(night, "2026-11-20T05:00:00Z"));
        let whole = "period 08:00-08:00";
        assert!(within(whole, "2026-11-21T05:00:00Z"));
    }
}
