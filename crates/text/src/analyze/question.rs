//! A query after analysis: its terms, and its words.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::terms::{TextField, with_body_term};
use super::token::{Kind, Token, tokens};
use crate::language::{Language, is_function_pair};
use crate::stopwords::is_stopword;

/// Largest number of terms of a query: 1,000. A question of two thousand words finds as well by half of them; a larger
/// value costs time.
pub(crate) const QUERY_TERMS_MAX: usize = 1_000;
/// Words of a query that its language is guessed from: 64. A larger value guesses better and costs time.
const LANGUAGE_WORDS_MAX: usize = 64;

/// One term to search for, and the word of the query that the term comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) field: TextField,
    pub(crate) term: String,
    /// The word as the user wrote it.
    pub(crate) word: String,
    pub(crate) kind: Kind,
}

/// A query after analysis.
#[derive(Debug, Default)]
pub(crate) struct Question {
    /// The distinct terms in order of first appearance.
    pub(crate) terms: Vec<QueryTerm>,
    /// The distinct words with a meaning, in order of first appearance.
    pub(crate) words: Vec<QuestionWord>,
    /// `true` if the query asks for a time.
    pub(crate) asks_when: bool,
}

/// A word of a query, or a pair of characters of a script without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionWord {
    /// The word in the form that texts have among their words.
    pub text: String,
    /// The term that the word's rarity is counted by: its stem, if it has one.
    pub(crate) stem: String,
    /// The field of `stem`.
    pub(crate) field: TextField,
    /// `true` if the word is compared whole, because its beginning says nothing about it.
    pub(crate) whole: bool,
}

impl Question {
    /// Analyses a query, up to `limit` terms.
    ///
    /// Function words of the query's language are left out. If nothing else is left, they are searched for as written.
    pub(crate) fn of(text: &str, limit: usize) -> Question {
        let mut question = Question::default();
        let mut stopped = Question::default();
        let mut seen = FxHashSet::default();
        let language = language_of(text);
        tokens(text, false, &mut |token| {
            question.asks_when |= is_when(&token.text);
            if question.terms.len() >= limit {
                return;
            }
            let mut add = |question: &mut Question, field, term: &str| {
                if seen.insert((field, term.to_owned())) {
                    question.terms.push(QueryTerm {
                        field,
                        term: term.to_owned(),
                        word: token.source.to_owned(),
                        kind: token.kind,
                    });
                }
            };
            if token.kind == Kind::Whole {
                return add(&mut question, TextField::Exact, &token.text);
            }
            let is_word = token.kind == Kind::Word;
            let told = match token.kind {
                Kind::Word => !language.is_function_word(&token.text, token.source),
                Kind::Gram => !is_function_pair(&token.text),
                Kind::Part | Kind::Whole => true,
            };
            let mut stem = None;
            if told {
                with_body_term(&token, &mut |body| {
                    add(&mut question, TextField::Body, body);
                    stem = Some(body.to_owned());
                });
            }
            // A word that the body field never holds is looked up in the other field.
            let to = if stem.is_some() {
                &mut question
            } else {
                &mut stopped
            };
            if is_word {
                add(to, TextField::Exact, &token.text);
            }
            if matches!(token.kind, Kind::Word | Kind::Gram) {
                to.add_word(&token, stem);
            }
        });
        if question.terms.is_empty() {
            question.terms = stopped.terms;
            question.words = stopped.words;
        }
        question.terms.truncate(limit);
        question
    }

    fn add_word(&mut self, token: &Token<'_>, stem: Option<String>) {
        if self.words.iter().any(|word| word.text == token.text) {
            return;
        }
        let text = token.text.to_string();
        let (stem, field) = match stem {
            Some(stem) => (stem, TextField::Body),
            None => (text.clone(), TextField::Exact),
        };
        let whole = token.kind == Kind::Gram;
        self.words.push(QuestionWord {
            text,
            stem,
            field,
            whole,
        });
    }
}

/// Returns the words with a meaning of a question, as written: words that are no function words of its language, and such
/// pairs of characters in scripts without spaces.
pub fn content_words(text: &str) -> Vec<&str> {
    let language = language_of(text);
    let mut words = Vec::new();
    tokens(text, false, &mut |token| {
        let is_content = match token.kind {
            Kind::Word => {
                !is_stopword(&token.text) && !language.is_function_word(&token.text, token.source)
            }
            Kind::Gram => !is_function_pair(&token.text),
            Kind::Part | Kind::Whole => false,
        };
        if is_content {
            words.push(token.source);
        }
    });
    words
}

/// Returns the distinct terms of a query, as in [`Question::of`].
pub(crate) fn query_terms(text: &str, limit: usize) -> Vec<QueryTerm> {
    Question::of(text, limit).terms
}

/// Returns the places of a query's words in a text, as a search finds them: byte ranges, ascending, each with the
/// number of the query's term. A range may come twice, with two terms of one word.
pub fn word_places(query: &str, text: &str) -> Vec<(Range<usize>, usize)> {
    let terms = query_terms(query, QUERY_TERMS_MAX);
    let numbers: FxHashMap<(TextField, &str), usize> = terms
        .iter()
        .enumerate()
        .map(|(number, term)| ((term.field, term.term.as_str()), number))
        .collect();
    let mut places = Vec::new();
    tokens(text, false, &mut |token| {
        // A token is a slice of the text.
        let start = token.source.as_ptr() as usize - text.as_ptr() as usize;
        let range = start..start + token.source.len();
        let mut found = |field, term: &str| {
            if let Some(number) = numbers.get(&(field, term)) {
                places.push((range.clone(), *number));
            }
        };
        if token.kind != Kind::Whole {
            with_body_term(&token, &mut |body| found(TextField::Body, body));
        }
        if matches!(token.kind, Kind::Word | Kind::Whole) {
            found(TextField::Exact, &token.text);
        }
    });
    places.sort_by_key(|(range, number)| (range.start, *number));
    places
}

fn language_of(text: &str) -> Language {
    let mut words: Vec<(Cow<'_, str>, &str)> = Vec::new();
    tokens(text, false, &mut |token| {
        if token.kind == Kind::Word && words.len() < LANGUAGE_WORDS_MAX {
            words.push((token.text, token.source));
        }
    });
    Language::of(words.iter().map(|(folded, written)| (&**folded, *written)))
}

/// Returns `true` if a folded word asks for a time.
fn is_when(folded: &str) -> bool {
    const WHEN: [&str; 8] = [
        "when",
        "wann",
        "quand",
        "cuando",
        "quando",
        "wanneer",
        "когда",
        "متى",
    ];
    WHEN.contains(&folded)
}
