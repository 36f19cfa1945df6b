//! The rule for the same words with another value.

use crate::align::Hunk;
use crate::pair::Pair;
use crate::statement::{Kind, Statement, Word};
use crate::tables::Role;

impl Pair<'_> {
    /// Returns `true` for the same words with another value at the end.
    pub(crate) fn another_value(&self) -> bool {
        let older = self.older;
        let verb = older.words.get(older.pivot);
        if !older.knows_verb
            || older.any(Role::Many)
            || older.any(Role::Holds)
            || older.any(Role::Also)
            || verb.is_some_and(|word| word.has(Role::Past))
        {
            return false;
        }
        let subject = older.words[..older.pivot].iter();
        let subject = subject.filter(|word| word.is_content());
        if !subject.clone().all(|word| self.newer.has_like(word)) || subject.clone().count() == 0 {
            return false;
        }
        // The label of a note decides itself.
        if !self.keeps_names() || !self.keeps_tense() || older.label > 0 && self.newer.label > 0 {
            return false;
        }
        let is_named = subject.clone().any(|word| !word.has(Role::User));
        let verbs = |hunk: &&Hunk| {
            let words = self.older.words[hunk.older.clone()].iter();
            let mut words = words.filter(|word| word.is_content());
            hunk.older.start <= older.pivot + 1 && words.all(|word| word.has(Role::Verb))
        };
        let replaced: Vec<&Hunk> = self.replaced().filter(|hunk| !verbs(hunk)).collect();
        let dropped = self.aligned.hunks.iter().any(|hunk| {
            hunk.newer.is_empty() && older.words[hunk.older.clone()].iter().any(Word::is_content)
        });
        let behind = |hunk: &&Hunk| hunk.older.start >= older.pivot && hunk.newer.start > 0;
        if dropped || replaced.is_empty() || !replaced.iter().all(behind) {
            return false;
        }
        // Several values may change if all of them have the form of values.
        let all_values = replaced.iter().all(|hunk| self.are_values(hunk));
        let one = replaced.len() == 1;
        // A language that writes all nouns with a capital does not tell names by it.
        let all_names = !older.capital_nouns && replaced.iter().all(|hunk| self.are_names(hunk));
        if self.is_narrowed() || self.is_limited(&replaced) || !(one || all_values || all_names) {
            return false;
        }
        self.keeps_sign()
            && (all_values
                || is_named
                    && self.keeps_verb(replaced[0])
                    && self.keeps_preposition(replaced[0])
                    && !self.is_one_of_many()
                    && !self.may_use_both(replaced[0]))
    }

    /// Returns `true` if a hunk has values on both sides, of the same kinds.
    fn are_values(&self, hunk: &Hunk) -> bool {
        let kinds = |of: &Statement, range: std::ops::Range<usize>| {
            let words = of.words[range].iter().filter(|word| word.is_content());
            words.map(|word| word.kind).collect::<Vec<_>>()
        };
        let older = kinds(self.older, hunk.older.clone());
        let newer = kinds(self.newer, hunk.newer.clone());
        older.iter().all(|kind| kind.is_value()) && older.iter().all(|kind| newer.contains(kind))
    }

    /// Returns `true` if a hunk has only names or values on both sides.
    fn are_names(&self, hunk: &Hunk) -> bool {
        let named = |of: &Statement, range: std::ops::Range<usize>| {
            let mut words = of.words[range].iter().filter(|word| word.is_content());
            words.all(|word| word.kind != Kind::Word)
        };
        named(self.older, hunk.older.clone())
            && named(self.newer, hunk.newer.start..hunk.newer.start + 1)
    }

    /// Returns `true` if the words between subject and value are the same, with a verb or a name of the value among
    /// them.
    fn keeps_verb(&self, hunk: &Hunk) -> bool {
        let pivot = self.older.pivot;
        let verb = self
            .aligned
            .common
            .iter()
            .find(|(older, _)| *older == pivot);
        let has_verb = self.older.words[pivot..hunk.older.start]
            .iter()
            .any(|word| word.is_content() || word.has(Role::Verb));
        let is_same_verb = verb.is_some_and(|(_, newer)| *newer == self.newer.pivot);
        let relation = ["s", "of", "de", "du", "der", "des", "von", "del", "d"];
        let related = self.older.words[..pivot].iter();
        let related = related
            .map(|word| word.text.as_str())
            .any(|text| relation.contains(&text));
        let verbs = |of: &Statement, range: std::ops::Range<usize>| {
            of.words[range].iter().any(|word| word.has(Role::Verb))
        };
        let is = self.older.words[pivot].has(Role::Copula)
            && hunk.older.start > pivot
            && self.older.words[pivot + 1..hunk.older.start]
                .iter()
                .all(|word| word.has(Role::Function))
            && !verbs(self.older, hunk.older.clone())
            && !verbs(self.newer, hunk.newer.clone());
        let named_before = self.aligned.common.iter().any(|(older, newer)| {
            let word = &self.older.words[*older];
            older + 1 == hunk.older.start
                && newer + 1 == hunk.newer.start
                && *older > pivot
                && word.kind == Kind::Word
                && !word.has(Role::User)
                && word.is_content()
        });
        (is_same_verb || named_before)
            && (has_verb || (related || self.begins()) && is)
            && self.keeps_units(hunk)
    }

    /// Returns `true` if the numbers on both sides of a hunk have the same units.
    pub(crate) fn keeps_units(&self, hunk: &Hunk) -> bool {
        let units = |of: &Statement, range: std::ops::Range<usize>| -> Vec<Option<String>> {
            let numbers = range.filter(|at| of.words[*at].kind == Kind::Number);
            numbers.map(|at| of.unit(at).map(str::to_owned)).collect()
        };
        units(self.older, hunk.older.clone()) == units(self.newer, hunk.newer.clone())
    }
}
