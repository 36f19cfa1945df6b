//! A statement as the rules see it: words with their roles, and the values among them.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::tables::{Role, Roles, roles_of};

/// Words of a statement that is looked at. A longer text says more than one thing.
pub const WORDS_MAX: usize = 60;

/// Bytes of a text that may have [`WORDS_MAX`] words. A longer one is not even split.
const LEN_MAX: usize = 1_200;

/// Words of the value of a statement whose verb is unknown, counted from its end.
const VALUE_WORDS: usize = 3;

/// A word that may be the first verb of a statement.
const VERBS: [Role; 5] = [
    Role::Copula,
    Role::Verb,
    Role::Many,
    Role::Change,
    Role::End,
];

/// Kinds of values that can be told by how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Nothing that can be told.
    Word,
    /// Written with a capital where a sentence does not ask for one.
    Name,
    /// A number, with the word behind it as its unit.
    Number,
    /// An hour of the day.
    Time,
    /// A day of the week.
    Weekday,
    /// A day, a month or a year.
    Date,
    /// A name of a program: with digits, dots, slashes or underscores in it.
    Identifier,
}

impl Kind {
    /// Whether two different ones of the kind are two values of one thing.
    pub(crate) fn is_value(self) -> bool {
        !matches!(self, Kind::Word | Kind::Name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Folded, in lower case.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) roles: Roles,
    /// The clause that it is in, from 0.
    pub(crate) clause: usize,
}

impl Word {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.roles.has(role)
    }

    /// Whether the word names something: it is no article, no helping verb and no word of change.
    pub(crate) fn is_content(&self) -> bool {
        const OTHERS: [Role; 8] = [
            Role::Function,
            Role::Copula,
            Role::Now,
            Role::Not,
            Role::Bounded,
            Role::Also,
            Role::Change,
            Role::End,
        ];
        self.kind.is_value() || !OTHERS.iter().any(|role| self.has(*role))
    }
}

/// A short text, split once and compared with many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    pub(crate) words: Vec<Word>,
    /// The place of the first word behind the subject: the first verb, or what stands for it.
    pub(crate) pivot: usize,
    /// The number of sentences.
    pub(crate) sentences: usize,
    /// Whether the verb is known.
    pub(crate) knows_verb: bool,
}

impl Statement {
    /// Returns the statement of a text. A text of more than [`WORDS_MAX`] words or one that ends with a question mark or a colon gives an empty one,
    /// which replaces nothing.
    pub fn of(text: &str) -> Statement {
        if text.len() > LEN_MAX || text.trim_end().ends_with(['?', '？', ':']) {
            return Statement::default();
        }
        let raw = raw_words(text);
        if raw.len() > WORDS_MAX {
            return Statement::default();
        }
        let folded: Vec<&str> = raw.iter().map(|raw| raw.folded.as_str()).collect();
        let roles = roles_of(&folded);
        let mut clause = 0;
        let mut words = Vec::with_capacity(raw.len());
        for (at, raw) in raw.iter().enumerate() {
            if roles[at].has(Role::Joint) && at > 0 {
                clause += 1;
            }
            let kind = match kind_of(raw, roles[at]) {
                Kind::Number => {
                    let before = at.checked_sub(1).map(|at| roles[at]).unwrap_or_default();
                    let after = roles.get(at + 1).copied().unwrap_or_default();
                    match () {
                        () if after.has(Role::Hour) => Kind::Time,
                        () if before.has(Role::Hour) => Kind::Time,
                        () if after.has(Role::Month) || before.has(Role::Month) => Kind::Date,
                        () => Kind::Number,
                    }
                }
                kind => kind,
            };
            words.push(Word {
                text: raw.folded.clone(),
                kind,
                roles: roles[at],
                clause,
            });
            clause += usize::from(raw.ends_clause);
        }
        let verb = words.iter().enumerate().position(|(at, word)| {
            at > 0
                && word.kind == Kind::Word
                && VERBS.iter().any(|role| word.has(*role))
                && (words[at - 1].has(Role::Pronoun) || words[..at].iter().any(Word::is_content))
        });
        let pivot = verb.unwrap_or_else(|| words.len().saturating_sub(VALUE_WORDS));
        let starts = raw.iter().filter(|raw| raw.starts_sentence);
        Statement {
            words,
            pivot,
            sentences: starts.count(),
            knows_verb: verb.is_some(),
        }
    }

    /// Whether the statement has no words to compare.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn content(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().filter(|word| word.is_content())
    }

    /// The word behind a number that says of what it is, if one does.
    pub(crate) fn unit(&self, at: usize) -> Option<&str> {
        let next = self.words.get(at + 1)?;
        let fits = !next.has(Role::Function) && next.kind != Kind::Number;
        fits.then_some(next.text.as_str())
    }

    /// Whether a place may belong to the value: it stands behind the subject, or is a name where the verb is unknown.
    pub(crate) fn may_be_value(&self, at: usize) -> bool {
        let word = &self.words[at];
        let named = !self.knows_verb && matches!(word.kind, Kind::Name | Kind::Identifier);
        word.is_content() && !word.has(Role::User) && (at >= self.pivot || named)
    }

    pub(crate) fn any(&self, role: Role) -> bool {
        self.words.iter().any(|word| word.has(role))
    }

    pub(crate) fn has_like(&self, word: &Word) -> bool {
        self.words.iter().any(|other| alike(other, word))
    }
}

