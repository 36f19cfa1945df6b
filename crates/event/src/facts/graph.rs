//! Facts of the concept graph: memoirs (named graphs of knowledge) and the concepts in them.
//!
//! The bits of `fields` are those of [`fields`](super::fields): `TOPIC` is the memoir's name, `KEY` the concept's name,
//! `CONTENT` the description or definition, `SOURCE` the source. `CONFIDENCE` stands in the facts, the others in the
//! payload.

use schemars::JsonSchema;
use serde::Serialize;

use super::wire::Fields;
use super::{FactsError, Removal};
use crate::id::{Name, SubjectId};

/// Full confidence in a concept, in parts per million.
pub const CONFIDENCE_MAX_PPM: u32 = 1_000_000;

/// Facts of `memoir.created`: 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoirCreated {
    /// Bits of the fields that the event writes.
    pub fields: u32,
    /// Always 1: the memoir is alive for the first time.
    pub causal_length: u32,
    /// Digest of the memoir's name.
    pub name: Name,
}

impl MemoirCreated {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        out.extend_from_slice(&self.fields.to_le_bytes());
        out.extend_from_slice(&self.causal_length.to_le_bytes());
        out.extend_from_slice(&self.name.0);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memoir.created", bytes);
        Ok(MemoirCreated {
            fields: at.u32()?,
            causal_length: at.u32()?,
            name: Name(at.array()?),
        })
    }
}

/// Facts of `memoir.described`: 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoirDescribed {
    /// Bits of the fields that the event writes.
    pub fields: u32,
}

impl MemoirDescribed {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.fields.to_le_bytes().to_vec();
        out.extend_from_slice(&[0; 4]);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memoir.described", bytes);
        let (fields, _) = (at.u32()?, at.u32()?);
        Ok(MemoirDescribed { fields })
    }
}

/// Facts of `concept.added`: 48 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConceptAdded {
    /// Bits of the fields that the event writes.
    pub fields: u32,
    /// Always 1: the concept is alive for the first time.
    pub causal_length: u32,
    /// Confidence in the concept, in parts per million.
    pub confidence_ppm: u32,
    /// Number of labels in the payload.
    pub label_count: u16,
    /// The memoir of the concept.
    pub memoir: SubjectId,
    /// Digest of the memoir's name and the concept's name.
    pub name: Name,
}

impl ConceptAdded {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48);
        out.extend_from_slice(&self.fields.to_le_bytes());
        out.extend_from_slice(&self.causal_length.to_le_bytes());
        out.extend_from_slice(&self.confidence_ppm.to_le_bytes());
        out.extend_from_slice(&self.label_count.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&self.memoir.0);
        out.extend_from_slice(&self.name.0);
        out
    }

    /// Reads the facts. A confidence above [`CONFIDENCE_MAX_PPM`] is read as full confidence.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("concept.added", bytes);
        let (fields, causal_length, confidence_ppm) = (at.u32()?, at.u32()?, at.u32()?);
        let (label_count, _) = (at.u16()?, at.u16()?);
        Ok(ConceptAdded {
            fields,
            causal_length,
            confidence_ppm: confidence_ppm.min(CONFIDENCE_MAX_PPM),
            label_count,
            memoir: SubjectId(at.array()?),
            name: Name(at.array()?),
        })
    }
}

/// Facts of `concept.refined`: 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConceptRefined {
    /// Bits of the fields that the event writes.
    pub fields: u32,
    /// Confidence in the concept from this event on, in parts per million.
    pub confidence_ppm: u32,
}

impl ConceptRefined {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.fields.to_le_bytes().to_vec();
        out.extend_from_slice(&self.confidence_ppm.to_le_bytes());
        out
    }

    /// Reads the facts. A confidence above [`CONFIDENCE_MAX_PPM`] is read as full confidence.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("concept.refined", bytes);
        let (fields, confidence_ppm) = (at.u32()?, at.u32()?);
        Ok(ConceptRefined {
            fields,
            confidence_ppm: confidence_ppm.min(CONFIDENCE_MAX_PPM),
        })
    }
}

