//! The fit of a result, which the floor is compared with: how sure it is that the question is answered.

use super::features::Features;

/// The evidence that a question is answered here at all: of the [`BEST`] best candidates, in numbers that are no shares of
/// what another candidate has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Answered {
    /// The largest [`Features::coverage`].
    pub coverage: f64,
    /// The largest of them with all that stands within three steps in the topic.
    pub with_window: f64,
    /// The largest cosine with the question, times how well the model knows its words.
    pub cosine: f64,
    /// How well the built-in model knows the words of the question, 0 to 1.
    pub known: f64,
    /// The memories that there are.
    pub memories: u64,
    /// Whether the question names who speaks in one of them, in a transcript.
    pub speaker: bool,
    /// Whether one of them has a rare identifier of a question that is too long to be covered.
    pub identifier: bool,
    /// Whether the best is of a transcript.
    pub transcript: bool,
    /// Whether the cosines are those of a model that the user chose: they tell more than those of the built-in one.
    pub chosen_model: bool,
}

/// About as many memories as the stores have that the weights of [`Answered::value`] were found on.
const MEMORIES_USUAL: f64 = 300.0;

/// So many of the best candidates say whether a question is answered.
pub(crate) const BEST: usize = 10;

impl Answered {
    /// How sure it is that something here answers the question, 0 to 1: a logistic function of round weights. `tools/rank/calibrate.py
    /// --given` reports how good they are on questions of a store and on those of others.
    pub fn value(&self) -> f64 {
        let flag = |on, weight: f64| if on { weight } else { 0.0 };
        let sum = -3.6
            + 4.0 * self.coverage
            + 3.0 * self.with_window
            + self.by_meaning(self.cosine)
            // Words of other languages have more endings.
            + 1.3 * (1.0 - self.known)
            // The more memories there are, the more words come up in one of them by chance.
            - 0.8 * (self.memories.max(1) as f64 / MEMORIES_USUAL).log10()
            // In a talk of hundreds of turns most words come up, but not the names of others.
            + flag(self.speaker, 5.0)
            // Of a pasted log it may be all that is known here.
            + flag(self.identifier, 3.0)
            - flag(self.transcript, 2.5);
        1.0 / (1.0 + (-sum).exp())
    }

    /// How sure it is that a candidate is an answer, 0 to 1. A turn of a transcript may have none of the question's words
    /// if what stands within three steps has them. Of anything else without such words a tenth is left, unless a chosen
    /// model says that it is near by its cosine.
    pub fn fit(&self, features: &Features, cosine: f64) -> f64 {
        let by_words = match features.transcript {
            true => 0.3 + 0.7 * features.with_window(),
            false if features.coverage > 0.0 => 0.3 + 0.7 * features.coverage.sqrt(),
            false => 0.1,
        };
        let by_meaning = match self.chosen_model {
            true => self.by_meaning(cosine) / self.by_meaning(1.0),
            false => 0.0,
        };
        self.value() * by_words.max(by_meaning)
    }

    /// The share of a cosine in the sum of [`Answered::value`]. Cosines of what has nothing in common reach up to where
    /// it begins.
    fn by_meaning(&self, cosine: f64) -> f64 {
        match self.chosen_model {
            true => 10.0 * (cosine - 0.3).max(0.0),
            false => 5.0 * (cosine - 0.4).max(0.0),
        }
    }
}

/// Returns how much the meaning of a query counts, 0 to 1, by a model that cuts its words into so many pieces each.
///
/// A model that cuts words into pieces has not learned them: its vector of the query is noise.
pub(crate) fn known_share(pieces_per_word: f64) -> f64 {
    ((2.0 - pieces_per_word) / 0.5).clamp(0.0, 1.0)
}
