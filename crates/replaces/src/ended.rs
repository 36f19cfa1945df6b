//! The rule for an old value that the newer statement itself calls ended.

use crate::pair::Pair;
use crate::statement::{Kind, Statement, Word, alike};
use crate::tables::Role;

/// Most words from *instead of* to the old value. Raised, unrelated words are taken for the old value.
const BEHIND: usize = 4;
/// Most words between an old value and the word that ends it. Raised, ends of other things count.
const ENDED_WITHIN: usize = 6;
/// Most words from *from* to the old value. Raised, *from* of another phrase counts.
const FROM_WITHIN: usize = 2;
/// Most words from the old value to *to*. Raised, *to* of another phrase counts.
const TO_WITHIN: usize = 4;

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
        let older = self.older;
        // The verb is no value, and what the older statement itself gives up is not the value that it has.
        let is_value_at = |at: &usize| {
            older.may_be_value(*at)
                && !(older.knows_verb && *at == older.pivot)
                && !older.gives_up(*at, &|_| true)
        };
        let values: Vec<usize> = (0..older.words.len()).filter(is_value_at).collect();
        let is_value = |word: &Word| {
            let mut values = values.iter().map(|at| &older.words[*at]);
            word.is_content() && values.any(|value| alike(value, word))
        };
        let ended = words.iter().enumerate();
        let mut ended = ended.filter(|(at, word)| is_value(word) && self.is_ended(*at));
        let shared =
            |word: &Word| word.is_content() && self.older.content().any(|other| alike(other, word));
        let is_new = |word: &Word| word.is_content() && !self.older.has_like(word);
        let has_subject = |at: usize, ended: &Word| {
            let mut others = words.iter().filter(|word| word.text != ended.text);
            others.any(shared) || self.is_change_of_speaker(at)
        };
        let is_told = words.iter().any(|word| is_new(word) || word.has(Role::End));
        is_told && ended.any(|(at, word)| has_subject(at, word))
    }

    /// Returns `true` if the newer statement says of its word at a place that it has ended.
    fn is_ended(&self, at: usize) -> bool {
        let words = &self.newer.words;
        let clause = words[at].clause;
        let mut in_clause = words.iter().filter(|other| other.clause == clause);
        let comes_again = in_clause.any(|word| word.has(Role::Repeated));
        let ended = words.iter().enumerate().any(|(place, other)| {
            let between = &words[place.min(at)..place.max(at)];
            !comes_again
                && other.clause == clause
                && other.has(Role::End)
                && place.abs_diff(at) <= ENDED_WITHIN
                && !self.is_of_another_end(at)
                && !between.iter().any(|word| word.has(Role::Relative))
        });
        let before = at.checked_sub(1).map(|at| &words[at]);
        let is_denied =
            words[at].kind == Kind::Identifier && before.is_some_and(|other| other.has(Role::None));
        ended
            || is_denied
            || self.newer.gives_up(at, &|word| self.older.has_like(word)) && !self.is_elsewhere(at)
    }

    /// Returns `true` if the newer statement speaks of another place or purpose than the older one: *for the backend*
    /// instead of *for the frontend*, or of one where the older one speaks of all.
    fn is_elsewhere(&self, at: usize) -> bool {
        let is_other = self.replaced().any(|hunk| {
            let (Some(older), Some(newer)) = (
                hunk.older.start.checked_sub(1),
                hunk.newer.start.checked_sub(1),
            ) else {
                return false;
            };
            newer > at && self.aligned.common.contains(&(older, newer))
        });
        let words = &self.newer.words;
        let is_part = (at + 1..words.len().saturating_sub(2)).any(|place| {
            let follows = &words[place + 1..];
            let is_phrase = words[place].has(Role::BeforeNoun)
                && !words[place].has(Role::To)
                && follows[0].has(Role::Definite);
            let noun = follows.iter().find(|word| word.is_content());
            is_phrase
                && words[place].clause == words[at].clause
                && noun.is_some_and(|noun| !noun.kind.is_value() && !self.older.has_like(noun))
        });
        is_other || is_part
    }

    /// Returns `true` if the word at a place only belongs to another thing that has ended: *semicolons in TypeScript*.
    fn is_of_another_end(&self, at: usize) -> bool {
        let (older, newer) = (self.older, self.newer);
        let preposition = |of: &Statement, at: usize| {
            let before = of.words[at.saturating_sub(2)..at].iter().rev();
            let mut before = before.take_while(|word| word.has(Role::BeforeNoun));
            let preposition = before.find(|word| !word.is_the() && !word.has(Role::Indefinite));
            preposition.map(|word| word.text.clone())
        };
        let is_new = |word: &Word| word.is_content() && !older.has_like(word);
        preposition(newer, at).is_some_and(|own| {
            let mut places = (0..older.words.len())
                .filter(|place| alike(&older.words[*place], &newer.words[at]));
            let is_same = places.any(|place| preposition(older, place).as_ref() == Some(&own));
            let clause = newer.words[at].clause;
            let mut before = newer.words[..at]
                .iter()
                .filter(|word| word.clause == clause);
            !is_same && before.any(is_new)
        })
    }

    /// Returns `true` if the one who writes changed from the word at a place to another: *we use A*, *we switched from
    /// A to B*; but not *we moved the shop from A to B*.
    fn is_change_of_speaker(&self, at: usize) -> bool {
        let newer = self.newer;
        let from = newer.words[..at]
            .iter()
            .rposition(|word| word.has(Role::From));
        let is_new = |word: &Word| word.is_content() && !self.older.has_like(word);
        from.is_some_and(|from| {
            let between = newer.words.get(newer.pivot + 1..from).unwrap_or_default();
            newer.any(Role::Change) && !between.iter().any(is_new)
        }) && self.is_of_one_speaker()
    }

    /// Returns `true` if nobody else is the subject of either statement than the one who writes: *we use*, *use*,
    /// *switched to*.
    pub(crate) fn is_of_one_speaker(&self) -> bool {
        let subject = |of: &Statement| {
            let subject = &of.words[..of.pivot];
            let is_unnamed = of.knows_verb && !subject.iter().any(Word::is_content);
            let named = subject.iter().find(|word| word.has(Role::Pronoun));
            is_unnamed.then(|| named.map(|word| (word.text.clone(), word.has(Role::Speaker))))
        };
        match (subject(self.older), subject(self.newer)) {
            (Some(None), Some(None)) => true,
            (Some(Some(older)), Some(Some(newer))) => older == newer,
            (Some(None), Some(Some((_, speaks)))) | (Some(Some((_, speaks))), Some(None)) => speaks,
            _ => false,
        }
    }
}

impl Statement {
    /// Returns `true` if the statement names another value in the place of its word: *instead of A*, *switched from A
    /// to B*. `skips` admits other content words between *instead of* and the value.
    fn gives_up(&self, at: usize, skips: &dyn Fn(&Word) -> bool) -> bool {
        let words = &self.words;
        let changes = self.any(Role::Change);
        let mut before = words[at.saturating_sub(BEHIND)..at].iter().rev();
        let mut passed_to = false;
        let before = before.find(|word| {
            passed_to |= word.has(Role::To);
            let is_from = word.has(Role::From);
            word.has(Role::Before) && (!is_from || changes && !passed_to)
                || word.is_content() && !skips(word)
        });
        let replaced = before.is_some_and(|word| word.has(Role::Before));
        let near = &words[at.saturating_sub(FROM_WITHIN)..at];
        let behind = words[at + 1..].iter().take(TO_WITHIN);
        let mut behind = behind.take_while(|word| word.clause == words[at].clause);
        let passes = changes
            && near.iter().any(|word| word.has(Role::From))
            && behind.any(|word| word.has(Role::To));
        replaced || passes
    }
}
