//! Dates as written: `2026-02-10`, `10.02.2026`, `Feb 14, 2026`, `14. Februar 2026`, `6 de marzo de 2026`.

use jiff::civil::Date;

/// The order of day and month in dates such as `10/02/2026`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayMonth {
    DayFirst,
    MonthFirst,
    #[default]
    Unknown,
}

/// A date as written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Day {
    /// A date with a year in front, full stops, or the name of its month.
    Known(Date),
    /// Two numbers and the year; day and month may be swapped.
    Swappable(i8, i8, i16),
    /// A day and the name of its month.
    Yearless,
}

impl Day {
    /// Returns the date; `None` without a year, or if only the order of day and month would tell it, and the order is
    /// unknown.
    pub(crate) fn date(self, order: DayMonth) -> Option<Date> {
        let (first, second, year) = match self {
            Day::Known(date) => return Some(date),
            Day::Swappable(first, second, year) => (first, second, year),
            Day::Yearless => return None,
        };
        let day_first = Date::new(year, second, first).ok();
        let month_first = Date::new(year, first, second).ok();
        match (day_first, month_first) {
            (Some(one), None) | (None, Some(one)) => Some(one),
            _ => match order {
                DayMonth::DayFirst => day_first,
                DayMonth::MonthFirst => month_first,
                DayMonth::Unknown => day_first.filter(|_| day_first == month_first),
            },
        }
    }
}

/// Names of months in English, and their short forms. Only English writes a month in front of the day.
const ENGLISH: [&str; 12] = [
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
];
/// Names of months in German, French, Spanish, Portuguese and Italian, and their short forms.
const OTHERS: [&str; 12] = [
    "januar jänner jan janvier janv enero ene janeiro gennaio gen",
    "februar feber feb février fevrier févr fév febrero fevereiro fev febbraio",
    "märz maerz mär mrz mars marzo mar março",
    "april avril avr abril abr aprile apr",
    "mai mayo maio maggio mag",
    "juni juin junio jun junho giugno giu",
    "juli juillet juil julio jul julho luglio lug",
    "august aug août aout agosto ago",
    "september sept septembre septiembre setiembre sep setembro set settembre",
    "oktober okt octobre oct octubre outubro out ottobre ott",
    "november nov novembre noviembre novembro",
    "dezember dez décembre déc diciembre dic dezembro dicembre",
];
/// Names of months that are other words, too: `2. Set the flag`.
const OTHER_WORDS: &[&str] = &[
    "march", "may", "mars", "mar", "jan", "gen", "mag", "ago", "set", "out",
];
/// Names of months that are other words behind a number, too: `3 out of 4`.
const WORDS_OF_NUMBERS: &[&str] = &["may", "set", "out"];
/// Most bytes of the name of a month, `septiembre`. Raised, long words cost more time.
const MONTH_LEN_MAX: usize = 10;

/// Returns the date at the beginning of a text, and the rest.
pub(crate) fn day_of(text: &str) -> Option<(Day, &str)> {
    numeric(text).or_else(|| named(text))
}

/// Returns `true` if a text that follows a number with a full stop begins with a month, so that the number is a day. A
/// name that is another word, too, needs a year or a colon behind it.
pub(crate) fn is_month_of_day(text: &str) -> bool {
    let Some((_, rest)) = month_of(text, &[ENGLISH, OTHERS]) else {
        return false;
    };
    let name = text[..text.len() - rest.len()].trim_end_matches('.');
    let sure = rest.trim_start().starts_with(':') || year_of(rest).is_some();
    // `1. Feb 14` is the first item of a list.
    month_first(text).is_none() && (sure || !OTHER_WORDS.contains(&name.to_lowercase().as_str()))
}

/// Returns the digits at the beginning of a text, and the rest.
pub(crate) fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// Returns `true` if a text continues the word before it: with a letter or digit, also behind one of these marks.
pub(crate) fn goes_on(text: &str, marks: &[char]) -> bool {
    let rest = text.strip_prefix(marks).unwrap_or(text);
    rest.starts_with(char::is_alphanumeric)
}

