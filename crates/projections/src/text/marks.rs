//! The words of a text as marks: most texts that are not alike are told apart by them, and not read.

use xxhash_rust::xxh3::xxh3_64;

/// Which of 64 marks the words of a text have; several words may share one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks(pub(crate) u64);

impl Marks {
    /// Adds the mark of a word.
    pub(crate) fn add(&mut self, word: &str) {
        self.add_hash(xxh3_64(word.as_bytes()));
    }

    /// Adds the mark of a word with this hash (XXH3 of 64 bits).
    pub(crate) fn add_hash(&mut self, hash: u64) {
        self.0 |= 1 << (hash & 63);
    }

    /// How many of these another text has not: so many of the words at least are not in it.
    pub(crate) fn missing_in(self, other: Marks) -> u64 {
        u64::from((self.0 & !other.0).count_ones())
    }
}
