//! Moments as users write them.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::error::{Result, ServiceError};
use crate::ids::event_prefix;

/// A moment, as `--at` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// `@123`.
    Position(u64),
    /// A prefix of an event id.
    Event(String),
    /// Milliseconds since the epoch, inclusive.
    Time(u64),
}

const FORMS: &str = "write RFC 3339 (2026-11-02T10:00:00Z), a date, `today`, `yesterday`, \
                     `2h ago`, `@123` or an event id";

/// The hint for texts that can only be times, not positions or events.
const MOMENTS: &str = "write RFC 3339 (2026-11-02T10:00:00Z), a date, `today`, `yesterday` or \
                       `2h ago`";

fn invalid(text: &str) -> ServiceError {
    let hint = position_meant(text).unwrap_or_else(|| FORMS.to_owned());
    ServiceError::invalid_with(format!("`{text}` is no point in time"), hint)
}

/// Returns a question for users who wrote a number where a position has an `@`; `None` for other texts.
pub fn position_meant(text: &str) -> Option<String> {
    let number = text.trim().trim_start_matches('0');
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| format!("did you mean the position `@{number}`?"))
}

fn ms_of(timestamp: Timestamp, text: &str) -> Result<u64> {
    u64::try_from(timestamp.as_millisecond())
        .map_err(|_| ServiceError::invalid_with(format!("`{text}` is before 1970"), FORMS))
}

/// Returns the last millisecond of a day.
fn end_of(date: Date, zone: &TimeZone, text: &str) -> Result<i64> {
    let next = date.tomorrow().map_err(|_| invalid(text))?;
    let start = next.to_zoned(zone.clone()).map_err(|_| invalid(text))?;
    Ok(start.timestamp().as_millisecond() - 1)
}

fn start_of(date: Date, zone: &TimeZone, text: &str) -> Result<i64> {
    let start = date.to_zoned(zone.clone()).map_err(|_| invalid(text))?;
    Ok(start.timestamp().as_millisecond())
}

/// The moment of a day that a date stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayMeans {
    /// The last moment, for "as of".
    End,
    /// The first moment, for "since" and for the time of an event.
    Start,
}

/// Parses a moment. `now_ms` is the clock, `zone` the time zone of the user.
pub fn parse(text: &str, now_ms: u64, zone: &TimeZone, day: DayMeans) -> Result<When> {
    let text = text.trim();
    if let Some(position) = text.strip_prefix('@') {
        return position
            .parse()
            .map(When::Position)
            .map_err(|_| invalid(text));
    }
    if let Some(ms) = parse_ms(text, now_ms, zone, day)? {
        let ms = u64::try_from(ms)
            .map_err(|_| ServiceError::invalid_with(format!("`{text}` is before 1970"), FORMS))?;
        return Ok(When::Time(ms));
    }
    event_prefix(text)
        .map(When::Event)
        .ok_or_else(|| invalid(text))
}

/// Parses a time into milliseconds since the epoch; `None` if the text is no time.
pub fn parse_ms(text: &str, now_ms: u64, zone: &TimeZone, day: DayMeans) -> Result<Option<i64>> {
    let text = text.trim();
    let now = Timestamp::from_millisecond(i64::try_from(now_ms).unwrap_or(i64::MAX))
        .map_err(|_| invalid(text))?;
    let now: Zoned = now.to_zoned(zone.clone());
    let of_day = |date: Date| match day {
        DayMeans::End => end_of(date, zone, text),
        DayMeans::Start => start_of(date, zone, text),
    };
    match text.to_ascii_lowercase().as_str() {
        "now" => return Ok(Some(now.timestamp().as_millisecond())),
        "today" if day == DayMeans::End => return Ok(Some(now.timestamp().as_millisecond())),
        "today" => return of_day(now.date()).map(Some),
        "yesterday" => {
            let date = now.date().yesterday().map_err(|_| invalid(text))?;
            return of_day(date).map(Some);
        }
        _ => {}
    }
    if let Some(span) = ago(text) {
        let then = now
            .checked_sub(span.map_err(|()| invalid(text))?)
            .map_err(|_| invalid(text))?;
        return Ok(Some(then.timestamp().as_millisecond()));
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(Some(timestamp.as_millisecond()));
    }
    if let Ok(zoned) = text.parse::<Zoned>() {
        return Ok(Some(zoned.timestamp().as_millisecond()));
    }
    let plain_date = text.len() <= 10 && !text.contains([':', 'T', 't', ' ']);
    if plain_date
        && text.contains('-')
        && let Ok(date) = text.parse::<Date>()
    {
        // Today's date means now if days stand for their end.
        if date == now.date() && day == DayMeans::End {
            return Ok(Some(now.timestamp().as_millisecond()));
        }
        return of_day(date).map(Some);
    }
    if text.contains('-')
        && let Ok(local) = text.parse::<DateTime>()
    {
        let zoned = local.to_zoned(zone.clone()).map_err(|_| invalid(text))?;
        return Ok(Some(zoned.timestamp().as_millisecond()));
    }
    Ok(None)
}

