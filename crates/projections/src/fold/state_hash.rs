//! The state hash: a hash of all living values, the same for every history and every order of events that leads to
//! them.
//!
//! Each living row, access, link and tick has a digest (XXH3, 128 bits), and the digests are added modulo 2^128. So a
//! change costs two short digests instead of a pass over the store, and rows may be taken in any order. The hash finds
//! accidents (a view that disagrees with the log). It does not protect against an attacker who builds colliding rows;
//! the chain of event ids does.

use std::cell::RefCell;

use icm_log::{EventId, SubjectId, to_hex};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::FOLD_VERSION;
use super::decay::Tick;
use super::expiry;
use super::links::Link;
use super::record::Version;
use super::texts::Texts;

/// A sum of digests: 128 bits, least significant limb first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSum {
    limbs: [u64; 2],
}

/// The hash of a state, as it is shown and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHash(pub [u8; 32]);

impl std::fmt::Display for StateHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl StateSum {
    fn set(&mut self, sum: u128) {
        self.limbs = [sum as u64, (sum >> 64) as u64];
    }

    fn get(&self) -> u128 {
        u128::from(self.limbs[0]) | u128::from(self.limbs[1]) << 64
    }

    /// Adds the digest of a living row or an access.
    pub fn add(&mut self, digest: u128) {
        self.set(self.get().wrapping_add(digest));
    }

    /// Subtracts a digest that was added before.
    pub fn remove(&mut self, digest: u128) {
        self.set(self.get().wrapping_sub(digest));
    }

    /// Returns the hash of a state with this sum and this number of living rows.
    pub fn hash(&self, memories: u64) -> StateHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"icm state v1");
        hasher.update(&FOLD_VERSION.to_le_bytes());
        hasher.update(&memories.to_le_bytes());
        for limb in self.limbs {
            hasher.update(&limb.to_le_bytes());
        }
        StateHash(*hasher.finalize().as_bytes())
    }
}

/// Returns the digest of an access: a recall that showed a memory.
pub(super) fn access_digest(memory: SubjectId, recall: EventId) -> u128 {
    let mut bytes = [0; 49];
    bytes[0] = b'a';
    bytes[1..17].copy_from_slice(&memory.0);
    bytes[17..].copy_from_slice(&recall.0);
    xxh3_128(&bytes)
}

/// Returns the digest of a link that holds: of its facts, regardless of its ends' visibility.
pub(super) fn link_digest(link: &Link) -> u128 {
    let mut bytes = [0; 67];
    bytes[0] = b'l';
    bytes[1..33].copy_from_slice(&link.event.0);
    bytes[33..49].copy_from_slice(&link.from.0);
    bytes[49..65].copy_from_slice(&link.to.0);
    bytes[65..].copy_from_slice(&link.relation.0.to_le_bytes());
    xxh3_128(&bytes)
}

/// Returns the digest of a tick of decay in force.
pub(super) fn tick_digest(tick: &Tick) -> u128 {
    let mut bytes = [0; 57];
    bytes[0] = b't';
    bytes[1..33].copy_from_slice(&tick.stamp.event.0);
    bytes[33..37].copy_from_slice(&tick.as_of_day.to_le_bytes());
    bytes[37..41].copy_from_slice(&tick.rates.rate_ppm.to_le_bytes());
    let factors = tick.rates.factors_ppm.iter();
    for (place, factor) in bytes[41..].chunks_exact_mut(4).zip(factors) {
        place.copy_from_slice(&factor.to_le_bytes());
    }
    xxh3_128(&bytes)
}

/// Returns the digest of the values that a living row shows: no positions, no ordinals, no facts of this machine.
pub(super) fn row_digest<X: Texts>(texts: &X, version: &Version<X::Text>) -> u128 {
    ROW.with_borrow_mut(|bytes| {
        bytes.clear();
        write_row(texts, version, bytes);
        xxh3_128(bytes)
    })
}

thread_local! {
    /// A buffer that is reused for each row.
    static ROW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Appends the bytes of a row's digest.
fn write_row<X: Texts>(texts: &X, version: &Version<X::Text>, bytes: &mut Vec<u8>) {
    bytes.push(b'r');
    bytes.extend_from_slice(&version.id.0);
    bytes.extend_from_slice(&version.withheld.to_le_bytes());
    bytes.extend_from_slice(&version.created_ms.to_le_bytes());
    bytes.extend_from_slice(&version.updated_ms.to_le_bytes());
    bytes.extend_from_slice(&version.weight_ppm.to_le_bytes());
    bytes.extend_from_slice(&[
        version.scope_kind.code(),
        version.importance.code(),
        version.trust.code(),
        u8::from(version.occurred_at_ms.is_some()),
    ]);
    bytes.extend_from_slice(&version.occurred_at_ms.unwrap_or(0).to_le_bytes());
    if let Some(carried) = &version.carried {
        bytes.push(b'c');
        bytes.extend_from_slice(&carried.created_ms.to_le_bytes());
        bytes.extend_from_slice(&carried.updated_ms.to_le_bytes());
    }
    if let Some(until_ms) = version.pinned_until_ms {
        bytes.push(b'p');
        bytes.extend_from_slice(&until_ms.to_le_bytes());
    }
    expiry::write_digest(version, bytes);
    if let Some(row) = &version.graph {
        bytes.push(b'g');
        bytes.extend_from_slice(&row.memoir.unwrap_or(SubjectId::ZERO).0);
        bytes.extend_from_slice(&row.confidence_ppm.to_le_bytes());
        bytes.extend_from_slice(&row.revision.to_le_bytes());
    }
    if let Some(row) = &version.feedback {
        bytes.push(b'f');
        bytes.extend_from_slice(&row.memory.unwrap_or(SubjectId::ZERO).0);
        bytes.push(row.verdict);
        bytes.extend_from_slice(&row.context_len.to_le_bytes());
        bytes.extend_from_slice(&row.predicted_len.to_le_bytes());
    }
    let mut put = |text: Option<&str>| match text {
        None => bytes.extend_from_slice(&u64::MAX.to_le_bytes()),
        Some(text) => {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
    };
    for text in version.texts() {
        put(text.as_ref().map(|text| texts.get(text)));
    }
    let words = version.keywords.iter();
    let mut keywords: Vec<_> = words
        .map(|keyword| keyword.text.as_ref().map(|text| texts.get(text)))
        .collect();
    keywords.sort_unstable();
    keywords.dedup();
    keywords.into_iter().for_each(put);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_and_removing_in_any_order() {
        let digests: Vec<u128> = (0u8..20)
            .map(|n| xxh3_128(&[n]))
            .chain([u128::MAX])
            .collect();
        let mut forward = StateSum::default();
        let mut backward = StateSum::default();
        digests.iter().for_each(|digest| forward.add(*digest));
        digests
            .iter()
            .rev()
            .for_each(|digest| backward.add(*digest));
        assert_eq!(forward, backward);
        assert_ne!(forward.hash(1), forward.hash(2));
        digests.iter().for_each(|digest| forward.remove(*digest));
        assert_eq!(forward, StateSum::default());
    }
}
