//! What was worked out of keys that were met lately.

use std::borrow::Borrow;
use std::hash::Hash;
use std::mem::take;

use rustc_hash::FxHashMap;

/// Remembers the values of the last `HALF` keys at least, and of twice as many at most.
///
/// There are two halves: a key that is met is in the young one afterwards, and once that is full the old one is
/// forgotten. So what is met again and again stays, which it does not where all is forgotten at once.
#[derive(Debug)]
pub(crate) struct Lately<K, V, const HALF: usize> {
    young: FxHashMap<K, V>,
    old: FxHashMap<K, V>,
}

impl<K, V, const HALF: usize> Default for Lately<K, V, HALF> {
    fn default() -> Self {
        Lately {
            young: FxHashMap::default(),
            old: FxHashMap::default(),
        }
    }
}

impl<K: Eq + Hash, V, const HALF: usize> Lately<K, V, HALF> {
    /// Hands the value of a key to `take_it`, made by `make` with the key to keep where it is not remembered.
    pub(crate) fn with<Q: Eq + Hash + ?Sized, R>(
        &mut self,
        key: &Q,
        make: impl FnOnce() -> (K, V),
        take_it: impl FnOnce(&V) -> R,
    ) -> R
    where
        K: Borrow<Q>,
    {
        if let Some(value) = self.young.get(key) {
            return take_it(value);
        }
        let (key, value) = self.old.remove_entry(key).unwrap_or_else(make);
        if self.young.len() >= HALF {
            self.old = take(&mut self.young);
        }
        take_it(self.young.entry(key).or_insert(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_again_stays_and_the_rest_is_forgotten() {
        let mut lately: Lately<String, usize, 10> = Lately::default();
        let mut made = 0;
        let mut ask = |key: &str| {
            let make = || {
                made += 1;
                (key.to_owned(), key.len())
            };
            assert_eq!(lately.with(key, make, |value| *value), key.len());
            assert!(lately.young.len() <= 10 && lately.old.len() <= 10);
            made
        };
        assert_eq!(ask("again"), 1);
        for round in 0..50 {
            assert_eq!(ask(&format!("once {round}")), 2 + round, "{round}");
            assert_eq!(ask("again"), 2 + round, "{round}");
        }
        // Of those that were met once the last ten are remembered, and the first is not.
        for round in 41..50 {
            assert_eq!(ask(&format!("once {round}")), 51, "{round}");
        }
        assert_eq!(ask("once 0"), 52);
    }
}
