//! From what words, meaning and neighbours say to one order. Pure arithmetic: it knows neither texts
//! nor files.
//!
//! A score is a sum: each [feature](Features) of a candidate times its weight in [`Ranking`], where the reasons
//! stand. How sure it is that a candidate answers the question at all is its [fit](Answered::fit): that is no share of what is
//! best among the candidates, so it can be low for all of them.

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

/// Divides every sum, so that a memory with the whole question scores about 1.
const SCALE: f64 = 7.0;

/// The weights of a ranking. A weight of 0 switches a feature off.
///
/// They are round numbers. `docs/benchmarks/recall.md` has what each is worth, and what `tools/rank` finds on one half of the sets is no
/// better on the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ranking {
    /// [`Features::text`] in transcripts: rare words, and short texts that have them.
    pub text: f64,
    /// [`Features::text`] in notes. Lower, because words with endings hide more matches in long texts.
    pub notes_text: f64,
    /// [`Features::coverage`]: two words of a question say more than one of them twice, and words are told from
    /// others by their beginnings in any language.
    pub coverage: f64,
    /// [`Features::meaning`]: other words for the same; as much as the model knows the question's language.
    pub meaning: f64,
    /// [`Features::window`] in transcripts: a turn leaves out what the turns before it said.
    pub window: f64,
    /// [`Features::window`] elsewhere: notes beside one another are of one thing less often.
    pub notes_window: f64,
    /// [`Features::neighbours`] outside transcripts. Of notes that fit alike, prefers the one whose neighbours fit, too.
    pub neighbours: f64,
    /// [`Features::answers`], in transcripts: the answer is seldom in the words of the question.
    pub answers: f64,
    /// Added if the question names who speaks, in transcripts: most questions are about what somebody said of themselves.
    pub speaker: f64,
    /// Taken off where a turn of a transcript asks: a question is no answer.
    pub asks: f64,
    /// [`Features::length`], in transcripts: short turns say little.
    pub length: f64,
    /// Added if the question asks when and a turn of a transcript has a word of time.
    pub when: f64,
    /// Added if the text has a rare identifier of the question: it stands for itself.
    pub identifier: f64,
    /// For importance: once for critical, half of it for high; taken off by half for low. It decides between what
    /// fits alike.
    pub importance: f64,
    /// Of one's own scope, the project or session that one is in, as far as it fits; a third of it for
    /// parents and children of the session. A sixth is taken off where it is of another scope than those or `global`.
    pub scope: f64,
    /// For the others that confirm a memory: times the natural logarithm of one more than they are.
    pub confirmed: f64,
    /// The least [fit](Answered::fit) of a result, 0 to 1.
    pub floor: f64,
    /// Candidates that words bring. More results than this ask for as many, and as some features are shares of what
    /// is best among the candidates, the order of the first ones may change with it.
    pub candidates: usize,
    /// Candidates that meaning brings, at least; more where words bring few.
    pub nearest: usize,
    /// So many of the best candidates bring those next to them in their topic.
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
    /// Words alone, and of them nothing but BM25.
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

    /// Meaning alone: the nearest, however far they are.
    pub const MEANING: Ranking = Ranking {
        text: 0.0,
        notes_text: 0.0,
        meaning: SCALE,
        nearest: 200,
        ..Ranking::TEXT
    };

    /// The same without what stands beside a candidate: for what does not follow one another.
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

    /// Each weight and count, as the config file calls it.
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

    /// Whether words find anything.
    pub(crate) fn finds_by_words(&self) -> bool {
        self.text + self.notes_text > 0.0
    }

    /// Whether a candidate has to be compared with the question word by word.
    pub(crate) fn compares_words(&self) -> bool {
        self.coverage > 0.0 || self.window > 0.0 || self.notes_window > 0.0
    }

    /// Whether what stands beside a candidate has a say in its score.
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

    /// The share of a memory's confirmations in its score.
    pub fn for_confirmations(&self, confirmations: u64) -> f64 {
        self.confirmed * (confirmations as f64).ln_1p() / SCALE
    }

    /// The score of a candidate.
    pub fn score(&self, features: &Features) -> f64 {
        self.shares(features).iter().map(|share| share.share).sum()
    }

    /// Each feature of a candidate with what it adds to its score.
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
            part if part > 0.0 => part * features.near.powi(2),
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

/// A feature of a candidate, and what it adds to the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The feature, as its weight is called.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its weight here: 0 where the candidate is no transcript's turn and only those have it, or the other way round.
    pub weight: f64,
    /// Its share of the score.
    pub share: f64,
}
