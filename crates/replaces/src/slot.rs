//! The rules for statements that leave one place open and fill it differently: *the default branch is …*.
//!
//! Both say the same but for one value behind the verb or the label, or one holder before it. The value counts as
//! replaced if the place has one value at a time: a label or a subject tells so, or the newer statement says *now*, or
//! both name the same purpose.

use std::ops::Range;

use crate::align::Hunk;
use crate::pair::Pair;
use crate::statement::{Kind, Statement, Word, alike};
use crate::tables::Role;

/// Most words of a value. Raised, descriptions count as values.
const VALUE_WORDS: usize = 4;

/// The form of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Words in lower case.
    Plain,
    /// Words with capitals in a language that writes all nouns so: names and other nouns.
    Noun,
    /// A name, or a name in a program.
    Named,
    /// A number, a time or a date.
    Measured(Kind),
}

/// A value and the words of its statement before it.
struct Filler<'a> {
    words: &'a [Word],
    /// Prepositions and articles in front of the value that the other statement lacks.
    before: Vec<&'a str>,
    form: Form,
}

/// The one difference of two statements.
struct Slot<'a> {
    hunk: &'a Hunk,
    older: Filler<'a>,
    newer: Filler<'a>,
}

impl Pair<'_> {
    /// Returns `true` if the statements differ in one value, and only one value at a time can stand in its place.
    pub(crate) fn fills_slot(&self) -> bool {
        let Some(slot) = self.slot() else {
            return false;
        };
        let start = self.older.pivot.max(self.older.label);
        let has_states = self.older.words[..start]
            .iter()
            .any(|word| word.has(Role::Status));
        if !has_states && (is_state(&slot.older) || is_state(&slot.newer)) {
            return false;
        }
        if self.older.label > 0 || self.newer.label > 0 {
            return self.has_one_label(&slot);
        }
        let verb = &self.older.words[self.older.pivot];
        let verbs = (self.older.pivot, self.newer.pivot);
        self.aligned.common.contains(&verbs)
            && !verb.has(Role::Past)
            && (self.is_of_one(&slot) || self.is_from_now(&slot) || self.has_purpose(&slot))
    }

    /// Returns the one difference of the statements, if it is a value behind verb or label, and the words before it
    /// name the same thing.
    fn slot(&self) -> Option<Slot<'_>> {
        let hunk = self.only_difference()?;
        let start = |of: &Statement| match of.label {
            0 if of.knows_verb => of.pivot + 1,
            0 => usize::MAX,
            label => label,
        };
        let is_behind =
            hunk.older.start >= start(self.older) && hunk.newer.start >= start(self.newer);
        let keeps = self.keeps_rest(hunk) && self.keeps_names();
        if !is_behind || !keeps || !self.keeps_tense() || !self.keeps_sign() {
            return None;
        }
        let older = filler(self.older, hunk.older.clone())?;
        let newer = filler(self.newer, hunk.newer.clone())?;
        let is_placed = older.before == newer.before || self.older.label > 0;
        let fits = is_placed && !self.tells_change();
        fits.then_some(Slot { hunk, older, newer })
    }

    /// Returns the hunk with content words if there is only one.
    fn only_difference(&self) -> Option<&Hunk> {
        let mut with_content = self.aligned.hunks.iter().filter(|hunk| {
            let (older, newer) = self.sides(hunk);
            older.iter().chain(newer).any(Word::is_content)
        });
        let hunk = with_content.next()?;
        with_content.next().is_none().then_some(hunk)
    }

    /// Returns `true` if the statements differ beside a hunk in articles and words such as *now* only. *My* and *his*
    /// are no content, and yet tell of two persons.
    fn keeps_rest(&self, hunk: &Hunk) -> bool {
        let skips = |word: &Word| word.has(Role::Now) || word.is_the();
        self.aligned.hunks.iter().all(|other| {
            let (older, newer) = self.sides(other);
            other == hunk || older.iter().chain(newer).all(skips)
        })
    }

    /// Returns the words of a hunk in both statements.
    fn sides(&self, hunk: &Hunk) -> (&[Word], &[Word]) {
        let older = &self.older.words[hunk.older.clone()];
        (older, &self.newer.words[hunk.newer.clone()])
    }

    /// Returns `true` if both have the same label, and the label has one value at a time: *database: …*.
    fn has_one_label(&self, slot: &Slot) -> bool {
        let label = &self.older.words[..self.older.label];
        let other = &self.newer.words[..self.newer.label];
        let is_same =
            label.len() == other.len() && label.iter().zip(other).all(|(a, b)| alike(a, b));
        let is_measured = |filler: &Filler| matches!(filler.form, Form::Measured(_));
        let fits = is_measured(&slot.older) == is_measured(&slot.newer)
            || slot.older.form == Form::Plain
            || slot.newer.form == Form::Plain;
        is_same
            && fits
            && (slot.older.form != slot.newer.form || self.keeps_units(slot.hunk))
            && (slot.hunk.older.start == label.len() || is_measured(&slot.older))
            && label.iter().any(|word| word.has(Role::Single))
            && !is_alone(label)
    }

    /// Returns `true` for a known thing that *is* one of its kind: *the default branch is …*, *our room is …*.
    fn is_of_one(&self, Slot { hunk, older, newer }: &Slot) -> bool {
        let pivot = self.older.pivot;
        let subject = &self.older.words[..pivot];
        let any = |role| subject.iter().any(|word| word.has(role));
        let first = subject.first();
        let is_known = first.is_some_and(|word| word.has(Role::Definite)) || any(Role::User);
        let is_single = any(Role::Single);
        let is_bare = older.before.iter().all(|word| *word == "the");
        let mut between = self.older.words[pivot + 1..hunk.older.start].iter();
        let is_direct = hunk.older.start == pivot + 1;
        // *The office is in Bonn*: a place has a name.
        let is_placed = older.form == Form::Named
            && newer.form == Form::Named
            && between.all(|word| word.has(Role::BeforeNoun) && !word.has(Role::Indefinite));
        let parts = subject.iter().filter(|word| word.is_content()).count();
        is_known
            && is_bare
            && !(is_alone(subject) && subject[0].is_the())
            && (is_direct || is_placed)
            && self.older.words[pivot].has(Role::Is)
            && !self.is_one_of_many()
            && match (older.form, newer.form) {
                // *Our meeting room* is one of its kind, *our customer* may be one of many.
                (Form::Named, Form::Named) => {
                    is_single || (parts > 1 || !is_direct) && !any(Role::User)
                }
                // *The theme is dark*, then *Solarized*; but not *the chief is Anna*, then *ill*.
                (Form::Plain, Form::Named | Form::Plain) => is_single && !any(Role::Person),
                (older, newer) => is_single && older == newer,
            }
    }

    /// Returns `true` if the newer statement says that the value holds from now on.
    fn is_from_now(&self, Slot { hunk, older, newer }: &Slot) -> bool {
        let pivot = self.older.pivot;
        let verb = &self.older.words[pivot];
        let between = &self.older.words[pivot + 1..hunk.older.start];
        let behind = self.older.words.get(hunk.older.end);
        // *Prefers dark mode* and *light mode* share the noun, *wants answers in English* and *in German*, too.
        let is_shared =
            behind.is_some_and(Word::is_content) || between.iter().any(Word::is_content);
        let is_bare = older.before.is_empty();
        let is_direct = !verb.has(Role::Is) && between.is_empty() && is_bare;
        let is_with = is_bare && between.last().is_some_and(|word| word.has(Role::With));
        // *Leads the hiring team* may be another task of the same person.
        let is_task = verb.has(Role::Holds) && !between.iter().any(Word::is_content);
        self.begins()
            && !is_task
            && (!verb.has(Role::Many) && !verb.has(Role::Adds) || is_shared)
            && (is_direct || is_with || older.form == newer.form)
    }

    /// Returns `true` if all words behind the value tell the same purpose: *use … for the frontend*.
    fn has_purpose(&self, slot: &Slot) -> bool {
        let pivot = self.older.pivot;
        let verb = &self.older.words[pivot];
        let purpose = &self.older.words[slot.hunk.older.end..];
        purpose.first().is_some_and(|word| word.has(Role::For))
            && purpose.iter().any(Word::is_content)
            && slot.hunk.older.start == pivot + 1
            && verb.has(Role::Verb)
            && !verb.has(Role::Many)
            && !verb.has(Role::Holds)
    }

    /// Returns `true` if another person or thing has a role that one has at a time: *Ada is the CTO*, *Bo is the CTO*.
    pub(crate) fn is_held_by_another(&self) -> bool {
        let (older, newer) = (self.older, self.newer);
        let hunk = self.only_difference().filter(|hunk| self.keeps_rest(hunk));
        let Some(hunk) = hunk.filter(|_| older.knows_verb) else {
            return false;
        };
        let role = &older.words[older.pivot..];
        let is_role = role.len() > 2 && role[0].has(Role::Is) && role[1].has(Role::Definite);
        let any = |of| role.iter().any(|word| word.has(of));
        let is_name = |of: &Statement| {
            let mut words = of.words[..of.pivot].iter();
            words.all(|word| word.has(Role::Now) || word.is_content() && !word.has(Role::Kin))
        };
        let is_subject = hunk.older == (0..older.pivot)
            && hunk.newer.start == 0
            && hunk.newer.end <= newer.pivot
            && self.aligned.common.contains(&(older.pivot, newer.pivot));
        is_role
            && is_subject
            && is_name(older)
            && is_name(newer)
            && self.keeps_sign()
            && !any(Role::Several)
            && (any(Role::Single) || self.begins())
    }

    /// Returns `true` if both sides of a hunk have the same preposition and the same form: *lives in …* has another
    /// value in *lives in Bonn*, and none in *lives with Anna* or *lives in a flat*.
    pub(crate) fn keeps_preposition(&self, hunk: &Hunk) -> bool {
        fn side(words: &[Word]) -> (Vec<&str>, Option<&Word>) {
            let first = words.iter().position(Word::is_content);
            let before = words[..first.unwrap_or(words.len())].iter();
            let before = before.filter(|word| !word.has(Role::Now));
            let value = first.map(|at| &words[at]);
            (before.map(same_article).collect(), value)
        }
        let (older, newer) = self.sides(hunk);
        let ((older_before, older), (newer_before, newer)) = (side(older), side(newer));
        let is_plain = |word: Option<&Word>| word.is_some_and(|word| word.kind == Kind::Word);
        let is_state = |word| is_plain(word) && word.is_some_and(|word| word.has(Role::State));
        let before = hunk.older.start.checked_sub(1);
        let before = before.map(|at| &self.older.words[at]);
        let is_free = older_before.is_empty()
            && before.is_some_and(|word| word.is_content() || word.has(Role::With));
        older_before == newer_before
            && !is_state(older)
            && !is_state(newer)
            && (is_free || is_plain(older) == is_plain(newer))
    }

    /// Returns `true` for a verb of using without *now*, or with a purpose on one side only: *uses Rust* and *uses
    /// Docker* are both true.
    pub(crate) fn may_use_both(&self, hunk: &Hunk) -> bool {
        let verb = self.older.words.get(self.older.pivot);
        let (older, newer) = self.sides(hunk);
        let has_purpose = |words: &[Word]| words.iter().any(|word| word.has(Role::For));
        let is = |role| verb.is_some_and(|verb| verb.has(role));
        let uses = !self.begins() || has_purpose(older) != has_purpose(newer);
        is(Role::Adds) && hunk.older.start == self.older.pivot + 1 || is(Role::Uses) && uses
    }

    /// Returns `true` if the subject of the older statement is one of many: *the user's friend*, *one of the rooms*.
    pub(crate) fn is_one_of_many(&self) -> bool {
        let subject = &self.older.words[..self.older.pivot.max(self.older.label)];
        let any = |role| subject.iter().any(|word| word.has(role));
        let is_many = any(Role::Several) || any(Role::Kin) && !self.begins();
        is_many && !any(Role::Single)
    }
}

