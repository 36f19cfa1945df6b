//! The record of one version, and its bytes.
//!
//! ```text
//! record: from (8) · to (8, all ones while it holds) · memory (16) · tag of its topic (4)
//!         · time (8, milliseconds since 1970, signed) · stored (8, milliseconds since 1970) · importance (1) · trust (1)
//!         · family, and 128 for a fact, 64 for a planned one (1)
//!         · kind of scope, and 128 if pinned, 64 if it may expire earlier (1)
//!         · changed (8, milliseconds since 1970) · home (8) · expires (8, milliseconds since 1970)
//!         · signature of the text (20) · check (4)
//! ```
//! Every record has a check, so a record that is used is known to be whole.

use icm_log::facts::{Importance, ScopeKind, Trust};
use icm_log::{Position, SubjectId};
use icm_text::Signature;

use super::tags::{HomeTag, TopicTag, topic_tag};
use crate::fold::{Family, Version};

pub(super) const RECORD_LEN: usize = 104;
/// Offsets of the memory and of the tag of its topic.
pub(super) const ENTITY_AT: usize = 16;
pub(super) const TOPIC_AT: usize = 32;
/// Offsets of the signature, and of the check after it.
pub(super) const SIGNATURE_AT: usize = 80;
const CHECK_AT: usize = RECORD_LEN - 4;
/// Bit in the byte of the kind of scope: the version is pinned.
const PINNED: u8 = 128;
/// Bit in the same byte: the version may be expired before the time in the record.
const EXPIRES_BY_MORE: u8 = 64;
/// Bits in the byte of the family: the version is a fact; its value was to become valid later.
const FACT: u8 = 128;
const PLANNED: u8 = 64;

/// The value of `to` while the version holds.
pub(crate) const OPEN: u64 = u64::MAX;

/// The record of one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// First position at which the version holds.
    pub from: Position,
    /// First position at which the version no longer holds; [`OPEN`] while it holds.
    pub to: u64,
    /// The memory of the version.
    pub entity: SubjectId,
    /// The tag of its topic. Different tags are different topics; two topics share a tag with a chance of one in four
    /// thousand million.
    pub topic: u32,
    /// Time at which the memory was stored, in milliseconds since 1970.
    pub created_ms: u64,
    /// Time of the memory's last change, in milliseconds since 1970.
    pub updated_ms: u64,
    /// The kind of its scope.
    pub scope_kind: ScopeKind,
    /// The tag of its topic and scope.
    pub home: HomeTag,
    /// The signature of its text; empty if the text is withheld.
    pub signature: Signature,
    /// The facts that filters use.
    pub facts: RowFacts,
}

/// Facts of a row that filters use beside its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowFacts {
    /// Importance.
    pub importance: Importance,
    /// Trust.
    pub trust: Trust,
    /// The kind of thing that the row describes.
    pub family: Family,
    /// `true` if the memory is pinned, for a time or until unpinned.
    pub is_pinned: bool,
    /// Time from which the memory is expired; see [`Version::expires_ms`].
    pub expires_ms: u64,
    /// `true` if the memory may be expired before that; see [`Version::expires_by_more`].
    pub expires_by_more: bool,
    /// `true` for a fact.
    pub is_fact: bool,
    /// `true` for a fact whose value is valid from `time_ms` on, and was planned; see [`Version::is_planned`].
    pub is_planned: bool,
    /// Time of the event that the memory describes, or else of its storing, in milliseconds since 1970.
    pub time_ms: i64,
}

impl RowFacts {
    /// Returns the facts of a row.
    pub fn of(version: &Version) -> RowFacts {
        let stored = i64::try_from(version.created_ms).unwrap_or(i64::MAX);
        RowFacts {
            importance: version.importance,
            trust: version.trust,
            family: version.family(),
            is_pinned: version.pinned_until_ms.is_some(),
            expires_ms: version.expires_ms(),
            expires_by_more: version.expires_by_more(),
            is_fact: version.is_fact(),
            is_planned: version.is_planned(),
            time_ms: version.occurred_at_ms.unwrap_or(stored),
        }
    }
}

impl Row {
    /// Returns the record of a memory's version that holds. `signature` is the signature of its text, if known.
    pub(crate) fn of(entity: SubjectId, version: &Version, signature: Option<Signature>) -> Row {
        let content = || version.content.as_deref().unwrap_or_default();
        Row {
            from: version.from,
            to: OPEN,
            entity,
            topic: topic_tag(version.topic.as_deref()),
            created_ms: version.created_ms,
            updated_ms: version.updated_ms,
            scope_kind: version.scope_kind,
            home: HomeTag::of(version),
            signature: signature.unwrap_or_else(|| Signature::of(content())),
            facts: RowFacts::of(version),
        }
    }

