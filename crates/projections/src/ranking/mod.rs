//! Ranking: from the evidence of words, meaning and neighbours to one order. Pure arithmetic; it knows neither texts
//! nor files.
//!
//! A score is a sum: each [feature](Features) of a candidate times its weight in [`Ranking`], where the reasons stand.
//! The [fit](Answered::fit) tells how likely a candidate answers the question at all. It is not relative to the other
//! candidates, so it can be low for all of them.

mod answered;
mod features;
mod span;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use answered::Answered;
pub(crate) use answered::{BEST, known_share};
pub(crate) use features::length_share;
pub use features::{Features, Nearness};
pub(crate) use span::Span;

/// Divisor of every sum: 7, so that a memory with the whole question scores about 1. A larger value lowers all scores.
const SCALE: f64 = 7.0;

/// Marks that count in a score, 3: each moves the score as a confirmation does, and all together as three do. Raised,
/// many marks outweigh a better fit.
const MARKS_COUNTED: u64 = 3;

/// The weights of a ranking. A weight of 0 switches a feature off.
///
/// The weights are round numbers. `docs/benchmarks/recall.md` has the worth of each. The weights that `tools/rank` fits
/// on one half of the sets are no better on the other half.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ranking {
    /// [`Features::text`] in transcripts: favours rare words, and short texts that have them.
    pub text: f64,
    /// [`Features::text`] in notes. Lower, because words with endings hide more matches in long texts.
    pub notes_text: f64,
    /// [`Features::coverage`]: two words of a question say more than one of them twice. Words are matched by their
    /// letters in any language.
    pub coverage: f64,
    /// [`Features::meaning`]: finds other words for the same thing, if the model knows the question's language.
    pub meaning: f64,
    /// [`Features::window`] in transcripts: a turn leaves out what the turns before it said.
    pub window: f64,
    /// [`Features::window`] elsewhere: neighbouring notes are about the same thing less often.
    pub notes_window: f64,
    /// [`Features::neighbours`] outside transcripts: of notes that fit alike, prefers the one whose neighbours fit,
    /// too.
    pub neighbours: f64,
    /// [`Features::answers`], in transcripts: an answer seldom uses the words of the question.
    pub answers: f64,
    /// Added if the question names the speaker, in transcripts: most questions are about a person's own statements.
    pub speaker: f64,
    /// Subtracted if a turn of a transcript asks: a question is no answer.
    pub asks: f64,
    /// [`Features::length`], in transcripts: short turns say little.
    pub length: f64,
    /// Added if the question asks when and a turn of a transcript has a word of time.
    pub when: f64,
    /// Added if the text has a rare identifier of the question: an identifier is evidence by itself.
    pub identifier: f64,
    /// For importance: added in full for critical, by half for high; subtracted by half for low. It decides between
    /// candidates that fit alike.
    pub importance: f64,
    /// For the caller's own project or session, in proportion to the square of the candidate's evidence; a third of it
    /// for parents and children of the session. A sixth is subtracted for every other scope except `global`.
    pub scope: f64,
    /// For confirmations by others: times the natural logarithm of one more than their number.
    pub confirmed: f64,
    /// The least [fit](Answered::fit) of a result, 0 to 1.
    pub floor: f64,
    /// Candidates that words bring. A query for more results brings as many candidates. Some features are relative to
    /// the best candidate, so the order of the first results may then change.
    pub candidates: usize,
    /// Candidates that meaning brings, at least; more if words bring few.
    pub nearest: usize,
    /// Number of the best candidates whose neighbours in the topic become candidates.
    pub expand: usize,
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking {
            text: 1.5,
            notes_text: 0.7,
            coverage: 4.0,
            meaning: 1.5,
            window: 4.0,
            notes_window: 1.5,
            neighbours: 0.3,
            answers: 2.0,
            speaker: 1.0,
            asks: 0.75,
            length: 1.0,
            when: 1.4,
            identifier: 7.0,
            importance: 0.35,
            scope: 42.0,
            confirmed: 0.35,
            floor: 0.2,
            candidates: 64,
            nearest: 16,
            expand: 16,
        }
    }
}

impl Ranking {
    /// Words alone, and only by BM25.
    pub const TEXT: Ranking = Ranking {
        text: SCALE,
        notes_text: SCALE,
        coverage: 0.0,
        meaning: 0.0,
        window: 0.0,
        notes_window: 0.0,
        neighbours: 0.0,
        answers: 0.0,
        speaker: 0.0,
        asks: 0.0,
        length: 0.0,
        when: 0.0,
        identifier: 0.0,
        importance: 0.0,
        scope: 0.0,
        confirmed: 0.0,
        floor: 0.0,
        candidates: 0,
        nearest: 0,
        expand: 0,
    };

