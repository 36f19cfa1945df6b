//! Text to terms: one analyser for documents, for the tail and for queries.
//!
//! A text is cut into *chunks* (`src/main.rs`, `wi-fi`, `HTTPServer`, `don't`), a chunk
//! into *words*, and a word of mixed case or of letters and digits into *parts*. Scripts
//! written without spaces become overlapping pairs of characters. An emoji is a word of its own (see
//! `emoji`). What comes out goes to two fields:
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

use std::borrow::Cow;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::ops::Range;

use lru::LruCache;
use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::emoji;
use super::language::{Language, is_function_pair};
use super::marks::Marks;
use super::stopwords::is_stopword;

/// Most terms of a query: a question of two thousand words finds as well by half of them, and the rest costs.
pub(crate) const QUERY_TERMS_MAX: usize = 1_000;
/// Words of a query that its language is told by.
const LANGUAGE_WORDS_MAX: usize = 64;
/// Longest term in bytes; longer ones are cut at a character.
pub(crate) const TERM_LEN_MAX: usize = 64;
/// Stems that a thread remembers: at most one megabyte.
const STEMS_MAX: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");
/// A number of so many digits is no year, amount or hour.
const IDENTIFIER_DIGITS: usize = 5;
/// A word of more runs of letters and digits than this is an id or a hash: found whole only.
const MIXED_RUNS_MAX: usize = 4;

/// Which field a term is searched in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TextField {
    /// Stemmed words.
    Body,
    /// Words as written.
    Exact,
}

/// The terms of one document, each as often as it occurs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct DocTerms {
    pub(crate) body: Terms,
    pub(crate) exact: Terms,
    /// Words as written and their parts, folded, and characters of scripts without spaces: what a [`Question`] compares its own with.
    pub words: Terms,
}

/// A list of terms, one a line: terms have no line breaks and are not empty.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Terms {
    pub lines: String,
    pub(crate) count: u32,
}

impl DocTerms {
    /// None yet, of a text of so many bytes and a little more.
    pub(crate) fn with_room_for(text_len: usize) -> DocTerms {
        let room = text_len + text_len / 4 + 32;
        let terms = || Terms {
            lines: String::with_capacity(room),
            count: 0,
        };
        DocTerms {
            body: terms(),
            exact: terms(),
            words: terms(),
        }
    }
}

impl Terms {
    pub(crate) fn push(&mut self, term: &str) {
        debug_assert!(!term.contains('\n'), "{term:?}");
        if term.is_empty() {
            return; // a compound of nothing but marks
        }
        if self.count > 0 {
            self.lines.push('\n');
        }
        self.lines.push_str(term);
        self.count = self.count.saturating_add(1);
    }

    /// Leaves the first of terms that are the same.
    pub(crate) fn keep_first(&mut self) {
        let mut seen = FxHashSet::default();
        let mut kept = Terms {
            lines: String::with_capacity(self.lines.len()),
            count: 0,
        };
        for term in self.iter().filter(|term| seen.insert(*term)) {
            kept.push(term);
        }
        kept.lines.shrink_to_fit();
        *self = kept;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.split('\n').filter(|term| !term.is_empty())
    }
}

/// One term to search for, and the words of the query that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) field: TextField,
    pub(crate) term: String,
    /// As the user wrote it.
    pub(crate) word: String,
    pub(crate) kind: Kind,
}

/// What a token is, which decides the fields it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word: stemmed in `body`, as it is in `exact`.
    Word,
    /// A piece of a word such as `server` in `HTTPServer`: `body` only.
    Part,
    /// A compound such as `main.rs`: `exact` only.
    Whole,
    /// Characters of a script without spaces: `body` only.
    Gram,
}

/// A piece of text, folded, and where it stood.
struct Token<'t> {
    kind: Kind,
    text: Cow<'t, str>,
    source: &'t str,
}

