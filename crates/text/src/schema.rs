//! The fields of a document, equal in both tiers.

use std::sync::LazyLock;

use tantivy::TantivyDocument;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{
    Field, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use xxhash_rust::xxh3::xxh3_64;

use super::Doc;
use super::analyze::{
    DocTerms, Terms, TextField, floor_char_boundary, fold, index_date, index_terms, plain_words,
};
use super::traits::{Traits, speaker};

/// Version of the schema and of the analyser. An index of another version is rebuilt.
pub(crate) const VERSION: u32 = 10;
/// Name of the fast field with a document's ordinal.
pub(crate) const ORDINAL: &str = "ordinal";

const TOKENIZER: &str = "lines";
/// Bytes of a topic or scope that a filter compares: 2,048, more than either may have. A larger value changes nothing.
const FILTER_LEN_MAX: usize = 2_048;
/// Levels of a topic or session that filters on whole branches know: 64. A larger value indexes more terms of deep
/// topics.
const LEVELS_MAX: usize = 64;
/// Prefix of the scopes that can lie below one another.
const SESSION: &str = "session:";

/// The fields, and their schema.
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    pub(crate) ordinal: Field,
    pub(crate) body: Field,
    pub(crate) exact: Field,
    /// Topic, its ancestors, keywords, scope and speaker: matched, never scored.
    pub(crate) filter: Field,
    pub(crate) stored: Field,
}

/// Returns the fields, made once a process.
pub(crate) fn fields() -> &'static Fields {
    static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
        let mut schema = Schema::builder();
        let text = |record, fieldnorms| {
            TextOptions::default().set_indexing_options(
                TextFieldIndexing::default()
                    .set_tokenizer(TOKENIZER)
                    .set_index_option(record)
                    .set_fieldnorms(fieldnorms),
            )
        };
        Fields {
            ordinal: schema
                .add_u64_field(ORDINAL, NumericOptions::default().set_indexed().set_fast()),
            body: schema.add_text_field("body", text(IndexRecordOption::WithFreqs, true)),
            exact: schema.add_text_field("exact", text(IndexRecordOption::WithFreqs, true)),
            filter: schema.add_text_field("filter", text(IndexRecordOption::Basic, false)),
            stored: schema.add_bytes_field("stored", STORED),
            schema: schema.build(),
        }
    });
    &FIELDS
}

impl Fields {
    pub(crate) fn text(&self, field: TextField) -> Field {
        match field {
            TextField::Body => self.body,
            TextField::Exact => self.exact,
        }
    }
}

/// A hash of a topic, or of a topic and a scope. Two different ones share a number with a chance of 1 in 2^64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Home(pub(crate) u64);

impl Home {
    /// Returns the home of exactly this topic, and of exactly this scope if one is given.
    pub(crate) fn of(topic: &str, scope: Option<&str>) -> Home {
        let topic = topic_is(topic);
        match scope {
            None => Home(xxh3_64(topic.as_bytes())),
            Some(scope) => Home(xxh3_64(format!("{topic}\n{}", scope_is(scope)).as_bytes())),
        }
    }
}

/// Filter terms of which a document has to hold one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnyOf<T = String> {
    pub(crate) terms: Vec<T>,
    /// `true` if no document holds two of them.
    pub(crate) are_apart: bool,
}

impl<T> AnyOf<T> {
    /// Returns the filter for one term.
    pub(crate) fn one(term: T) -> AnyOf<T> {
        AnyOf {
            terms: vec![term],
            are_apart: true,
        }
    }

    /// Returns the same filter in another form.
    pub(crate) fn map<U>(&self, form: impl Fn(&T) -> U) -> AnyOf<U> {
        AnyOf {
            terms: self.terms.iter().map(form).collect(),
            are_apart: self.are_apart,
        }
    }
}

/// A document after analysis, as the tail counts it and the index takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysed {
    pub(crate) ordinal: u64,
    /// The terms of every text that a query may ask for.
    pub terms: DocTerms,
    /// The terms that filters match.
    pub(crate) filters: Terms,
    /// The traits of the content.
    pub traits: Traits,
    pub(crate) stored: Vec<u8>,
}

impl Analysed {
    /// Analyses a version: the costly part of indexing.
    pub fn of(doc: &Doc<'_>) -> Analysed {
        Analysed {
            ordinal: doc.ordinal,
            terms: doc_terms(doc),
            filters: doc_filters(doc),
            traits: Traits::of(doc.content),
            stored: doc.stored.to_vec(),
        }
    }

    /// Returns the lengths of the text fields, as coarsely as tantivy keeps them.
    pub(crate) fn norm_ids(&self) -> [u8; 2] {
        let mut ids = [0; 2];
        ids[TextField::Body as usize] = FieldNormReader::fieldnorm_to_id(self.terms.body.count);
        ids[TextField::Exact as usize] = FieldNormReader::fieldnorm_to_id(self.terms.exact.count);
        ids
    }

