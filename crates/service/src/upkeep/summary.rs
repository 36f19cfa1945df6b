//! A summary by rules: sentences of the memories themselves, the most important first, none twice.
//!
//! No sentence is new, so nothing is made up. The summary is a function of the memories alone.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use icm_log::facts::Importance;

/// Bytes of the longest summary by rules: about a thousand tokens.
pub(crate) const RULES_LEN_MAX: usize = 4 * 1_024;

/// A memory that goes into a summary.
pub(crate) struct SummaryPart<'a> {
    pub(crate) importance: Importance,
    pub(crate) created_ms: u64,
    pub(crate) content: &'a str,
}

/// A summary, and the sentences that it leaves out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extract {
    /// One line for each memory that has a sentence left.
    pub(crate) text: String,
    /// Number of sentences that an earlier memory says, too.
    pub(crate) repeated: u64,
    /// Number of sentences for which there was no room.
    pub(crate) no_room: u64,
}

/// Returns the sentences of the memories, by importance, then by age, the oldest first, in `len_max` bytes at most. If
/// sentences are equal but for case, blanks and the mark at the end, the first one stays.
///
/// Sentences that are merely similar are all kept: another number or name is another fact.
pub(crate) fn by_rules(mut parts: Vec<SummaryPart<'_>>, len_max: usize) -> Extract {
    parts.sort_by_key(|part| (Reverse(part.importance), part.created_ms));
    let mut extract = Extract::default();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    for part in parts {
        let mut goes_on = false;
        for sentence in sentences(part.content) {
            // Room is checked before the costly comparison: a full summary needs none.
            if extract.text.len() + 1 + sentence.len() > len_max {
                extract.no_room += 1;
                continue;
            }
            if !kept.insert(plain(sentence)) {
                extract.repeated += 1;
                continue;
            }
            if !extract.text.is_empty() {
                extract.text.push(if goes_on { ' ' } else { '\n' });
            }
            extract.text.push_str(sentence);
            goes_on = true;
        }
    }
    extract
}

/// Returns a sentence in the form in which it is compared with others.
fn plain(sentence: &str) -> String {
    let ends = |c: char| c.is_whitespace() || ".!?;,。！？".contains(c);
    let words = sentence.trim_end_matches(ends).split_whitespace();
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns the sentences of a text, trimmed. A sentence ends with a line, with `.`, `!` or `?` and a space, or with
/// such a mark of Chinese or Japanese.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let next = move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = at + c.len_utf8();
            let ends = match c {
                '\n' | '。' | '！' | '？' => true,
                '.' | '!' | '?' => chars.peek().is_some_and(|(_, next)| next.is_whitespace()),
                _ => false,
            };
            if ends {
                end = after;
                break;
            }
        }
        let (sentence, left) = rest.split_at(end);
        rest = left;
        Some(sentence.trim())
    };
    std::iter::from_fn(next).filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(importance: Importance, created_ms: u64, content: &str) -> SummaryPart<'_> {
        SummaryPart {
            importance,
            created_ms,
            content,
        }
    }

    #[test]
    fn the_weightiest_come_first_and_nothing_is_said_twice() {
        use Importance::{High, Low, Medium};
        let extract = by_rules(
            vec![
                part(Low, 1, "Tea is at four."),
                part(
                    Medium,
                    3,
                    "Prices are integer cents. The team meets on Tuesdays at ten.",
                ),
                part(Medium, 2, "The team meets on Tuesdays at ten"),
                part(High, 4, "Never deploy on Fridays!\nv1.2 is out."),
            ],
            1_000,
        );
        let text = "Never deploy on Fridays! v1.2 is out.\n\
                    The team meets on Tuesdays at ten\n\
                    Prices are integer cents.\n\
                    Tea is at four.";
        assert_eq!(extract.text, text);
        assert_eq!((extract.repeated, extract.no_room), (1, 0));
    }

    #[test]
    fn another_number_or_name_is_another_fact() {
        let facts = [
            "The server web1 listens on port 8080 in Frankfurt.",
            "The server db1 listens on port 5432 in Frankfurt.",
            "Ann reports to Bob",
            "Bob reports to Ann",
            "Do not use tabs",
            "use tabs",
        ];
        let parts = facts.iter().map(|fact| part(Importance::Medium, 1, fact));
        let extract = by_rules(parts.collect(), 1_000);
        assert_eq!(extract.text.lines().collect::<Vec<_>>(), facts);
        let same = ["Use  TABS.", "use tabs", " use tabs!"];
        let parts = same.iter().map(|fact| part(Importance::Medium, 1, fact));
        assert_eq!(by_rules(parts.collect(), 1_000).repeated, 2);
    }

    #[test]
    fn it_is_bounded_and_says_what_it_leaves_out() {
        let texts: Vec<String> = (0..100).map(|n| format!("a{n} b{n} c{n}. d{n}")).collect();
        let parts = texts.iter().map(|text| part(Importance::Medium, 1, text));
        let extract = by_rules(parts.collect(), 50);
        assert!(extract.text.len() <= 50, "{}", extract.text.len());
        let kept = extract
            .text
            .split(['\n', ' '])
            .filter(|word| word.starts_with(['a', 'd']));
        assert_eq!(kept.count() as u64 + extract.no_room, 200);
        assert!(extract.no_room > 150);
    }

    #[test]
    fn sentences_end_where_they_end() {
        let all: Vec<_> = sentences(" One. Two v1.2?  三。四\n\nfive ").collect();
        assert_eq!(all, ["One.", "Two v1.2?", "三。", "四", "five"]);
    }
}