    /// Returns the tag of the topic.
    pub fn topic_tag(&self) -> TopicTag {
        TopicTag(self.topic)
    }

    /// Returns `true` if the version held at `position`.
    pub fn holds_at(&self, position: Position) -> bool {
        self.from <= position && position.0 < self.to
    }

    pub(super) fn encode(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..8].copy_from_slice(&self.from.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.to.to_le_bytes());
        bytes[ENTITY_AT..TOPIC_AT].copy_from_slice(&self.entity.0);
        bytes[TOPIC_AT..36].copy_from_slice(&self.topic.to_le_bytes());
        bytes[36..44].copy_from_slice(&self.facts.time_ms.to_le_bytes());
        bytes[44..52].copy_from_slice(&self.created_ms.to_le_bytes());
        bytes[52] = self.facts.importance.code();
        bytes[53] = self.facts.trust.code();
        bytes[54] = self.facts.family.code()
            | if self.facts.is_fact { FACT } else { 0 }
            | if self.facts.is_planned { PLANNED } else { 0 };
        bytes[55] = self.scope_kind.code()
            | if self.facts.is_pinned { PINNED } else { 0 }
            | if self.facts.expires_by_more {
                EXPIRES_BY_MORE
            } else {
                0
            };
        bytes[56..64].copy_from_slice(&self.updated_ms.to_le_bytes());
        bytes[64..72].copy_from_slice(&self.home.0.to_le_bytes());
        bytes[72..80].copy_from_slice(&self.facts.expires_ms.to_le_bytes());
        bytes[SIGNATURE_AT..CHECK_AT].copy_from_slice(&self.signature.to_bytes());
        let check = crc32c::crc32c(&bytes[..CHECK_AT]);
        bytes[CHECK_AT..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Row> {
        let bytes: &[u8; RECORD_LEN] = bytes.try_into().ok()?;
        let four = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if crc32c::crc32c(&bytes[..CHECK_AT]) != four(CHECK_AT) {
            return None;
        }
        let eight = |at: usize| {
            let eight = bytes[at..at + 8].first_chunk().expect("eight of them");
            u64::from_le_bytes(*eight)
        };
        let mut entity = [0; 16];
        entity.copy_from_slice(&bytes[ENTITY_AT..TOPIC_AT]);
        Some(Row {
            from: Position(eight(0)),
            to: eight(8),
            entity: SubjectId(entity),
            topic: four(TOPIC_AT),
            created_ms: eight(44),
            updated_ms: eight(56),
            scope_kind: ScopeKind::from_code(bytes[55] & !(PINNED | EXPIRES_BY_MORE))?,
            home: HomeTag(eight(64)),
            signature: Signature::from_bytes(bytes[SIGNATURE_AT..].first_chunk()?),
            facts: RowFacts {
                importance: Importance::from_code(bytes[52])?,
                trust: Trust::from_code(bytes[53])?,
                family: Family::from_code(bytes[54] & !(FACT | PLANNED))?,
                is_pinned: bytes[55] & PINNED != 0,
                expires_ms: eight(72),
                expires_by_more: bytes[55] & EXPIRES_BY_MORE != 0,
                is_fact: bytes[54] & FACT != 0,
                is_planned: bytes[54] & PLANNED != 0,
                time_ms: eight(36).cast_signed(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_there_and_back_and_every_flip_is_seen() {
        let row = Row {
            from: Position(3),
            to: OPEN,
            entity: SubjectId([7; 16]),
            topic: topic_tag(Some("a/b")),
            created_ms: 17,
            updated_ms: 18,
            home: HomeTag(19),
            signature: Signature::of("a b c"),
            scope_kind: ScopeKind::Session,
            facts: RowFacts {
                importance: Importance::High,
                trust: Trust::External,
                family: Family::Concept,
                is_pinned: true,
                expires_ms: 20,
                expires_by_more: true,
                is_fact: true,
                is_planned: true,
                time_ms: -5,
            },
        };
        let bytes = row.encode();
        assert_eq!(Row::parse(&bytes), Some(row));
        for bit in 0..RECORD_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Row::parse(&flipped), None, "bit {bit}");
        }
        assert!(row.holds_at(Position(3)) && !row.holds_at(Position(2)));
        let closed = Row { to: 5, ..row };
        assert!(closed.holds_at(Position(4)) && !closed.holds_at(Position(5)));
    }
}
