//! Facts of the events about memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FactsError;
use super::expiry::Expiry;
use super::wire::Fields;
use crate::id::{Name, ScopeId, SubjectId};

/// Bits of `fields`, which says what an event writes. A field that is written but absent from the payload is cleared.
pub mod fields {
    /// The topic.
    pub const TOPIC: u32 = 1;
    /// The text.
    pub const CONTENT: u32 = 1 << 1;
    /// The verbatim excerpt.
    pub const RAW_EXCERPT: u32 = 1 << 2;
    /// The importance (in the facts).
    pub const IMPORTANCE: u32 = 1 << 3;
    /// The scope (kind and id in the facts, text in the payload).
    pub const SCOPE: u32 = 1 << 4;
    /// The caller's own id within the topic.
    pub const KEY: u32 = 1 << 5;
    /// The source of the text.
    pub const SOURCE: u32 = 1 << 6;
    /// The valid time.
    pub const OCCURRED_AT: u32 = 1 << 7;
    /// The writer's JSON object.
    pub const METADATA: u32 = 1 << 8;
    /// The condition under which the memory expires (in the facts after all others; its path and zone in the payload).
    pub const EXPIRES: u32 = 1 << 9;
    /// The trust (in the facts).
    pub const TRUST: u32 = 1 << 10;
    /// The confidence in a concept (in the facts); memories have none.
    pub const CONFIDENCE: u32 = 1 << 11;
    /// The time until which the memory is pinned (in the facts of `memory.pinned`). No event sets this bit.
    pub const PINNED: u32 = 1 << 12;
    /// The event whose condition came true (the first of the refs of `memory.expired`). No event sets this bit.
    pub const EXPIRED: u32 = 1 << 13;
    /// Every field of a memory.
    pub const ALL: u32 = (1 << 11) - 1;

    /// Bit and name of every field, in order.
    pub const NAMES: [(u32, &str); 13] = [
        (TOPIC, "topic"),
        (CONTENT, "content"),
        (RAW_EXCERPT, "raw_excerpt"),
        (IMPORTANCE, "importance"),
        (SCOPE, "scope"),
        (KEY, "key"),
        (SOURCE, "source"),
        (OCCURRED_AT, "occurred_at"),
        (METADATA, "metadata"),
        (EXPIRES, "expires"),
        (TRUST, "trust"),
        (PINNED, "pinned"),
        (EXPIRED, "expired"),
    ];
}

macro_rules! code_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$vmeta])* $variant = $code,)* }

        impl $name {
            /// The code on disk.
            pub fn code(self) -> u8 {
                self as u8
            }

            /// Returns the value of a code, or `None` if this version does not know the code.
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }
        }
    };
}

code_enum!(
    /// The importance of a memory; 0 on disk means "not written".
    Importance {
        /// Fades twice as fast as medium.
        Low = 1,
        /// The default.
        Medium = 2,
        /// Fades half as fast as medium.
        High = 3,
        /// Never fades.
        Critical = 4,
    }
);
code_enum!(
    /// The kind of writer of a text, which says how far to trust the text; 0 on disk means "not written".
    Trust {
        /// A person typed it.
        User = 1,
        /// An agent wrote it.
        Agent = 2,
        /// The text was imported, or extracted from elsewhere.
        External = 3,
    }
);
code_enum!(
    /// The range in which a memory is seen; 0 on disk means "not written".
    ScopeKind {
        /// Seen everywhere.
        Global = 1,
        /// Seen in one project.
        Project = 2,
        /// Seen in one session and the sessions below it.
        Session = 3,
    }
);

fn optional<T>(
    fields: &Fields<'_>,
    code: u8,
    from_code: fn(u8) -> Option<T>,
    why: &'static str,
) -> Result<Option<T>, FactsError> {
    match code {
        0 => Ok(None),
        code => from_code(code).map(Some).ok_or_else(|| fields.error(why)),
    }
}

const STORED_LEN: usize = 48;

/// Facts of `memory.stored`: 48 bytes, and 24 bytes if the memory has a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryStored {
    /// Bits of the fields that the event writes.
    pub fields: u32,
    /// Always 1: the memory is alive for the first time.
    pub causal_length: u32,
    /// Kind of the scope.
    pub scope_kind: ScopeKind,
    /// Importance of the memory.
    pub importance: Importance,
    /// Trust in the text.
    pub trust: Trust,
    /// Number of keywords in the payload.
    pub keyword_count: u16,
    /// Digest of scope, topic and key; zero for a memory without a key.
    pub name: Name,
    /// Id of the scope; zero for the global scope.
    pub scope_id: ScopeId,
    /// The condition under which the memory expires. A summary of `memory.consolidated` has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
}