    /// Returns the document in tantivy's form.
    pub(crate) fn document(&self) -> TantivyDocument {
        let fields = fields();
        let mut document = TantivyDocument::new();
        document.add_u64(fields.ordinal, self.ordinal);
        document.add_text(fields.body, &self.terms.body.lines);
        document.add_text(fields.exact, &self.terms.exact.lines);
        document.add_text(fields.filter, &self.filters.lines);
        document.add_bytes(fields.stored, &self.stored);
        document
    }
}

fn doc_terms(doc: &Doc<'_>) -> DocTerms {
    let mut terms = DocTerms::with_room_for(doc.content.len());
    index_terms(doc.content, &mut terms);
    for text in [doc.raw_excerpt, Some(doc.topic), doc.key]
        .into_iter()
        .flatten()
    {
        index_terms(text, &mut terms);
    }
    for keyword in doc.keywords {
        index_terms(keyword, &mut terms);
    }
    if let Some(at_ms) = doc.occurred_at_ms {
        index_date(at_ms, &mut terms);
    }
    terms.words.keep_first();
    terms
}

fn doc_filters(doc: &Doc<'_>) -> Terms {
    let mut filters = Terms::default();
    filters.push(&topic_is(doc.topic));
    if doc.is_further {
        filters.push(&further_of(doc.topic));
    }
    filters.push(&scope_is(doc.scope));
    for level in levels(doc.topic) {
        filters.push(&topic_under(level));
    }
    if doc.scope.starts_with(SESSION) {
        for level in levels(doc.scope) {
            filters.push(&scope_under(level));
        }
    }
    for keyword in doc.keywords {
        filters.push(&keyword_is(keyword));
    }
    if let Some(speaker) = speaker(doc.content) {
        plain_words(speaker, &mut |_, word| filters.push(&speaker_is(word)));
    }
    filters
}

/// Returns `a`, `a/b` and `a/b/c` for `a/b/c`.
fn levels(text: &str) -> impl Iterator<Item = &str> {
    let slashes = text.match_indices('/').map(|(at, _)| at);
    let levels = slashes.take(LEVELS_MAX).chain([text.len()]);
    levels.map(|len| &text[..len])
}

/// Returns the filter term of documents of exactly this topic.
pub(crate) fn topic_is(topic: &str) -> String {
    filter('t', topic)
}

/// Returns the filter term of further passages of exactly this topic.
pub(crate) fn further_of(topic: &str) -> String {
    filter('n', topic)
}

/// Returns the filter term of documents of this topic and of the topics below it.
pub(crate) fn topic_under(topic: &str) -> String {
    filter('u', topic)
}

/// Returns the filter term of documents with this keyword, regardless of case and accents.
pub(crate) fn keyword_is(keyword: &str) -> String {
    filter('k', &fold(keyword.trim()))
}

/// Returns `true` if a filter for the keyword `asked` matches `keyword`.
pub fn keyword_fits(asked: &str, keyword: &str) -> bool {
    keyword_is(asked) == keyword_is(keyword)
}

/// Returns `true` if `keyword` contains a text, regardless of case and accents.
pub fn keyword_has(part: &str, keyword: &str) -> bool {
    fold(keyword).contains(&*fold(part.trim()))
}

/// Returns the filter term of documents of exactly this scope.
pub(crate) fn scope_is(scope: &str) -> String {
    filter('s', scope)
}

/// Returns the filter term of documents of this session's scope and of the scopes below it.
pub(crate) fn scope_under(scope: &str) -> String {
    filter('v', scope)
}

/// Returns the filter term of documents whose speaker's name has this folded word.
pub(crate) fn speaker_is(word: &str) -> String {
    filter('p', word)
}

fn filter(kind: char, value: &str) -> String {
    let value = &value[..floor_char_boundary(value, FILTER_LEN_MAX)];
    format!("{kind}{}", value.replace('\n', " "))
}

/// Returns the tokenizers of an index: terms come ready-made, one a line.
pub(crate) fn tokenizers() -> TokenizerManager {
    // The standard tokenizers stay: tantivy asks for one of them for every field.
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TOKENIZER, TextAnalyzer::from(Lines::default()));
    tokenizers
}

#[derive(Clone, Default)]
struct Lines {
    token: Token,
}

struct LineStream<'a> {
    lines: std::str::Split<'a, char>,
    token: &'a mut Token,
}

impl Tokenizer for Lines {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LineStream<'a> {
        self.token.reset();
        LineStream {
            lines: text.split('\n'),
            token: &mut self.token,
        }
    }
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(line) = self.lines.find(|line| !line.is_empty()) else {
            return false;
        };
        self.token.position = self.token.position.wrapping_add(1);
        self.token.text.clear();
        self.token.text.push_str(line);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
