//! The rules. Each one looks at two statements and their alignment; the first rule that is sure decides.

use crate::align::{Alignment, Hunk};
use crate::statement::{Kind, Statement, Word, alike};
use crate::tables::Role;
use crate::{Judgement, Reason, Verdict};

/// Most words from *instead of* to the old value. Raised, unrelated words are taken for the old value.
const BEHIND: usize = 4;
/// Most words between an old value and the word that ends it. Raised, ends of other things count.
const ENDED_WITHIN: usize = 6;
/// Most words of a statement that can be replaced for sure. Raised, texts with several facts count as replaced by one.
const OLDER_WORDS: usize = 25;
/// Most words of a statement that can replace another for sure. Raised, texts with several facts can replace one.
const NEWER_WORDS: usize = 35;

/// Two statements and their alignment: the input of the rules.
pub(crate) struct Pair<'a> {
    older: &'a Statement,
    newer: &'a Statement,
    aligned: Alignment,
}

/// Returns the verdict on `newer` as a replacement of `older`, and the deciding rule.
pub(crate) fn judge(older: &Statement, newer: &Statement) -> Judgement {
    let no = Judgement {
        verdict: Verdict::No,
        reason: Reason::Another,
    };
    let shared = older.content().any(|word| newer.has_like(word));
    if !shared {
        return no;
    }
    let pair = Pair {
        older,
        newer,
        aligned: Alignment::of(older, newer),
    };
    if pair.says_the_same() || pair.is_apart() {
        return no;
    }
    // An older text of several sentences says more than one of them.
    if older.sentences > 1 || older.words.len() > OLDER_WORDS || newer.words.len() > NEWER_WORDS {
        return match !pair.another_subject() && pair.may_replace() {
            true => Judgement {
                verdict: Verdict::Doubtful,
                reason: Reason::SameSubject,
            },
            false => no,
        };
    }
    if pair.old_value_ended() {
        return Judgement {
            verdict: Verdict::Yes,
            reason: Reason::Ended,
        };
    }
    let holder = pair.another_holder();
    if !holder && pair.another_subject() {
        return no;
    }
    let rules = [
        (holder, Reason::AnotherHolder),
        (pair.another_value(), Reason::AnotherValue),
        (pair.another_measure(), Reason::AnotherMeasure),
        (pair.turned(), Reason::Turned),
        (pair.changed(), Reason::Changed),
    ];
    match rules.into_iter().find(|(fits, _)| *fits) {
        Some((_, reason)) => Judgement {
            verdict: Verdict::Yes,
            reason,
        },
        None if pair.may_replace() => Judgement {
            verdict: Verdict::Doubtful,
            reason: Reason::SameSubject,
        },
        None => no,
    }
}

