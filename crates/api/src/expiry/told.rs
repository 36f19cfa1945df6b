//! Conditions to expire in words, with times in the zone of the reader.

use icm_log::facts::Condition;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{GivenExpiry, parse};
use crate::when::local;

/// Returns a condition that [`to_text`](super::to_text) wrote with its times in a zone, to the minute: `time 2026-12-24`. A day stands for
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

/// Returns what a condition that [`to_text`](super::to_text) wrote means for a memory, for people, with times in a zone: `expires after 3
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

/// Returns a condition as [`in_zone`] does, with what is left of a number of recalls: `usage 3, 2 left`.
pub fn in_zone_left(text: &str, left: Option<u64>, zone: &TimeZone) -> String {
    let condition = in_zone(text, zone);
    match left.filter(|left| *text != usage(*left)) {
        Some(left) => format!("{condition}, {left} left"),
        None => condition,
    }
}

/// Returns what a condition means as [`told`] does, with what is left of a number of recalls: `expires after 2 more
/// recalls`.
pub fn told_left(text: &str, left: Option<u64>, zone: &TimeZone) -> String {
    match left.filter(|left| *text != usage(*left)) {
        Some(0) => "expires with this recall".to_owned(),
        Some(1) => "expires after 1 more recall".to_owned(),
        Some(left) => format!("expires after {left} more recalls"),
        None => told(text, zone),
    }
}

/// Returns the condition of this many recalls, as [`to_text`](super::to_text) writes it.
fn usage(recalls: u64) -> String {
    format!("usage {recalls}")
}

/// Returns what was seen when a condition came true; `None` for a condition that this version does not know.
pub fn seen(condition: Condition) -> Option<&'static str> {
    match condition {
        Condition::TIME => Some("its time has come"),
        Condition::USAGE => Some("recalls have used it up"),
        Condition::FILE_EXISTS => Some("the file is gone"),
        Condition::FILE_PRISTINE => Some("the file is changed or gone"),
        Condition::PERIOD | Condition::WEEKLY => Some("it is outside of its period"),
        _ => None,
    }
}

/// Returns why the condition of a memory came true, with times in a zone: `file-exists /a: the file is gone`.
pub fn came_true(text: &str, zone: &TimeZone) -> String {
    let given = parse(text, 0, zone).ok();
    let condition = in_zone(text, zone);
    match given.and_then(|given| seen(given.facts.condition)) {
        Some(seen) => format!("{condition}: {seen}"),
        None => condition,
    }
}

/// Returns when a memory that its condition hides at a time (milliseconds since the epoch) is shown again by itself: `from
/// 2026-12-27 09:00`. `None` if it is expired for good.
pub fn shown_again(text: &str, ms: u64, zone: &TimeZone) -> Option<String> {
    let facts = parse(text, 0, zone).ok()?.facts;
    match facts.condition {
        Condition::PERIOD => {
            (ms < facts.first).then(|| format!("from {}", start_in(facts.first, zone)))
        }
        Condition::WEEKLY => Some("in these hours".to_owned()),
        _ => None,
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

/// Returns an end in a zone: `2026-12-27 09:00`, or `at the end of 2026-12-27`.
pub(super) fn told_end(ms: u64, zone: &TimeZone) -> String {
    let end = end_in(ms, zone);
    match end.contains(' ') {
        true => end,
        false => format!("at the end of {end}"),
    }
}
