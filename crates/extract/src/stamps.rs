//! The date at the beginning of a line, and the speaker of a messenger: `2026-02-10: …`, `14. Februar 2026: …`,
//! `[10.02.2026, 10:14] Ada: …`.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

use crate::cues::is_label;
use crate::dates::{Day, DayMonth, day_of, digits, goes_on};
use crate::words::words;

/// The date of a line, and its speaker.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The date and time in UTC, milliseconds since the epoch.
    pub(crate) at_ms: Option<i64>,
    /// The date as written, if it has no year, or day and month may be swapped. `at_ms` is then `None`.
    pub(crate) date: Option<String>,
    /// The name of the person who wrote the line in a messenger.
    pub(crate) name: Option<String>,
}

/// Words of a speaker about himself. Without a name nobody knows whose statement it is.
const OWN: &[&str] = &[
    "i", "im", "ive", "my", "mine", "me", "myself", "ich", "mein", "meine", "meinen", "meinem",
    "meiner", "mir", "mich", "je", "jai", "mon", "mes", "moi", "yo", "mis", "eu", "meu", "minha",
    "mio", "mia",
];
/// Levels of logs.
const LEVELS: &[&str] = &[
    "INFO", "WARN", "ERROR", "DEBUG", "TRACE", "WARNING", "FATAL",
];
/// Longest name of a speaker, in bytes. Raised, more statements with a colon lose their beginning.
const NAME_LEN_MAX: usize = 60;
/// Most words of a name.
const NAME_WORDS_MAX: usize = 4;

impl Stamp {
    /// Returns a sentence of the line, with the part of the stamp that it needs in front.
    pub(crate) fn introduce(&self, sentence: String) -> String {
        let own = |_: &&String| is_own(&sentence);
        match self.date.as_ref().or(self.name.as_ref().filter(own)) {
            Some(words) => format!("{words}: {sentence}"),
            None => sentence,
        }
    }
}

/// Returns the order of day and month in a text: the first line with a number above 12 in its date tells it.
pub(crate) fn order_of(text: &str) -> DayMonth {
    let mark =
        |c: char| c.is_whitespace() || is_emphasis(c) || matches!(c, '[' | '-' | '+' | '•' | '#');
    for line in text.lines() {
        match day_of(line.trim_start_matches(mark)) {
            Some((Day::Swappable(first, _, _), _)) if first > 12 => return DayMonth::DayFirst,
            Some((Day::Swappable(_, second, _), _)) if second > 12 => return DayMonth::MonthFirst,
            _ => {}
        }
    }
    DayMonth::Unknown
}

/// Returns the stamp at the beginning of a line, and the text behind it. `None` if the line has none, nothing follows,
/// or the line is one of a log: a time with seconds, and no comma between date and time.
///
/// A date without brackets, time and separator counts if it has a year and a capital letter follows: `2026-02-10 was a
/// Tuesday` is a sentence.
pub(crate) fn stamp_of(line: &str, order: DayMonth) -> Option<(Stamp, &str)> {
    let line = line.trim_start_matches(is_emphasis);
    let inside = line.strip_prefix('[');
    let begin = inside.unwrap_or(line);
    let (day, rest) = day_of(begin)?;
    let written = &begin[..begin.len() - rest.len()];
    let comma = rest.starts_with(',');
    let clock = clock_of(rest.trim_start_matches(',').trim_start());
    let (time, rest) = match clock {
        Some(clock) if clock.seconds && !comma => return None,
        Some(clock) => (Some(clock.time), clock.rest),
        None => (None, rest),
    };
    let rest = match inside {
        // `[2026-02-10](…)` is a link.
        Some(_) => rest.strip_prefix(']').filter(|it| !it.starts_with('('))?,
        None => rest,
    };
    let rest = rest.trim_start_matches(is_emphasis).trim_start();
    // A messenger has `[date, time] name:` or `date, time - name:`.
    let messenger = time.is_some() && (inside.is_some() || rest.starts_with(['-', '–']));
    let yearless = matches!(day, Day::Yearless);
    let said = match rest.strip_prefix([':', '-', '–', '—', '|', ',']) {
        Some(_) if yearless && rest.starts_with(',') => return None,
        Some(said) => {
            let bare = said.trim_start_matches(is_emphasis);
            if bare.starts_with(char::is_whitespace) {
                bare
            } else {
                said
            }
        }
        None if inside.is_some() || time.is_some() => rest,
        None => Some(rest).filter(|it| it.starts_with(char::is_uppercase) && !yearless)?,
    };
    let said = said.trim_start_matches(|c: char| {
        c.is_whitespace() || (messenger && c == '~') || is_direction(c)
    });
    let named = name_of(said).filter(|_| messenger);
    let said = named.map_or(said, |(_, said)| said);
    // From one date to another is a span of time.
    let number = |text: &str| yearless && text.starts_with(|c: char| c.is_ascii_digit());
    let span = !rest.starts_with(':') && (day_of(said).is_some() || number(said));
    if said.is_empty() || span {
        return None;
    }
    let at_ms = at_ms(day, time.unwrap_or(Time::midnight()), order);
    let stamp = Stamp {
        at_ms,
        // The date of each message would only be in the way.
        date: (at_ms.is_none() && !messenger).then(|| written.to_owned()),
        name: named.map(|(name, _)| name.to_owned()),
    };
    Some((stamp, said))
}