/// Returns one form of each article, so that *a* and *an* are equal.
fn same_article(word: &Word) -> &str {
    match () {
        () if word.has(Role::Indefinite) => "a",
        () if word.is_the() => "the",
        () => &word.text,
    }
}

/// Returns `true` if the words name an attribute without its owner: *name: …*, *the host is …*.
fn is_alone(words: &[Word]) -> bool {
    let mut content = words.iter().filter(|word| word.is_content());
    content.all(|word| word.has(Role::Attribute))
}

/// Returns `true` if a value tells how something is: *is slow*, *is protected*.
fn is_state(filler: &Filler) -> bool {
    let is_state = |word: &Word| word.kind == Kind::Word && word.has(Role::State);
    filler.words.iter().any(is_state)
}

/// Returns the value in a range of words; `None` if the words are more than one value.
fn filler(of: &Statement, range: Range<usize>) -> Option<Filler<'_>> {
    const OTHERS: [Role; 8] = [
        Role::Verb,
        Role::Copula,
        Role::Past,
        Role::Change,
        Role::End,
        Role::Not,
        Role::BeforeNoun,
        Role::Joint,
    ];
    let words = &of.words[range];
    let first = words.iter().position(Word::is_content)?;
    let last = words.iter().rposition(Word::is_content)?;
    let (before, behind) = (&words[..first], &words[last + 1..]);
    let words = &words[first..=last];
    let is_other = |word: &Word| OTHERS.iter().any(|role| word.has(*role));
    let is_one = words.len() <= VALUE_WORDS
        && behind.iter().all(|word| word.has(Role::Now))
        && words.iter().all(|word| word.clause == words[0].clause)
        && !words.iter().any(is_other);
    // The first word that is not plain tells: *Pixel 8* is a name, *40 GB* a number.
    let form = match words
        .iter()
        .map(|word| word.kind)
        .find(|kind| *kind != Kind::Word)
    {
        None => Form::Plain,
        Some(Kind::Name) if of.capital_nouns => Form::Noun,
        Some(Kind::Name | Kind::Identifier) => Form::Named,
        Some(kind) => Form::Measured(kind),
    };
    let before = before.iter().filter(|word| !word.has(Role::Now));
    is_one.then(|| Filler {
        words,
        before: before.map(same_article).collect(),
        form,
    })
}
