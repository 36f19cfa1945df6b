//! Candidates for an answer, and the best of them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::{DocId, Score};

/// A document that is a candidate for the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    /// Larger is better. Scores that differ by rounding only have the same grade.
    grade: u32,
    tie: Reverse<u128>,
    ordinal: Reverse<u64>,
    pub(crate) place: Place,
}

impl Candidate {
    pub(crate) fn ordinal(&self) -> u64 {
        self.ordinal.0
    }

    /// Returns a candidate with a quick score.
    pub(crate) fn new(score: f64, ordinal: u64, tie: u128, place: Place) -> Self {
        Self {
            grade: grade(score as Score),
            tie: Reverse(tie),
            ordinal: Reverse(ordinal),
            place,
        }
    }

    fn rank(&self) -> (u32, Reverse<u128>, Reverse<u64>, Place) {
        (self.grade, self.tie, self.ordinal, self.place)
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// The place of a candidate's document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A document of a tier.
    Tier {
        tier: usize,
        segment: usize,
        doc: DocId,
    },
    /// A document of the tail.
    Tail(usize),
}

impl Place {
    /// Returns the tier and the segment, if the document is in a tier.
    pub(crate) fn segment(self) -> Option<(usize, usize)> {
        match self {
            Self::Tier { tier, segment, .. } => Some((tier, segment)),
            Self::Tail(_) => None,
        }
    }

    /// Returns the document's number in the tail, if the document is in the tail.
    pub(crate) fn tail(self) -> Option<usize> {
        match self {
            Self::Tail(at) => Some(at),
            Self::Tier { .. } => None,
        }
    }

    /// Returns the document within its segment, if the document is in a tier.
    pub(crate) fn doc(self) -> Option<DocId> {
        match self {
            Self::Tier { doc, .. } => Some(doc),
            Self::Tail(_) => None,
        }
    }
}

/// The best candidates so far, over tiers and segments: good candidates of one segment spare work in the next.
#[derive(Debug)]
pub(crate) struct Best {
    heap: BinaryHeap<Reverse<Candidate>>,
    size: usize,
}

impl Best {
    /// Returns an empty collection that keeps the `size` best candidates, at least 1.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            heap: BinaryHeap::new(),
            size: size.max(1),
        }
    }

    pub(crate) fn offer(&mut self, score: f64, ordinal: u64, tie: u128, place: Place) {
        let candidate = Candidate::new(score, ordinal, tie, place);
        if self.heap.len() < self.size {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            *worst = Reverse(candidate);
        }
    }

    pub(crate) fn into_candidates(self) -> Vec<Candidate> {
        self.heap
            .into_iter()
            .map(|Reverse(candidate)| candidate)
            .collect()
    }

    /// Returns the score that a document must exceed to be considered.
    pub(crate) fn floor(&self) -> Score {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() == self.size => {
                // One grade below the worst, because a document with an equal score may win by its tie.
                f32::from_bits(worst.grade.saturating_sub(1) << GRADE_SHIFT)
            }
            _ => Score::MIN,
        }
    }
}

/// Low bits of a score that a grade drops: 9, so a grade is a step of 2^-14 or less. tantivy adds the scores of terms
/// in an order that depends on the layout of segments, so a document's score can differ in its last bits. A larger
/// value lets more unequal scores share a grade.
const GRADE_SHIFT: u32 = 9;

fn grade(score: Score) -> u32 {
    // The bits of a positive float are in the order of its values.
    (score.max(0.0).to_bits() + (1 << (GRADE_SHIFT - 1))) >> GRADE_SHIFT
}

/// A document's score, and a bit for each matching term.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scored {
    pub score: f64,
    pub matched: u64,
}