impl MemoryStored {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.encode_without_expiry();
        if let Some(expiry) = &self.expiry {
            expiry.put(&mut out);
        }
        out
    }

    fn encode_without_expiry(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(STORED_LEN + Expiry::LEN);
        out.extend_from_slice(&self.fields.to_le_bytes());
        out.extend_from_slice(&self.causal_length.to_le_bytes());
        out.extend_from_slice(&[
            self.scope_kind.code(),
            self.importance.code(),
            self.trust.code(),
            0,
        ]);
        out.extend_from_slice(&self.keyword_count.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&self.name.0);
        out.extend_from_slice(&self.scope_id.0);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.stored", bytes);
        let (fields, causal_length) = (at.u32()?, at.u32()?);
        let (scope_kind, importance, trust, _) = (at.u8()?, at.u8()?, at.u8()?, at.u8()?);
        let (keyword_count, _) = (at.u16()?, at.u16()?);
        Ok(MemoryStored {
            fields,
            causal_length,
            scope_kind: ScopeKind::from_code(scope_kind)
                .ok_or_else(|| at.error("unknown scope kind"))?,
            importance: Importance::from_code(importance)
                .ok_or_else(|| at.error("unknown importance"))?,
            trust: Trust::from_code(trust).ok_or_else(|| at.error("unknown trust"))?,
            keyword_count,
            name: Name(at.array()?),
            scope_id: ScopeId(at.array()?),
            expiry: match fields & fields::EXPIRES {
                0 => None,
                _ => Expiry::at_end(&mut at),
            },
        })
    }
}

/// A memory that a summary is made from, or that a prune forgot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Covered {
    /// The memory.
    pub id: SubjectId,
    /// The memory's causal length after this event. Even if the memory was forgotten or the summary replaces it; 0 if
    /// the memory stays as it is.
    pub causal_length: u32,
}

impl Covered {
    /// Bytes of an entry in a list.
    pub(super) const LEN: usize = 20;

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.id.0);
        out.extend_from_slice(&self.causal_length.to_le_bytes());
    }

    /// Reads the next `count` entries.
    pub(super) fn list(at: &mut Fields<'_>, count: usize) -> Result<Vec<Covered>, FactsError> {
        at.expect_items(count, Covered::LEN)?;
        let mut covers = Vec::with_capacity(count);
        for _ in 0..count {
            covers.push(Covered {
                id: SubjectId(at.array()?),
                causal_length: at.u32()?,
            });
        }
        Ok(covers)
    }
}

/// Facts of `memory.consolidated`: the 48 bytes of the summary's `memory.stored`, 8 bytes, and 20 bytes a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryConsolidated {
    /// The summary that this event stores.
    pub stored: MemoryStored,
    /// The memories that the summary is made from, sorted by id.
    pub covers: Vec<Covered>,
}

impl MemoryConsolidated {
    /// Most memories that one event names. Raised, their list could exceed the 256 KiB of facts (13,000 memories).
    pub const COVERS_MAX: usize = 10_000;

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more memories than `u32::MAX`; the ceiling of facts is far below.
    pub fn encode(&self) -> Vec<u8> {
        let count = u32::try_from(self.covers.len()).expect("the ceiling of facts is far below");
        let mut out = self.stored.encode_without_expiry();
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        self.covers.iter().for_each(|covered| covered.put(&mut out));
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.consolidated", bytes);
        let stored: [u8; STORED_LEN] = at.array()?;
        let stored = MemoryStored::decode(&stored)?;
        let (count, _) = (at.u32()? as usize, at.u32()?);
        let covers = Covered::list(&mut at, count)?;
        Ok(MemoryConsolidated { stored, covers })
    }
}

/// A keyword or label that an event takes away. Named by the event that added it and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Removal {
    /// Index into the refs of this event, for the event that added the keyword.
    pub reference: u16,
    /// Index of the keyword among the additions of that event.
    pub index: u16,
}

/// Facts of `memory.updated`: 48 bytes, 4 bytes a removal, and 24 bytes if the event sets a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryUpdated {
    /// Bits of the fields that the event writes.
    pub fields: u32,
    /// The kind of the new scope, if the scope is written.
    pub scope_kind: Option<ScopeKind>,
    /// The new importance, if it is written.
    pub importance: Option<Importance>,
    /// The new trust, if it is written.
    pub trust: Option<Trust>,
    /// Number of keywords in the payload; the memory gets them in addition to its own.
    pub keywords_added: u16,
    /// New digest of scope, topic and key. Zero if none of the three is written, or the memory has no key.
    pub name: Name,
    /// Id of the new scope, if the scope is written; zero for the global scope.
    pub scope_id: ScopeId,
    /// Keywords that the memory loses.
    pub removed: Vec<Removal>,
    /// The new condition under which the memory expires. `None` takes the condition away if `fields` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
}

