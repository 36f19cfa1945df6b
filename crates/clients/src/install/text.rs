//! The bytes of a text file: byte order mark, line ends, last line.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::error::InstallError;

/// Most bytes of a file that is edited. Raised, parsers take longer.
pub(super) const MAX_BYTES: u64 = 4 * 1024 * 1024;

const MARK: &str = "\u{feff}";

/// A text with `\n` as its only line end, and the means to restore its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// The text for parsers, without a byte order mark.
    pub(super) plain: String,
    original: String,
    has_mark: bool,
}

impl Text {
    /// Reads bytes; `None` is an empty text.
    ///
    /// # Errors
    /// [`InstallError::TooBig`], [`InstallError::NotUtf8`].
    pub(super) fn new(bytes: Option<&[u8]>) -> Result<Text, InstallError> {
        let bytes = bytes.unwrap_or_default();
        if bytes.len() as u64 > MAX_BYTES {
            let bytes = bytes.len() as u64;
            return Err(InstallError::TooBig {
                bytes,
                max: MAX_BYTES,
            });
        }
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|error| InstallError::NotUtf8 {
            at: error.valid_up_to(),
        })?;
        let without = text.strip_prefix(MARK);
        let original = without.unwrap_or(text).to_owned();
        Ok(Text {
            plain: original.replace("\r\n", "\n"),
            original,
            has_mark: without.is_some(),
        })
    }

    /// Returns the bytes of `plain`, an edited [`Text::plain`]. Old lines keep their line end; new lines get the file's
    /// most common one. A file without a line end at its end stays so.
    pub(super) fn bytes(&self, plain: &str) -> Vec<u8> {
        let old: Vec<(&str, &str)> = lines(&self.original).collect();
        let with = |wanted: &str| old.iter().filter(|(_, end)| *end == wanted).count();
        let usual = if with("\r\n") > with("\n") {
            "\r\n"
        } else {
            "\n"
        };
        let ends_bare = old.last().is_some_and(|(_, end)| end.is_empty());
        let old_words: Vec<&str> = old.iter().map(|(line, _)| *line).collect();
        let new_words: Vec<&str> = lines(plain).map(|(line, _)| line).collect();
        let mut ends = vec![usual; new_words.len()];
        for op in capture_diff_slices(Algorithm::Myers, &old_words, &new_words) {
            if let DiffOp::Equal {
                old_index,
                new_index,
                len,
            } = op
            {
                for at in 0..len {
                    if !old[old_index + at].1.is_empty() {
                        ends[new_index + at] = old[old_index + at].1;
                    }
                }
            }
        }
        let ends_bare = ends_bare || !plain.ends_with('\n');
        if let Some(last) = ends.last_mut().filter(|_| ends_bare) {
            *last = "";
        }
        let mut out = String::with_capacity(plain.len() + 64);
        out.push_str(if self.has_mark { MARK } else { "" });
        for (line, end) in new_words.iter().zip(ends) {
            out.push_str(line);
            out.push_str(end);
        }
        out.into_bytes()
    }
}

/// Returns the lines of a text, each with its end.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_inclusive('\n').map(|line| {
        let bare = line
            .strip_suffix('\n')
            .map(|bare| bare.strip_suffix('\r').unwrap_or(bare));
        let bare = bare.unwrap_or(line);
        (bare, &line[bare.len()..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn edited(before: &str, plain: &str, after: &str) {
        let text = Text::new(Some(before.as_bytes())).expect("a text");
        assert_eq!(String::from_utf8(text.bytes(plain)).expect("UTF-8"), after);
        assert_eq!(text.bytes(&text.plain), before.as_bytes());
    }

    #[test]
    fn lines_keep_their_ends() {
        edited("a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n");
        edited("a\r\nb\nc\n", "a\nb\nx\nc\n", "a\r\nb\nx\nc\n");
        edited("\u{feff}a\r\nb", "a\nb\nx\n", "\u{feff}a\r\nb\r\nx");
        edited("a\nb", "a\nx\nb", "a\nx\nb");
        edited("", "x\n", "x\n");
    }

    #[test]
    fn other_bytes_are_refused() {
        assert!(matches!(
            Text::new(Some(b"ab\xff")),
            Err(InstallError::NotUtf8 { at: 2 })
        ));
        let big = vec![b' '; 10_000_000];
        assert!(matches!(
            Text::new(Some(&big)),
            Err(InstallError::TooBig { .. })
        ));
    }
}
