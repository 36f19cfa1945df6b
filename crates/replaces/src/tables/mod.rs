//! The words of each language that matter to the rules.
//!
//! A row of a table is a [`Role`] with its words: in lower case, without accents, separated by blanks, with `_` between
//! the words of a phrase. A `*` at the end stands for any ending, one at the start for a beginning of three letters or
//! more, and `~` for up to three words in between. To add a language, write a file like `english.rs` and add it to
//! [`TABLES`].

mod english;
mod french;
mod german;
mod spanish;

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The role of a word in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Names no subject and no value: articles, prepositions, pronouns.
    Function,
    /// A form of *to be* or *to have*, or a helping verb: subjects stand before it.
    Copula,
    /// A verb with one object at a time: *lives*, *runs*, *costs*.
    Verb,
    /// An article or a preposition: a noun follows, never the verb of the statement.
    BeforeNoun,
    /// A verb of having a role. The subject may have it of many things, a thing mostly has one subject: *leads*.
    Holds,
    /// A verb that may have many objects at once: *likes*, *speaks*, *bought*.
    Many,
    /// A verb in the past, for events that may happen again with other values.
    Past,
    /// An end of the thing that its clause names.
    End,
    /// A subject that a statement does not name: *we*.
    Pronoun,
    /// Stands before something that has ended: *instead of*.
    Before,
    /// Tells that a value became another: *moved*, *extended*.
    Change,
    /// A time from which something holds: *now*, *since*.
    Now,
    /// A change of place, which goes with verbs of living.
    Move,
    /// A verb of living somewhere.
    Live,
    /// A plain negation.
    Not,
    /// A negation that stands before its noun: *no*.
    None,
    /// A condition, or a time that passes: *if*, *during*, *last*.
    Bounded,
    /// An addition to known facts: *also*.
    Also,
    /// Begins a clause that narrows its noun: *that*, *who*.
    Relative,
    /// A repetition: *every*.
    Repeated,
    /// A person by relation to another: *sister*.
    Kin,
    /// The person whose memory it is.
    User,
    /// A word between two clauses.
    Joint,
    /// A weekday.
    Weekday,
    /// A month.
    Month,
    /// A number, written as a word.
    Number,
    /// A place in a row: *first*.
    Ordinal,
    /// A word beside an hour.
    Hour,
    /// Tells that something holds or is on.
    On,
    /// Tells that something does not hold or is off.
    Off,
    /// A verb of using. A thing may use several others, unless the statement names a purpose.
    Uses,
    /// A verb whose objects add up, even with *now*: *supports*, *takes*.
    Adds,
    /// A verb for the beginning of a stay or a time: *opens*, *leaves*.
    Opens,
    /// A verb for the end of it: *closes*, *arrives*.
    Closes,
    /// A noun made from a verb: *speaker*, *deployment*.
    Noun,
    /// Names what has a state as its value: *status*.
    Status,
    /// A role of a person, whose value is a name: *manager*.
    Person,
    /// Names what each of many things has: *name*, *address*. Alone, it does not tell whose value follows.
    Attribute,
    /// A form of *to be* in the present.
    Is,
    /// An article or a possessive of one known thing: *the*, *my*.
    Definite,
    /// An article of any thing of its kind: *a*.
    Indefinite,
    /// Names what has one value at a time: *name*, *version*, *default*.
    Single,
    /// Names one of many: *note*, *tool*, *friend*.
    Several,
    /// Tells how something is, not which one it is: *slow*, *protected*.
    State,
    /// Stands before an old value that a word of change replaces: *from*.
    From,
    /// Stands before the new value of a word of change: *to*.
    To,
    /// Stands before a purpose: *for*.
    For,
    /// Stands before a tool or a companion: *with*.
    With,
    /// The one who writes, or speaks for several: *we*.
    Speaker,
}

impl Role {
    const fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// The roles of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Roles(u64);

impl Roles {
    pub(crate) fn add(&mut self, role: Role) {
        self.0 |= role.bit();
    }

    pub(crate) fn remove(&mut self, role: Role) {
        self.0 &= !role.bit();
    }

    pub(crate) fn has(self, role: Role) -> bool {
        self.0 & role.bit() != 0
    }
}

/// The rows of a language.
type Rows = &'static [(Role, &'static str)];

/// A language with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
}

