//! Text as cells of a terminal: cleaned, measured, cut and wrapped.
//!
//! Anybody may have written a stored text, so every text passes [`icm_guard::sanitize::clean`] before it is drawn.

use icm_guard::sanitize::clean;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Bytes that are read for each column of a line. Raised, a line of many combining marks is cut later; lowered, earlier.
const BYTES_A_COLUMN: usize = 16;

/// Returns the text on one line, cleaned, with one space for each run of white space.
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

/// Returns the beginning of a text on one line, at most `columns` wide. Reads no more of a long text than it needs.
pub(crate) fn beginning(text: &str, columns: usize) -> String {
    let most = text.floor_char_boundary(columns.saturating_mul(BYTES_A_COLUMN));
    let line = one_line(&text[..most]);
    match most < text.len() && width(&line) <= columns {
        true => cut(&format!("{line}…"), columns),
        false => cut(&line, columns),
    }
}

/// Returns the width of a text in columns, as it is drawn.
pub(crate) fn width(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns at most `columns` columns of a line; a cut line ends with `…`.
pub(crate) fn cut(line: &str, columns: usize) -> String {
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

/// Returns a line that is exactly `columns` wide: cut, or filled with spaces.
pub(crate) fn padded(line: &str, columns: usize) -> String {
    let mut line = cut(line, columns);
    let missing = columns.saturating_sub(width(&line));
    line.extend(std::iter::repeat_n(' ', missing));
    line
}

/// Returns the lines of a text, cleaned, each at most `columns` wide.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut lines = Vec::new();
    for line in clean(text).lines() {
        let line = line.replace('\t', "    ");
        match width(&line) > columns {
            true => wrap_line(&line, columns, &mut lines),
            false => lines.push(line),
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

/// Returns a number with separators of thousands: `12,345`.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with its noun: `1 memory`, `2,000 memories`.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_measured_and_cut_in_columns() {
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(padded("日本語", 8), "日本語  ");
        // A family is one grapheme of two columns.
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(width(family), 2);
        assert_eq!(cut(&family.repeat(3), 5), format!("{}…", family.repeat(2)));
    }

    #[test]
    fn a_long_text_is_wrapped_within_its_columns() {
        let text = format!("one two {} 日本語日本語日本語\n\tend", "x".repeat(30));
        let lines = wrap(&text, 10);
        assert!(lines.iter().all(|line| width(line) <= 10), "{lines:?}");
        assert_eq!(lines.first().map(String::as_str), Some("one two"));
        assert_eq!(lines.last().map(String::as_str), Some("    end"));
    }

    #[test]
    fn the_beginning_of_a_text_is_one_clean_line() {
        assert_eq!(beginning("a\n\u{1b}[31mb\u{202e}\tc", 20), "a b c");
        let long = "word ".repeat(20_000);
        assert_eq!(beginning(&long, 11), "word word …");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(count(1, "memory", "memories"), "1 memory");
    }
}
