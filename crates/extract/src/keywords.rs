//! The keywords of a sentence.

use crate::cues::opening;
use crate::words::{Kind, words};

/// Most keywords of a sentence. Raised, keywords name things that the sentence is not about.
const KEYWORDS_MAX: usize = 8;
/// Most bytes of a keyword.
const KEYWORD_LEN_MAX: usize = 64;
/// Words in capitals that distinguish nothing.
const UNITS: &[&str] = &[
    "B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "OK", "TODO", "AM", "PM", "UTC",
];

/// Returns the names, identifiers and pieces of code of a sentence as written, each once, in order.
pub(crate) fn keywords(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let mut found: Vec<String> = Vec::new();
    for word in &words[opening(&words)..] {
        let telling = matches!(word.kind, Kind::Name | Kind::Identifier | Kind::Code);
        let fits = word.text.len() <= KEYWORD_LEN_MAX && word.text.chars().count() > 1;
        let plain = !word.text.contains(|c: char| c.is_control() || c == ',');
        let known = found
            .iter()
            .any(|known| known.to_lowercase() == word.folded);
        let unit = UNITS.contains(&word.text);
        if !unit && telling && fits && plain && !known {
            found.push(word.text.to_owned());
        }
        if found.len() == KEYWORDS_MAX {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_what_is_named() {
        assert_eq!(
            keywords(
                "We run `cargo nextest` on PostgreSQL 16 and Redis, see docs/a.md; redis again"
            ),
            ["cargo nextest", "PostgreSQL", "Redis", "docs/a.md"]
        );
        assert!(keywords("nothing is named here").is_empty());
    }
}