/// Parses `2h ago`, `3 days ago`, `1d12h ago`; `None` without `ago` at the end.
fn ago(text: &str) -> Option<std::result::Result<Span, ()>> {
    let span = text
        .strip_suffix("ago")
        .or_else(|| text.strip_suffix("AGO"))?
        .trim();
    Some(span.parse::<Span>().map_err(|_| ()).and_then(|span| {
        if span.is_negative() {
            Err(())
        } else {
            Ok(span)
        }
    }))
}

/// Returns RFC 3339 in UTC, with milliseconds unless they are 0.
pub fn rfc3339(ms: u64) -> String {
    i64::try_from(ms).map_or_else(|_| "?".to_owned(), rfc3339_signed)
}

/// Like [`rfc3339`], also before 1970.
pub fn rfc3339_signed(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(timestamp) if ms % 1_000 == 0 => format!("{timestamp:.0}"),
        Ok(timestamp) => format!("{timestamp:.3}"),
        Err(_) => "?".to_owned(),
    }
}

/// Like [`parse_ms`], with an error for texts that are no time.
pub fn parse_moment(text: &str, now_ms: u64, zone: &TimeZone, day: DayMeans) -> Result<i64> {
    parse_ms(text, now_ms, zone, day)?.ok_or_else(|| no_moment(text))
}

/// Parses a moment that lies in the past or in the future: a time of [`parse_ms`], else a time of [`to_come`]. `day` is
/// the moment of a day that a date stands for. Returns `None` for a text that is no time.
///
/// # Errors
/// As [`parse_ms`] and [`to_come`].
pub fn past_or_to_come(
    text: &str,
    now_ms: u64,
    zone: &TimeZone,
    day: DayMeans,
) -> Result<Option<i64>> {
    match parse_ms(text, now_ms, zone, day)? {
        Some(ms) => Ok(Some(ms)),
        None => {
            let later = to_come(text, now_ms, zone)?;
            Ok(later.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)))
        }
    }
}

/// Returns the error for a text that is no moment.
pub fn no_moment(text: &str) -> ServiceError {
    ServiceError::invalid_with(format!("`{text}` is no point in time"), MOMENTS)
}

/// Parses the time at which a reminder is due, as [`to_come`] does.
///
/// # Errors
/// `Invalid` for a text that is no time.
pub fn parse_due(text: &str, now_ms: u64, zone: &TimeZone) -> Result<u64> {
    to_come(text, now_ms, zone)?.ok_or_else(|| {
        let hint = "write `in 2h`, `tomorrow 9:00`, `2026-11-02 10:00`, a date, or RFC 3339 \
                    (2026-11-02T10:00:00Z)";
        ServiceError::invalid_with(format!("`{text}` is no time to be reminded at"), hint)
    })
}

/// Parses a time to come into milliseconds since the epoch: `in 2h`, `2 days`, `tomorrow`, `tomorrow 9:00`, `9:00` (the
/// next one), or any time that [`parse_moment`] takes. A time that has passed is taken, too. Returns `None` for a text
/// that is no time.
///
/// # Errors
/// `Invalid` for a time beyond all calendars.
pub fn to_come(text: &str, now_ms: u64, zone: &TimeZone) -> Result<Option<u64>> {
    let now = Timestamp::from_millisecond(i64::try_from(now_ms).unwrap_or(i64::MAX));
    let now: Zoned = now.map_err(|_| invalid(text))?.to_zoned(zone.clone());
    let lower = text.trim().to_ascii_lowercase();
    let span = lower.strip_prefix("in ").unwrap_or(&lower).trim();
    let ms = if let Some((day, time)) = at_time_of_day(&lower, &now) {
        let zoned = day.to_datetime(time).to_zoned(zone.clone());
        zoned
            .map_err(|_| invalid(text))?
            .timestamp()
            .as_millisecond()
    } else if lower == "tomorrow" {
        let date = now.date().tomorrow().map_err(|_| invalid(text))?;
        start_of(date, zone, text)?
    } else if let Ok(span) = span.parse::<Span>()
        && !lower.ends_with("ago")
    {
        if span.is_negative() {
            return Ok(None);
        }
        let then = now.checked_add(span).map_err(|_| invalid(text))?;
        then.timestamp().as_millisecond()
    } else {
        match parse_ms(text, now_ms, zone, DayMeans::Start)? {
            Some(ms) => ms,
            None => return Ok(None),
        }
    };
    Ok(u64::try_from(ms).ok())
}

