//! The difference between two texts.

use std::mem::take;

use icm_api::{DiffOp, DiffPiece};
use similar::{DiffableStr as _, TextDiff};

/// Most bytes of a text that people see compared word by word. Raised, a page with many versions of long texts takes
/// seconds.
const BY_WORDS_BYTES: usize = 16 * 1024;

/// Returns the difference between two texts, word by word. The pieces that are not inserted make up the old text; the
/// pieces that are not deleted make up the new text.
///
/// Blanks are not compared: else they would be most of what two texts have in common.
pub(crate) fn word_difference(old: &str, new: &str) -> Vec<DiffPiece> {
    compare(old, new, |text| text.tokenize_unicode_words())
}

/// Returns the difference between two texts for people: as [`word_difference`], or line by line if a text is long.
pub fn shown_difference(old: &str, new: &str) -> Vec<DiffPiece> {
    match old.len().max(new.len()) <= BY_WORDS_BYTES {
        true => word_difference(old, new),
        false => compare(old, new, |text| text.tokenize_lines_and_newlines()),
    }
}

/// Compares two texts by their words. `tokens` divides a text into words and blanks.
fn compare(old: &str, new: &str, tokens: impl Fn(&str) -> Vec<&str>) -> Vec<DiffPiece> {
    let [(old_words, old_blanks), (new_words, new_blanks)] =
        [old, new].map(|text| split(text, tokens(text)));
    let mut pieces = Pieces::default();
    for change in TextDiff::from_slices(&old_words, &new_words).iter_all_changes() {
        let old = change.old_index().map(|n| (old_words[n], old_blanks[n]));
        let new = change.new_index().map(|n| (new_words[n], new_blanks[n]));
        match (old, new) {
            (Some((word, old)), Some((_, new))) => {
                pieces.equal(word);
                match old == new {
                    true => pieces.equal(old),
                    false => pieces.differ(old, new),
                }
            }
            (old, new) => {
                let ((old, old_blank), (new, new_blank)) =
                    (old.unwrap_or_default(), new.unwrap_or_default());
                pieces.differ(old, new);
                pieces.differ(old_blank, new_blank);
            }
        }
    }
    pieces.settle();
    pieces.list
}

/// Returns the words of a text, and the blanks after each. The first word is empty: its blanks are those that the text
/// begins with.
fn split<'t>(text: &'t str, tokens: Vec<&'t str>) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut words, mut blanks) = (vec![""], Vec::new());
    let (mut start, mut at) = (0, 0);
    for token in tokens {
        if !token.chars().all(char::is_whitespace) {
            blanks.push(&text[start..at]);
            words.push(token);
            start = at + token.len();
        }
        at += token.len();
    }
    blanks.push(&text[start..]);
    (words, blanks)
}

/// Pieces under construction: at most one deletion and one insertion between two equal pieces.
#[derive(Default)]
struct Pieces {
    list: Vec<DiffPiece>,
    old: String,
    new: String,
}

impl Pieces {
    fn equal(&mut self, text: &str) {
        self.settle();
        self.push(DiffOp::Equal, text);
    }

    fn differ(&mut self, old: &str, new: &str) {
        self.old.push_str(old);
        self.new.push_str(new);
    }

    fn settle(&mut self) {
        let (old, new) = (take(&mut self.old), take(&mut self.new));
        // A blank that ends both pieces is common.
        let blank = &old[old.trim_end().len()..];
        let common = match !blank.is_empty() && new[new.trim_end().len()..] == *blank {
            true => blank,
            false => "",
        };
        self.push(DiffOp::Delete, &old[..old.len() - common.len()]);
        self.push(DiffOp::Insert, &new[..new.len() - common.len()]);
        self.push(DiffOp::Equal, common);
    }

    fn push(&mut self, op: DiffOp, text: &str) {
        match self.list.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.op == op => last.text.push_str(text),
            _ => self.list.push(DiffPiece {
                op,
                text: text.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[DiffPiece], without: DiffOp) -> String {
        let kept = pieces.iter().filter(|piece| piece.op != without);
        kept.map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn pieces_make_up_both_texts() {
        for (old, new, pieces) in [
            (
                "Invoices live in PostgreSQL",
                "Invoices live in MySQL now",
                3,
            ),
            ("a b c", "a c", 3),
            ("", "new", 1),
            ("old", "", 1),
            ("Привет, мир", "Привет, весь мир", 3),
            ("東京に住む", "大阪に住む", 3),
            ("one\r\ntwo", "one\ntwo", 4),
            // Blanks are nothing that two texts have in common.
            ("one fact about plums", "plums are red now", 3),
            ("one two three", "uno due tre", 2),
            (" a  b ", "a b", 6),
            ("我喜欢吃苹果", "我喜欢吃梨子", 3),
            ("   ", " ", 2),
            ("", "", 0),
        ] {
            let found = word_difference(old, new);
            assert_eq!(text(&found, DiffOp::Insert), old);
            assert_eq!(text(&found, DiffOp::Delete), new);
            assert_eq!(found.len(), pieces, "{found:?}");
            assert!(found.windows(2).all(|two| two[0].op != two[1].op));
        }
    }

    /// Two texts of the largest size that share their letters and little else. If each pair of words were compared,
    /// this would not end.
    #[test]
    fn the_longest_texts_are_compared() {
        let mut state = 1_u64;
        let mut letters = || {
            let mut text = String::new();
            while text.len() < 64 * 1024 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push(char::from(b'a' + (state >> 33) as u8 % 26));
                text.push(' ');
            }
            text
        };
        let (old, new) = (letters(), letters());
        let found = word_difference(&old, &new);
        assert_eq!(text(&found, DiffOp::Insert), old);
        assert_eq!(text(&found, DiffOp::Delete), new);
        assert!(found.len() > 100);
    }

    #[test]
    fn long_texts_are_compared_by_lines() {
        let line = |n: usize| format!("line {n} of a long text\n");
        let old: String = (0..1_000).map(line).collect();
        let new = old
            .replace("line 7 of", "line 7 in")
            .replace("line 900 of", "line 900 in");
        let found = shown_difference(&old, &new);
        assert_eq!(text(&found, DiffOp::Insert), old);
        assert_eq!(text(&found, DiffOp::Delete), new);
        let gone = found.iter().filter(|piece| piece.op == DiffOp::Delete);
        let gone: Vec<&str> = gone.map(|piece| piece.text.as_str()).collect();
        assert_eq!(gone, ["line 7 of a long text", "line 900 of a long text"]);
        let few = shown_difference(&line(7), &line(8));
        assert_eq!(few.len(), 4, "{few:?}");
    }
}
