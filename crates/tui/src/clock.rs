//! Times as a person reads them.

use icm_api::when;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// The clock and the time zone of the view.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    pub(crate) now_ms: u64,
    pub(crate) zone: TimeZone,
}

impl Clock {
    fn now(&self) -> Timestamp {
        timestamp(self.now_ms).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Returns the age of an RFC 3339 time: `3 min ago`; beyond two months the day.
    pub(crate) fn ago(&self, at: &str) -> String {
        when::time_ago(self.now(), at, &self.zone).unwrap_or_else(|| at.to_owned())
    }

    /// Returns the age in four columns at most: `now`, `3m`, `5h`, `12d`, `9mo`, `3y`.
    pub(crate) fn age(&self, at: &str) -> String {
        let Ok(then) = at.parse::<Timestamp>() else {
            return "?".to_owned();
        };
        let seconds = self.now().as_second().saturating_sub(then.as_second());
        match seconds {
            ..60 => "now".to_owned(),
            60..3600 => format!("{}m", seconds / 60),
            3600..86_400 => format!("{}h", seconds / 3600),
            86_400..5_184_000 => format!("{}d", seconds / 86_400),
            5_184_000..31_536_000 => format!("{}mo", seconds / 2_592_000),
            _ => format!("{}y", seconds / 31_536_000),
        }
    }

    /// Returns the local time of an RFC 3339 time: `2026-11-02 14:03:05`.
    pub(crate) fn local(&self, at: &str) -> String {
        match at.parse::<Timestamp>() {
            Ok(then) => self.strftime(then, "%Y-%m-%d %H:%M:%S"),
            Err(_) => at.to_owned(),
        }
    }

    /// Returns the local time of day of an RFC 3339 time of today, and the day and time of another one.
    pub(crate) fn short(&self, at: &str) -> String {
        match at.parse::<Timestamp>() {
            Ok(then) if self.date(then) == self.date(self.now()) => self.strftime(then, "%H:%M:%S"),
            Ok(then) => self.strftime(then, "%Y-%m-%d %H:%M"),
            Err(_) => at.to_owned(),
        }
    }

    fn strftime(&self, then: Timestamp, format: &str) -> String {
        let then = then.to_zoned(self.zone.clone());
        then.strftime(format).to_string()
    }

    fn date(&self, then: Timestamp) -> Date {
        then.to_zoned(self.zone.clone()).date()
    }

    /// Returns the local day of a time.
    pub(crate) fn day_of(&self, ms: u64) -> Option<Date> {
        Some(self.date(timestamp(ms)?))
    }

    /// Returns today.
    pub(crate) fn today(&self) -> Date {
        self.date(self.now())
    }

    /// Returns the first millisecond of the local day that holds `ms`.
    pub(crate) fn start_of_day_ms(&self, ms: u64) -> u64 {
        let start = self.day_of(ms).and_then(|day| {
            let start = day.to_zoned(self.zone.clone()).ok()?;
            u64::try_from(start.timestamp().as_millisecond()).ok()
        });
        start.unwrap_or(0)
    }
}

fn timestamp(ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()
}

/// Returns the milliseconds of an RFC 3339 time.
pub(crate) fn ms_of(at: &str) -> Option<u64> {
    let then: Timestamp = at.parse().ok()?;
    u64::try_from(then.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_take_four_columns() {
        let clock = Clock {
            now_ms: ms_of("2026-03-10T12:00:00Z").expect("a time"),
            zone: TimeZone::UTC,
        };
        for (at, age) in [
            ("2026-03-10T11:59:58Z", "now"),
            ("2026-03-10T12:59:58Z", "now"),
            ("2026-03-10T11:57:00Z", "3m"),
            ("2026-03-09T12:00:01Z", "23h"),
            ("2026-03-05T11:00:00Z", "5d"),
            ("2025-12-31T11:00:00Z", "2mo"),
            ("2023-12-31T11:00:00Z", "2y"),
            ("soon", "?"),
        ] {
            assert_eq!(clock.age(at), age, "{at}");
        }
        assert_eq!(clock.short("2026-03-10T11:57:00Z"), "11:57:00");
        assert_eq!(clock.short("2026-03-09T11:57:00Z"), "2026-03-09 11:57");
    }
}