/// Returns the date of three numbers at the beginning of a text, and the rest.
fn numeric(text: &str) -> Option<(Day, &str)> {
    let (a, rest) = digits(text);
    let mark = rest
        .chars()
        .next()
        .filter(|c| matches!(c, '-' | '.' | '/'))?;
    let (b, rest) = digits(&rest[1..]);
    let (c, rest) = digits(rest.strip_prefix(mark)?);
    if goes_on(rest, &['.', '-', '/']) {
        return None;
    }
    let small = |text: &str| text.parse::<i8>().ok();
    let year = match c.len() {
        2 => 2_000 + c.parse::<i16>().ok()?,
        _ => c.parse().ok()?,
    };
    let day = match (a.len(), b.len(), c.len(), mark) {
        (4, 1..=2, 1..=2, _) => Day::Known(Date::new(a.parse().ok()?, small(b)?, small(c)?).ok()?),
        // `1.2.34` is a version.
        (1..=2, 1..=2, 4, '.') | (2, 2, 2, '.') => {
            Day::Known(Date::new(year, small(b)?, small(a)?).ok()?)
        }
        (1..=2, 1..=2, 4, '-' | '/') | (1..=2, 1..=2, 2, '/') => {
            let (a, b) = (small(a)?, small(b)?);
            let fits = Date::new(year, a, b).is_ok() || Date::new(year, b, a).is_ok();
            fits.then_some(Day::Swappable(a, b, year))?
        }
        _ => return None,
    };
    Some((day, rest))
}

/// Returns the date with the name of a month at the beginning of a text, and the rest.
fn named(text: &str) -> Option<(Day, &str)> {
    let (day, month, rest) = day_first(text).or_else(|| month_first(text))?;
    match year_of(rest) {
        Some((year, rest)) => Some((Day::Known(Date::new(year, month, day).ok()?), rest)),
        // `March 3,000`, `May 5-7` and `Mar 3:30` are something else.
        None if goes_on(rest, &['.', '-', '–', '/', ',', ':']) => None,
        None if counts(&text[..text.len() - rest.len()]) && !rest.starts_with(':') => None,
        None => Some((Day::Yearless, rest)),
    }
}

/// Returns `true` if day and month may be a number and another word.
fn counts(written: &str) -> bool {
    let last = written.rsplit(' ').next().unwrap_or_default();
    WORDS_OF_NUMBERS
        .iter()
        .any(|word| word.eq_ignore_ascii_case(last))
}

/// Returns day and month of `14 Feb`, `14. Februar`, `le 6 mars`, `6 de marzo`, and the rest.
fn day_first(text: &str) -> Option<(i8, i8, &str)> {
    let articles = ["le ", "Le ", "el ", "El ", "il ", "Il ", "den ", "Den "];
    let text = without_one(text, &articles);
    let (day, rest) = number_of(text)?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let month = rest.trim_start();
    if month.len() == rest.len() {
        return None;
    }
    let (month, rest) = month_of(without_one(month, &["de ", "of "]), &[ENGLISH, OTHERS])?;
    Some((day, month, rest))
}

/// Returns day and month of `Feb 14`, and the rest.
fn month_first(text: &str) -> Option<(i8, i8, &str)> {
    let (month, rest) = month_of(text, &[ENGLISH])?;
    let (day, rest) = number_of(rest.strip_prefix(' ')?.trim_start())?;
    Some((day, month, rest))
}

/// Returns the day at the beginning of a text, without `st`, `er` and the like, and the rest.
fn number_of(text: &str) -> Option<(i8, &str)> {
    let (number, rest) = digits(text);
    let day = number.parse::<i8>().ok();
    let day = day.filter(|day| (1..=31).contains(day))?;
    let rest = without_one(rest, &["st", "nd", "rd", "th", "er", "º", "°"]);
    (number.len() <= 2 && !goes_on(rest, &[])).then_some((day, rest))
}

