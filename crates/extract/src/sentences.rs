//! The sentences of a block: whole, and with the words that introduce them.

use unicode_segmentation::UnicodeSegmentation;

use crate::blocks::{Block, blocks};
use crate::dates::is_month_of_day;
use crate::stamps::Stamp;

/// Most bytes of a kept sentence; longer ones are data or lack full stops. Raised, more data is kept.
pub(crate) const SENTENCE_LEN_MAX: usize = 800;

/// A sentence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) text: String,
    pub(crate) line: u64,
    pub(crate) last_line: u64,
    /// The words that introduce its list, for an item.
    pub(crate) intro: Option<String>,
    /// The date and the speaker of its paragraph.
    pub(crate) stamp: Stamp,
    /// `true` if the previous sentence stands in the same paragraph.
    pub(crate) follows: bool,
}

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "ca", "resp", "incl", "excl", "dr",
    "mr", "mrs", "ms", "st", "prof", "no", "nr", "fig", "eq", "sec", "ch", "vol", "pp", "p", "inc",
    "ltd", "corp", "co", "jr", "sr", "al", "est", "dept", "min", "max", "avg", "ver", "z.b", "d.h",
    "bzw", "usw", "u.a", "ggf", "evtl", "bspw", "p.ex", "ej", "a.k.a", "w.r.t", "jan", "feb",
    "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Returns the sentences of a text in order; its first line has number `first_line`. Linear in the text.
pub(crate) fn sentences(text: &str, first_line: u64) -> Vec<Sentence> {
    let mut found = Vec::new();
    for block in blocks(text, first_line) {
        of_block(&block, &mut found);
    }
    found
}

fn of_block(block: &Block, found: &mut Vec<Sentence>) {
    let mut follows = false;
    for (begin, end) in ranges(&block.text, block.item) {
        let text = &block.text[begin..end];
        let trimmed = text.trim();
        let is_data = trimmed.len() > SENTENCE_LEN_MAX
            || trimmed.contains(|c: char| c.is_control() && c != '\t');
        if trimmed.is_empty() || is_data {
            follows = false;
            continue;
        }
        let begin = begin + (text.len() - text.trim_start().len());
        found.push(Sentence {
            text: trimmed.to_owned(),
            line: block.line_of(begin),
            last_line: block.line_of(begin + trimmed.len() - 1),
            intro: block.intro.clone(),
            stamp: block.stamp.clone(),
            follows,
        });
        follows = true;
    }
}

/// Returns the byte ranges of the sentences in a text of one line. A short list item is one sentence.
fn ranges(text: &str, item: bool) -> Vec<(usize, usize)> {
    /// Most bytes of an item that stays whole.
    const ITEM_LEN_MAX: usize = 300;
    if item && text.len() <= ITEM_LEN_MAX {
        return vec![(0, text.len())];
    }
    let mut ranges = Vec::new();
    let mut begin = 0;
    let (mut ticks, mut parentheses) = (0_usize, 0_i32);
    let pieces = text.split_sentence_bound_indices();
    for (at, piece) in pieces.flat_map(|(at, piece)| before_small_letters(at, piece)) {
        let end = at + piece.len();
        ticks += piece.matches('`').count();
        for c in piece.chars() {
            match c {
                '(' => parentheses += 1,
                ')' => parentheses = (parentheses - 1).max(0),
                _ => {}
            }
        }
        // Marks that are never closed must not hold the rest together.
        let held = end - begin <= SENTENCE_LEN_MAX && (ticks % 2 == 1 || parentheses > 0);
        // `?` in an address ends no sentence. An end has a space behind it, or is a full stop of another script.
        let inside =
            end < text.len() && piece.ends_with(|c: char| c.is_ascii() && !c.is_whitespace());
        if held
            || inside
            || ends_in_abbreviation(&text[begin..end])
            || ends_in_ordinal(&text[begin..end], &text[end..])
        {
            continue;
        }
        ranges.push((begin, end));
        (begin, ticks, parentheses) = (end, 0, 0);
    }
    if begin < text.len() {
        ranges.push((begin, text.len()));
    }
    ranges
}

