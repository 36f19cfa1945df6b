//! Traits of a text that the ranking uses beside its words.

use super::analyze::{floor_char_boundary, fold, plain_words};

/// Bytes at the start of a text that a speaker's name has to fit in (64), and the most words of a name (3). Larger
/// values take more beginnings for names.
pub(super) const SPEAKER_LEN_MAX: usize = 64;
const SPEAKER_WORDS_MAX: usize = 3;

/// The traits of one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// A hash of the speaker's name that the text begins with, as in `Ada: …`; 0 without a name.
    pub speaker: u32,
    /// The number of characters.
    pub chars: u32,
    /// `true` if the text ends with a question mark.
    pub asks: bool,
    /// `true` if the text has a word of time: a day, a month, `yesterday`, `ago`.
    pub tells_time: bool,
}

impl Traits {
    pub(crate) fn of(content: &str) -> Traits {
        let name = speaker(content);
        let said = name.map_or(content, |name| &content[name.len()..]);
        let mut tells_time = false;
        plain_words(said, &mut |_, word| tells_time |= is_of_time(word));
        Traits {
            // 0 means no speaker.
            speaker: name.map_or(0, |name| crc32c::crc32c(fold(name).as_bytes()).max(1)),
            chars: u32::try_from(content.chars().count()).unwrap_or(u32::MAX),
            asks: asks(content),
            tells_time,
        }
    }
}

/// Returns the name of the speaker, if a text begins like a line of a transcript: `Ada Lovelace: …`.
pub(super) fn speaker(content: &str) -> Option<&str> {
    let head = &content[..floor_char_boundary(content, SPEAKER_LEN_MAX)];
    let (name, rest) = head.split_once(": ")?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | '\'' | '’');
    let words = name.split(' ').count();
    let fits = name.starts_with(char::is_alphanumeric) && name.chars().all(is_name);
    (fits && words <= SPEAKER_WORDS_MAX && !rest.is_empty() && !is_label(name)).then_some(name)
}

/// Returns `true` if a text's first word names a kind of note, not a speaker.
fn is_label(name: &str) -> bool {
    const LABELS: &str = "action answer bug build chore ci code context convention decision deprecated docs done error example \
                          fact feat feature feedback fix fixed fixme goal hack hint idea important info insight issue lesson link \
                          note open perf plan preference problem project question reason refactor reference reminder revert \
                          risk rule solution source status step style summary task test tests tip todo topic update warn \
                          warning why wip workaround";
    LABELS
        .split_whitespace()
        .any(|label| label.eq_ignore_ascii_case(name))
}

/// Returns `true` if a text ends with a question mark; a note in brackets, quotes and smileys may follow.
fn asks(content: &str) -> bool {
    let mut rest = content.trim_end();
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some(inner) = rest.strip_suffix(close)
            && let Some(at) = inner.rfind(open)
        {
            rest = &inner[..at];
        }
    }
    let is_mark = |c: char| matches!(c, '?' | '？' | '؟');
    let end = rest.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_mark(c));
    end.ends_with(is_mark)
}

/// Words of time, folded, in the languages whose word for *when* is known.
const OF_TIME: &str = "monday tuesday wednesday thursday friday saturday sunday january february march april june july august \
                       september october november december yesterday today tomorrow tonight last ago week weeks weekend \
                       month months year years day days morning evening night recently next \
                       montag dienstag mittwoch donnerstag freitag samstag sonntag gestern heute morgen woche wochen monat monate \
                       jahr jahre tag tage \
                       lundi mardi mercredi jeudi vendredi samedi dimanche hier demain semaine mois annee annees jour jours \
                       lunes martes miercoles jueves viernes sabado domingo ayer hoy manana semana mes meses ano anos dia dias";

fn is_of_time(folded: &str) -> bool {
    let is_year = folded.len() == 4
        && (folded.starts_with("19") || folded.starts_with("20"))
        && folded.bytes().all(|byte| byte.is_ascii_digit());
    is_year || words_of_time().contains(folded)
}

fn words_of_time() -> &'static rustc_hash::FxHashSet<&'static str> {
    static WORDS: std::sync::LazyLock<rustc_hash::FxHashSet<&str>> =
        std::sync::LazyLock::new(|| OF_TIME.split_whitespace().collect());
    &WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_are_told_from_prose() {
        for (content, name) in [
            ("Ada: hello", "Ada"),
            ("Ada Lovelace: hello", "Ada Lovelace"),
            ("O'Brien-Smith Jr.: hello", "O'Brien-Smith Jr."),
            ("агент 7: да", "агент 7"),
        ] {
            assert_eq!(speaker(content), Some(name), "{content}");
        }
        let long = format!("{}: x", "a".repeat(SPEAKER_LEN_MAX));
        for content in [
            "",
            "Ada",
            "Ada: ",
            ": hello",
            "- Ada: hello",
            "at 10:30 we met",
            "https://example.org",
            "so this is what we decided: nothing",
            "one, two: three",
            "TODO: rotate the key",
            "Decision: no Kubernetes",
            "fix: a row was lost",
            &long,
        ] {
            assert_eq!(speaker(content), None, "{content}");
        }
    }

    #[test]
    fn a_text_that_ends_with_a_question_asks() {
        for (content, expect) in [
            ("Ada: How are you?", true),
            ("Ada: How are you? 😊", true),
            ("Ada: What do you say? [shows a photo of a dog]", true),
            ("你好吗？", true),
            ("كيف حالك؟", true),
            ("Really?!", true),
            ("Why? Because.", false),
            ("f(x)", false),
            ("", false),
        ] {
            assert_eq!(Traits::of(content).asks, expect, "{content}");
        }
    }

    #[test]
    fn a_text_tells_the_time_by_its_words() {
        for (content, expect) in [
            ("Ada: I went there yesterday", true),
            ("Logs are kept since 2019", true),
            ("wir treffen uns am Montag", true),
            ("the port is 8080", false),
            ("August: hello", false),
        ] {
            assert_eq!(Traits::of(content).tells_time, expect, "{content}");
        }
    }
}
