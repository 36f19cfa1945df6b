//! Text as cells of a terminal, and numbers for people.
//!
//! Anybody may have written a stored text, so every text passes [`icm_guard::sanitize::clean`] before it is drawn.

pub(crate) use icm_api::counted::{count, number};
pub(crate) use icm_guard::terminal::{cut, one_line, width, wrap};

/// Bytes that are read for each column of a line. Raised, a line of many combining marks is cut later; lowered, earlier.
const BYTES_A_COLUMN: usize = 16;

/// Returns the beginning of a text on one line, at most `columns` wide. Reads no more of a long text than it needs.
pub(crate) fn beginning(text: &str, columns: usize) -> String {
    let most = text.floor_char_boundary(columns.saturating_mul(BYTES_A_COLUMN));
    let line = one_line(&text[..most]);
    match most < text.len() && width(&line) <= columns {
        true => cut(&format!("{line}…"), columns),
        false => cut(&line, columns),
    }
}

/// Returns a line that is exactly `columns` wide: cut, or filled with spaces.
pub(crate) fn padded(line: &str, columns: usize) -> String {
    let mut line = cut(line, columns);
    let missing = columns.saturating_sub(width(&line));
    line.extend(std::iter::repeat_n(' ', missing));
    line
}

/// Returns a number of things that are shown, with `+` if there are more: `1 result`, `200+ results`.
pub(crate) fn at_least(n: u64, more: bool, one: &str, many: &str) -> String {
    match more {
        true => format!("{}+ {many}", number(n)),
        false => count(n, one, many),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_filled_in_columns() {
        assert_eq!(padded("日本語", 8), "日本語  ");
        assert_eq!(padded("日本語", 5), "日本…");
    }

    #[test]
    fn the_beginning_of_a_text_is_one_clean_line() {
        assert_eq!(beginning("a\n\u{1b}[31mb\u{202e}\tc", 20), "a b c");
        let long = "word ".repeat(20_000);
        assert_eq!(beginning(&long, 11), "word word …");
        assert_eq!(at_least(1, false, "result", "results"), "1 result");
        assert_eq!(at_least(1, true, "result", "results"), "1+ results");
    }
}
