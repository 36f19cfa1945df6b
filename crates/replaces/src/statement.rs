//! A statement for the rules: words with their roles, and the values among them.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::tables::{Language, Role, Roles, roles_of};

/// Most words of a statement. Raised, texts with several facts are compared.
pub const WORDS_MAX: usize = 60;

/// Most bytes of a text that can have [`WORDS_MAX`] words; a longer text is not split.
const LEN_MAX: usize = 1_200;

/// Most words of a label. Raised, the beginning of a sentence with a colon counts as a label.
const LABEL_WORDS: usize = 5;

/// Words from the end of a statement that count as its value if its verb is unknown.
const VALUE_WORDS: usize = 3;

/// Roles of a word that can be the first verb of a statement.
const VERBS: [Role; 6] = [
    Role::Copula,
    Role::Verb,
    Role::Many,
    Role::Holds,
    Role::Change,
    Role::End,
];

/// The kind of a word: a value that its form tells, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A word without a special form.
    Word,
    /// A word with a capital that does not begin a sentence.
    Name,
    /// A number, with the word behind it as its unit.
    Number,
    /// An hour of the day.
    Time,
    /// A day of the week.
    Weekday,
    /// A day, a month or a year.
    Date,
    /// A name in a program, with digits, dots, slashes or underscores.
    Identifier,
}

impl Kind {
    /// Returns `true` for kinds of values: two different words of the kind are two values.
    pub(crate) fn is_value(self) -> bool {
        !matches!(self, Kind::Word | Kind::Name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, without accents.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    pub(crate) roles: Roles,
    /// Number of its clause, from 0.
    pub(crate) clause: usize,
}

impl Word {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.roles.has(role)
    }

    /// Returns `true` for the article of a known thing.
    pub(crate) fn is_the(&self) -> bool {
        const ARTICLES: [&str; 13] = [
            "the", "der", "die", "das", "den", "dem", "le", "la", "les", "l", "el", "los", "las",
        ];
        ARTICLES.contains(&self.text.as_str())
    }

    /// Returns `true` if the word names something: it is no article, helping verb or word of change.
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

/// A short text, split once to be compared with many others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    pub(crate) words: Vec<Word>,
    /// Place of the first word behind the subject: the first verb, or its stand-in.
    pub(crate) pivot: usize,
    /// Number of sentences.
    pub(crate) sentences: usize,
    /// `true` if the verb is known.
    pub(crate) knows_verb: bool,
    /// Number of words before a colon that names what follows; 0 for a sentence.
    pub(crate) label: usize,
    /// `true` for a language that writes nouns with a capital: there, a capital makes no name.
    pub(crate) capital_nouns: bool,
}

impl Statement {
    /// Returns the statement of a text. A text of more than [`WORDS_MAX`] words, or with a question mark or a colon at
    /// its end, gives an empty statement, which replaces nothing.
    pub fn of(text: &str) -> Statement {
        if text.len() > LEN_MAX || text.trim_end().ends_with(['?', '？', ':']) {
            return Statement::default();
        }
        let raw = raw_words(text);
        if raw.len() > WORDS_MAX {
            return Statement::default();
        }
        let folded: Vec<&str> = raw.iter().map(|raw| raw.folded.as_str()).collect();
        let (mut roles, language) = roles_of(&folded);
        for (raw, roles) in raw.iter().zip(&mut roles) {
            // *US* and *IT* are names, *us* and *it* are not.
            if raw.written.len() == 2 && raw.written.chars().all(char::is_uppercase) {
                roles.remove(Role::Function);
                roles.remove(Role::Pronoun);
            }
        }
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
                && !words[at - 1].has(Role::BeforeNoun)
                && (words[at - 1].has(Role::Pronoun)
                    || !(word.has(Role::Single) || word.has(Role::Noun) && !word.has(Role::Many)))
                && (words[at - 1].has(Role::Pronoun) || words[..at].iter().any(Word::is_content))
        });
        // An instruction begins with its verb: *use tabs*, *always use tabs*.
        let verb = verb.or_else(|| {
            let begins = |word: &Word| word.has(Role::Verb) || word.has(Role::Change);
            let first = words
                .iter()
                .position(|word| word.is_content() || begins(word));
            let first = first.filter(|at| words[*at].kind == Kind::Word && begins(&words[*at]))?;
            let before = first.checked_sub(1).map(|at| &words[at]);
            (!before.is_some_and(|word| word.has(Role::BeforeNoun))).then_some(first)
        });
        let label = label(&raw, &words);
        let pivot = verb.unwrap_or(match label {
            0 => words.len().saturating_sub(VALUE_WORDS),
            label => label,
        });
        let starts = raw.iter().filter(|raw| raw.starts_sentence);
        Statement {
            words,
            pivot,
            sentences: starts.count(),
            knows_verb: verb.is_some(),
            label,
            capital_nouns: language == Language::German,
        }
    }

    /// Returns `true` if the statement has no words to compare.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn content(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().filter(|word| word.is_content())
    }

    /// Returns the word behind a number that can be its unit.
    pub(crate) fn unit(&self, at: usize) -> Option<&str> {
        let next = self.words.get(at + 1)?;
        let fits = !next.has(Role::Function) && next.kind != Kind::Number;
        fits.then_some(next.text.as_str())
    }

    /// Returns `true` if a word may belong to the value: it stands behind the subject, or it is a name and the verb is
    /// unknown.
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