    /// Meaning alone: the nearest memories, however far they are.
    pub const MEANING: Ranking = Ranking {
        text: 0.0,
        notes_text: 0.0,
        meaning: SCALE,
        nearest: 200,
        ..Ranking::TEXT
    };

    /// Returns the same ranking without the features of neighbours: for memories that do not follow one another.
    #[must_use]
    pub fn alone(self) -> Ranking {
        Ranking {
            window: 0.0,
            notes_window: 0.0,
            neighbours: 0.0,
            answers: 0.0,
            expand: 0,
            nearest: self.nearest.max(self.candidates),
            ..self
        }
    }

    /// Returns each weight and count by its name in the config file.
    pub fn settings(&self) -> [(&'static str, f64); 20] {
        [
            ("text", self.text),
            ("notes_text", self.notes_text),
            ("coverage", self.coverage),
            ("meaning", self.meaning),
            ("window", self.window),
            ("notes_window", self.notes_window),
            ("neighbours", self.neighbours),
            ("answers", self.answers),
            ("speaker", self.speaker),
            ("asks", self.asks),
            ("length", self.length),
            ("when", self.when),
            ("identifier", self.identifier),
            ("importance", self.importance),
            ("scope", self.scope),
            ("confirmed", self.confirmed),
            ("floor", self.floor),
            ("candidates", self.candidates as f64),
            ("nearest", self.nearest as f64),
            ("expand", self.expand as f64),
        ]
    }

    /// Returns `true` if words bring candidates.
    pub(crate) fn finds_by_words(&self) -> bool {
        self.text + self.notes_text > 0.0
    }

    /// Returns `true` if candidates are compared with the question word by word.
    pub(crate) fn compares_words(&self) -> bool {
        self.coverage > 0.0 || self.window > 0.0 || self.notes_window > 0.0
    }

    /// Returns `true` if neighbours affect a candidate's score.
    pub(crate) fn looks_beside(&self) -> bool {
        [
            self.window,
            self.notes_window,
            self.neighbours,
            self.answers,
        ]
        .iter()
        .any(|weight| *weight > 0.0)
    }

    /// Returns the share of a memory's confirmations in its score.
    pub fn for_confirmations(&self, confirmations: u64) -> f64 {
        self.confirmed * (confirmations as f64).ln_1p() / SCALE
    }

    /// Returns the share of a memory's marks in its score: added for a memory that more authors called useful than
    /// wrong, subtracted for the reverse.
    pub fn for_marks(&self, useful: u64, wrong: u64) -> f64 {
        let share = self.for_confirmations(useful.abs_diff(wrong).min(MARKS_COUNTED));
        match useful >= wrong {
            true => share,
            false => -share,
        }
    }

    /// Returns the score of a candidate.
    pub fn score(&self, features: &Features) -> f64 {
        self.shares(features).iter().map(|share| share.share).sum()
    }

    /// Returns each feature of a candidate with its share of the score.
    pub fn shares(&self, features: &Features) -> [Share; 13] {
        let in_transcript = |weight| if features.transcript { weight } else { 0.0 };
        let in_notes = |weight| if features.transcript { 0.0 } else { weight };
        let share = |name, value: f64, weight: f64| Share {
            name,
            value,
            weight,
            share: weight * value / SCALE,
        };
        let flag = |name, on, weight| share(name, f64::from(u8::from(on)), weight);
        let text = in_transcript(self.text) + in_notes(self.notes_text);
        let window = in_transcript(self.window) + in_notes(self.notes_window);
        let scope = match features.scope.share() {
            part if part > 0.0 => part * features.own_share.powi(2),
            part => part,
        };
        [
            share("text", features.text, text),
            share("coverage", features.coverage, self.coverage),
            share("meaning", features.meaning, self.meaning),
            share("window", features.window, window),
            share("neighbours", features.neighbours, in_notes(self.neighbours)),
            share("answers", features.answers, in_transcript(self.answers)),
            flag("speaker", features.speaker, in_transcript(self.speaker)),
            flag("asks", features.asks, in_transcript(-self.asks)),
            share("length", features.length, in_transcript(self.length)),
            flag("when", features.when, in_transcript(self.when)),
            flag("identifier", features.identifier, self.identifier),
            share("importance", features.importance_share(), self.importance),
            share("scope", scope, self.scope),
        ]
    }
}

/// A feature of a candidate, and its share of the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The name of the feature, as of its weight.
    pub name: &'static str,
    /// The value of the feature.
    pub value: f64,
    /// The weight for this candidate: 0 if the weight is for transcripts and the candidate is not in one, or the
    /// reverse.
    pub weight: f64,
    /// The feature's share of the score.
    pub share: f64,
}
