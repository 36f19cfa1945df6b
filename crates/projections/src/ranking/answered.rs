//! The fit of a result, which the floor is compared with: how likely the result answers the question.

use super::features::Features;

/// The evidence that the store answers a question at all: from the [`BEST`] best candidates, in numbers that do not
/// depend on the other candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Answered {
    /// The largest [`Features::coverage`].
    pub coverage: f64,
    /// The largest coverage with all memories within three steps in the topic.
    pub with_window: f64,
    /// The largest cosine with the question, times the model's knowledge of the question's words.
    pub cosine: f64,
    /// The built-in model's knowledge of the question's words, 0 to 1.
    pub known: f64,
    /// The number of memories.
    pub memories: u64,
    /// `true` if the question names the speaker of one of the candidates, in a transcript.
    pub speaker: bool,
    /// `true` if a candidate has a rare identifier of a question that is too long to be covered.
    pub identifier: bool,
    /// `true` if the best candidate is in a transcript.
    pub transcript: bool,
    /// `true` if the cosines are from a model that the user chose: they tell more than the built-in model's.
    pub chosen_model: bool,
}

/// Memories of a usual store: 300, about as many as in the stores that the weights of [`Answered::value`] were fitted
/// on. A larger value raises the fit in large stores.
const MEMORIES_USUAL: f64 = 300.0;

/// Number of the best candidates that the evidence is taken from: 10. A larger value takes weaker candidates into
/// account.
pub(crate) const BEST: usize = 10;

impl Answered {
    /// Returns how likely the store answers the question, 0 to 1: a logistic function with round weights.
    /// `tools/rank/calibrate.py --given` reports how well the weights do on questions of the same store and of other
    /// ones.
    pub fn value(&self) -> f64 {
        let flag = |on, weight: f64| if on { weight } else { 0.0 };
        let sum = -3.6
            + 4.0 * self.coverage
            + 3.0 * self.with_window
            + self.by_meaning(self.cosine)
            // Words of other languages have more endings.
            + 1.3 * (1.0 - self.known)
            // With more memories, more words occur in one of them by chance.
            - 0.8 * (self.memories.max(1) as f64 / MEMORIES_USUAL).log10()
            // In a talk of hundreds of turns most words occur, but not the names of other people.
            + flag(self.speaker, 5.0)
            // An identifier may be all that the store knows of a pasted log.
            + flag(self.identifier, 3.0)
            - flag(self.transcript, 2.5);
        1.0 / (1.0 + (-sum).exp())
    }

    /// Returns how likely a candidate is an answer, 0 to 1. A turn of a transcript may have none of the question's
    /// words if the turns within three steps have them. Any other candidate without such words keeps a tenth, unless a
    /// chosen model's cosine says that it is near.
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

    /// Returns the share of a cosine in the sum of [`Answered::value`]. It begins above the cosines of texts that have
    /// nothing in common.
    fn by_meaning(&self, cosine: f64) -> f64 {
        match self.chosen_model {
            true => 10.0 * (cosine - 0.3).max(0.0),
            false => 5.0 * (cosine - 0.4).max(0.0),
        }
    }
}

/// Returns how much the meaning of a query counts, 0 to 1, for a model that cuts its words into this many pieces on
/// average.
///
/// A model has not learned a word that it cuts into pieces; its vector of such a query is noise.
pub(crate) fn known_share(pieces_per_word: f64) -> f64 {
    ((2.0 - pieces_per_word) / 0.5).clamp(0.0, 1.0)
}
