//! Two statements side by side, and the questions that several rules ask of them.

use crate::align::{Alignment, Hunk};
use crate::statement::{Kind, Statement, Word, alike};
use crate::tables::Role;

/// Two statements and their alignment: the input of the rules.
pub(crate) struct Pair<'a> {
    pub(crate) older: &'a Statement,
    pub(crate) newer: &'a Statement,
    pub(crate) aligned: Alignment,
}

impl Pair<'_> {
    /// Returns `true` if the newer statement has a word of change that the older one lacks. A word in both tells of an
    /// earlier change.
    pub(crate) fn tells_change(&self) -> bool {
        let mut changes = self
            .newer
            .words
            .iter()
            .filter(|word| word.has(Role::Change));
        changes.any(|word| !self.older.has_like(word))
    }

    /// Returns `true` if only the newer statement has a word such as *now*.
    pub(crate) fn begins(&self) -> bool {
        self.newer.any(Role::Now) && !self.older.any(Role::Now)
    }

    /// Returns `true` if both statements have values of a kind, and each has one that the other lacks.
    pub(crate) fn differing(&self, of: &dyn Fn(Kind) -> bool) -> bool {
        let values = |of_which: &Statement, other: &Statement| {
            let mut values = of_which.words.iter().filter(|word| of(word.kind));
            values.any(|word| !other.words.iter().any(|other| alike(other, word)))
        };
        values(self.older, self.newer) && values(self.newer, self.older)
    }

    /// Returns the hunks with content words on both sides that the other statement lacks.
    pub(crate) fn replaced(&self) -> impl Iterator<Item = &Hunk> {
        let gone = |word: &Word| word.is_content() && !self.newer.has_like(word);
        let new = |word: &Word| word.is_content() && !self.older.has_like(word);
        self.aligned.hunks.iter().filter(move |hunk| {
            self.older.words[hunk.older.clone()].iter().any(gone)
                && self.newer.words[hunk.newer.clone()].iter().any(new)
        })
    }

    /// Returns the number of the older statement's content words that the newer one has, and the number of all, without
    /// values.
    pub(crate) fn coverage(&self) -> (usize, usize) {
        let mut all = 0;
        let mut shared = 0;
        let words = self
            .older
            .content()
            .filter(|word| !word.kind.is_value() && !word.has(Role::User));
        for word in words {
            let has = self.newer.has_like(word);
            // Verbs vary more freely than nouns, so missing verbs do not count.
            all += usize::from(has || !word.has(Role::Verb));
            shared += usize::from(has);
        }
        (shared, all)
    }

    /// Returns `true` if new words before the verb narrow the subject of the newer statement. The date from which it
    /// holds does not narrow it.
    pub(crate) fn is_narrowed(&self) -> bool {
        let before = &self.newer.words[..self.newer.pivot];
        let dated = before.iter().any(|word| word.has(Role::Now));
        before.iter().any(|word| {
            word.is_content() && !self.older.has_like(word) && !(dated && word.kind.is_value())
        })
    }

    /// Returns `true` if the newer statement adds words behind the new value in the same clause: *for uploads*.
    pub(crate) fn is_limited(&self, replaced: &[&Hunk]) -> bool {
        let Some(last) = replaced.last() else {
            return false;
        };
        let clause = self.newer.words[last.newer.start].clause;
        self.aligned.hunks.iter().any(|hunk| {
            let mut added = self.newer.words[hunk.newer.clone()].iter();
            hunk.older.is_empty()
                && hunk.newer.start >= last.newer.end
                && added.any(|word| word.is_content() && word.clause == clause)
        })
    }

    /// Returns `true` if both statements say that something holds, or both that it does not.
    pub(crate) fn keeps_sign(&self) -> bool {
        self.older.any(Role::Not) == self.newer.any(Role::Not)
    }

    /// Returns `true` if a number, time, day or version of the older statement has another value in the newer one.
    /// Numbers must have the same unit.
    pub(crate) fn measures_differ(&self) -> bool {
        let values = |of: &Statement| -> Vec<(Kind, String, Option<String>)> {
            let words = of
                .words
                .iter()
                .enumerate()
                .filter(|(_, word)| word.kind.is_value());
            let value = |(at, word): (usize, &Word)| {
                let unit = match word.kind {
                    Kind::Number => of.unit(at).map(str::to_owned),
                    _ => None,
                };
                (word.kind, word.text.clone(), unit)
            };
            words.map(value).collect()
        };
        let (older, newer) = (values(self.older), values(self.newer));
        older.iter().any(|(kind, _, unit)| {
            let same_unit = |other: &Option<String>| match (unit, other) {
                (Some(a), Some(b)) => a == b || a.trim_end_matches('s') == b.trim_end_matches('s'),
                (None, None) => true,
                _ => false,
            };
            let same_kind =
                |other: &&(Kind, String, Option<String>)| other.0 == *kind && same_unit(&other.2);
            let others = newer.iter().filter(same_kind);
            let mut new = others.filter(|other| !older.iter().any(|known| known.1 == other.1));
            *kind != Kind::Identifier && new.next().is_some()
        })
    }
}