/// Returns the time of a date in UTC, in milliseconds since the epoch.
fn at_ms(day: Day, time: Time, order: DayMonth) -> Option<i64> {
    let at = DateTime::from_parts(day.date(order)?, time);
    let at = TimeZone::UTC.to_timestamp(at).ok()?;
    Some(at.as_millisecond())
}

/// Returns the time of a heading that is a date or begins with one, in milliseconds since the epoch, and the words of the
/// heading that may introduce a list: those without a date.
pub(crate) fn heading_of(words: &str, order: DayMonth) -> (Option<i64>, Option<&str>) {
    if let Some((stamp, said)) = stamp_of(words, order) {
        return (stamp.at_ms, Some(said));
    }
    let Some((day, rest)) = day_of(words.trim_start_matches(is_before_date)) else {
        return (None, Some(words));
    };
    let (time, rest) = match clock_of(rest.trim_start_matches([',', ' '])) {
        Some(clock) => (clock.time, clock.rest),
        None => (Time::midnight(), rest),
    };
    if is_around_date(rest) {
        return (at_ms(day, time, order), None);
    }
    (None, Some(words).filter(|_| matches!(day, Day::Yearless)))
}

/// Returns `true` if the text behind a date has nothing but marks around the date.
pub(crate) fn is_around_date(rest: &str) -> bool {
    let mark = |c: char| c.is_whitespace() || is_emphasis(c) || matches!(c, ']' | ':');
    rest.trim_matches(mark).is_empty()
}

/// Returns the text behind the date at the beginning of a line, without regard to what follows; `None` if the line has
/// none.
pub(crate) fn after_date(line: &str) -> Option<&str> {
    day_of(line.trim_start_matches(is_before_date)).map(|(_, rest)| rest)
}

/// Returns `true` for marks in front of a date.
fn is_before_date(c: char) -> bool {
    is_emphasis(c) || c == '['
}

/// Returns `true` for marks around a date: emphasis of Markdown, and marks of the direction of writing.
fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_') || is_direction(c)
}

/// Returns `true` for marks of the direction of writing, which messengers put in front of lines and texts.
fn is_direction(c: char) -> bool {
    matches!(
        c,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2068}' | '\u{2069}' | '\u{feff}'
    )
}

/// Returns the name of a speaker and the text behind its colon. A mark (`Decision: …`) and the level of a log are no
/// names.
fn name_of(said: &str) -> Option<(&str, &str)> {
    let (name, text) = said.split_once(": ")?;
    let count = name.split_whitespace().count();
    let fits = name.len() <= NAME_LEN_MAX && (1..=NAME_WORDS_MAX).contains(&count);
    let is_name =
        fits && !name.contains(['`', '"', '?', '!']) && !is_level(name) && !is_label(name);
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || is_direction(c));
    is_name.then_some((name, text))
}

/// Returns `true` if a word is a level of logs.
pub(crate) fn is_level(word: &str) -> bool {
    LEVELS.contains(&word)
}

/// Returns `true` if a sentence speaks of its speaker.
fn is_own(sentence: &str) -> bool {
    let words = words(sentence);
    let contracted = |text: &str| text.starts_with("I'") || text.starts_with("I’");
    let own = |folded: &str| OWN.contains(&folded);
    words
        .iter()
        .any(|word| own(&word.folded) || contracted(word.text))
}

/// A time of day as written.
struct Clock<'a> {
    time: Time,
    seconds: bool,
    rest: &'a str,
}

