//! A text as tokens: chunks, the words in chunks, and the parts of words.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

use super::characters::{
    TERM_LEN_MAX, floor_char_boundary, fold, fold_unicode, is_apostrophe, is_dense, is_ideographic,
    is_inner, is_outer, is_word_char,
};
use crate::emoji;

/// Runs of letters and digits in a word that is cut into parts: at most 4. A word with more runs is an id or a hash and
/// is found only whole. A larger value indexes parts of hashes.
const MIXED_RUNS_MAX: usize = 4;

/// The kind of a token, which decides the fields that the token goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word: stemmed in `body`, as written in `exact`.
    Word,
    /// A piece of a word such as `server` in `HTTPServer`: `body` only.
    Part,
    /// A compound such as `main.rs`: `exact` only.
    Whole,
    /// Characters of a script without spaces: `body` only.
    Gram,
}

/// A folded piece of a text, and the slice of the text that it comes from.
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: Cow<'t, str>,
    pub(super) source: &'t str,
}

pub(super) fn tokens<'t>(text: &'t str, indexing: bool, emit: &mut dyn FnMut(Token<'t>)) {
    for text in without_escapes(text) {
        let mut rest = text;
        while let Some(start) = rest.find(|c| is_word_char(c) || emoji::begins(c)) {
            if let Some(len) = emoji::len(&rest[start..]) {
                let (source, after) = rest[start..].split_at(len);
                emoji_tokens(source, emit);
                rest = after;
                continue;
            }
            if let Some(len) = plain_word_len(&rest[start..]) {
                let (word, after) = rest[start..].split_at(len);
                emit(Token {
                    kind: Kind::Word,
                    text: Cow::Borrowed(&word[..len.min(TERM_LEN_MAX)]),
                    source: word,
                });
                rest = after;
                continue;
            }
            let len = chunk_len(&rest[start..]);
            let (chunk, after) = rest[start..].split_at(len);
            chunk_tokens(chunk, after, indexing, emit);
            rest = after;
        }
    }
}

/// Emits an emoji as a word, and its components as parts: `👩‍💻` is also found by `👩` and by `💻`.
fn emoji_tokens<'t>(source: &'t str, emit: &mut dyn FnMut(Token<'t>)) {
    let token = |kind, text: &str| Token {
        kind,
        text: Cow::Owned(text[..floor_char_boundary(text, TERM_LEN_MAX)].to_owned()),
        source,
    };
    emit(token(Kind::Word, &emoji::folded(source)));
    let parts: Vec<&str> = emoji::parts(source).collect();
    for part in parts.iter().filter(|_| parts.len() > 1) {
        emit(token(Kind::Part, &emoji::folded(part)));
    }
}

/// Returns the pieces of a text between the control sequences of terminals (`ESC [ 3 1 m`), which pasted output of
/// programs contains.
fn without_escapes(text: &str) -> impl Iterator<Item = &str> {
    text.split('\u{1b}').enumerate().map(|(index, piece)| {
        let sequence = match index {
            0 => None,
            _ => piece.strip_prefix('['),
        };
        match sequence {
            None => piece,
            Some(rest) => match rest.find(|c| matches!(c, '@'..='~')) {
                Some(end) => &rest[end + 1..],
                None => rest,
            },
        }
    })
}

/// Returns the length of the word at the start of a text if the word is a chunk of small ASCII letters, as most are;
/// `None` if a closer look is needed.
pub(super) fn plain_word_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let len = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    let ends = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    let is_apart =
        ends(len) || (matches!(bytes[len], b'.' | b',' | b':' | b';' | b')') && ends(len + 1));
    (len > 1 && is_apart).then_some(len)
}

/// Returns the length of the chunk at the start of `text`: words with one connector between each two. Doubled
/// connectors are punctuation, except for `::` and `://`.
pub(super) fn chunk_len(text: &str) -> usize {
    let mut end = 0;
    loop {
        let word = &text[end..];
        end += word.find(|c| !is_word_char(c)).unwrap_or(word.len());
        let tail = &text[end..];
        let connector = match tail.chars().next() {
            Some(c) if is_inner(c) || is_outer(c) => {
                if tail.starts_with("://") {
                    3
                } else if tail.starts_with("::") {
                    2
                } else {
                    c.len_utf8()
                }
            }
            _ => return end,
        };
        if !tail[connector..].starts_with(is_word_char) {
            return end;
        }
        end += connector;
    }
}

fn chunk_tokens<'t>(chunk: &'t str, after: &str, indexing: bool, emit: &mut dyn FnMut(Token<'t>)) {
    // `C++` and `C#`: the signs are part of the name, but only after a single letter.
    if chunk.len() == 1 && (after.starts_with("++") || after.starts_with('#')) {
        let sign = if after.starts_with('#') { "#" } else { "++" };
        emit(Token {
            kind: Kind::Whole,
            text: fold(chunk) + sign,
            source: chunk,
        });
    }
    if chunk.contains(is_outer) {
        emit_whole(chunk, fold(chunk), emit);
    }
    for name in chunk.split(is_outer).filter(|name| !name.is_empty()) {
        name_tokens(name, indexing, emit);
    }
}

