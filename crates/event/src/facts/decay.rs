//! Facts of `memory.decayed` and `memory.pruned`.

use schemars::JsonSchema;
use serde::Serialize;

use super::FactsError;
use super::memory::Covered;
use super::wire::Fields;

/// Facts of `memory.decayed`, a tick for the whole store: 24 bytes. Rates and factors are in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryDecayed {
    /// The day that the tick brings weights up to, in whole days since 1970-01-01 UTC. A day after that of the event's
    /// own time counts as that day.
    pub as_of_day: u32,
    /// Share of its weight that a memory of medium importance loses a day if nobody recalls it.
    pub rate_ppm: u32,
    /// Factor on the rate for critical memories.
    pub critical_ppm: u32,
    /// Factor on the rate for memories of high importance.
    pub high_ppm: u32,
    /// Factor on the rate for memories of medium importance.
    pub medium_ppm: u32,
    /// Factor on the rate for memories of low importance.
    pub low_ppm: u32,
}

impl MemoryDecayed {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let fields = [
            self.as_of_day,
            self.rate_ppm,
            self.critical_ppm,
            self.high_ppm,
            self.medium_ppm,
            self.low_ppm,
        ];
        fields
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect()
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.decayed", bytes);
        Ok(MemoryDecayed {
            as_of_day: at.u32()?,
            rate_ppm: at.u32()?,
            critical_ppm: at.u32()?,
            high_ppm: at.u32()?,
            medium_ppm: at.u32()?,
            low_ppm: at.u32()?,
        })
    }
}

/// Facts of `memory.pruned`: 8 bytes, and 20 bytes a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryPruned {
    /// The weight below which memories were forgotten, in parts per million.
    pub threshold_ppm: u32,
    /// The forgotten memories, sorted by id.
    pub covers: Vec<Covered>,
}

impl MemoryPruned {
    /// Most memories that one event names. Raised, their list could exceed the 256 KiB of facts (13,000 memories).
    pub const COVERS_MAX: usize = 10_000;

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more memories than `u32::MAX`; the ceiling of facts is far below.
    pub fn encode(&self) -> Vec<u8> {
        let count = u32::try_from(self.covers.len()).expect("the ceiling of facts is far below");
        let mut out = Vec::with_capacity(8 + self.covers.len() * Covered::LEN);
        out.extend_from_slice(&self.threshold_ppm.to_le_bytes());
        out.extend_from_slice(&count.to_le_bytes());
        self.covers.iter().for_each(|covered| covered.put(&mut out));
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.pruned", bytes);
        let (threshold_ppm, count) = (at.u32()?, at.u32()? as usize);
        Ok(MemoryPruned {
            threshold_ppm,
            covers: Covered::list(&mut at, count)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SubjectId;

    #[test]
    fn a_tick_there_and_back() {
        let decayed = MemoryDecayed {
            as_of_day: 20_780,
            rate_ppm: 50_000,
            critical_ppm: 0,
            high_ppm: 500_000,
            medium_ppm: 1_000_000,
            low_ppm: 2_000_000,
        };
        let mut bytes = decayed.encode();
        assert_eq!(bytes.len(), 24);
        assert_eq!(bytes[..8], [0x2c, 0x51, 0, 0, 0x50, 0xc3, 0, 0]);
        assert_eq!(MemoryDecayed::decode(&bytes), Ok(decayed));
        assert!(MemoryDecayed::decode(&bytes[..23]).is_err());
        bytes.push(9);
        assert_eq!(
            MemoryDecayed::decode(&bytes),
            Ok(decayed),
            "later fields are left alone"
        );
    }

    #[test]
    fn a_prune_there_and_back() {
        let covers = [1, 2].map(|n| Covered {
            id: SubjectId([n; 16]),
            causal_length: u32::from(n) * 2,
        });
        let pruned = MemoryPruned {
            threshold_ppm: 100_000,
            covers: covers.to_vec(),
        };
        let mut bytes = pruned.encode();
        assert_eq!(bytes.len(), 8 + 2 * 20);
        assert_eq!(MemoryPruned::decode(&bytes), Ok(pruned.clone()));
        assert!(MemoryPruned::decode(&bytes[..47]).is_err());
        bytes.push(9);
        assert_eq!(MemoryPruned::decode(&bytes), Ok(pruned));
        bytes[4] = 0xff;
        let error = MemoryPruned::decode(&bytes).map_err(|error| error.kind);
        assert_eq!(error, Err("memory.pruned"), "a list longer than its bytes");
    }
}