/// Appends the terms of a text of a document. The marks of its words as they are in `exact`.
pub(crate) fn index_terms(text: &str, terms: &mut DocTerms) -> Marks {
    let mut marks = Marks::default();
    tokens(text, true, &mut |token| {
        if token.kind != Kind::Whole {
            with_body_term(&token, &mut |body| terms.body.push(body));
        }
        if token.kind == Kind::Word {
            marks.add(&token.text);
        }
        if matches!(token.kind, Kind::Word | Kind::Part | Kind::Gram) {
            terms.words.push(&token.text);
        }
        if matches!(token.kind, Kind::Word | Kind::Whole) {
            terms.exact.push(&token.text);
        }
    });
    marks
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

/// Hands out the words of a text as written, folded, stopwords too, each as often as it occurs; of scripts without
/// spaces the pairs of characters. With each the field that has it as it is.
pub(crate) fn plain_words(text: &str, take: &mut dyn FnMut(TextField, &str)) {
    tokens(text, false, &mut |token| match token.kind {
        Kind::Word => take(TextField::Exact, &token.text),
        Kind::Gram => take(TextField::Body, &token.text),
        Kind::Part | Kind::Whole => {}
    });
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

/// Whether a word is written as names in programs and numbers of tickets are, and prose is not.
pub(crate) fn is_identifier(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let mut pairs = word.chars().zip(word.chars().skip(1));
    (digits > 0 && has(char::is_alphabetic))
        || digits >= IDENTIFIER_DIGITS
        || has(|c| matches!(c, '_' | '.' | '/' | '\\' | ':' | '@' | '#'))
        || pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Whether a text has a word that means something: one that is no identifier and no number.
pub fn has_prose(text: &str) -> bool {
    let words = text.split_whitespace();
    let mut words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.any(|word| word.chars().any(char::is_alphabetic) && !is_identifier(word))
}

/// The form in which a keyword or a word is compared: folded and bounded.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let text = &text[..text.len().min(TERM_LEN_MAX)];
        return match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    let mut folded = fold_unicode(text);
    folded.truncate(floor_char_boundary(&folded, TERM_LEN_MAX));
    Cow::Owned(folded)
}

/// The largest character boundary that is at most `len`.
pub(crate) fn floor_char_boundary(text: &str, len: usize) -> usize {
    if len >= text.len() {
        return text.len();
    }
    (0..=len)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// Hands out what `body` holds of a token; `false` for a stopword, of which that is nothing.
fn with_body_term(token: &Token<'_>, take: &mut dyn FnMut(&str)) -> bool {
    if token.kind == Kind::Gram {
        take(&token.text);
        return true;
    }
    let told = !is_stopword(&token.text);
    if told {
        with_stem(&token.text, take);
    }
    told
}

/// Stems by script: Latin words as English, Cyrillic ones as Russian, Arabic ones as Arabic.
pub(super) fn with_stem(word: &str, take: &mut dyn FnMut(&str)) {
    let algorithm = if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Algorithm::English
    } else if word.chars().all(is_cyrillic) {
        Algorithm::Russian
    } else if word.chars().all(is_arabic) {
        Algorithm::Arabic
    } else {
        return take(word);
    };
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return take(stem);
        }
        let stem = Stemmer::create(algorithm).stem(word);
        take(&stem);
        stems.put(word.into(), stem.as_ref().into());
    });
}

type Stems = LruCache<Box<str>, Box<str>, FxBuildHasher>;

thread_local! {
    /// Stems of recent words: most words of a text were met before.
    static STEMS: RefCell<Stems> = RefCell::new(LruCache::with_hasher(STEMS_MAX, FxBuildHasher));
}

fn fold_unicode(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut base = ' ';
    let kept = text.nfkd().filter(move |&c| {
        if !is_combining_mark(c) {
            base = c;
        }
        !is_dropped(c, base)
    });
    for c in kept.nfc().flat_map(char::to_lowercase) {
        match c {
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            'ß' => folded.push_str("ss"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ħ' => folded.push('h'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            _ => folded.push(c),
        }
    }
    folded
}

/// Marks that a reader leaves out when typing. Vowel signs of Indic and South-East Asian
/// scripts and the Japanese voicing mark are letters in all but name, and stay; of the
/// Cyrillic ones only the dots of `ё` go, for `й` is a letter of its own.
fn is_dropped(c: char, base: char) -> bool {
    match c {
        '\u{0300}'..='\u{036F}' if is_cyrillic(base) => c == '\u{0308}' && "еЕ".contains(base),
        '\u{0300}'..='\u{036F}'
        | '\u{0591}'..='\u{05C7}'
        | '\u{0640}'
        | '\u{064B}'..='\u{065F}'
        | '\u{0670}'
        | '\u{00AD}'
        | '\u{200B}'..='\u{200F}'
        | '\u{FEFF}' => true,
        _ => false,
    }
}

fn is_arabic(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{06FF}')
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{0400}'..='\u{052F}')
}

/// Scripts whose words are not set apart by spaces, and Korean, whose words carry endings
/// that no stemmer here knows.
fn is_dense(c: char) -> bool {
    is_ideographic(c)
        || matches!(c,
            '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
            | '\u{1000}'..='\u{109F}'   // Myanmar
            | '\u{1780}'..='\u{17FF}') // Khmer
}

fn is_ideographic(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{3130}'..='\u{318F}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}'
        | '\u{20000}'..='\u{3FFFF}')
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric()
        || (!c.is_ascii()
            && (is_combining_mark(c) || matches!(c, '\u{00AD}' | '\u{200C}' | '\u{200D}')))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ')
}

