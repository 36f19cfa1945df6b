//! The alignment of two statements: the words that they share, in order, and the words that differ.

use std::ops::Range;

use crate::statement::{Statement, alike};

/// A difference: words of the older statement, and words of the newer one in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) older: Range<usize>,
    pub(crate) newer: Range<usize>,
}

/// The longest common sequence of words of two statements, and the differences.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    /// Places of common words: in the older and in the newer statement.
    pub(crate) common: Vec<(usize, usize)>,
    /// The differences, in order. One side of a hunk may be empty.
    pub(crate) hunks: Vec<Hunk>,
}

impl Alignment {
    pub(crate) fn of(older: &Statement, newer: &Statement) -> Alignment {
        let (a, b) = (&older.words, &newer.words);
        let width = b.len() + 1;
        // A content word counts three times a function word, because content makes statements alike.
        let mut best = vec![0_u16; (a.len() + 1) * width];
        let weight = |at: usize| match a[at].is_content() {
            true => 3,
            false => 1,
        };
        let same: Vec<bool> = a
            .iter()
            .flat_map(|word| b.iter().map(move |other| alike(word, other)))
            .collect();
        let is_same = |i: usize, j: usize| same[i * b.len() + j];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                let skip = best[(i + 1) * width + j].max(best[i * width + j + 1]);
                best[i * width + j] = match is_same(i, j) {
                    true => skip.max(best[(i + 1) * width + j + 1] + weight(i)),
                    false => skip,
                };
            }
        }
        let mut common = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let here = best[i * width + j];
            if is_same(i, j) && here == best[(i + 1) * width + j + 1] + weight(i) {
                common.push((i, j));
                (i, j) = (i + 1, j + 1);
            } else if here == best[(i + 1) * width + j] {
                i += 1;
            } else {
                j += 1;
            }
        }
        let mut hunks = Vec::new();
        let (mut from_a, mut from_b) = (0, 0);
        for (i, j) in common.iter().copied().chain([(a.len(), b.len())]) {
            if i > from_a || j > from_b {
                hunks.push(Hunk {
                    older: from_a..i,
                    newer: from_b..j,
                });
            }
            (from_a, from_b) = (i + 1, j + 1);
        }
        Alignment { common, hunks }
    }
}
