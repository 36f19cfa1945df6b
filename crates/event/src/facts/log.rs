//! Facts of the events about the log itself (`log.…`).

use schemars::JsonSchema;
use serde::Serialize;

use super::FactsError;
use super::wire::Fields;
use crate::head::PLACE_MAX;
use crate::id::{EventId, OriginId, Seq, SubjectId};

/// The place in an older chain that a new origin continues from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Continues {
    /// The older origin.
    pub origin: OriginId,
    /// Seq of the last event that the new chain continues from.
    pub seq: Seq,
    /// Id of that event.
    pub event: EventId,
}

/// Facts of `log.origin_started`: 56 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogOriginStarted {
    /// The older chain; null for the first origin of a store.
    pub continues: Option<Continues>,
}

impl LogOriginStarted {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(56);
        let none = Continues {
            origin: OriginId::ZERO,
            seq: Seq(0),
            event: EventId::ZERO,
        };
        let continues = self.continues.unwrap_or(none);
        out.extend_from_slice(&continues.origin.0);
        out.extend_from_slice(&continues.seq.0.to_le_bytes());
        out.extend_from_slice(&continues.event.0);
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("log.origin_started", bytes);
        let continues = Continues {
            origin: OriginId(at.array()?),
            seq: Seq(at.u64()?),
            event: EventId(at.array()?),
        };
        let none = continues.origin.is_zero() && continues.seq.0 == 0 && continues.event.is_zero();
        Ok(LogOriginStarted {
            continues: (!none).then_some(continues),
        })
    }
}

/// A range of another chain that this chain learned: the events after `base`, up to `head`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ImportedRange {
    /// The chain.
    pub origin: OriginId,
    /// Id of the event before the first learned one; zero at the start of the chain.
    pub base: EventId,
    /// Id of the last learned event.
    pub head: EventId,
    /// Seq of the first learned event.
    pub from_seq: Seq,
    /// Seq of the last learned event.
    pub to_seq: Seq,
}

