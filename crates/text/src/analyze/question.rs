//! A query as it is looked for: its terms, and its words.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::terms::{TextField, with_body_term};
use super::token::{Kind, Token, tokens};
use crate::language::{Language, is_function_pair};

/// Most terms of a query: a question of two thousand words finds as well by half of them, and the rest costs.
pub(crate) const QUERY_TERMS_MAX: usize = 1_000;
/// Words of a query that its language is told by.
const LANGUAGE_WORDS_MAX: usize = 64;

/// One term to search for, and the words of the query that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) field: TextField,
    pub(crate) term: String,
    /// As the user wrote it.
    pub(crate) word: String,
    pub(crate) kind: Kind,
}

/// A query as it is looked for.
#[derive(Debug, Default)]
pub(crate) struct Question {
    /// The distinct terms in order of first appearance.
    pub(crate) terms: Vec<QueryTerm>,
    /// The distinct words that say something, in order of first appearance.
    pub(crate) words: Vec<QuestionWord>,
    /// It asks for a time.
    pub(crate) asks_when: bool,
}

/// A word of a query, or a pair of characters of a script without spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionWord {
    /// As texts have it among their words.
    pub text: String,
    /// The term by which it is known how rare it is: of its stem.
    pub(crate) stem: String,
    /// The field of that.
    pub(crate) field: TextField,
    /// Its beginning says nothing of it: compared whole.
    pub(crate) whole: bool,
}

impl Question {
    /// Reads a query, up to `limit` terms.
    ///
    /// The function words of its language are left out, unless there is nothing else: then they are looked for as
    /// written.
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
            // A word that no text has in its body has a place in the other field.
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

/// The distinct terms of a query, as [`Question::of`] has them.
pub(crate) fn query_terms(text: &str, limit: usize) -> Vec<QueryTerm> {
    Question::of(text, limit).terms
}

/// Returns where the words of a query stand in a text, as a search finds them: byte ranges, ascending, each with the
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
        // A token is a piece of the text.
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

/// Whether a folded word asks for a time.
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