impl Pair<'_> {
    /// Returns `true` if the newer statement has a word of change that the older one lacks. A word in both tells of an
    /// earlier change.
    fn tells_change(&self) -> bool {
        let mut changes = self
            .newer
            .words
            .iter()
            .filter(|word| word.has(Role::Change));
        changes.any(|word| !self.older.has_like(word))
    }

    /// Returns `true` if only the newer statement has a word such as *now*.
    fn begins(&self) -> bool {
        self.newer.any(Role::Now) && !self.older.any(Role::Now)
    }

    fn says_the_same(&self) -> bool {
        let differs = |hunk: &Hunk| {
            self.older.words[hunk.older.clone()]
                .iter()
                .any(Word::is_content)
                || self.newer.words[hunk.newer.clone()].iter().any(|word| {
                    word.is_content()
                        || [Role::Not, Role::End, Role::Off, Role::Change]
                            .iter()
                            .any(|role| word.has(*role))
                })
                || self.older.words[hunk.older.clone()]
                    .iter()
                    .any(|word| word.has(Role::Not) || word.has(Role::Off))
        };
        !self.aligned.hunks.iter().any(differs)
    }

    /// Returns `true` if the newer statement itself says that both hold: an addition, an exception, another person, one
    /// more event.
    fn is_apart(&self) -> bool {
        let news = |role| self.newer.any(role) && !self.older.any(role);
        if news(Role::Also) || self.another_person() {
            return true;
        }
        let dated = self
            .older
            .words
            .iter()
            .any(|word| matches!(word.kind, Kind::Date | Kind::Time));
        let moves_a_date = dated && self.tells_change();
        if news(Role::Bounded) && !moves_a_date {
            return true;
        }
        self.is_another_in_row() || self.is_another_event()
    }

    /// Returns `true` if both tell of different members of a row: *the first quarter*, *the second*.
    fn is_another_in_row(&self) -> bool {
        let in_row = |of: &Statement, other: &Statement| {
            let mut in_row = of.words.iter().filter(|word| word.has(Role::Ordinal));
            in_row.any(|word| !other.has_like(word))
        };
        in_row(self.older, self.newer) && in_row(self.newer, self.older) && !self.tells_change()
    }

    fn another_person(&self) -> bool {
        let kin = |word: &&Word| word.has(Role::Kin);
        let subject = self.newer.words.iter().take(self.newer.pivot);
        subject.filter(kin).any(|word| !self.older.has_like(word))
    }

    /// Returns `true` for entries of a diary: two days, each with another number or name.
    fn is_another_event(&self) -> bool {
        let day = |kind| matches!(kind, Kind::Date | Kind::Weekday);
        let days = self.differing(&day);
        let numbers = self.differing(&|kind| matches!(kind, Kind::Number | Kind::Identifier));
        let others = self.replaced().any(|hunk| {
            let is_other = |word: &Word| word.is_content() && !word.kind.is_value();
            self.older.words[hunk.older.clone()].iter().any(is_other)
                && self.newer.words[hunk.newer.clone()].iter().any(is_other)
        });
        let ends = self.newer.any(Role::End);
        days && (numbers || others) && !self.tells_change() && !self.begins() && !ends
    }

    /// Returns `true` if both statements have values of a kind, and each has one that the other lacks.
    fn differing(&self, of: &dyn Fn(Kind) -> bool) -> bool {
        let values = |of_which: &Statement, other: &Statement| {
            let mut values = of_which.words.iter().filter(|word| of(word.kind));
            values.any(|word| !other.words.iter().any(|other| alike(other, word)))
        };
        values(self.older, self.newer) && values(self.newer, self.older)
    }

    /// Returns the hunks with content words on both sides that the other statement lacks.
    fn replaced(&self) -> impl Iterator<Item = &Hunk> {
        let gone = |word: &Word| word.is_content() && !self.newer.has_like(word);
        let new = |word: &Word| word.is_content() && !self.older.has_like(word);
        self.aligned.hunks.iter().filter(move |hunk| {
            self.older.words[hunk.older.clone()].iter().any(gone)
                && self.newer.words[hunk.newer.clone()].iter().any(new)
        })
    }

    /// Returns `true` if both say the same of different subjects: words before a common verb are replaced.
    fn another_subject(&self) -> bool {
        let verb = self.older.pivot;
        let common_verb = self.aligned.common.iter().find(|(older, _)| *older >= verb);
        let Some((_, newer_verb)) = common_verb else {
            return false;
        };
        let two = self.replaced().count() > 1;
        self.replaced().any(|hunk| {
            let before = hunk.older.end <= verb && hunk.newer.end <= *newer_verb;
            let first = hunk.older.start <= 1 && two && !self.older.knows_verb;
            before && (self.newer.pivot >= hunk.newer.end || first)
        })
    }

    /// Returns `true` if a value of the older statement stands in a clause that says that something has ended.
    fn old_value_ended(&self) -> bool {
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

    /// Returns `true` if the same role has another holder.
    fn another_holder(&self) -> bool {
        let mut gone = self
            .older
            .content()
            .filter(|word| !self.newer.has_like(word))
            .peekable();
        if gone.peek().is_none() || gone.any(|word| word.kind != Kind::Name && !self.starts(word)) {
            return false;
        }
        let shared = self
            .older
            .content()
            .filter(|word| self.newer.has_like(word))
            .count();
        let names = self
            .newer
            .words
            .iter()
            .any(|word| word.kind == Kind::Name || std::ptr::eq(word, &self.newer.words[0]));
        let role = self
            .older
            .words
            .get(self.older.pivot)
            .is_some_and(|word| word.has(Role::Copula));
        let the = self
            .older
            .words
            .get(self.older.pivot + 1)
            .is_some_and(|word| {
                ["the", "der", "die", "das", "le", "la", "l", "el"].contains(&word.text.as_str())
            });
        let mut news = self
            .newer
            .content()
            .filter(|word| !self.older.has_like(word));
        let verb = self.older.words.get(self.older.pivot);
        let holds = verb.is_some_and(|verb| verb.has(Role::Holds) && self.newer.has_like(verb));
        let only_name = news.next().is_some() && news.next().is_none();
        names && shared >= 2 && (role && the || holds && only_name || self.tells_change())
    }

    /// Returns `true` for the first word of its statement, which may be a name.
    fn starts(&self, word: &Word) -> bool {
        self.older.words.first() == Some(word) && self.older.pivot <= 2
    }

    /// Returns `true` for the same words with another value at the end.
    fn another_value(&self) -> bool {
        let older = self.older;
        let verb = older.words.get(older.pivot);
        if !older.knows_verb
            || older.any(Role::Many)
            || older.any(Role::Holds)
            || verb.is_some_and(|word| word.has(Role::Past))
        {
            return false;
        }
        let subject = older.words[..older.pivot].iter();
        let subject = subject.filter(|word| word.is_content());
        if !subject.clone().all(|word| self.newer.has_like(word)) || subject.clone().count() == 0 {
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
        let all_names = replaced.iter().all(|hunk| self.are_names(hunk));
        if self.is_narrowed() || self.is_limited(&replaced) || !(one || all_values || all_names) {
            return false;
        }
        self.keeps_sign() && (all_values || is_named && self.keeps_verb(replaced[0]))
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

    /// Returns `true` if new words before the verb narrow the subject of the newer statement. The date from which it
    /// holds does not narrow it.
    fn is_narrowed(&self) -> bool {
        let before = &self.newer.words[..self.newer.pivot];
        let dated = before.iter().any(|word| word.has(Role::Now));
        before.iter().any(|word| {
            word.is_content() && !self.older.has_like(word) && !(dated && word.kind.is_value())
        })
    }

    /// Returns `true` if the newer statement adds words behind the new value in the same clause: *for uploads*.
    fn is_limited(&self, replaced: &[&Hunk]) -> bool {
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

    /// Returns `true` if a hunk has only names or values on both sides.
    fn are_names(&self, hunk: &Hunk) -> bool {
        let named = |of: &Statement, range: std::ops::Range<usize>| {
            let mut words = of.words[range].iter().filter(|word| word.is_content());
            words.all(|word| word.kind != Kind::Word)
        };
        named(self.older, hunk.older.clone())
            && named(self.newer, hunk.newer.start..hunk.newer.start + 1)
    }

    /// Returns `true` if both statements say that something holds, or both that it does not.
    fn keeps_sign(&self) -> bool {
        self.older.any(Role::Not) == self.newer.any(Role::Not)
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
    fn keeps_units(&self, hunk: &Hunk) -> bool {
        let units = |of: &Statement, range: std::ops::Range<usize>| -> Vec<Option<String>> {
            let numbers = range.filter(|at| of.words[*at].kind == Kind::Number);
            numbers.map(|at| of.unit(at).map(str::to_owned)).collect()
        };
        units(self.older, hunk.older.clone()) == units(self.newer, hunk.newer.clone())
    }

    /// Returns the number of the older statement's content words that the newer one has, and the number of all, without
    /// values.
    fn coverage(&self) -> (usize, usize) {
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

    /// Returns `true` for another value of the same kind and unit in a statement that shares most of the words.
    fn another_measure(&self) -> bool {
        let (shared, all) = self.coverage();
        let changes = self.tells_change();
        let enough = match changes {
            true => 2 * shared >= all,
            false => 3 * shared >= 2 * all,
        };
        let verb = self.older.words.get(self.older.pivot);
        let is_event = !self.older.knows_verb
            || verb.is_some_and(|word| word.has(Role::Past) || word.has(Role::Change));
        if shared == 0
            || !enough
            || is_event && !changes
            || !self.measures_differ()
            || !changes && self.is_narrowed()
        {
            return false;
        }
        let untyped = self.replaced().filter(|hunk| {
            let value = |word: &Word| word.kind.is_value();
            !self.older.words[hunk.older.clone()].iter().any(value)
                && self.older.words[hunk.older.clone()]
                    .iter()
                    .any(|word| word.is_content() && !word.has(Role::Verb))
        });
        changes || untyped.count() == 0
    }

    /// Returns `true` if a number, time, day or version of the older statement has another value in the newer one.
    /// Numbers must have the same unit.
    fn measures_differ(&self) -> bool {
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

    /// Returns `true` if one statement says that something holds and the other that it does not.
    fn turned(&self) -> bool {
        let negative = |of: &Statement| of.any(Role::Not) || of.any(Role::Off);
        let (shared, all) = self.coverage();
        let enough = shared >= 2 && 3 * shared >= 2 * all;
        let off = |words: &[Word]| {
            words
                .iter()
                .any(|word| word.has(Role::Off) || word.has(Role::On))
        };
        let mut replaced = self.replaced();
        let only_sign = replaced.all(|hunk| {
            off(&self.older.words[hunk.older.clone()]) && off(&self.newer.words[hunk.newer.clone()])
        });
        enough && negative(self.older) != negative(self.newer) && only_sign
    }

    /// Returns `true` for a word of change with the same subject, and another value or another home.
    fn changed(&self) -> bool {
        if !self.tells_change() {
            return false;
        }
        let older = self.older;
        let subject = older.words[..older.pivot]
            .iter()
            .filter(|word| word.is_content());
        let (mut all, mut shared, mut named) = (0, 0, 0);
        for word in subject {
            let has = self.newer.has_like(word);
            all += 1;
            shared += usize::from(has);
            named += usize::from(has && !word.has(Role::User));
        }
        let moved =
            older.any(Role::Live) && self.newer.any(Role::Move) && shared == all && shared > 0;
        let value = self.measures_differ();
        moved || named > 0 && value && 2 * shared >= all
    }

    /// Returns `true` if both may be about the same thing, as far as rules can tell.
    fn may_replace(&self) -> bool {
        let (shared, all) = self.coverage();
        let cue =
            self.newer.any(Role::Change) || self.newer.any(Role::End) || self.newer.any(Role::Now);
        let user = self.newer.any(Role::User) && self.older.any(Role::User);
        shared >= 1 && (cue || 3 * shared >= all) || user && cue
    }
}
