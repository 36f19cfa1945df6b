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
    /// Returns `true` if the words before the verb are the same in both, apart from a plural or a genitive.
    /// [`alike`] is not enough for names: it takes *Paul* and *Paula* for forms of one word.
    pub(crate) fn keeps_names(&self) -> bool {
        let is_form = |a: &str, b: &str| {
            let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
            let end = long.strip_prefix(short);
            end.is_some_and(|end| ["", "s", "es", "n", "en"].contains(&end))
        };
        let mut before = self
            .aligned
            .common
            .iter()
            .filter(|(older, _)| *older < self.older.pivot);
        !self.changes_person()
            && before.all(|(older, newer)| {
                is_form(
                    &self.older.words[*older].text,
                    &self.newer.words[*newer].text,
                )
            })
    }

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

    /// Returns `true` if a word such as *my* has become another such word: *my manager* and *his manager* are two
    /// persons.
    pub(crate) fn changes_person(&self) -> bool {
        let names_person = |words: &[Word]| {
            let mut words = words.iter();
            words.any(|word| word.has(Role::Pronoun) || word.has(Role::Definite) && !word.is_the())
        };
        self.aligned.hunks.iter().any(|hunk| {
            names_person(&self.older.words[hunk.older.clone()])
                && names_person(&self.newer.words[hunk.newer.clone()])
        })
    }

    /// Returns `true` if the verbs have the same tense, as far as endings tell: *used* and *use* are forms of one word.
    pub(crate) fn keeps_tense(&self) -> bool {
        const PAST: [&str; 6] = ["ed", "ait", "ais", "aient", "aba", "aban"];
        let is_past = |of: &Statement| {
            let verb = of.words.get(of.pivot).filter(|_| of.knows_verb);
            verb.is_some_and(|verb| PAST.iter().any(|end| verb.text.ends_with(end)))
        };
        is_past(self.older) == is_past(self.newer)
    }

    /// Returns `true` if the newer statement lacks words that narrow the subject of the older one: *the timeout for
    /// reads*.
    pub(crate) fn is_widened(&self) -> bool {
        let older = self.older;
        let is_phrase = |word: &Word| word.has(Role::BeforeNoun) && !word.has(Role::Definite);
        self.aligned.hunks.iter().any(|hunk| {
            let dropped = &older.words[hunk.older.clone()];
            hunk.newer.is_empty()
                && older.knows_verb
                && hunk.older.end <= older.pivot
                && dropped.first().is_some_and(is_phrase)
                && dropped.iter().any(Word::is_content)
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
    /// Numbers must have the same unit, or the same word before them: *floor 1* and *seats 8* are two things.
    pub(crate) fn measures_differ(&self) -> bool {
        let (older, newer) = (measures(self.older), measures(self.newer));
        older.iter().any(|measure| {
            let others = newer.iter().filter(|other| measure.is_like(other));
            let mut new =
                others.filter(|other| !older.iter().any(|known| known.text == other.text));
            measure.kind != Kind::Identifier && new.next().is_some()
        })
    }
}

/// A value with the word that tells what it counts.
struct Measure<'a> {
    kind: Kind,
    text: &'a str,
    /// The word behind a number.
    unit: Option<&'a str>,
    /// The word before a number without unit.
    named: Option<&'a Word>,
}

impl Measure<'_> {
    /// Returns `true` if both measure the same.
    fn is_like(&self, other: &Measure) -> bool {
        let same_unit = match (self.unit, other.unit) {
            (Some(a), Some(b)) => a.trim_end_matches('s') == b.trim_end_matches('s'),
            (None, None) => true,
            _ => false,
        };
        let same_name = match (self.named, other.named) {
            (Some(a), Some(b)) => alike(a, b),
            _ => true,
        };
        self.kind == other.kind && same_unit && same_name
    }
}

fn measures(of: &Statement) -> Vec<Measure<'_>> {
    let values = of
        .words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.kind.is_value());
    let measure = |(at, word): (usize, &'_ Word)| {
        let is_number = word.kind == Kind::Number;
        let unit = is_number.then(|| of.unit(at)).flatten();
        let before = at.checked_sub(1).map(|at| &of.words[at]);
        let named = before.filter(|word| {
            is_number && unit.is_none() && word.is_content() && word.kind == Kind::Word
        });
        (word.kind, at, unit, named)
    };
    let measures = values.map(measure);
    let measures = measures.map(|(kind, at, unit, named)| Measure {
        kind,
        text: &of.words[at].text,
        unit,
        named,
    });
    measures.collect()
}