/// Joins words within one name.
fn is_inner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '\u{2010}' | '\u{2011}') || is_apostrophe(c)
}

/// Joins names into a path, an address, a reference.
fn is_outer(c: char) -> bool {
    matches!(c, '/' | '\\' | ':' | '@' | '#' | '&')
}

fn tokens<'t>(text: &'t str, indexing: bool, emit: &mut dyn FnMut(Token<'t>)) {
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

/// An emoji as a word, and what it is put together of as its parts: `👩‍💻` is found by `👩` and by `💻`, too.
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

/// The pieces of a text between the control sequences of terminals (`ESC [ 3 1 m`), as pasted
/// output of programs has them.
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

/// The length of a word of small ASCII letters at the start of a text that is a chunk by itself, as most are; `None`
/// where that takes a closer look.
fn plain_word_len(text: &str) -> Option<usize> {
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

/// The length of the chunk at the start of `text`: words with a connector between each
/// two. Doubled connectors are punctuation, but for `::` and `://`.
fn chunk_len(text: &str) -> usize {
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

/// A compound, and a version such as `v1.2.3` without its letter as well.
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
        // Most words: one run without parts.
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

/// The parts of `HTTPServer`, `parseUrl`, `E0382`.
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

/// Cuts `parseHTTPUrl` before each capital that follows a small letter or precedes one.
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

/// Pairs of neighbouring characters. Single ideographs are indexed too, so that a query
/// of one character finds them, but not searched for when there is a pair.
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

/// Cuts a text wherever `boundary` holds between two neighbouring characters.
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

/// The day of a moment in words, for the indexed text: `8 may 2023`, and `20230508` as
/// one compound. UTC. From "chrono-Compatible Low-Level Date Algorithms" (H. Hinnant).
pub(crate) fn index_date(at_ms: i64, terms: &mut DocTerms) {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let days = at_ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let name = MONTHS[(month - 1) as usize];
    index_terms(&format!("{day} {name} {year}"), terms);
    terms.exact.push(&format!("{year:04}{month:02}{day:02}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaced(terms: &Terms) -> String {
        terms.lines.replace('\n', " ")
    }

    /// `body | exact` of a document.
    fn check(text: &str, expect: &str) {
        let mut terms = DocTerms::default();
        index_terms(text, &mut terms);
        let found = format!("{} | {}", spaced(&terms.body), spaced(&terms.exact));
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn words_are_placed_as_a_search_finds_them() {
        for (query, text, expect) in [
            (
                "which linkers fail",
                "The Linker failed, linker!",
                ["Linker", "failed", "linker"].as_slice(),
            ),
            (
                "main.rs",
                "see src/main.rs: main",
                &["main.rs", "main", "rs", "main"],
            ),
            ("préférence", "Ma PRÉFÉRENCE est", &["PRÉFÉRENCE"]),
            ("数据库", "我们的数据库很慢", &["数据", "据库"]),
            ("the of", "the end of the log", &["the", "of", "the"]),
            ("nothing", "here", &[]),
        ] {
            let places = word_places(query, text);
            let mut found: Vec<&str> = Vec::new();
            let mut last = None;
            for (range, _) in &places {
                if last.replace(range.clone()) != Some(range.clone()) {
                    found.push(&text[range.clone()]);
                }
            }
            assert_eq!(found, expect, "{query} in {text}");
            assert!(places.is_sorted_by_key(|(range, _)| range.start), "{query}");
        }
    }

    /// The terms of a query, those of the exact field with `=`.
    fn check_query(text: &str, expect: &str) {
        let found = query_terms(text, 100)
            .into_iter()
            .map(|term| match term.field {
                TextField::Body => term.term,
                TextField::Exact => format!("={}", term.term),
            });
        assert_eq!(found.collect::<Vec<_>>().join(" "), expect, "{text}");
    }

    #[test]
    fn control_sequences_of_terminals_part_words() {
        check("\u{1b}[31mred\u{1b}[0m alert", "red alert | red alert");
        check("\u{1b}[1;31merror\u{1b}[m: \u{1b}x", "error x | error x");
        check("\u{1b}[", " | ");
    }

    #[test]
    fn a_plain_word_is_a_chunk_of_its_own() {
        let signs: Vec<char> = "aab  Z1_-.:/#+',;)é字\u{301}".chars().collect();
        let mut state = 1_u64;
        let mut plain = 0;
        for _ in 0..20_000 {
            let text: String = (0..6)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    signs[(state >> 33) as usize % signs.len()]
                })
                .collect();
            if let Some(len) = plain_word_len(&text) {
                plain += 1;
                assert_eq!(chunk_len(&text), len, "{text:?}");
                assert!(
                    text[..len].bytes().all(|byte| byte.is_ascii_lowercase()),
                    "{text:?}"
                );
                assert!(len > 1, "a sign may belong to a single letter: {text:?}");
            }
        }
        assert!(plain > 40, "{plain}");
        let long = "a".repeat(TERM_LEN_MAX + 9);
        check(&long, &format!("{0} | {0}", &long[..TERM_LEN_MAX]));
    }

    #[test]
    fn words() {
        check("The linkers failed.", "linker fail | the linkers failed");
        check(
            "Caroline's kids' don't!",
            "carolin kid | caroline kids dont",
        );
        check("rock'n'roll", "rock n roll | rocknroll rock n roll");
        check("yes -- no, and...", "yes | yes no and");
        check("", " | ");
    }

    #[test]
    fn identifiers() {
        check("snake_case", "snake case | snakecase snake case");
        check("HTTPServer", "httpserver http server | httpserver");
        check("wi-fi", "wi fi | wifi wi fi");
        check(
            "src/main.rs",
            "src main rs | src/main.rs src main.rs main rs",
        );
        check(
            "std::io::Error",
            "std io error | std::io::error std io error",
        );
        check("error[E0382]", "error e0382 0382 | error e0382");
        check("ECONNREFUSED", "econnrefus | econnrefused");
        check("v1.2.3", "v1 2 3 | v1.2.3 1.2.3 v1 2 3");
        check("3f2a9b1c7d", "3f2a9b1c7d | 3f2a9b1c7d");
        check("12ab34cd56ef78", "12ab34cd56ef78 | 12ab34cd56ef78");
        check("C++ and C#", "c c | c++ c and c# c");
        check(
            "https://a.io/x",
            "https io x | https://a.io/x https a.io a io x",
        );
    }

    #[test]
    fn folding() {
        check(
            "Éclair œuvre Straße",
            "eclair oeuvr strass | eclair oeuvre strasse",
        );
        check("Ｒｕｓｔ ﬁle", "rust file | rust file");
        check("İstanbul Łódź", "istanbul lodz | istanbul lodz");
        check("ёж йод", "еж йод | еж йод");
        check("اللُّغَة", "اللغ | اللغة");
        assert_eq!(fold(&"é".repeat(100)).len(), TERM_LEN_MAX);
        assert_eq!(fold(&"ж".repeat(100)).len(), TERM_LEN_MAX);
    }

    #[test]
    fn scripts_without_spaces() {
        check("日本語", "日 日本 本 本語 語 | ");
        check("Rust言語", "rust 言 言語 語 | rust");
        check("ไทย", "ไท ทย | ");
        check("ガ ｶﾞ", "ガ ガ | ");
        check_query("日本語", "日本 本語");
        check_query("語", "語");
    }

    #[test]
    fn emoji_are_words() {
        check("🚀🔥launch❤\u{FE0F}", "🚀 🔥 launch ❤ | 🚀 🔥 launch ❤");
        check("👩🏽\u{200D}💻", "👩💻 👩 💻 | 👩💻");
        check("🇩🇪🇫🇷", "🇩🇪 🇫🇷 | 🇩🇪 🇫🇷");
        check("a → b ©", "b | a b");
        check_query("the 👍🏿", "👍 =👍");
    }

    #[test]
    fn queries() {
        check_query("When did the linkers fail?", "linker =linkers fail =fail");
        check_query("fail fails", "fail =fail =fails");
        check_query("who are you", "=who =are =you");
        check_query("main.rs", "=main.rs main =main rs =rs");
        check_query("+\"* (^~", "");
    }

    #[test]
    fn days() {
        let check = |at_ms: i64, expect: &str| {
            let mut terms = DocTerms::default();
            index_date(at_ms, &mut terms);
            assert_eq!(spaced(&terms.exact), expect);
        };
        check(1_683_554_160_000, "8 may 2023 20230508");
        check(0, "1 january 1970 19700101");
        check(-1, "31 december 1969 19691231");
        check(951_782_400_000, "29 february 2000 20000229");
        check(i64::MAX, "17 august 292278994 2922789940817");
        check(i64::MIN, "16 may 292275055 -2922750550516");
    }
}
