//! The similarity of two texts, by their words.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64;

use super::analyze::plain_words;

/// The number one, in parts per million.
const ONE_PPM: u64 = 1_000_000;

/// Returns the similarity of two texts in parts per million: the Sørensen–Dice coefficient (Dice 1945, Sørensen 1948)
/// over the words of both as often as they occur, `2 |A ∩ B| / (|A| + |B|)`.
///
/// Words are taken as written, folded, stopwords too: `do not use tabs` is not `use tabs`. Each word counts as often as
/// it occurs, so a much longer text is never alike. The order of words and the characters between them do not matter.
/// Symmetric; 0 if a text has no words; a function of the two texts alone.
pub fn similarity_ppm(a: &str, b: &str) -> u32 {
    Words::of(a).similarity_ppm(&Words::of(b))
}

/// The words of a text, 8 bytes each, for comparing the text with many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(
    /// The hashes of the words, ascending, each as often as the word occurs.
    Vec<u64>,
);

impl Words {
    /// Returns the words of a text.
    pub fn of(text: &str) -> Words {
        let mut hashes = Vec::new();
        plain_words(text, &mut |_, word| hashes.push(xxh3_64(word.as_bytes())));
        Words::from_hashes(hashes)
    }

    pub(super) fn from_hashes(mut hashes: Vec<u64>) -> Words {
        hashes.sort_unstable();
        Words(hashes)
    }

    /// Returns the number of words.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the [`similarity_ppm`] of the two texts.
    pub fn similarity_ppm(&self, other: &Words) -> u32 {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let all = (a.len() + b.len()) as u64;
        if a.is_empty() || b.is_empty() {
            return 0;
        }
        let mut common = 0_u64;
        while let ([first, rest @ ..], [other, others @ ..]) = (a, b) {
            match first.cmp(other) {
                Ordering::Less => a = rest,
                Ordering::Greater => b = others,
                Ordering::Equal => {
                    common += 1;
                    (a, b) = (rest, others);
                }
            }
        }
        u32::try_from(2 * common * ONE_PPM / all).expect("it is at most one")
    }

    /// Gives a hash of each word to `take`, a different one for each time that the word occurs.
    pub(crate) fn each_occurrence(&self, take: &mut dyn FnMut(u64)) {
        for same in self.0.chunk_by(|a, b| a == b) {
            take(same[0]);
            (1..same.len()).for_each(|nth| take(mixed(same[0], nth as u64)));
        }
    }
}

/// Returns the `nth` hash of a number (the finalizer of SplitMix64, Steele et al. 2014).
pub(crate) const fn mixed(hash: u64, nth: u64) -> u64 {
    let mut z = hash ^ nth.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_by_their_words() {
        for (a, b, expected) in [
            (
                "Invoices live in PostgreSQL",
                "invoices, live in: postgresql!",
                1_000_000,
            ),
            (
                "Invoices live in PostgreSQL",
                "Invoices live in MySQL",
                750_000,
            ),
            ("use tabs", "do not use tabs", 666_666),
            ("tea", "tea tea tea tea", 400_000),
            ("a b c", "d e f", 0),
            ("", "", 0),
            ("...", "...", 0),
            ("我喜欢绿茶", "我喜欢绿茶", 1_000_000),
            ("我喜欢绿茶", "我喜欢红茶", 500_000),
            ("用 psql 存发票", "用 psql 存订单", 500_000),
        ] {
            assert_eq!(similarity_ppm(a, b), expected, "{a:?} {b:?}");
            assert_eq!(similarity_ppm(b, a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn the_longest_texts_are_compared() {
        let text =
            |from: usize| -> String { (from..from + 200_000).map(|n| format!("w{n} ")).collect() };
        assert_eq!(similarity_ppm(&text(0), &text(50_000)), 750_000);
    }
}
