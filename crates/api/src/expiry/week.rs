//! The hours of a week in which a memory is shown.

use icm_log::facts::{Condition, Expiry};
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;

use super::{GivenExpiry, invalid};
use crate::error::Result;
use crate::when::timestamp;

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const EVERY_DAY: u8 = 0b111_1111;
const MINUTES_A_DAY: u16 = 24 * 60;

/// Returns `true` if a moment lies within weekly hours. Hours that pass midnight belong to the day on which they begin.
/// Without a readable zone the hours are those of UTC.
pub fn is_within_week(facts: &Expiry, zone: Option<&str>, ms: u64) -> bool {
    let zone = zone.and_then(zone_of).unwrap_or(TimeZone::UTC);
    let then = timestamp(ms).to_zoned(zone);
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

/// Parses the hours of a week, as `mon-fri 09:00-17:00 Europe/Berlin`.
pub(super) fn parse(text: &str, zone: &TimeZone) -> Result<GivenExpiry> {
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

/// Returns hours of a week as [`parse`] reads them.
pub(super) fn to_text(facts: &Expiry, zone: Option<&str>) -> String {
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