/// Whether two words are forms of one: equal, or with short endings behind a long beginning in common.
pub(crate) fn alike(a: &Word, b: &Word) -> bool {
    if a.text == b.text {
        return true;
    }
    if a.kind.is_value() || b.kind.is_value() {
        return a.kind == Kind::Weekday
            && b.kind == Kind::Weekday
            && (a.text.starts_with(&b.text) || b.text.starts_with(&a.text));
    }
    let same = a.text.bytes().zip(b.text.bytes());
    let same = same.take_while(|(a, b)| a == b).count();
    let rest = a.text.len().max(b.text.len()) - same;
    let shorter = a.text.len().min(b.text.len()) - same;
    match same {
        0..=2 => false,
        3..=4 => shorter == 0 && rest <= 2,
        _ => rest <= 4 && shorter <= 3,
    }
}

struct Raw {
    written: String,
    folded: String,
    ends_clause: bool,
    starts_sentence: bool,
}

/// Splits at blanks, dashes that stand alone and apostrophes, and takes off what encloses a word.
fn raw_words(text: &str) -> Vec<Raw> {
    let mut words: Vec<Raw> = Vec::new();
    let mut starts_sentence = true;
    for piece in text.split_whitespace() {
        let ends_clause = piece.ends_with([',', ';', ':', '!', ')', '—', '–']);
        let is_dot = piece.ends_with('.');
        let trimmed = piece.trim_matches(|c: char| !c.is_alphanumeric() && !"€$£%°²".contains(c));
        let trimmed = match piece.starts_with('.') && piece.len() > 2 {
            // A hidden file.
            true => piece.trim_end_matches(|c: char| !c.is_alphanumeric()),
            false => trimmed,
        };
        if trimmed.is_empty() {
            if let (true, Some(last)) = (!piece.is_empty(), words.last_mut()) {
                last.ends_clause = true;
            }
            continue;
        }
        let ends_sentence = is_dot && trimmed.chars().count() > 3;
        for part in parts(trimmed) {
            words.push(Raw {
                folded: folded(part),
                written: part.to_owned(),
                ends_clause: false,
                starts_sentence,
            });
            starts_sentence = false;
            if words.len() > WORDS_MAX {
                return words;
            }
        }
        if let Some(last) = words.last_mut() {
            last.ends_clause = ends_clause || ends_sentence;
        }
        starts_sentence = ends_sentence;
    }
    words
}

/// The parts of a word with an apostrophe: `user's` and `l'eau` are two, `isn't` is one.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let lower = word.to_lowercase();
    let whole = lower.ends_with("n't")
        || lower.ends_with("n’t")
        || lower.contains("o'clock")
        || lower == "aujourd'hui";
    let cut = move |c: char| !whole && matches!(c, '\'' | '’');
    word.split(cut).filter(|part| !part.is_empty())
}

/// A word in lower case, without accents.
fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'ß' => folded.push_str("ss"),
            'œ' | 'Œ' => folded.push_str("oe"),
            'æ' | 'Æ' => folded.push_str("ae"),
            '’' => folded.push('\''),
            c => folded.extend(c.to_lowercase()),
        }
    }
    folded
}

fn kind_of(raw: &Raw, roles: Roles) -> Kind {
    let text = raw.written.as_str();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let inner = |c: char| text.trim_matches(c).contains(c);
    let first_capital = text.chars().next().is_some_and(char::is_uppercase);
    let capitals = text.chars().filter(|c| c.is_uppercase()).count();
    if roles.has(Role::Weekday) {
        return Kind::Weekday;
    }
    // May and March are words of their own, too.
    if roles.has(Role::Month) && (first_capital || text.len() > 5 || !text.is_ascii()) {
        return Kind::Date;
    }
    if roles.has(Role::Number) || roles.has(Role::Ordinal) {
        return Kind::Number;
    }
    if digits > 0 && letters == 0 {
        let dots = text.matches('.').count();
        return match () {
            () if inner(':') => Kind::Time,
            () if inner('/') || dots > 1 => Kind::Identifier,
            () if digits == 4 && (text.starts_with("19") || text.starts_with("20")) => Kind::Date,
            () => Kind::Number,
        };
    }
    let ordinal = ["st", "nd", "rd", "th", "er", "eme"]
        .iter()
        .any(|end| raw.folded.ends_with(end));
    if digits > 0 && ordinal && letters <= 3 {
        return Kind::Date;
    }
    if digits > 0 || inner('_') || inner('/') || inner('.') || text.starts_with('.') {
        return Kind::Identifier;
    }
    match capitals > 1 || first_capital && !raw.starts_sentence {
        true => Kind::Name,
        false => Kind::Word,
    }
}
