//! Makes text fit for a terminal: clean, on one line, wrapped, cut.
//!
//! Anybody may have written a stored text, so every text passes [`icm_guard::sanitize::clean`] before it reaches a
//! terminal.

use icm_guard::sanitize::clean;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the text without control sequences and invisible characters.
pub(crate) fn cleaned(text: &str) -> String {
    clean(text).into_owned()
}

/// Returns the text on one line, with one space for each run of white space.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in clean(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns a number of bytes with its unit: `512 B`, `3.4 kB`, `1.2 MB`.
pub(crate) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        // A value that would round to 1000 belongs to the next unit.
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit == "B" || value >= 99.95 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// Returns a number with its noun: `1 memory`, `2 memories`.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns the width of a text in columns.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Returns at most `columns` columns of a line; a cut line ends with `…`.
pub(crate) fn cut(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_string();
    }
    let mut taken = 0;
    let mut short = String::new();
    for c in line.chars() {
        let wide = c.width().unwrap_or(0);
        if taken + wide + 1 > columns {
            break;
        }
        taken += wide;
        short.push(c);
    }
    if columns > 0 {
        short.push('…');
    }
    short
}

/// Returns the lines of a text, each cleaned, and at most `columns` wide if given.
pub(crate) fn wrap(text: &str, columns: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in clean(text).lines() {
        let line = line.replace('\t', "    ");
        match columns {
            Some(columns) if line.width() > columns => wrap_line(&line, columns.max(8), &mut lines),
            _ => lines.push(line),
        }
    }
    lines
}

fn wrap_line(line: &str, columns: usize, lines: &mut Vec<String>) {
    let mut current = String::new();
    let mut current_width = 0;
    for word in line.split_inclusive(' ') {
        let word_width = word.trim_end_matches(' ').width();
        if current_width > 0 && current_width + word_width > columns {
            lines.push(current.trim_end().to_string());
            current.clear();
            current_width = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            // Only a word that is wider than the whole line is broken.
            if c != ' ' && current_width + wide > columns {
                lines.push(std::mem::take(&mut current));
                current_width = 0;
            }
            current.push(c);
            current_width += wide;
        }
    }
    let rest = current.trim_end();
    if !rest.is_empty() {
        lines.push(rest.to_string());
    }
}

/// Returns places in chains for people.
pub(crate) fn places(places: &[icm_api::ChainPlace]) -> String {
    let named = places.iter();
    let named = named.map(|place| format!("{} from seq {}", place.origin, place.seq));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_joins_and_trims() {
        assert_eq!(one_line("  a\n\tb  c\r\n"), "a b c");
        assert_eq!(one_line(""), "");
        // An escape sequence that contains a space is one sequence.
        assert_eq!(one_line("a \u{1b}]0;evil title\u{7}b"), "a b");
    }

    #[test]
    fn bytes_have_units() {
        for (n, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (64_000_000, "64.0 MB"),
            (999_999, "1.0 MB"),
            (123_456_789_000, "123 GB"),
        ] {
            assert_eq!(bytes(n), expected);
        }
    }

    #[test]
    fn cut_counts_columns_not_bytes() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn wrap_breaks_between_words_and_keeps_lines() {
        assert_eq!(
            wrap("one two three\nfour", Some(8)),
            ["one two", "three", "four"]
        );
        assert_eq!(wrap("one two three", None), ["one two three"]);
        assert_eq!(wrap("a\n\nb", Some(20)), ["a", "", "b"]);
    }

    #[test]
    fn wrap_breaks_a_word_wider_than_the_line() {
        let lines = wrap("see 01234567890123456789 there", Some(10));
        assert!(lines.iter().all(|l| width(l) <= 10), "{lines:?}");
        assert_eq!(
            lines.concat().replace(' ', ""),
            "see01234567890123456789there"
        );
    }
}