/// Returns `true` if two words are forms of one: equal, or with a long common beginning and short endings.
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

/// Returns the number of words before the colon of a note; 0 if the text has none, or begins with a sentence, a number
/// or a date.
fn label(raw: &[Raw], words: &[Word]) -> usize {
    let colon = raw.iter().take(LABEL_WORDS).position(|raw| raw.ends_label);
    let label = colon.map_or(0, |at| at + 1);
    let is_label = |word: &Word| {
        matches!(word.kind, Kind::Word | Kind::Name)
            && !word.has(Role::Copula)
            && !word.has(Role::Pronoun)
    };
    match words[..label].iter().all(is_label) && label < words.len() {
        true => label,
        false => 0,
    }
}

struct Raw {
    written: String,
    folded: String,
    ends_clause: bool,
    /// `true` before a colon.
    ends_label: bool,
    starts_sentence: bool,
}

/// Splits at blanks, lone dashes and apostrophes, and strips punctuation around words.
fn raw_words(text: &str) -> Vec<Raw> {
    let mut words: Vec<Raw> = Vec::new();
    let mut starts_sentence = true;
    for piece in text.split_whitespace() {
        let ends_clause = piece.ends_with([',', ';', ':', '!', ')', '—', '–']);
        let is_dot = piece.ends_with('.');
        let trimmed = piece.trim_matches(|c: char| !c.is_alphanumeric() && !"€$£%°²".contains(c));
        let trimmed = match piece.starts_with('.') && piece.len() > 2 {
            // The name of a hidden file keeps its dot.
            true => piece.trim_end_matches(|c: char| !c.is_alphanumeric()),
            false => trimmed,
        };
        if trimmed.is_empty() {
            if let (true, Some(last)) = (!piece.is_empty(), words.last_mut()) {
                last.ends_clause = true;
                last.ends_label = piece == ":";
            }
            continue;
        }
        let ends_sentence = is_dot && trimmed.chars().count() > 3;
        for part in parts(trimmed) {
            words.push(Raw {
                folded: folded(part),
                written: part.to_owned(),
                ends_clause: false,
                ends_label: false,
                starts_sentence,
            });
            starts_sentence = false;
            if words.len() > WORDS_MAX {
                return words;
            }
        }
        if let Some(last) = words.last_mut() {
            last.ends_clause = ends_clause || ends_sentence;
            last.ends_label = piece.ends_with(':');
        }
        starts_sentence = ends_sentence;
    }
    words
}

/// Returns the parts of a word with an apostrophe: two for `user's` and `l'eau`, one for `isn't`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let lower = word.to_lowercase();
    let whole = lower.ends_with("n't")
        || lower.ends_with("n’t")
        || lower.contains("o'clock")
        || lower == "aujourd'hui";
    let cut = move |c: char| !whole && matches!(c, '\'' | '’');
    word.split(cut).filter(|part| !part.is_empty())
}

/// Returns a word in lower case, without accents.
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
    // May and March are ordinary words, too.
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
            () if text.len() == 4
                && digits == 4
                && (text.starts_with("19") || text.starts_with("20")) =>
            {
                Kind::Date
            }
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
    let inner_capital = capitals > usize::from(first_capital);
    match inner_capital || first_capital && !raw.starts_sentence {
        true => Kind::Name,
        false => Kind::Word,
    }
}
