//! The words of a text as marks: most texts that are not alike are told apart by them, and not read.

use xxhash_rust::xxh3::xxh3_64;

/// Which of 128 marks the words of a text have; several words may share one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks(u128);

impl Marks {
    /// Adds the mark of a word.
    pub(crate) fn add(&mut self, word: &str) {
        self.add_hash(xxh3_64(word.as_bytes()));
    }

    /// Adds the mark of a word with this hash (XXH3 of 64 bits).
    pub(crate) fn add_hash(&mut self, hash: u64) {
        self.0 |= 1 << (hash & 127);
    }

    /// As an index keeps them: the lower half and the upper one.
    pub(crate) fn halves(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// Those that an index kept.
    pub(crate) fn from_halves([lower, upper]: [u64; 2]) -> Marks {
        Marks(u128::from(upper) << 64 | u128::from(lower))
    }

    /// How many of these another text has not: so many of the words at least are not in it.
    pub(crate) fn missing_in(self, other: Marks) -> u64 {
        u64::from((self.0 & !other.0).count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_keeps_every_mark_and_tells_them_apart() {
        let mut all = Marks::default();
        for at in 0..128_u64 {
            let mut one = Marks::default();
            one.add_hash(0xabcd_ef00_0000_0000 | at);
            assert_eq!(Marks::from_halves(one.halves()), one, "{at}");
            assert_eq!((one.missing_in(all), all.missing_in(one)), (1, at), "{at}");
            all.add_hash(at);
            assert_eq!(one.missing_in(all), 0, "{at}");
        }
        assert_eq!(all.halves(), [u64::MAX; 2]);
    }
}