/// Returns day and time of `9:00`, `today 9:00`, `tomorrow at 9:00` and `2026-11-02 9:00`. A time alone is the next one.
fn at_time_of_day(lower: &str, now: &Zoned) -> Option<(Date, Time)> {
    let (day, time) = lower.rsplit_once(' ').unwrap_or(("", lower));
    let (hour, minute) = time.split_once(':')?;
    let time = Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()?;
    let day = match day.trim_end().trim_end_matches(" at").trim() {
        "" if time > now.time() => now.date(),
        "" | "tomorrow" => now.date().tomorrow().ok()?,
        "today" => now.date(),
        date => date.parse().ok()?,
    };
    Some((day, time))
}

/// Returns the day of an RFC 3339 time in `zone`, as `2026-11-02`; a text that is no time comes back unchanged.
pub fn day(at: &str, zone: &TimeZone) -> String {
    match at.parse::<Timestamp>() {
        Ok(time) => time.to_zoned(zone.clone()).date().to_string(),
        Err(_) => at.to_owned(),
    }
}

/// Returns a moment in a time zone, to the minute: `2026-11-02 10:00`. [`parse_ms`] reads it again.
pub fn local(ms: u64, zone: &TimeZone) -> String {
    match Timestamp::from_millisecond(i64::try_from(ms).unwrap_or(i64::MAX)) {
        Ok(time) => time
            .to_zoned(zone.clone())
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        Err(_) => "?".to_owned(),
    }
}

/// Returns milliseconds since the epoch as a time; the last one that the calendar has if they lie beyond it.
pub fn timestamp(ms: u64) -> Timestamp {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
}

/// Returns an RFC 3339 time as [`local`] does; a text that is no time comes back unchanged.
pub fn local_time(at: &str, zone: &TimeZone) -> String {
    let ms = at.parse::<Timestamp>().ok();
    let ms = ms.and_then(|time| u64::try_from(time.as_millisecond()).ok());
    ms.map_or_else(|| at.to_owned(), |ms| local(ms, zone))
}

/// Returns the name of a time zone for people: `Europe/Berlin`, `UTC` (also for `Etc/UTC`), or its offset at `now_ms`
/// if it has no name.
pub fn zone_name(zone: &TimeZone, now_ms: u64) -> String {
    if let Some(name) = zone.iana_name() {
        return name.strip_prefix("Etc/").unwrap_or(name).to_owned();
    }
    format!("UTC{}", zone.to_offset(timestamp(now_ms)))
}

/// Returns how long ago an RFC 3339 time was: `just now`, `3 min ago`, `5 h ago`, `12 days ago`. After 60 days, or for
/// the future, the day in `zone`; `None` for a text that is no time.
pub fn time_ago(now: Timestamp, at: &str, zone: &TimeZone) -> Option<String> {
    let then = at.parse::<Timestamp>().ok()?;
    let seconds = now.as_second() - then.as_second();
    Some(match seconds {
        // Clocks may differ by up to a minute.
        -60..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        172_800..5_184_000 => format!("{} days ago", seconds / 86_400),
        _ => day(at, zone),
    })
}