fn name_tokens<'t>(name: &'t str, indexing: bool, emit: &mut dyn FnMut(Token<'t>)) {
    let connectors = || name.chars().filter(|&c| is_inner(c));
    if connectors().next().is_none() {
        return word_tokens(name, indexing, emit);
    }
    if connectors().all(is_apostrophe)
        && let Some((stem, ending)) = name.rsplit_once(is_apostrophe)
    {
        let ending = fold(ending);
        match &*ending {
            "s" | "re" | "ve" | "ll" | "d" | "m" => {
                return name_tokens(stem, indexing, emit);
            }
            "t" => {
                return emit(Token {
                    kind: Kind::Word,
                    text: fold(&name.replace(is_apostrophe, "")).into_owned().into(),
                    source: name,
                });
            }
            _ => {}
        }
    }
    let whole = if name.contains('.') {
        fold(name)
    } else {
        fold(&name.replace(is_inner, "")).into_owned().into()
    };
    emit_whole(name, whole, emit);
    for word in name.split(is_inner).filter(|word| !word.is_empty()) {
        word_tokens(word, indexing, emit);
    }
}

/// Emits a compound; of a version such as `v1.2.3` also the form without its letter.
fn emit_whole<'t>(source: &'t str, text: Cow<'t, str>, emit: &mut dyn FnMut(Token<'t>)) {
    let version = text
        .strip_prefix('v')
        .filter(|bare| bare.starts_with(|c: char| c.is_ascii_digit()))
        .map(|bare| Cow::Owned(bare.to_owned()));
    for text in [Some(text), version].into_iter().flatten() {
        emit(Token {
            kind: Kind::Whole,
            text,
            source,
        });
    }
}

fn word_tokens<'t>(word: &'t str, indexing: bool, emit: &mut dyn FnMut(Token<'t>)) {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        // Most words are one run without parts.
        return emit(Token {
            kind: Kind::Word,
            text: fold(word),
            source: word,
        });
    }
    for run in runs(word, |before, c| {
        is_dense(before) != is_dense(c) && !is_combining_mark(c)
    }) {
        if run.starts_with(is_dense) {
            gram_tokens(run, indexing, emit);
            continue;
        }
        let text = fold(run);
        if text.is_empty() {
            continue;
        }
        emit(Token {
            kind: Kind::Word,
            text,
            source: run,
        });
        part_tokens(run, emit);
    }
}

/// Emits the parts of a word such as `HTTPServer`, `parseUrl`, `E0382`.
fn part_tokens<'t>(word: &'t str, emit: &mut dyn FnMut(Token<'t>)) {
    let mixed = runs(word, |before, c| before.is_numeric() != c.is_numeric());
    if mixed.len() > MIXED_RUNS_MAX {
        return;
    }
    let parts: Vec<&str> = mixed.into_iter().flat_map(humps).collect();
    if parts.len() < 2 {
        return;
    }
    for part in parts {
        if part.chars().nth(1).is_some() {
            emit(Token {
                kind: Kind::Part,
                text: fold(part),
                source: part,
            });
        }
    }
}

/// Cuts a word such as `parseHTTPUrl` before each capital that follows a small letter or precedes one.
fn humps(word: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    for (i, pair) in chars.windows(2).enumerate() {
        let (before, (at, c)) = (pair[0].1, pair[1]);
        let next_is_small = chars
            .get(i + 2)
            .is_some_and(|(_, next)| next.is_lowercase());
        if c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small)) {
            cuts.push(at);
        }
    }
    cuts.push(word.len());
    cuts.windows(2).map(|cut| &word[cut[0]..cut[1]]).collect()
}

/// Emits pairs of neighbouring characters. Single ideographs are indexed too, so that a query of one character finds
/// them; they are not searched for if there is a pair.
fn gram_tokens<'t>(run: &'t str, indexing: bool, emit: &mut dyn FnMut(Token<'t>)) {
    let folded = if run.is_ascii() {
        run.to_owned()
    } else {
        fold_unicode(run)
    };
    let chars: Vec<(usize, char)> = folded.char_indices().collect();
    let sources: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    let same_len = sources.len() == chars.len();
    let mut gram = |from: usize, to: usize| {
        let byte = |at: usize| chars.get(at).map_or(folded.len(), |(byte, _)| *byte);
        let source_byte = |at: usize| sources.get(at).copied().unwrap_or(run.len());
        emit(Token {
            kind: Kind::Gram,
            text: Cow::Owned(folded[byte(from)..byte(to)].to_owned()),
            source: if same_len {
                &run[source_byte(from)..source_byte(to)]
            } else {
                run
            },
        });
    };
    for at in 0..chars.len() {
        let single = chars.len() == 1 || (indexing && is_ideographic(chars[at].1));
        if single {
            gram(at, at + 1);
        }
        if at + 1 < chars.len() {
            gram(at, at + 2);
        }
    }
}

/// Cuts a text between two neighbouring characters wherever `boundary` is true.
fn runs(text: &str, boundary: impl Fn(char, char) -> bool) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| boundary(before, c)) {
            runs.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    if start < text.len() {
        runs.push(&text[start..]);
    }
    runs
}
