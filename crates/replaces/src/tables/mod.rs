//! The words of each language that matter to the rules.
//!
//! A row of a table is a [`Role`] with its words: in lower case, without accents, separated by blanks, with `_` between
//! the words of a phrase. A `*` at the end stands for any ending, and `~` for up to three words in between. To add a
//! language, write a file like `english.rs` and add it to [`TABLES`].

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
}

impl Role {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The roles of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Roles(u32);

impl Roles {
    pub(crate) fn add(&mut self, role: Role) {
        self.0 |= role.bit();
    }

    pub(crate) fn has(self, role: Role) -> bool {
        self.0 & role.bit() != 0
    }
}

/// The rows of a language.
type Rows = &'static [(Role, &'static str)];

const TABLES: [Rows; 4] = [english::ROWS, german::ROWS, french::ROWS, spanish::ROWS];

/// Most words between the two parts of a phrase with `~`.
const BETWEEN_MAX: usize = 3;

/// A word or a phrase with its role.
struct Entry {
    /// The words of the phrase. The last may end with `*`.
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
        let fits =
            words.len() >= len
                && self.words.iter().zip(words).all(|(entry, word)| {
                    match entry.strip_suffix('*') {
                        Some(beginning) => word.starts_with(beginning),
                        None => entry == word,
                    }
                });
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

/// The entries of a language by the first two bytes of their first word. Entries with `*` have two bytes before it,
/// too.
type Table = BTreeMap<[u8; 2], Vec<Entry>>;

fn beginning(word: &str) -> [u8; 2] {
    let bytes = word.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    [byte(0), byte(1)]
}

static LOOKUPS: LazyLock<[Table; 4]> = LazyLock::new(|| {
    TABLES.map(|rows| {
        let mut table = Table::new();
        for (role, words) in rows {
            for entry in words.split_whitespace() {
                let entry = Entry::of(*role, entry);
                let first = beginning(entry.words[0]);
                table.entry(first).or_default().push(entry);
            }
        }
        table
    })
});

/// Returns the roles of the words in the language that knows most of them; the first among equals.
pub(crate) fn roles_of(words: &[&str]) -> Vec<Roles> {
    let mut best: Option<(usize, Vec<Roles>)> = None;
    for table in LOOKUPS.iter() {
        let mut roles = vec![Roles::default(); words.len()];
        for at in 0..words.len() {
            for entry in table.get(&beginning(words[at])).into_iter().flatten() {
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
                    }
                }
            }
        }
        let known = roles
            .iter()
            .filter(|roles| **roles != Roles::default())
            .count();
        if best.as_ref().is_none_or(|(most, _)| known > *most) {
            best = Some((known, roles));
        }
    }
    best.map(|(_, roles)| roles).unwrap_or_default()
}