impl ImportedRange {
    /// Returns the number of events, which is also the number of positions that they take. At least 1 for a decoded
    /// range.
    pub fn count(&self) -> u64 {
        (self.to_seq.0 + 1).saturating_sub(self.from_seq.0)
    }
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Facts of `log.imported`: 8 bytes, and 96 bytes a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogImported {
    /// The learned ranges, sorted by origin, base, head.
    pub ranges: Vec<ImportedRange>,
}

impl LogImported {
    /// Returns the number of positions that the ranges take. These positions lie directly before the event's own.
    pub fn count(&self) -> u64 {
        self.ranges.iter().map(ImportedRange::count).sum()
    }

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more ranges than `u32::MAX`; the ceiling of facts is far below.
    pub fn encode(&self) -> Vec<u8> {
        let count = u32::try_from(self.ranges.len()).expect("the ceiling of facts is far below");
        let mut out = Vec::with_capacity(8 + self.ranges.len() * 96);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for range in &self.ranges {
            out.extend_from_slice(&range.origin.0);
            out.extend_from_slice(&range.base.0);
            out.extend_from_slice(&range.head.0);
            out.extend_from_slice(&range.from_seq.0.to_le_bytes());
            out.extend_from_slice(&range.to_seq.0.to_le_bytes());
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("log.imported", bytes);
        let (count, _) = (at.u32()? as usize, at.u32()?);
        at.expect_items(count, 96)?;
        let mut ranges = Vec::with_capacity(count);
        let mut positions: u64 = 0;
        for _ in 0..count {
            let range = ImportedRange {
                origin: OriginId(at.array()?),
                base: EventId(at.array()?),
                head: EventId(at.array()?),
                from_seq: Seq(at.u64()?),
                to_seq: Seq(at.u64()?),
            };
            if range.from_seq.0 == 0
                || range.from_seq > range.to_seq
                || range.to_seq.0 > PLACE_MAX
                || (range.from_seq.0 == 1) != range.base.is_zero()
            {
                return Err(at.error("a range that no chain has"));
            }
            positions = positions.saturating_add(range.count());
            ranges.push(range);
        }
        if positions > PLACE_MAX {
            return Err(at.error("its ranges are longer than there are positions"));
        }
        Ok(LogImported { ranges })
    }
}

/// Facts of `log.redacted`: 8 bytes, and 16 bytes a subject. The refs of the event name single events to redact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogRedacted {
    /// The redacted subjects. Every event about a subject and every recall that shows one is redacted, unless its
    /// author knew of this redaction when the event was written.
    pub subjects: Vec<SubjectId>,
}

impl LogRedacted {
    /// Most subjects that one event names. Raised, their list could exceed the 256 KiB of facts (16,000 subjects).
    pub const SUBJECTS_MAX: usize = 10_000;

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more subjects than `u32::MAX`; the ceiling of facts is far below.
    pub fn encode(&self) -> Vec<u8> {
        let count = u32::try_from(self.subjects.len()).expect("the ceiling of facts is far below");
        let mut out = Vec::with_capacity(8 + self.subjects.len() * 16);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for subject in &self.subjects {
            out.extend_from_slice(&subject.0);
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("log.redacted", bytes);
        let (count, _) = (at.u32()? as usize, at.u32()?);
        at.expect_items(count, 16)?;
        let mut subjects = Vec::with_capacity(count);
        for _ in 0..count {
            subjects.push(SubjectId(at.array()?));
        }
        Ok(LogRedacted { subjects })
    }
}

/// A range of consecutive events of a chain that are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct UndoneRange {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first undone event.
    pub from_seq: Seq,
    /// Seq of the last undone event.
    pub to_seq: Seq,
    /// Id of the last undone event: after a fork it tells the branches apart.
    pub head: EventId,
}

impl UndoneRange {
    /// Returns `true` if the range contains the event at `seq` of `origin`.
    pub fn holds(&self, origin: OriginId, seq: Seq) -> bool {
        self.origin == origin && self.from_seq <= seq && seq <= self.to_seq
    }
}

/// Facts of `log.undone`: 8 bytes, and 64 bytes a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogUndone {
    /// The undone ranges, sorted by origin and seq. None is empty, and no two of one origin overlap.
    pub ranges: Vec<UndoneRange>,
}

impl LogUndone {
    /// Most ranges that one event names. Raised, their list could exceed the 256 KiB of facts (4,095 ranges).
    pub const RANGES_MAX: usize = 4_000;

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more ranges than `u32::MAX`; the ceiling of facts is far below.
    pub fn encode(&self) -> Vec<u8> {
        let count = u32::try_from(self.ranges.len()).expect("the ceiling of facts is far below");
        let mut out = Vec::with_capacity(8 + self.ranges.len() * 64);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for range in &self.ranges {
            out.extend_from_slice(&range.origin.0);
            out.extend_from_slice(&range.from_seq.0.to_le_bytes());
            out.extend_from_slice(&range.to_seq.0.to_le_bytes());
            out.extend_from_slice(&range.head.0);
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("log.undone", bytes);
        let (count, _) = (at.u32()? as usize, at.u32()?);
        at.expect_items(count, 64)?;
        let mut ranges: Vec<UndoneRange> = Vec::with_capacity(count);
        for _ in 0..count {
            let range = UndoneRange {
                origin: OriginId(at.array()?),
                from_seq: Seq(at.u64()?),
                to_seq: Seq(at.u64()?),
                head: EventId(at.array()?),
            };
            if range.from_seq.0 == 0 || range.from_seq > range.to_seq || range.to_seq.0 > PLACE_MAX
            {
                return Err(at.error("a range that no chain has"));
            }
            if let Some(before) = ranges.last()
                && (before.origin, before.to_seq) >= (range.origin, range.from_seq)
            {
                return Err(at.error("its ranges are not in order"));
            }
            ranges.push(range);
        }
        if sum(ranges
            .iter()
            .map(|range| range.to_seq.0 + 1 - range.from_seq.0))
            > PLACE_MAX
        {
            return Err(at.error("its ranges are longer than there are events"));
        }
        Ok(LogUndone { ranges })
    }
}

/// Lost events of a chain, or a place at which the chain does not hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Hole {
    /// The chain.
    pub origin: OriginId,
    /// Id of the last event before the hole; zero at the start of the chain.
    pub last_good: EventId,
    /// Id of the first event after the hole; zero at the end of the chain.
    pub next_good: EventId,
    /// Seq of the first lost event.
    pub from_seq: Seq,
    /// Seq of the last lost event. `from_seq - 1` means that no event is lost, but `next_good` does not name
    /// `last_good` as the event before it.
    pub to_seq: Seq,
}

