//! The rules. Each one looks at two statements and their alignment; the first rule that is sure decides.

use crate::align::{Alignment, Hunk};
use crate::pair::Pair;
use crate::statement::{Kind, Statement, Word};
use crate::tables::Role;
use crate::{Judgement, Reason, Verdict};

/// Most words of a statement that can be replaced for sure. Raised, texts with several facts count as replaced by one.
const OLDER_WORDS: usize = 25;
/// Most words of a statement that can replace another for sure. Raised, texts with several facts can replace one.
const NEWER_WORDS: usize = 35;

/// Returns the verdict on `newer` as a replacement of `older`, and the deciding rule.
pub(crate) fn judge(older: &Statement, newer: &Statement) -> Judgement {
    let no = Judgement {
        verdict: Verdict::No,
        reason: Reason::Another,
    };
    let shared = older.content().any(|word| newer.has_like(word));
    let may_move = older.any(Role::Live) && newer.any(Role::Move);
    if !(shared || may_move) {
        return no;
    }
    let pair = Pair {
        older,
        newer,
        aligned: Alignment::of(older, newer),
    };
    if !shared && !pair.moves_home() || pair.says_the_same() || pair.is_apart() {
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
    let holder = pair.another_holder() || pair.is_held_by_another();
    if !holder && pair.another_subject() {
        return no;
    }
    let rules = [
        (holder, Reason::AnotherHolder),
        (
            pair.another_value() || pair.fills_slot(),
            Reason::AnotherValue,
        ),
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
        // *Opens at 9* and *closes at 18* are two times of one thing.
        let at_edge = |of: &Statement| (of.any(Role::Opens), of.any(Role::Closes));
        let edges = (at_edge(self.older), at_edge(self.newer));
        if matches!(
            edges,
            ((true, false), (false, true)) | ((false, true), (true, false))
        ) {
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
        let verb = self.older.words.get(self.older.pivot);
        let role = verb.is_some_and(|word| word.has(Role::Copula));
        // A role in the past says nothing of today, and *our lead* is not *their lead*.
        if verb.is_some_and(|word| word.has(Role::Past)) || self.changes_person() {
            return false;
        }
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
        let mut verbs = self.older.words[self.older.pivot..].iter();
        let holds = verbs.any(|verb| verb.has(Role::Holds) && self.newer.has_like(verb));
        let only_name = news.next().is_some() && news.next().is_none();
        let mut before = self.older.words[..self.older.pivot].iter();
        let holds = holds && before.any(|word| word.is_content() && !self.newer.has_like(word));
        names
            && shared >= 2
            && (role && the
                || holds && only_name
                || self.tells_change() && !self.older.any(Role::Change))
    }

    /// Returns `true` for the first word of its statement, which may be a name.
    fn starts(&self, word: &Word) -> bool {
        self.older.words.first() == Some(word)
            && (1..=2).contains(&self.older.pivot)
            && !word.has(Role::Verb)
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
            || !changes && (self.is_narrowed() || self.is_widened() || !self.keeps_names())
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
        // *iOS 15* and *Android 12* are two things, each with a number.
        let named = |words: &[Word], other: &Statement| {
            let mut names = words.iter().filter(|word| word.kind == Kind::Name);
            names.any(|word| !other.has_like(word))
        };
        let renamed = self.replaced().any(|hunk| {
            named(&self.older.words[hunk.older.clone()], self.newer)
                && named(&self.newer.words[hunk.newer.clone()], self.older)
        });
        changes || untyped.count() == 0 && !renamed
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
        let moved = moved || self.moves_home();
        let value = self.measures_differ();
        moved || named > 0 && value && 2 * shared >= all
    }

    /// Returns `true` if the one who writes lived in one place and moved to another: *I live in Bonn*, *I moved to
    /// Kiel*.
    fn moves_home(&self) -> bool {
        let mut homes = self.older.words.windows(2);
        let lives =
            homes.any(|words| words[0].has(Role::BeforeNoun) && words[1].kind == Kind::Name);
        let mut homes = self.newer.words.windows(3);
        let moves = homes.any(|words| {
            let is_home = |to: &Word, home: &Word| to.has(Role::To) && home.kind == Kind::Name;
            words[0].has(Role::Move) && is_home(&words[1], &words[2])
                || is_home(&words[0], &words[1]) && words[2].has(Role::Move)
        });
        lives && moves && self.older.any(Role::Live) && self.is_of_one_speaker()
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