/// Splits a piece where a small letter follows a full stop and a space, because sentences in chats begin with one.
fn before_small_letters(at: usize, piece: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (stop, _) in piece.match_indices(['.', '!', '?']) {
        let after = &piece[stop + 1..];
        let word = after.trim_start_matches(' ');
        let small = word.starts_with(char::is_lowercase) && word.len() < after.len();
        if small {
            let end = piece.len() - word.len();
            parts.push((at + begin, &piece[begin..end]));
            begin = end;
        }
    }
    parts.push((at + begin, &piece[begin..]));
    parts
}

/// Returns `true` if a piece ends in the day of a date whose month follows: `14. März`.
fn ends_in_ordinal(piece: &str, after: &str) -> bool {
    let Some(words) = piece.trim_end().strip_suffix('.') else {
        return false;
    };
    let day = words.rsplit(char::is_whitespace).next().unwrap_or_default();
    matches!(day.len(), 1..=2)
        && day.bytes().all(|byte| byte.is_ascii_digit())
        && is_month_of_day(after)
}

/// Returns `true` if a piece ends in a full stop that belongs to its last word: an abbreviation, an initial, the number
/// of a list item.
fn ends_in_abbreviation(piece: &str) -> bool {
    let Some(words) = piece.trim_end().strip_suffix('.') else {
        return false;
    };
    let last = words
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or_default();
    let last = last.trim_start_matches(['"', '\'', '[', '*']);
    let initial = last.chars().count() == 1 && last.chars().all(char::is_alphabetic) && last != "I";
    let folded = last.to_lowercase();
    // `No.` alone is an answer.
    let alone = words.trim() == last;
    initial || (ABBREVIATIONS.contains(&folded.as_str()) && !(alone && folded == "no"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        sentences(text, 1)
            .into_iter()
            .map(|sentence| sentence.text)
            .collect()
    }

    #[test]
    fn dots_inside_words_end_no_sentence() {
        for whole in [
            "We use PostgreSQL 16.2, e.g. for invoices, see https://a.example/x.html?q=1.2 and src/main.rs.",
            "The limit is 3.5 MB (see docs. It is enforced) in `a. B` code.",
            "J. Smith of Acme Inc. Berlin owns it.",
            "Call `foo. Bar` first.",
            "Ab dem 14. März gilt Node 22.",
            "3. Feb. 2026 war ein Dienstag.",
            "Version v1.2.3 of Node.js is pinned in package.json.",
        ] {
            assert_eq!(split(whole), [whole]);
        }
    }

    #[test]
    fn sentences_are_split_in_any_script() {
        assert_eq!(
            split("One is here. Two is there! Is it? Yes."),
            ["One is here.", "Two is there!", "Is it?", "Yes."]
        );
        assert_eq!(
            split("我们使用数据库。测试运行很快。"),
            ["我们使用数据库。", "测试运行很快。"]
        );
        assert_eq!(
            split("- First. Second.\n- Third"),
            ["First. Second.", "Third"]
        );
    }

    #[test]
    fn lines_are_those_of_the_sentence() {
        let text = "The first sentence of this text is long enough to be wrapped. And\nthe second one ends here. Third.";
        let found = sentences(text, 5);
        let places: Vec<_> = found
            .iter()
            .map(|it| (it.line, it.last_line, it.follows))
            .collect();
        assert_eq!(places, [(5, 5, false), (5, 6, true), (6, 6, true)]);
    }

    #[test]
    fn open_marks_do_not_hold_a_long_text_together() {
        let text = format!("`open {}", "A short sentence is here. ".repeat(200));
        assert!(sentences(&text, 1).len() > 100);
        assert!(split(&"x".repeat(SENTENCE_LEN_MAX + 1)).is_empty());
    }
}