const TABLES: [(Language, Rows); 4] = [
    (Language::English, english::ROWS),
    (Language::German, german::ROWS),
    (Language::French, french::ROWS),
    (Language::Spanish, spanish::ROWS),
];

/// Most words between the two parts of a phrase with `~`.
const BETWEEN_MAX: usize = 3;

/// Least letters for which a `*` at the start of an entry stands. Raised, fewer words count as compounds.
const BEGINNING_MIN: usize = 3;

/// A word or a phrase with its role.
struct Entry {
    /// The words of the phrase. The last may end with `*`, or begin with one.
    words: Vec<&'static str>,
    /// The word that follows within [`BETWEEN_MAX`] other words.
    then: Option<&'static str>,
    role: Role,
}

impl Entry {
    fn of(role: Role, text: &'static str) -> Entry {
        let (phrase, then) = match text.split_once('~') {
            Some((phrase, then)) => (phrase, Some(then)),
            None => (text, None),
        };
        Entry {
            words: phrase.split('_').collect(),
            then,
            role,
        }
    }

    /// Returns the number of words at the start of `words` that the entry takes; `None` if it does not fit.
    fn takes(&self, words: &[&str]) -> Option<usize> {
        let len = self.words.len();
        let is_like =
            |entry: &str, word: &str| match (entry.strip_suffix('*'), entry.strip_prefix('*')) {
                (Some(beginning), _) => word.starts_with(beginning),
                (_, Some(end)) => word.ends_with(end) && word.len() >= end.len() + BEGINNING_MIN,
                _ => entry == word,
            };
        let mut pairs = self.words.iter().zip(words);
        let fits = words.len() >= len && pairs.all(|(entry, word)| is_like(entry, word));
        match self.then {
            _ if !fits => None,
            None => Some(len),
            Some(then) => {
                let rest = words[len..].iter().take(BETWEEN_MAX + 1);
                let between = rest.into_iter().position(|word| *word == then)?;
                Some(len + between + 1)
            }
        }
    }
}

/// The entries of a language by the first two bytes of their first word. Entries with `*` at the end have two bytes
/// before it, too. Entries with `*` at the start are under [`ENDINGS`].
type Table = BTreeMap<[u8; 2], Vec<Entry>>;

const ENDINGS: [u8; 2] = [b'*', 0];

fn beginning(word: &str) -> [u8; 2] {
    let bytes = word.as_bytes();
    if bytes.first() == Some(&b'*') {
        return ENDINGS;
    }
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    [byte(0), byte(1)]
}

static LOOKUPS: LazyLock<[(Language, Table); 4]> = LazyLock::new(|| {
    TABLES.map(|(language, rows)| {
        let mut table = Table::new();
        for (role, words) in rows {
            for entry in words.split_whitespace() {
                let entry = Entry::of(*role, entry);
                let first = beginning(entry.words[0]);
                table.entry(first).or_default().push(entry);
            }
        }
        (language, table)
    })
});

/// Returns the roles of the words in the language that knows most of them, and that language; the first among equals.
///
/// [`Role::State`] and [`Role::Noun`] do not count for a language: their endings are those of several.
pub(crate) fn roles_of(words: &[&str]) -> (Vec<Roles>, Language) {
    let mut best: Option<(usize, Vec<Roles>, Language)> = None;
    for (language, table) in LOOKUPS.iter() {
        let mut roles = vec![Roles::default(); words.len()];
        let mut known = vec![false; words.len()];
        for at in 0..words.len() {
            let endings = table.get(&ENDINGS).into_iter().flatten();
            let entries = table.get(&beginning(words[at])).into_iter().flatten();
            for entry in entries.chain(endings) {
                let Some(len) = entry.takes(&words[at..]) else {
                    continue;
                };
                for at in at..at + len {
                    // Words between the two parts of a phrase do not belong to it.
                    if entry.then.is_none()
                        || entry.words.contains(&words[at])
                        || entry.then == Some(words[at])
                    {
                        roles[at].add(entry.role);
                        known[at] |= !matches!(entry.role, Role::State | Role::Noun);
                    }
                }
            }
        }
        let known = known.into_iter().filter(|known| *known).count();
        if best.as_ref().is_none_or(|(most, ..)| known > *most) {
            best = Some((known, roles, *language));
        }
    }
    match best {
        Some((_, roles, language)) => (roles, language),
        None => (Vec::new(), Language::English),
    }
}
