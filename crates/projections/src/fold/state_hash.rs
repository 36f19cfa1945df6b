//! The state hash: over the living values, whatever history led to them, whatever the order.
//!
//! Each living row and each access is hashed by itself and the digests are added up modulo 2^256,
//! so a change costs two hashes and not a pass over the store, and rows may be taken in any order.
//! It finds accidents (a view that disagrees with the log); it is no proof against somebody who
//! builds colliding rows, which the chain of event ids is for.

use icm_log::{EventId, SubjectId, to_hex};
use serde::{Deserialize, Serialize};

use super::FOLD_VERSION;
use super::record::Version;
use super::texts::Texts;

/// A sum of digests: 256 bits, least significant limb first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSum {
    limbs: [u64; 4],
}

/// The hash that is shown and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHash(pub [u8; 32]);

impl std::fmt::Display for StateHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl StateSum {
    fn limbs_of(digest: &[u8; 32]) -> [u64; 4] {
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().zip(digest.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            *limb = u64::from_le_bytes(eight);
        }
        limbs
    }

    /// Adds the digest of a living row.
    pub fn add(&mut self, digest: &[u8; 32]) {
        let mut carry = 0;
        for (mine, theirs) in self.limbs.iter_mut().zip(Self::limbs_of(digest)) {
            let sum = u128::from(*mine) + u128::from(theirs) + carry;
            *mine = sum as u64;
            carry = sum >> 64;
        }
    }

    /// Takes a digest away that was added.
    pub fn remove(&mut self, digest: &[u8; 32]) {
        let mut borrow = false;
        for (mine, theirs) in self.limbs.iter_mut().zip(Self::limbs_of(digest)) {
            let (less, under_1) = mine.overflowing_sub(theirs);
            let (less, under_2) = less.overflowing_sub(u64::from(borrow));
            *mine = less;
            borrow = under_1 || under_2;
        }
    }

    /// The hash of a state with this sum.
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

/// What the digest of an access is of: a recall showed a memory.
pub(super) fn access_message(memory: SubjectId, recall: EventId) -> [u8; 49] {
    let mut bytes = [0; 49];
    bytes[0] = b'a';
    bytes[1..17].copy_from_slice(&memory.0);
    bytes[17..].copy_from_slice(&recall.0);
    bytes
}

/// Digest of what a living row shows: no positions, no ordinals, no machine-local facts.
pub(super) fn row_digest<X: Texts>(texts: &X, version: &Version<X::Text>) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(512);
    write_row(texts, version, &mut bytes);
    *blake3::hash(&bytes).as_bytes()
}

/// What the digest of a row is of.
pub(super) fn write_row<X: Texts>(texts: &X, version: &Version<X::Text>, bytes: &mut Vec<u8>) {
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
        let digests: Vec<[u8; 32]> = (0u8..20)
            .map(|n| *blake3::hash(&[n]).as_bytes())
            .chain([[0xff; 32]])
            .collect();
        let mut forward = StateSum::default();
        let mut backward = StateSum::default();
        digests.iter().for_each(|digest| forward.add(digest));
        digests.iter().rev().for_each(|digest| backward.add(digest));
        assert_eq!(forward, backward);
        assert_ne!(forward.hash(1), forward.hash(2));
        digests.iter().for_each(|digest| forward.remove(digest));
        assert_eq!(forward, StateSum::default());
    }
}