/// Returns the milliseconds of a clock's time; an error before 1970.
pub fn checked_ms(timestamp: Timestamp) -> Result<u64> {
    ms_of(timestamp, "now")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T12:00:00Z.
    const NOW: u64 = 1_795_262_400_000;

    fn check(text: &str, expect: &str) {
        let zone = TimeZone::UTC;
        let got = match parse(text, NOW, &zone, DayMeans::End) {
            Ok(When::Position(position)) => format!("@{position}"),
            Ok(When::Event(event)) => format!("event {event}"),
            Ok(When::Time(ms)) => rfc3339(ms),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn a_number_may_be_meant_as_a_position() {
        let hint = |text| invalid(text).hint().unwrap_or_default();
        assert_eq!(hint("15"), "did you mean the position `@15`?");
        assert!(hint("15x").contains("RFC 3339"));
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let los_angeles = TimeZone::fixed(jiff::tz::offset(-8));
        let tokyo = TimeZone::fixed(jiff::tz::offset(9));
        let late = "2026-11-21T07:30:00Z";
        assert_eq!(day(late, &los_angeles), "2026-11-20");
        assert_eq!(day(late, &TimeZone::UTC), "2026-11-21");
        assert_eq!(day("2026-11-20T15:00:00.5Z", &tokyo), "2026-11-21");
        assert_eq!(day("1969-12-31T23:00:00Z", &tokyo), "1970-01-01");
        assert_eq!(day("?", &tokyo), "?");
        let ago =
            |at: &str, zone| time_ago("2026-11-21T12:00:00Z".parse().expect("a time"), at, zone);
        assert_eq!(
            ago("2026-01-05T02:00:00Z", &los_angeles).as_deref(),
            Some("2026-01-04")
        );
        assert_eq!(ago(late, &los_angeles).as_deref(), Some("4 h ago"));
        assert_eq!(ago("?", &los_angeles), None);
    }

    #[test]
    fn a_zone_has_a_name_or_an_offset() {
        assert_eq!(zone_name(&TimeZone::UTC, NOW), "UTC");
        assert_eq!(
            zone_name(&TimeZone::fixed(jiff::tz::offset(-8)), NOW),
            "UTC-08"
        );
        if let Ok(berlin) = TimeZone::get("Europe/Berlin") {
            assert_eq!(zone_name(&berlin, NOW), "Europe/Berlin");
        }
    }

    #[test]
    fn times_to_come() {
        let due = |text: &str| match parse_due(text, NOW, &TimeZone::UTC) {
            Ok(ms) => rfc3339(ms),
            Err(error) => error.to_string(),
        };
        for (text, expect) in [
            ("in 2h", "2026-11-21T14:00:00Z"),
            ("2 days", "2026-11-23T12:00:00Z"),
            ("tomorrow", "2026-11-22T00:00:00Z"),
            ("tomorrow 9:00", "2026-11-22T09:00:00Z"),
            ("Tomorrow at 09:30", "2026-11-22T09:30:00Z"),
            ("9:00", "2026-11-22T09:00:00Z"),
            ("13:00", "2026-11-21T13:00:00Z"),
            ("2026-12-01 9:00", "2026-12-01T09:00:00Z"),
            (
                "tomorrow 25:00",
                "`tomorrow 25:00` is no time to be reminded at",
            ),
            ("2026-12-01", "2026-12-01T00:00:00Z"),
            ("2026-12-01T08:00:00Z", "2026-12-01T08:00:00Z"),
            ("1h ago", "2026-11-21T11:00:00Z"),
            ("soon", "`soon` is no time to be reminded at"),
            ("-2h", "`-2h` is no time to be reminded at"),
            ("7", "`7` is no time to be reminded at"),
        ] {
            assert_eq!(due(text), expect, "{text}");
        }
    }

    #[test]
    fn a_moment_may_be_past_or_to_come() {
        let day = |text: &str, day| match past_or_to_come(text, NOW, &TimeZone::UTC, day) {
            Ok(ms) => ms.map_or_else(|| "none".to_owned(), rfc3339_signed),
            Err(error) => error.to_string(),
        };
        for (text, expect) in [
            ("2026-11-02", "2026-11-02T00:00:00Z"),
            ("yesterday", "2026-11-20T00:00:00Z"),
            ("2h ago", "2026-11-21T10:00:00Z"),
            ("1969-01-01", "1969-01-01T00:00:00Z"),
            ("in 2h", "2026-11-21T14:00:00Z"),
            ("tomorrow", "2026-11-22T00:00:00Z"),
            ("13:00", "2026-11-21T13:00:00Z"),
            ("soon", "none"),
        ] {
            assert_eq!(day(text, DayMeans::Start), expect, "{text}");
        }
        assert_eq!(day("2026-11-02", DayMeans::End), "2026-11-02T23:59:59.999Z");
    }

    #[test]
    fn a_local_time_is_read_as_it_was_written() {
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        let told = local_time("2026-11-21T12:00:00Z", &zone);
        assert_eq!(told, "2026-11-21 04:00");
        let read = parse_ms(&told, NOW, &zone, DayMeans::End);
        assert_eq!(read.expect("a time"), i64::try_from(NOW).ok());
        assert_eq!(local_time("soon", &zone), "soon");
    }

    #[test]
    fn times_as_users_write_them() {
        check("@12", "@12");
        check("@x", "`@x` is no point in time");
        check("2026-11-02T10:00:00Z", "2026-11-02T10:00:00Z");
        check("2026-11-02T10:00:00+02:00", "2026-11-02T08:00:00Z");
        check("2026-11-02", "2026-11-02T23:59:59.999Z");
        check("2026-11-21", "2026-11-21T12:00:00Z");
        check("yesterday", "2026-11-20T23:59:59.999Z");
        check("today", "2026-11-21T12:00:00Z");
        check("now", "2026-11-21T12:00:00Z");
        check("2h ago", "2026-11-21T10:00:00Z");
        check("3 days ago", "2026-11-18T12:00:00Z");
        check("2026-11-02 10:00", "2026-11-02T10:00:00Z");
        check("3f2a99", "event 3f2a99");
        check("15", "`15` is no point in time");
        check("last week", "`last week` is no point in time");
        check("1969-01-01", "`1969-01-01` is before 1970");
        check("", "`` is no point in time");
    }
}