impl Hole {
    /// Returns the number of lost events.
    pub fn count(&self) -> u64 {
        (self.to_seq.0 + 1).saturating_sub(self.from_seq.0)
    }
}

/// Facts of `log.repaired`: 8 bytes, and 96 bytes a hole. The refs of the event name the events whose payload is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LogRepaired {
    /// The holes, sorted by origin and seq.
    pub holes: Vec<Hole>,
}

impl LogRepaired {
    /// Most holes that one event names. Raised, their list could exceed the 256 KiB of facts (2,730 holes).
    pub const HOLES_MAX: usize = 2_700;

    /// Encodes the facts.
    ///
    /// # Panics
    /// If there are more holes than `u32::MAX`; the ceiling of facts is far below.
    pub fn encode(&self) -> Vec<u8> {
        let count = u32::try_from(self.holes.len()).expect("the ceiling of facts is far below");
        let mut out = Vec::with_capacity(8 + self.holes.len() * 96);
        out.extend_from_slice(&count.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for hole in &self.holes {
            out.extend_from_slice(&hole.origin.0);
            out.extend_from_slice(&hole.last_good.0);
            out.extend_from_slice(&hole.next_good.0);
            out.extend_from_slice(&hole.from_seq.0.to_le_bytes());
            out.extend_from_slice(&hole.to_seq.0.to_le_bytes());
        }
        out
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("log.repaired", bytes);
        let (count, _) = (at.u32()? as usize, at.u32()?);
        at.expect_items(count, 96)?;
        let mut holes: Vec<Hole> = Vec::with_capacity(count);
        for _ in 0..count {
            let hole = Hole {
                origin: OriginId(at.array()?),
                last_good: EventId(at.array()?),
                next_good: EventId(at.array()?),
                from_seq: Seq(at.u64()?),
                to_seq: Seq(at.u64()?),
            };
            if hole.from_seq.0 == 0
                || hole.to_seq.0 > PLACE_MAX
                || hole.to_seq.0 + 1 < hole.from_seq.0
                || (hole.from_seq.0 == 1) != hole.last_good.is_zero()
            {
                return Err(at.error("a hole that no chain has"));
            }
            if let Some(before) = holes.last()
                && (before.origin, before.from_seq, before.to_seq)
                    >= (hole.origin, hole.from_seq, hole.to_seq)
            {
                return Err(at.error("its holes are not in order"));
            }
            holes.push(hole);
        }
        if sum(holes.iter().map(Hole::count)) > PLACE_MAX {
            return Err(at.error("its holes are longer than there are events"));
        }
        Ok(LogRepaired { holes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacted_subjects_there_and_back() {
        let facts = LogRedacted {
            subjects: vec![SubjectId([1; 16]), SubjectId([2; 16])],
        };
        assert_eq!(facts.encode().len(), 40);
        assert_eq!(LogRedacted::decode(&facts.encode()), Ok(facts.clone()));
        assert!(LogRedacted::decode(&facts.encode()[..39]).is_err());
    }

    #[test]
    fn holes_are_those_of_a_chain() {
        let hole = |origin: u8, from: u64, to: u64| Hole {
            origin: OriginId([origin; 16]),
            last_good: EventId([u8::from(from > 1); 32]),
            next_good: EventId([9; 32]),
            from_seq: Seq(from),
            to_seq: Seq(to),
        };
        let good = LogRepaired {
            holes: vec![hole(1, 1, 4), hole(1, 7, 6), hole(1, 9, 9), hole(2, 5, 6)],
        };
        assert_eq!(good.encode().len(), 8 + 4 * 96);
        assert_eq!(LogRepaired::decode(&good.encode()), Ok(good.clone()));
        let counts: Vec<u64> = good.holes.iter().map(Hole::count).collect();
        assert_eq!(counts, [4, 0, 1, 2]);
        let no_end = Hole {
            last_good: EventId::ZERO,
            ..hole(1, 2, 3)
        };
        for wrong in [
            vec![hole(1, 0, 0)],
            vec![hole(1, 5, 3)],
            vec![hole(1, 5, u64::MAX)],
            vec![hole(1, 5, 6), hole(1, 5, 6)],
            vec![hole(2, 5, 6), hole(1, 5, 6)],
            vec![no_end],
        ] {
            let facts = LogRepaired { holes: wrong };
            assert!(LogRepaired::decode(&facts.encode()).is_err(), "{facts:?}");
        }
        assert!(LogRepaired::decode(&[1, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }

    #[test]
    fn undone_ranges_are_in_order() {
        let range = |origin: u8, from: u64, to: u64| UndoneRange {
            origin: OriginId([origin; 16]),
            from_seq: Seq(from),
            to_seq: Seq(to),
            head: EventId([7; 32]),
        };
        let good = LogUndone {
            ranges: vec![range(1, 2, 2), range(1, 3, 9), range(2, 1, 1)],
        };
        assert_eq!(good.encode().len(), 8 + 3 * 64);
        assert_eq!(LogUndone::decode(&good.encode()), Ok(good));
        for wrong in [
            vec![range(1, 0, 2)],
            vec![range(1, 3, 2)],
            vec![range(1, 2, PLACE_MAX + 1)],
            vec![range(1, 2, 4), range(1, 4, 5)],
            vec![range(2, 1, 1), range(1, 1, 1)],
        ] {
            let facts = LogUndone { ranges: wrong };
            assert!(LogUndone::decode(&facts.encode()).is_err(), "{facts:?}");
        }
        assert!(LogUndone::decode(&[1, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }

    #[test]
    fn there_and_back() {
        let none = LogOriginStarted { continues: None };
        assert_eq!(none.encode(), vec![0; 56]);
        assert_eq!(LogOriginStarted::decode(&none.encode()), Ok(none));
        let continues = Continues {
            origin: OriginId([1; 16]),
            seq: Seq(9),
            event: EventId([2; 32]),
        };
        let some = LogOriginStarted {
            continues: Some(continues),
        };
        assert_eq!(LogOriginStarted::decode(&some.encode()), Ok(some));

        let imported = LogImported {
            ranges: vec![ImportedRange {
                origin: OriginId([1; 16]),
                base: EventId::ZERO,
                head: EventId([5; 32]),
                from_seq: Seq(1),
                to_seq: Seq(4),
            }],
        };
        assert_eq!(imported.encode().len(), 104);
        assert_eq!(
            LogImported::decode(&imported.encode()),
            Ok(imported.clone())
        );
        assert_eq!(imported.count(), 4);

        for (from_seq, to_seq) in [(0, 4), (5, 4), (1, u64::MAX), (u64::MAX, 0)] {
            let mut wrong = imported.clone();
            wrong.ranges[0].from_seq = Seq(from_seq);
            wrong.ranges[0].to_seq = Seq(to_seq);
            assert!(
                LogImported::decode(&wrong.encode()).is_err(),
                "{from_seq}..={to_seq}"
            );
        }
        let endless = ImportedRange {
            to_seq: Seq(PLACE_MAX),
            ..imported.ranges[0]
        };
        let wrong = LogImported {
            ranges: vec![endless; 3],
        };
        assert!(LogImported::decode(&wrong.encode()).is_err());
    }
}
