//! Text to terms: one analyser for documents, for the tail and for queries.
//!
//! A text is cut into *chunks* (`src/main.rs`, `wi-fi`, `HTTPServer`, `don't`), a chunk into *words*, and a word of
//! mixed case or of letters and digits into *parts*. Scripts written without spaces become overlapping pairs of
//! characters. An emoji is a word of its own (see `emoji`). The resulting terms go to two fields:
//!
//! | field | holds |
//! |---|---|
//! | body | words and parts, stemmed, without stopwords; character pairs |
//! | exact | words as written (folded), stopwords too; compounds as a whole |
//!
//! Folding is lower case, compatibility forms (NFKD) and no accents: `Éclair` = `eclair`,
//! `Ｒｕｓｔ` = `rust`, `œuvre` = `oeuvre`. A compound whose parts are joined by `-`, `_` or
//! a change of case has one spelling as a whole: `snake_case`, `snakeCase` and
//! `snake-case` are all `snakecase`, and `wifi` finds `wi-fi`.

mod characters;
mod question;
mod stem;
mod terms;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use characters::{floor_char_boundary, fold, is_dense};
pub(crate) use question::{QUERY_TERMS_MAX, QueryTerm, Question, QuestionWord, query_terms};
pub use question::{content_words, word_places};
pub(crate) use stem::with_stem;
pub(crate) use terms::{DocTerms, Terms, TextField, index_date, index_terms, plain_words};
pub(crate) use token::Kind;

/// Digits of a number that is taken for an identifier, not for a year, amount or hour: 5. A larger value takes fewer
/// numbers for identifiers.
const IDENTIFIER_DIGITS: usize = 5;

/// Returns `true` if a word is written like names in programs and ticket numbers, and unlike prose.
pub(crate) fn is_identifier(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let mut pairs = word.chars().zip(word.chars().skip(1));
    (digits > 0 && has(char::is_alphabetic))
        || digits >= IDENTIFIER_DIGITS
        || has(|c| matches!(c, '_' | '.' | '/' | '\\' | ':' | '@' | '#'))
        || pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Returns `true` if a text has a word with a meaning: one that is no identifier and no number.
pub fn has_prose(text: &str) -> bool {
    let words = text.split_whitespace();
    let mut words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.any(|word| word.chars().any(char::is_alphabetic) && !is_identifier(word))
}
