//! Facts of `memory.recalled`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FactsError;
use super::wire::{Fields, named_codes};
use crate::id::{EventId, Position, SubjectId};

/// A memory that a recall showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Recalled {
    /// The memory.
    pub id: SubjectId,
    /// Its rank, from 1.
    pub rank: u16,
}

named_codes!(
    /// The reason for which results were shown. A code without a name in this version is kept.
    Front(u8) {
        /// Not recorded: the event is older than this field.
        UNSAID = 0, "unsaid";
        /// A person or a model asked a question.
        RECALL = 1, "recall";
        /// A prompt asked for its context.
        CONTEXT = 2, "context";
        /// A session started and got a wake-up pack.
        WAKE_UP = 3, "wake-up";
        /// A hook showed the results unasked.
        HOOK = 4, "hook";
    }
);

impl Front {
    /// Returns `true` if results were asked for. Results shown unasked do not count as an access.
    pub fn is_asked(self) -> bool {
        matches!(self, Front::UNSAID | Front::RECALL | Front::CONTEXT)
    }
}

/// The reason for which results were shown, and their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shown {
    /// The reason.
    pub front: Front,
    /// Estimated number of tokens of the shown texts.
    pub tokens: u32,
}

/// Facts of `memory.recalled`: 48 bytes, 18 bytes a result, 8 bytes if `shown` is recorded, and 8
/// bytes for a moment after them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryRecalled {
    /// Position at which the answer was computed.
    pub basis_position: Position,
    /// Id of the event at that position.
    pub basis_event: EventId,
    /// The results that were shown, best first.
    pub results: Vec<Recalled>,
    /// The reason for which the results were shown; older events do not record it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// The moment of the basis, in milliseconds since 1970-01-01 UTC. Recorded with `shown`, if a memory of the store has
    /// a condition under which it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moment_ms: Option<u64>,
}

impl MemoryRecalled {
    /// Returns `true` if the results were asked for. An event that does not record the reason counts as asked for.
    pub fn is_asked(&self) -> bool {
        self.shown.is_none_or(|shown| shown.front.is_asked())
    }

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more than 65,535 results; a recall is limited to 1,000.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48 + self.results.len() * 18);
        out.extend_from_slice(&self.basis_position.0.to_le_bytes());
        out.extend_from_slice(&self.basis_event.0);
        let count = u16::try_from(self.results.len()).expect("recalls are limited");
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[0; 6]);
        for result in &self.results {
            out.extend_from_slice(&result.id.0);
            out.extend_from_slice(&result.rank.to_le_bytes());
        }
        if let Some(shown) = &self.shown {
            out.extend_from_slice(&[shown.front.0, 0, 0, 0]);
            out.extend_from_slice(&shown.tokens.to_le_bytes());
            if let Some(ms) = self.moment_ms {
                out.extend_from_slice(&ms.to_le_bytes());
            }
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.recalled", bytes);
        let (basis_position, basis_event) = (Position(at.u64()?), EventId(at.array()?));
        let (count, _) = (at.u16()?, at.array::<6>()?);
        at.expect_items(usize::from(count), 18)?;
        let mut results = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            results.push(Recalled {
                id: SubjectId(at.array()?),
                rank: at.u16()?,
            });
        }
        let shown = match at.is_empty() {
            true => None,
            false => {
                let (front, _, tokens) = (at.u8()?, at.array::<3>()?, at.u32()?);
                Some(Shown {
                    front: Front(front),
                    tokens,
                })
            }
        };
        // A newer version may add other facts, none of them shorter.
        let moment_ms = match shown.is_none() || at.is_empty() {
            true => None,
            false => at.u64().ok(),
        };
        Ok(MemoryRecalled {
            basis_position,
            basis_event,
            results,
            shown,
            moment_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recalled(shown: Option<Shown>) -> MemoryRecalled {
        MemoryRecalled {
            basis_position: Position(7),
            basis_event: EventId([3; 32]),
            results: vec![Recalled {
                id: SubjectId([4; 16]),
                rank: 1,
            }],
            shown,
            moment_ms: None,
        }
    }

    #[test]
    fn there_and_back() {
        let old = recalled(None);
        assert_eq!(old.encode().len(), 66);
        assert_eq!(MemoryRecalled::decode(&old.encode()), Ok(old));
        let new = recalled(Some(Shown {
            front: Front::HOOK,
            tokens: 812,
        }));
        let mut bytes = new.encode();
        assert_eq!(bytes.len(), 74);
        assert_eq!(MemoryRecalled::decode(&bytes), Ok(new.clone()));
        let timed = MemoryRecalled {
            moment_ms: Some(9),
            ..new.clone()
        };
        assert_eq!(timed.encode().len(), 82);
        assert_eq!(MemoryRecalled::decode(&timed.encode()), Ok(timed));
        bytes.extend_from_slice(b"too few");
        assert_eq!(MemoryRecalled::decode(&bytes), Ok(new));
        bytes[66] = 99;
        let later = MemoryRecalled::decode(&bytes).expect("a front of a later version is kept");
        assert_eq!(later.shown.map(|shown| shown.front), Some(Front(99)));
        assert!(MemoryRecalled::decode(&bytes[..70]).is_err());
    }

    #[test]
    fn a_list_longer_than_its_bytes_is_an_error() {
        let mut bytes = recalled(None).encode();
        bytes[40] = 0xff;
        assert_eq!(
            MemoryRecalled::decode(&bytes).map_err(|e| e.kind),
            Err("memory.recalled")
        );
    }
}