/// Facts of `concept.labelled`: 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConceptLabelled {
    /// Number of labels in the payload; the concept gets them in addition to its own.
    pub label_count: u16,
}

impl ConceptLabelled {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.label_count.to_le_bytes().to_vec();
        out.extend_from_slice(&[0; 6]);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("concept.labelled", bytes);
        let (label_count, _) = (at.u16()?, at.array::<6>()?);
        Ok(ConceptLabelled { label_count })
    }
}

/// Facts of `concept.unlabelled`: 8 bytes, and 4 bytes a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConceptUnlabelled {
    /// Labels that the concept loses.
    pub removed: Vec<Removal>,
}

impl ConceptUnlabelled {
    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more than 65,535 labels; a concept has at most 32.
    pub fn encode(&self) -> Vec<u8> {
        let count = u16::try_from(self.removed.len()).expect("labels are limited");
        let mut out = count.to_le_bytes().to_vec();
        out.extend_from_slice(&[0; 6]);
        for removal in &self.removed {
            out.extend_from_slice(&removal.reference.to_le_bytes());
            out.extend_from_slice(&removal.index.to_le_bytes());
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("concept.unlabelled", bytes);
        let (count, _) = (usize::from(at.u16()?), at.array::<6>()?);
        at.expect_items(count, 4)?;
        let mut removed = Vec::with_capacity(count);
        for _ in 0..count {
            removed.push(Removal {
                reference: at.u16()?,
                index: at.u16()?,
            });
        }
        Ok(ConceptUnlabelled { removed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let created = MemoirCreated {
            fields: 3,
            causal_length: 1,
            name: Name([7; 16]),
        };
        assert_eq!(created.encode().len(), 24);
        assert_eq!(MemoirCreated::decode(&created.encode()), Ok(created));
        let described = MemoirDescribed { fields: 2 };
        assert_eq!(described.encode().len(), 8);
        assert_eq!(MemoirDescribed::decode(&described.encode()), Ok(described));
        let added = ConceptAdded {
            fields: 35,
            causal_length: 1,
            confidence_ppm: 500_000,
            label_count: 2,
            memoir: SubjectId([5; 16]),
            name: Name([6; 16]),
        };
        let mut bytes = added.encode();
        assert_eq!(bytes.len(), 48);
        assert!(ConceptAdded::decode(&bytes[..47]).is_err());
        bytes.push(1);
        assert_eq!(ConceptAdded::decode(&bytes), Ok(added), "trailing bytes");
        let refined = ConceptRefined {
            fields: 2,
            confidence_ppm: 600_000,
        };
        assert_eq!(refined.encode().len(), 8);
        assert_eq!(ConceptRefined::decode(&refined.encode()), Ok(refined));
        let labelled = ConceptLabelled { label_count: 3 };
        assert_eq!(labelled.encode().len(), 8);
        assert_eq!(ConceptLabelled::decode(&labelled.encode()), Ok(labelled));
        let unlabelled = ConceptUnlabelled {
            removed: vec![Removal {
                reference: 1,
                index: 2,
            }],
        };
        let mut bytes = unlabelled.encode();
        assert_eq!(bytes.len(), 12);
        assert_eq!(ConceptUnlabelled::decode(&bytes), Ok(unlabelled));
        bytes[0] = 2;
        assert!(ConceptUnlabelled::decode(&bytes).is_err());
    }

    #[test]
    fn more_confidence_than_there_is_is_all_of_it() {
        let refined = ConceptRefined {
            fields: 0,
            confidence_ppm: u32::MAX,
        };
        let read = ConceptRefined::decode(&refined.encode()).expect("whole");
        assert_eq!(read.confidence_ppm, CONFIDENCE_MAX_PPM);
    }
}