/// Returns the month at the beginning of a text, and the rest behind its full stop.
fn month_of<'a>(text: &'a str, names: &[[&str; 12]]) -> Option<(i8, &'a str)> {
    let end = text.find(|c: char| !c.is_alphabetic());
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    if word.is_empty() || word.len() > MONTH_LEN_MAX {
        return None;
    }
    let folded = word.to_lowercase();
    let is_named = |all: &&str| all.split(' ').any(|name| name == folded);
    let month = names
        .iter()
        .find_map(|names| names.iter().position(is_named))?;
    let month = i8::try_from(month + 1).ok()?;
    Some((month, rest.strip_prefix('.').unwrap_or(rest)))
}

/// Returns the year behind a day and a month, and the rest.
fn year_of(text: &str) -> Option<(i16, &str)> {
    let text = text.strip_prefix(',').unwrap_or(text).trim_start();
    let (year, rest) = digits(without_one(text, &["de ", "del "]));
    let plain = year.len() == 4 && !goes_on(rest, &['.', '-', '/', ',']);
    let year = year.parse::<i16>().ok().filter(|_| plain)?;
    Some((year, rest))
}

/// Returns a text without the first of these beginnings that it has.
fn without_one<'a>(text: &'a str, beginnings: &[&str]) -> &'a str {
    let rest = beginnings.iter().find_map(|it| text.strip_prefix(*it));
    rest.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_names_in_many_languages() {
        for (text, date, rest) in [
            ("14. Februar 2026: a", "2026-02-14", ": a"),
            ("Feb 14, 2026: a", "2026-02-14", ": a"),
            ("Feb. 14 2026", "2026-02-14", ""),
            ("14 Feb 2026 a", "2026-02-14", " a"),
            ("14. Feb. 2026.", "2026-02-14", "."),
            ("3 March 2026", "2026-03-03", ""),
            ("March 3rd, 2026", "2026-03-03", ""),
            ("3rd of March 2026", "2026-03-03", ""),
            ("le 6 mars 2026 : a", "2026-03-06", " : a"),
            ("1er août 2026", "2026-08-01", ""),
            ("6 de marzo de 2026: a", "2026-03-06", ": a"),
            ("El 6 de marzo del 2026", "2026-03-06", ""),
            ("1º de março de 2026", "2026-03-01", ""),
            ("14 set 2026", "2026-09-14", ""),
            ("il 6 maggio 2026", "2026-05-06", ""),
            ("31. DEZEMBER 2026", "2026-12-31", ""),
        ] {
            let (day, behind) = day_of(text).expect("a date");
            let found = day.date(DayMonth::Unknown).map(|date| date.to_string());
            assert_eq!((found.as_deref(), behind), (Some(date), rest), "{text}");
        }
        for text in [
            "3. März: a",
            "5 May: a",
            "May 5",
            "Feb 14",
            "le 6 mars",
            "14 Feb. a",
        ] {
            let found = day_of(text);
            assert!(matches!(found, Some((Day::Yearless, _))), "{text}");
        }
        for text in [
            "31 Feb 2026",
            "32 March",
            "0 May",
            "March 3,000",
            "May 5-7",
            "3 out of 4",
            "1 set",
            "March 3:30",
            "Set 3",
            "Februar 14",
            "March 2026",
            "3 Marches",
            "3.März",
            "14Feb 2026",
            "Feb",
            "3.",
        ] {
            assert!(day_of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_day_with_a_full_stop_is_no_number_of_a_list() {
        for text in [
            "März: a",
            "Februar 2026",
            "April",
            "May 2026",
            "May: a",
            "set 2026",
        ] {
            assert!(is_month_of_day(text), "{text}");
        }
        for text in [
            "May we",
            "Feb 14, 2026: a",
            "Set the flag",
            "Out of scope",
            "March on",
            "Mars",
            "Marz",
            "",
        ] {
            assert!(!is_month_of_day(text), "{text}");
        }
    }
}
