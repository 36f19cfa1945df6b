//! Days as numbers, and the stretches of days that a chart has one column for.

use std::ops::RangeInclusive;

use jiff::ToSpan;
use jiff::civil::Date;

/// Most columns of a chart. Raised, the columns of a phone are thinner than 4 pixels.
const COLUMNS: i32 = 62;

/// A stretch of days with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) days: RangeInclusive<i32>,
    /// Its first day: `2026-11-27`.
    pub(super) first: String,
    /// The same, shorter: `27 Nov`, or `Nov 2026` for a month.
    pub(super) short: String,
}

/// Width of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Day,
    Week,
    Month,
}

impl Width {
    /// Returns its word for people.
    pub(super) fn word(self) -> &'static str {
        match self {
            Width::Day => "day",
            Width::Week => "week",
            Width::Month => "month",
        }
    }
}

/// Returns a day as the number of days since 1970-01-01.
pub(super) fn number_of(day: Date) -> i32 {
    let epoch = Date::constant(1970, 1, 1);
    epoch.until(day).map_or(0, |span| span.get_days())
}

fn date_of(number: i32) -> Date {
    let epoch = Date::constant(1970, 1, 1);
    epoch.saturating_add(number.days())
}

/// Returns the columns of some days, oldest first: days, weeks that end with the last day, or months.
pub(super) fn columns(days: &RangeInclusive<i32>) -> (Width, Vec<Column>) {
    let (first, last) = (*days.start(), *days.end());
    let span = last.saturating_sub(first).saturating_add(1);
    let width = match span {
        _ if span <= COLUMNS => Width::Day,
        _ if span <= COLUMNS * 7 => Width::Week,
        _ => Width::Month,
    };
    let mut columns = Vec::new();
    let mut end = last;
    while end >= first {
        let start = match width {
            Width::Day => end,
            Width::Week => end - 6,
            Width::Month => number_of(date_of(end).first_of_month()),
        };
        let date = date_of(start);
        let short = match width {
            Width::Day | Width::Week => date.strftime("%-d %b").to_string(),
            Width::Month => date.strftime("%b %Y").to_string(),
        };
        columns.push(Column {
            days: start..=end,
            first: date.to_string(),
            short,
        });
        end = start - 1;
    }
    columns.reverse();
    (width, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_cover_the_days_without_gap() {
        for (span, width, count) in [
            (1, Width::Day, 1),
            (30, Width::Day, 30),
            (90, Width::Week, 13),
            (365, Width::Week, 53),
            (1_000, Width::Month, 33),
        ] {
            let last = number_of(Date::constant(2026, 11, 27));
            let (chosen, columns) = columns(&(last - span + 1..=last));
            assert_eq!((chosen, columns.len()), (width, count), "{span}");
            assert!(*columns[0].days.start() <= last - span + 1);
            for pair in columns.windows(2) {
                assert_eq!(*pair[0].days.end() + 1, *pair[1].days.start());
            }
            assert_eq!(columns.last().map(|it| *it.days.end()), Some(last));
        }
    }

    #[test]
    fn a_day_has_a_number_and_a_name() {
        let day = Date::constant(2026, 11, 27);
        assert_eq!(date_of(number_of(day)), day);
        let (_, columns) = columns(&(number_of(day)..=number_of(day)));
        assert_eq!(
            (&*columns[0].first, &*columns[0].short),
            ("2026-11-27", "27 Nov")
        );
    }
}
