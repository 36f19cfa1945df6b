//! Stored text for a terminal: clean, on one line, measured, cut and wrapped in columns.
//!
//! Anybody may have written a stored text, so it passes [`clean`] first. Texts are divided between graphemes only: an
//! emoji of several characters stays whole.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::sanitize::clean;

/// Columns of a wrapped line at least. Lowered, a text in a narrow column has more lines than can be read.
const COLUMNS_MIN: usize = 8;

/// Returns the text on one line, cleaned, with one space for each run of white space.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in clean(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the width of a text in columns, as it is drawn: grapheme by grapheme.
pub fn width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.width(),
        false => text.graphemes(true).map(UnicodeWidthStr::width).sum(),
    }
}

/// Returns at most `columns` columns of a line; a cut line ends with `…`.
pub fn cut(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut taken = 0;
    let mut short = String::new();
    for grapheme in line.graphemes(true) {
        let wide = grapheme.width();
        if taken + wide + 1 > columns {
            break;
        }
        taken += wide;
        short.push_str(grapheme);
    }
    if columns > 0 {
        short.push('…');
    }
    short
}

/// Returns as much of the end of a line as fits into `columns` columns.
pub fn end(line: &str, columns: usize) -> &str {
    let (mut taken, mut start) = (0, line.len());
    for (at, grapheme) in line.grapheme_indices(true).rev() {
        taken += grapheme.width();
        if taken > columns {
            break;
        }
        start = at;
    }
    &line[start..]
}

/// Returns the lines of a text, cleaned, and each at most `columns` wide if given; fewer than 8 count as 8.
pub fn wrap(text: &str, columns: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    for line in clean(text).lines() {
        let line = line.replace('\t', "    ");
        match columns.map(|columns| columns.max(COLUMNS_MIN)) {
            Some(columns) if width(&line) > columns => wrap_line(&line, columns, &mut lines),
            _ => lines.push(line),
        }
    }
    lines
}

fn wrap_line(line: &str, columns: usize, lines: &mut Vec<String>) {
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let wide = width(word.trim_end_matches(' '));
        if used > 0 && used + wide > columns {
            lines.push(current.trim_end().to_owned());
            current.clear();
            used = 0;
        }
        for grapheme in word.graphemes(true) {
            let wide = grapheme.width();
            // Only a word that is wider than the whole line is broken.
            if grapheme != " " && used + wide > columns {
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push_str(grapheme);
            used += wide;
        }
    }
    let rest = current.trim_end();
    if !rest.is_empty() {
        lines.push(rest.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four people as one grapheme of two columns.
    const FAMILY: &str = "👨‍👩‍👧‍👦";

    #[test]
    fn one_line_joins_and_trims() {
        assert_eq!(one_line("  a\n\tb  c\r\n"), "a b c");
        assert_eq!(one_line(""), "");
        // An escape sequence that contains a space is one sequence.
        assert_eq!(one_line("a \u{1b}]0;evil title\u{7}b"), "a b");
    }

    #[test]
    fn cut_counts_columns_not_bytes() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(width(FAMILY), 2);
        assert_eq!(cut(&FAMILY.repeat(3), 5), format!("{}…", FAMILY.repeat(2)));
        assert_eq!(end(&format!("a{}", FAMILY.repeat(2)), 4), FAMILY.repeat(2));
        assert_eq!(end("日本語", 3), "語");
        assert_eq!(end("abc", 9), "abc");
    }

    #[test]
    fn wrap_breaks_between_words_and_keeps_lines() {
        assert_eq!(
            wrap("one two three\nfour", Some(8)),
            ["one two", "three", "four"]
        );
        assert_eq!(wrap("one two three", None), ["one two three"]);
        assert_eq!(wrap("a\n\nb", Some(20)), ["a", "", "b"]);
        assert_eq!(wrap("\tend", Some(20)), ["    end"]);
    }

    #[test]
    fn wrap_breaks_a_word_wider_than_the_line_between_graphemes() {
        let text = format!("see 01234567890123456789 日本語日本語 {}", FAMILY.repeat(9));
        let lines = wrap(&text, Some(9));
        assert!(lines.iter().all(|line| width(line) <= 9), "{lines:?}");
        assert_eq!(
            lines.concat().replace(' ', ""),
            text.replace(' ', ""),
            "nothing is lost"
        );
        // A line has room for four families.
        assert_eq!(lines[lines.len() - 2], FAMILY.repeat(4));
    }
}
