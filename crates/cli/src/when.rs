//! Shows times to people.

use icm_api::shown_value::shown_text;
use icm_api::when::time_ago;
use icm_api::{Memory, expiry, when};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the age of an RFC 3339 time: `just now`, `3 min ago`, `5 h ago`, `12 days ago`; beyond two months, or in the
/// future, the local day. Another text is returned unchanged.
pub(crate) fn ago(now: Timestamp, at: &str) -> String {
    time_ago(now, at, &TimeZone::system()).unwrap_or_else(|| crate::text::one_line(at))
}

/// Returns the local day of an RFC 3339 time.
pub(crate) fn day(at: &str) -> String {
    when::day(at, &TimeZone::system())
}

/// Returns an RFC 3339 time as the local day and the minute: `2026-11-02 10:00`.
pub(crate) fn local(at: &str) -> String {
    crate::text::one_line(&when::local_time(at, &TimeZone::system()))
}

/// Returns what a condition to expire means, with local times.
pub(crate) fn expires(condition: &str) -> String {
    expires_left(condition, None)
}

/// Returns what a condition to expire means, with local times and what is left of a number of recalls.
pub(crate) fn expires_left(condition: &str, left: Option<u64>) -> String {
    crate::text::one_line(&expiry::told_left(condition, left, &TimeZone::system()))
}

/// Returns why a condition to expire came true, with local times.
pub(crate) fn came_true(condition: &str) -> String {
    crate::text::one_line(&expiry::came_true(condition, &TimeZone::system()))
}

/// Returns a condition to expire as it is given on the command line, with local times.
pub(crate) fn condition(condition: &str) -> String {
    crate::text::one_line(&expiry::in_zone(condition, &TimeZone::system()))
}

/// Returns the condition of a memory as [`condition`] does, with what is left of a number of recalls.
pub(crate) fn condition_of(memory: &Memory) -> Option<String> {
    let condition = memory.expires.as_deref()?;
    let zone = TimeZone::system();
    let told = expiry::in_zone_left(condition, memory.recalls_left, &zone);
    Some(crate::text::one_line(&told))
}

/// Returns when a memory that its condition hides now is shown again by itself; `None` if it is expired for good.
pub(crate) fn shown_again(now: Timestamp, condition: &str) -> Option<String> {
    let ms = u64::try_from(now.as_millisecond()).unwrap_or(0);
    let again = expiry::shown_again(condition, ms, &TimeZone::system());
    again.map(|again| crate::text::one_line(&again))
}

/// Returns the text value of a memory's field as a person reads it: times are local.
pub(crate) fn of_field(field: &str, value: &str) -> String {
    shown_text(field, value, &TimeZone::system())
}

/// Returns the time and its age.
pub(crate) fn at_and_ago(now: Timestamp, at: &str) -> String {
    let ago = ago(now, at);
    match ago == day(at) {
        true => crate::text::one_line(at),
        false => format!("{} ({ago})", crate::text::one_line(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_times() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        for (at, expected) in [
            ("2026-03-10T11:59:58Z", "just now"),
            ("2026-03-10T12:00:30Z", "just now"),
            ("2026-03-10T11:59:20Z", "40 s ago"),
            ("2026-03-10T11:57:00.5Z", "3 min ago"),
            ("2026-03-09T12:00:01Z", "23 h ago"),
            ("2026-03-05T11:00:00Z", "5 days ago"),
            ("2025-12-31T11:00:00Z", "2025-12-31"),
            ("2027-01-01T00:00:00Z", "2027-01-01"),
            ("", ""),
        ] {
            assert_eq!(ago(now, at), expected, "{at}");
        }
    }
}
