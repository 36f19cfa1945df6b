//! Pieces: the smallest parts of a text, which passages are joined from.

use std::ops::Range;
use std::rc::Rc;

use unicode_segmentation::UnicodeSegmentation;

use super::{WORD_CHARS, WORDS_ENOUGH, WORDS_MAX, count_words};

/// Largest number of characters in a step of a path (80) and of steps (8). Larger values make longer paths.
const STEP_CHARS_MAX: usize = 80;
const STEPS_MAX: usize = 8;

/// Bytes in which sentences are searched for at once: 4,096. The search takes time by the square of a run of quotes or
/// blanks behind a full stop. With a larger value hostile texts take longer; with a smaller one more sentences are cut.
const WINDOW_LEN: usize = 4_096;

/// A path that several pieces share.
pub(super) type Path = Rc<[String]>;

/// A part of a text that is not cut further.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// The bytes of the piece, up to the next piece.
    pub(super) place: Range<usize>,
    pub(super) words: usize,
    /// The break between this piece and the piece before.
    pub(super) before: Break,
    pub(super) path: Path,
}

/// The kind of a break between pieces, the larger one last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    Sentence,
    Line,
    Paragraph,
    Heading,
}

/// Adds the pieces of a line: the whole line, or its sentences if it is long; a sentence longer than a passage in
/// parts.
pub(super) fn add_line(
    text: &str,
    place: Range<usize>,
    before: Break,
    path: &Path,
    pieces: &mut Vec<Piece>,
) {
    let line = &text[place.clone()];
    let words = count_words(line, usize::MAX);
    let mut add = |place: Range<usize>, words: usize, before: Break| {
        pieces.push(Piece {
            place,
            words,
            before,
            path: Rc::clone(path),
        });
    };
    if words <= WORDS_ENOUGH {
        add(place, words, before);
        return;
    }
    let mut before = before;
    let mut start = place.start;
    for sentence in windows(line).flat_map(UnicodeSegmentation::split_sentence_bounds) {
        let mut rest = sentence;
        while !rest.is_empty() {
            let len = match count_words(rest, WORDS_MAX) > WORDS_MAX {
                true => first_words(rest),
                false => rest.len(),
            };
            let part = &rest[..len];
            add(start..start + len, count_words(part, usize::MAX), before);
            before = Break::Sentence;
            start += len;
            rest = &rest[len..];
        }
    }
}

/// Returns the parts of a line that sentences are searched in, each up to a blank if there is one.
fn windows(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let most = rest.floor_char_boundary(WINDOW_LEN.min(rest.len()));
        let end = match rest.len() <= WINDOW_LEN {
            true => rest.len(),
            false => rest[..most].rfind(' ').map_or(most, |blank| blank + 1),
        };
        let (window, left) = rest.split_at(end);
        rest = left;
        (!window.is_empty()).then_some(window)
    })
}

/// Returns the length in bytes of about [`WORDS_ENOUGH`] words, up to the end of a word if there is one.
fn first_words(text: &str) -> usize {
    let mut blank = None;
    let (mut words, mut run) = (0, 0);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            blank = Some(at + c.len_utf8());
            run = 0;
            continue;
        }
        if run % WORD_CHARS == 0 {
            words += 1;
        }
        run += 1;
        if words > WORDS_ENOUGH {
            return blank.unwrap_or(at);
        }
    }
    text.len()
}

/// Adds a step to a path.
pub(super) fn step(path: &mut Vec<String>, name: &str) {
    if path.len() < STEPS_MAX {
        path.push(name.trim().chars().take(STEP_CHARS_MAX).collect());
    }
}