impl MemoryUpdated {
    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more than 65,535 removals; a memory has at most 32 keywords.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48 + self.removed.len() * 4);
        out.extend_from_slice(&self.fields.to_le_bytes());
        out.extend_from_slice(&[
            self.scope_kind.map_or(0, ScopeKind::code),
            self.importance.map_or(0, Importance::code),
            self.trust.map_or(0, Trust::code),
            0,
        ]);
        out.extend_from_slice(&self.keywords_added.to_le_bytes());
        let removed = u16::try_from(self.removed.len()).expect("keywords are limited");
        out.extend_from_slice(&removed.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.name.0);
        out.extend_from_slice(&self.scope_id.0);
        for removal in &self.removed {
            out.extend_from_slice(&removal.reference.to_le_bytes());
            out.extend_from_slice(&removal.index.to_le_bytes());
        }
        if let Some(expiry) = &self.expiry {
            expiry.put(&mut out);
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.updated", bytes);
        let fields = at.u32()?;
        let (scope_kind, importance, trust, _) = (at.u8()?, at.u8()?, at.u8()?, at.u8()?);
        let (keywords_added, removed_count, _) = (at.u16()?, at.u16()?, at.u32()?);
        let (name, scope_id) = (Name(at.array()?), ScopeId(at.array()?));
        at.expect_items(usize::from(removed_count), 4)?;
        let mut removed = Vec::with_capacity(usize::from(removed_count));
        for _ in 0..removed_count {
            removed.push(Removal {
                reference: at.u16()?,
                index: at.u16()?,
            });
        }
        Ok(MemoryUpdated {
            fields,
            scope_kind: optional(&at, scope_kind, ScopeKind::from_code, "unknown scope kind")?,
            importance: optional(&at, importance, Importance::from_code, "unknown importance")?,
            trust: optional(&at, trust, Trust::from_code, "unknown trust")?,
            keywords_added,
            name,
            scope_id,
            removed,
            expiry: match fields & fields::EXPIRES {
                0 => None,
                _ => Expiry::at_end(&mut at),
            },
        })
    }
}

/// Facts of `memory.pinned`: 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryPinned {
    /// End of the pin, in milliseconds since 1970-01-01 UTC; 0 if the memory stays pinned until it is unpinned.
    pub until_ms: u64,
}

impl MemoryPinned {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        self.until_ms.to_le_bytes().to_vec()
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.pinned", bytes);
        Ok(MemoryPinned {
            until_ms: at.u64()?,
        })
    }
}

/// Facts of the `forgotten` and `revived` kinds: 8 bytes. An odd causal length means alive, an even one forgotten. The
/// larger length wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Alive {
    /// Causal length of the subject after this event.
    pub causal_length: u32,
}

impl Alive {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.causal_length.to_le_bytes().to_vec();
        out.extend_from_slice(&[0; 4]);
        out
    }

    /// Reads the facts.
    pub fn decode(kind: &'static str, bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new(kind, bytes);
        let (causal_length, _) = (at.u32()?, at.u32()?);
        Ok(Alive { causal_length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let stored = MemoryStored {
            fields: fields::ALL,
            causal_length: 1,
            scope_kind: ScopeKind::Project,
            importance: Importance::High,
            trust: Trust::Agent,
            keyword_count: 3,
            name: Name([9; 16]),
            scope_id: ScopeId([8; 16]),
            expiry: None,
        };
        assert_eq!(stored.encode().len(), 48);
        assert_eq!(MemoryStored::decode(&stored.encode()), Ok(stored.clone()));
        let mut longer = stored.encode();
        longer.extend_from_slice(b"from the future");
        assert_eq!(
            MemoryStored::decode(&longer),
            Ok(stored),
            "trailing bytes are left alone"
        );

        let updated = MemoryUpdated {
            fields: fields::CONTENT,
            scope_kind: None,
            importance: None,
            trust: None,
            keywords_added: 0,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
            removed: vec![Removal {
                reference: 1,
                index: 2,
            }],
            expiry: None,
        };
        assert_eq!(updated.encode().len(), 52);
        assert_eq!(MemoryUpdated::decode(&updated.encode()), Ok(updated));

        let pinned = MemoryPinned { until_ms: 9 };
        assert_eq!(pinned.encode().len(), 8);
        assert_eq!(MemoryPinned::decode(&pinned.encode()), Ok(pinned));
        assert!(MemoryPinned::decode(&[0; 7]).is_err());
    }

    #[test]
    fn facts_that_are_too_short_are_an_error() {
        assert!(Alive::decode("memory.forgotten", &[1]).is_err());
    }
}