/// Returns the time at the beginning of a text.
fn clock_of(text: &str) -> Option<Clock<'_>> {
    let (hour, rest) = digits(text);
    let (minute, rest) = digits(rest.strip_prefix(':')?);
    if !(1..=2).contains(&hour.len()) || minute.len() != 2 {
        return None;
    }
    let with_seconds = rest
        .strip_prefix(':')
        .map(digits)
        .filter(|(second, _)| !second.is_empty());
    let (second, rest) = with_seconds.unwrap_or(("0", rest));
    let (afternoon, rest) = half_of(rest);
    if goes_on(rest, &['.', ',', '+', '-']) {
        return None;
    }
    let hour: i8 = hour.parse().ok()?;
    let hour = match afternoon {
        Some(true) => hour % 12 + 12,
        Some(false) => hour % 12,
        None => hour,
    };
    let time = Time::new(hour, minute.parse().ok()?, second.parse().ok()?, 0).ok()?;
    Some(Clock {
        time,
        seconds: with_seconds.is_some(),
        rest,
    })
}

/// Returns `true` for `PM` at the beginning of a text and `false` for `AM`, and the rest. Small letters count only in
/// front of a separator, because `am` is a word of German.
fn half_of(text: &str) -> (Option<bool>, &str) {
    let half = text.trim_start();
    for (name, afternoon) in [("AM", false), ("PM", true)] {
        let Some(written) = half.get(..2).filter(|it| it.eq_ignore_ascii_case(name)) else {
            continue;
        };
        let rest = &half[2..];
        let separated = rest.trim_start().starts_with(['-', '–', ']', ':']);
        if separated || (written == name && !goes_on(rest, &[])) {
            return (Some(afternoon), rest);
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;
    /// 2026-02-10T00:00:00Z.
    const TENTH: i64 = 20_494 * DAY_MS;

    fn read(line: &str) -> Option<(Option<i64>, &str)> {
        stamp_of(line, DayMonth::Unknown).map(|(stamp, said)| (stamp.at_ms, said))
    }

    #[test]
    fn dates_are_read_off_in_many_forms() {
        let ten = TENTH + 10 * 3_600_000;
        for (line, at_ms) in [
            ("2026-02-10: We met", TENTH),
            ("2026/02/10: We met", TENTH),
            ("10.02.2026: We met", TENTH),
            ("10.2.2026 We met", TENTH),
            ("10.02.26 – We met", TENTH),
            ("[2026-02-10] We met", TENTH),
            ("**2026-02-10:** We met", TENTH),
            ("**2026-02-10**: We met", TENTH),
            ("_2026-02-10_ - We met", TENTH),
            ("2026-02-10 We met", TENTH),
            ("2026-02-10 10:00 We met", ten),
            ("2026-02-10, 10:00: We met", ten),
            ("2026-02-10, 10:00:00 - We met", ten),
            ("[2026-02-10 10:00] We met", ten),
            ("2026-02-10 10:00 PM We met", ten + 12 * 3_600_000),
            ("2026-02-10, 10:00\u{202f}am - We met", ten),
            ("2/13/2026: We met", TENTH + 3 * DAY_MS),
            ("13/2/26: We met", TENTH + 3 * DAY_MS),
            ("02/02/2026: We met", TENTH - 8 * DAY_MS),
            ("10. Februar 2026: We met", TENTH),
            ("10. Februar 2026 We met", TENTH),
            ("**Feb 10, 2026**: We met", TENTH),
            ("Feb 10, 2026, 10:00 AM: We met", ten),
            ("[10 Feb 2026] We met", TENTH),
            ("10 February 2026 – We met", TENTH),
            ("le 10 février 2026 : We met", TENTH),
            ("10 de febrero de 2026: We met", TENTH),
        ] {
            assert_eq!(read(line), Some((Some(at_ms), "We met")), "{line}");
        }
        let german = read("2026-02-10 10:00 am Ende haben wir");
        assert_eq!(german, Some((Some(ten), "am Ende haben wir")));
        let (stamp, said) = stamp_of("10/02/2026: We met", DayMonth::Unknown).expect("a date");
        assert_eq!(stamp.at_ms, None);
        assert_eq!(stamp.introduce(said.to_owned()), "10/02/2026: We met");
        for line in ["3. März: We met", "Feb 14: We met", "le 6 mars: We met"] {
            let (stamp, said) = stamp_of(line, DayMonth::Unknown).expect("a date");
            assert_eq!(stamp.at_ms, None);
            assert_eq!(stamp.introduce(said.to_owned()), line);
        }
        let two = read("2026-02-10: Feb 14, 2026 is the end");
        assert_eq!(two, Some((Some(TENTH), "Feb 14, 2026 is the end")));
        let (stamp, _) = stamp_of("10/02/2026: We met", DayMonth::DayFirst).expect("a date");
        assert_eq!(stamp.at_ms, Some(TENTH));
    }

    #[test]
    fn versions_logs_and_sentences_have_no_stamp() {
        for line in [
            "2026-02-10T10:00:00Z We met",
            "2026-02-10 10:00:00 We met",
            "2026-02-10 10:00:00,123 - app - INFO - We met",
            "2026-02-10 was a Tuesday",
            "2026-02-10 - 2026-02-12: We met",
            "10 Feb 2026 - 12 Feb 2026: We met",
            "Feb 10 - 12: We met",
            "3. März haben wir",
            "March 3, we met",
            "March 3 We met",
            "10. Februar 2026 war ein Dienstag",
            "Feb 10 10:00:00 host We met",
            "2026-02-10:",
            "2026-02-10",
            "[2026-02-10](https://a.example) We met",
            "1.2.34: We met",
            "10.0.0.1: We met",
            "2026-13-40: We met",
            "40/40/2026: We met",
            "We met on 2026-02-10",
            "é",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn messengers_name_the_speaker() {
        for (line, expected) in [
            ("[10/02/2026, 10:14:03] Ada: We met", Some("Ada")),
            (
                "\u{200e}[2/10/26, 10:14:03\u{202f}AM] Ada Lovelace: \u{200e}We met",
                Some("Ada Lovelace"),
            ),
            (
                "[10.02.26, 10:14:03] ~ +49 170 1234567: We met",
                Some("+49 170 1234567"),
            ),
            ("10.02.26, 10:14 - Ada: We met", Some("Ada")),
            ("2/10/26, 10:14 AM - Ada: We met", Some("Ada")),
            ("[2026-02-10 10:14] ada: We met", Some("ada")),
            ("10.02.26, 10:14 - We met", None),
            ("2026-02-10: Ada: We met", None),
            ("2026-02-10, 10:14 - Decision: We met", None),
            ("[2026-02-10, 10:14:03] ERROR: We met", None),
        ] {
            let (stamp, said) = stamp_of(line, DayMonth::Unknown).expect("a stamp");
            assert_eq!(stamp.name.as_deref(), expected, "{line}");
            assert!(
                said.ends_with("We met") && (expected.is_none() || said == "We met"),
                "{line}"
            );
        }
        let named = Stamp {
            name: Some("Ada".to_owned()),
            ..Stamp::default()
        };
        for (sentence, own) in [
            ("I prefer tabs", true),
            ("Tabs are what I'd take", true),
            ("Ich mag Tabs", true),
            ("We prefer tabs", false),
            ("The id is ill", false),
        ] {
            let expected = if own {
                format!("Ada: {sentence}")
            } else {
                sentence.to_owned()
            };
            assert_eq!(named.introduce(sentence.to_owned()), expected);
        }
    }

    #[test]
    fn headings_are_dates_or_begin_with_one() {
        for (heading, expected) in [
            ("2026-02-10", (Some(TENTH), None)),
            ("[2026-02-10]", (Some(TENTH), None)),
            ("10 February 2026", (Some(TENTH), None)),
            ("2026-02-10 10:00", (Some(TENTH + 10 * 3_600_000), None)),
            ("2026-02-10: Plan", (Some(TENTH), Some("Plan"))),
            ("2026-02-10 Plan", (Some(TENTH), Some("Plan"))),
            ("10/02/2026", (None, None)),
            ("3. März", (None, None)),
            ("2026-02-10 - 2026-02-12", (None, None)),
            ("3. Mars", (None, None)),
            ("3. Mars and moons", (None, Some("3. Mars and moons"))),
            ("Plan of 2026-02-10", (None, Some("Plan of 2026-02-10"))),
            ("", (None, Some(""))),
        ] {
            assert_eq!(
                heading_of(heading, DayMonth::Unknown),
                expected,
                "{heading}"
            );
        }
    }

    #[test]
    fn one_day_above_twelve_tells_the_order() {
        assert_eq!(order_of("- 1/2/26 a\n[13/2/26] b"), DayMonth::DayFirst);
        assert_eq!(order_of("1/2/26 a\n2/13/26 b"), DayMonth::MonthFirst);
        assert_eq!(order_of("1/2/26 a\n## 13/2/26"), DayMonth::DayFirst);
        assert_eq!(order_of("1/2/26 a\nb"), DayMonth::Unknown);
    }
}
