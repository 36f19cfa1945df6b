//! The best sentences of a text, without repeats.

use crate::alike::Compared;
use crate::found::Found;

/// A collection that keeps the best sentences.
pub(crate) struct Best {
    max: usize,
    kept: Vec<Kept>,
    taken: u64,
    /// The lowest score of a kept sentence; a later sentence needs a higher one.
    floor: u32,
}

struct Kept {
    found: Found,
    sentence: Compared,
    /// Its number among the sentences that were added.
    nth: u64,
}

impl Best {
    /// Returns a collection that keeps at most `max` sentences.
    pub(crate) fn of(max: usize) -> Best {
        Best {
            max,
            kept: Vec::new(),
            taken: 0,
            floor: 0,
        }
    }

    /// Adds a sentence. Of two that say the same, the one with the higher score stays, or else the first.
    pub(crate) fn add(&mut self, found: Found) {
        if found.score <= self.floor {
            return;
        }
        let sentence = Compared::of(&found.text);
        self.taken += 1;
        let same = self
            .kept
            .iter_mut()
            .find(|kept| sentence.says_same(&kept.sentence) || kept.sentence.says_same(&sentence));
        if let Some(kept) = same {
            if found.score > kept.found.score {
                (kept.found, kept.sentence) = (found, sentence);
            }
            return;
        }
        self.kept.push(Kept {
            found,
            sentence,
            nth: self.taken,
        });
        // Sorting only now and then keeps the cost per sentence constant.
        if self.kept.len() >= self.max.saturating_mul(2).max(64) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.kept
            .sort_by_key(|kept| (std::cmp::Reverse(kept.found.score), kept.nth));
        self.kept.truncate(self.max);
        if self.kept.len() == self.max {
            self.floor = self.kept.last().map_or(0, |worst| worst.found.score);
        }
    }

    /// Returns the best sentences in their original order.
    pub(crate) fn finish(mut self) -> Vec<Found> {
        self.cut();
        self.kept.sort_by_key(|kept| kept.nth);
        self.kept.into_iter().map(|kept| kept.found).collect()
    }
}
