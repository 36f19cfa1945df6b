//! The rule for an old value that the newer statement itself calls ended.

use crate::pair::Pair;
use crate::statement::{Kind, Word, alike};
use crate::tables::Role;

/// Most words from *instead of* to the old value. Raised, unrelated words are taken for the old value.
const BEHIND: usize = 4;
/// Most words between an old value and the word that ends it. Raised, ends of other things count.
const ENDED_WITHIN: usize = 6;

impl Pair<'_> {
    /// Returns `true` if a value of the older statement stands in a clause that says that something has ended.
    pub(crate) fn old_value_ended(&self) -> bool {
        // A statement about one end tells nothing of another end.
        if self.older.any(Role::End) {
            return false;
        }
        let words = &self.newer.words;
        let (mut all, mut kept) = (0, 0);
        for word in self.older.content() {
            all += 1;
            kept += usize::from(self.newer.has_like(word));
        }
        let mut subject = self.older.words[..self.older.pivot].iter();
        let mut subject = subject.by_ref().filter(|word| word.is_content()).peekable();
        let unknown = subject.peek().is_some() && !subject.any(|word| self.newer.has_like(word));
        if 3 * kept < all || unknown {
            return false;
        }
        let is_value = |word: &Word| {
            let mut places = (0..self.older.words.len()).filter(|at| self.older.may_be_value(*at));
            word.is_content() && places.any(|at| alike(&self.older.words[at], word))
        };
        let is_ended = |at: usize, word: &Word| {
            let mut clause = words.iter().filter(|other| other.clause == word.clause);
            let comes_again = clause.any(|word| word.has(Role::Repeated));
            let ended = words.iter().enumerate().any(|(place, other)| {
                let between = &words[place.min(at)..place.max(at)];
                !comes_again
                    && other.clause == word.clause
                    && other.has(Role::End)
                    && place.abs_diff(at) <= ENDED_WITHIN
                    && !between.iter().any(|word| word.has(Role::Relative))
            });
            let before = |back: usize| at.checked_sub(back).map(|at| &words[at]);
            let replaced = (1..=BEHIND).filter_map(before).any(|other| {
                other.has(Role::Before) && (other.text != "from" || self.newer.any(Role::Change))
            });
            let denied = word.kind == Kind::Identifier
                && before(1).is_some_and(|other| other.has(Role::None));
            ended || replaced || denied
        };
        let ended = words
            .iter()
            .enumerate()
            .filter(|(at, word)| is_value(word) && is_ended(*at, word));
        let shared =
            |word: &Word| word.is_content() && self.older.content().any(|other| alike(other, word));
        let is_new = |word: &Word| word.is_content() && !self.older.has_like(word);
        let has_subject = |ended: &Word| {
            words
                .iter()
                .any(|word| shared(word) && word.text != ended.text)
        };
        let is_told = words.iter().any(|word| is_new(word) || word.has(Role::End));
        ended.map(|(_, word)| word).any(has_subject) && is_told
    }
}
