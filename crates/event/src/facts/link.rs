//! Facts of links between memories, and between concepts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FactsError;
use super::wire::Fields;
use crate::id::SubjectId;

/// The relation of one memory or concept to another: a code, or 0 if the payload names the relation in words. A code
/// without a name in this version is kept.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Relation(pub u16);

impl Relation {
    /// The payload names the relation.
    pub const IN_WORDS: Relation = Relation(0);
    /// The two memories have to do with each other.
    pub const RELATED: Relation = Relation(1);
    /// The memory takes the place of the other.
    pub const SUPERSEDES: Relation = Relation(2);
    /// The two cannot both be right.
    pub const CONTRADICTS: Relation = Relation(3);
    /// The memory was made from the other.
    pub const DERIVED_FROM: Relation = Relation(4);
    /// The two say nearly the same.
    pub const SIMILAR_TO: Relation = Relation(5);
    /// The two were shown together (reserved).
    pub const CO_RECALLED: Relation = Relation(6);
    /// The memory, linked to itself, was useful. `feedback.applied` says so; no `memory.linked` has this code.
    pub const USEFUL: Relation = Relation(16);
    /// The memory, linked to itself, was wrong. `feedback.applied` says so; no `memory.linked` has this code.
    pub const WRONG: Relation = Relation(17);
    /// The concept is part of the other.
    pub const PART_OF: Relation = Relation(32);
    /// The concept needs the other.
    pub const DEPENDS_ON: Relation = Relation(33);
    /// The two concepts have to do with each other.
    pub const RELATED_TO: Relation = Relation(34);
    /// The concept says more precisely what the other says.
    pub const REFINES: Relation = Relation(35);
    /// The concept can take the place of the other.
    pub const ALTERNATIVE_TO: Relation = Relation(36);
    /// The other concept is the cause.
    pub const CAUSED_BY: Relation = Relation(37);
    /// The concept is an instance of the other.
    pub const INSTANCE_OF: Relation = Relation(38);
    /// The other concept takes its place.
    pub const SUPERSEDED_BY: Relation = Relation(39);

    /// Code and name of every relation between memories.
    pub const NAMES: [(Relation, &'static str); 6] = [
        (Relation::RELATED, "related"),
        (Relation::SUPERSEDES, "supersedes"),
        (Relation::CONTRADICTS, "contradicts"),
        (Relation::DERIVED_FROM, "derived_from"),
        (Relation::SIMILAR_TO, "similar_to"),
        (Relation::CO_RECALLED, "co_recalled"),
    ];

    /// Code and name of every relation between concepts.
    pub const OF_CONCEPTS: [(Relation, &'static str); 9] = [
        (Relation::PART_OF, "part_of"),
        (Relation::DEPENDS_ON, "depends_on"),
        (Relation::RELATED_TO, "related_to"),
        (Relation::CONTRADICTS, "contradicts"),
        (Relation::REFINES, "refines"),
        (Relation::ALTERNATIVE_TO, "alternative_to"),
        (Relation::CAUSED_BY, "caused_by"),
        (Relation::INSTANCE_OF, "instance_of"),
        (Relation::SUPERSEDED_BY, "superseded_by"),
    ];

    /// Returns the name of the relation, if this version knows its code.
    pub fn name(self) -> Option<&'static str> {
        let mut names = Relation::NAMES.iter().chain(&Relation::OF_CONCEPTS);
        names.find(|(code, _)| *code == self).map(|(_, name)| *name)
    }

    /// Returns the relation between memories that has this name, in snake_case, kebab-case or camelCase.
    pub fn parse(name: &str) -> Option<Relation> {
        spelled(&Relation::NAMES, name)
    }

    /// Returns the relation between concepts that has this name, in snake_case, kebab-case or camelCase.
    pub fn parse_of_concepts(name: &str) -> Option<Relation> {
        spelled(&Relation::OF_CONCEPTS, name)
    }
}

/// Returns the relation whose name has the same letters, in any case.
fn spelled(names: &[(Relation, &str)], name: &str) -> Option<Relation> {
    let letters = |text: &str| {
        let letters = text.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    let asked = letters(name);
    let mut names = names.iter();
    names
        .find(|(_, known)| letters(known) == asked)
        .map(|(code, _)| *code)
}

/// Facts of `memory.linked` and `concept.linked`: 24 bytes. The link goes from the event's subject to `other`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryLinked {
    /// The memory or concept that the link goes to.
    pub other: SubjectId,
    /// The relation of the subject to `other`.
    pub relation: Relation,
}

impl MemoryLinked {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        out.extend_from_slice(&self.other.0);
        out.extend_from_slice(&self.relation.0.to_le_bytes());
        out.extend_from_slice(&[0; 6]);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        MemoryLinked::decode_of("memory.linked", bytes)
    }

    pub(super) fn decode_of(kind: &'static str, bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new(kind, bytes);
        let (other, relation) = (SubjectId(at.array()?), Relation(at.u16()?));
        let _reserved: [u8; 6] = at.array()?;
        Ok(MemoryLinked { other, relation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relation_is_known_in_every_spelling() {
        for name in ["depends_on", "depends-on", "dependsOn", "DEPENDS ON"] {
            assert_eq!(
                Relation::parse_of_concepts(name),
                Some(Relation::DEPENDS_ON)
            );
        }
        for (code, name) in Relation::OF_CONCEPTS {
            assert_eq!(Relation::parse_of_concepts(name), Some(code));
            assert_eq!(code.name(), Some(name));
        }
        assert_eq!(Relation::parse("derivedFrom"), Some(Relation::DERIVED_FROM));
        assert_eq!(Relation::parse("depends_on"), None);
        assert_eq!(Relation::parse_of_concepts("eats"), None);
    }

    #[test]
    fn there_and_back() {
        for relation in [0, 5, 999] {
            let linked = MemoryLinked {
                other: SubjectId([7; 16]),
                relation: Relation(relation),
            };
            let mut bytes = linked.encode();
            assert_eq!(bytes.len(), 24);
            assert_eq!(MemoryLinked::decode(&bytes), Ok(linked));
            assert!(MemoryLinked::decode(&bytes[..23]).is_err());
            bytes.push(9);
            assert_eq!(
                MemoryLinked::decode(&bytes),
                Ok(linked),
                "later fields are left alone"
            );
        }
    }

    #[test]
    fn codes_are_for_ever() {
        let codes = Relation::NAMES.map(|(code, name)| (code.0, name));
        assert_eq!(
            codes,
            [
                (1, "related"),
                (2, "supersedes"),
                (3, "contradicts"),
                (4, "derived_from"),
                (5, "similar_to"),
                (6, "co_recalled"),
            ]
        );
        for (code, name) in Relation::NAMES {
            assert_eq!(Relation::parse(name), Some(code));
            assert_eq!(code.name(), Some(name));
        }
        assert_eq!(Relation::parse("loves"), None);
        assert_eq!(Relation(7).name(), None);
    }
}
