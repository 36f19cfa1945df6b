//! Passages: parts of a long text that are searched, ranked and shown by themselves.
//!
//! Markdown is parted at its headings and paragraphs, code at blank lines, JSON and YAML by paths, any other text by
//! paragraphs, lines and sentences. The passages are a function of the text alone.

mod data;
mod pieces;
mod prose;

use std::ops::Range;

use super::analyze::is_dense;

use pieces::{Break, Piece};

/// Version of the parting; it rises when texts are parted in another way. Views of another version are rebuilt.
pub const PASSAGES_VERSION: u32 = 1;

/// Largest number of words in a passage: 200; a text of no more words is one passage. With a larger value a word says
/// less of its passage.
const WORDS_MAX: usize = 200;
/// Fewest words of a passage, unless no more are left: 40. With a larger value more sections share a passage.
const WORDS_MIN: usize = 40;
/// Words after which a passage ends at the next opportunity: 100. With a larger value passages are fewer and longer.
const WORDS_ENOUGH: usize = 100;
/// Largest number of characters in a word: 16; a longer word counts as several, so that data without blanks is parted,
/// too.
const WORD_CHARS: usize = 16;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The bytes of the passage. The passages of a text follow one another and leave nothing out.
    pub place: Range<usize>,
    /// The headings or keys above the passage, the outermost first.
    pub path: Vec<String>,
}

/// Returns the passages of a text, at least one. Costs time in proportion to the text.
pub fn passages(text: &str) -> Vec<Passage> {
    if is_short(text) {
        return vec![Passage {
            place: 0..text.len(),
            path: Vec::new(),
        }];
    }
    let pieces = data::pieces(text).unwrap_or_else(|| prose::pieces(text));
    joined(text, &pieces)
}

/// Returns `true` if a text is one passage.
pub fn is_short(text: &str) -> bool {
    // A word and a blank are two bytes.
    text.len() <= 2 * WORDS_MAX || count_words(text, WORDS_MAX) <= WORDS_MAX
}

/// Returns the number of words of a text; if there are more than `enough`, some number above `enough`. Two ideographs
/// are a word.
fn count_words(text: &str, enough: usize) -> usize {
    let (mut words, mut dense, mut run) = (0, 0, 0);
    for c in text.chars() {
        if is_dense(c) {
            dense += 1;
            run = 0;
        } else if c.is_alphanumeric() {
            if run % WORD_CHARS == 0 {
                words += 1;
            }
            run += 1;
        } else {
            run = 0;
        }
        if words + dense / 2 > enough {
            break;
        }
    }
    words + dense / 2
}

/// Joins pieces to passages; blocks stay whole if possible.
fn joined(text: &str, pieces: &[Piece]) -> Vec<Passage> {
    let mut joining = Joining {
        passages: Vec::new(),
        words: Vec::new(),
        is_open: false,
    };
    let starts_block = |_: &Piece, next: &Piece| next.before < Break::Paragraph;
    for block in pieces.chunk_by(starts_block) {
        let words: usize = block.iter().map(|piece| piece.words).sum();
        let so_far = joining.so_far();
        let is_heading = block[0].before == Break::Heading;
        let is_full = so_far + words > WORDS_MAX || so_far >= WORDS_ENOUGH;
        if so_far >= WORDS_MIN && (is_heading || is_full) {
            joining.is_open = false;
        }
        let is_whole = joining.so_far() + words <= WORDS_MAX;
        for piece in block {
            let so_far = joining.so_far();
            if !is_whole && (so_far >= WORDS_ENOUGH || so_far + piece.words > WORDS_MAX) {
                joining.is_open = false;
            }
            joining.add(piece);
        }
    }
    joining.end(text)
}

/// Passages that are being put together.
struct Joining {
    passages: Vec<Passage>,
    /// The number of words of each passage.
    words: Vec<usize>,
    /// `true` if the last passage takes more pieces.
    is_open: bool,
}

impl Joining {
    /// Returns the number of words of the open passage.
    fn so_far(&self) -> usize {
        match self.is_open {
            true => self.words.last().copied().unwrap_or(0),
            false => 0,
        }
    }

    fn add(&mut self, piece: &Piece) {
        match (self.passages.last_mut(), self.words.last_mut()) {
            (Some(last), Some(words)) if self.is_open => {
                last.place.end = piece.place.end;
                keep_common(&mut last.path, &piece.path);
                *words += piece.words;
            }
            _ => {
                self.passages.push(Passage {
                    place: piece.place.clone(),
                    path: piece.path.to_vec(),
                });
                self.words.push(piece.words);
                self.is_open = true;
            }
        }
    }

    fn end(mut self, text: &str) -> Vec<Passage> {
        // A few words at the end join the passage before them.
        if let [.., before, last] = self.words[..]
            && last < WORDS_MIN
            && before + last <= WORDS_MAX
            && let Some(last) = self.passages.pop()
            && let Some(before) = self.passages.last_mut()
        {
            before.place.end = last.place.end;
            keep_common(&mut before.path, &last.path);
        }
        if let Some(first) = self.passages.first_mut() {
            first.place.start = 0;
        }
        if let Some(last) = self.passages.last_mut() {
            last.place.end = text.len();
        }
        self.passages
    }
}

/// Keeps the first steps of a path that `other` also begins with.
fn keep_common(path: &mut Vec<String>, other: &[String]) {
    let same = path.iter().zip(other);
    let same = same.take_while(|(one, other)| one == other).count();
    path.truncate(same);
}

#[cfg(test)]
mod tests;
