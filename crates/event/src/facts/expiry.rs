//! The condition under which a memory expires, and the facts of `memory.expired`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FactsError;
use super::wire::{Fields, named_codes};

named_codes!(
    /// The kind of a condition under which a memory expires. A condition with a code that has no name in this version
    /// hides nothing.
    Condition(u8) {
        /// The memory expires at a time.
        TIME = 1, "time";
        /// The memory expires once it was recalled a number of times.
        USAGE = 2, "usage";
        /// The memory expires once a file is gone.
        FILE_EXISTS = 3, "file-exists";
        /// The memory expires once a file is changed or gone.
        FILE_PRISTINE = 4, "file-pristine";
        /// The memory holds from one time until another.
        PERIOD = 5, "period";
        /// The memory holds in some hours of the week.
        WEEKLY = 6, "weekly";
    }
);

impl Condition {
    /// Returns `true` if the condition is about a file. Such a condition comes true by `memory.expired` alone.
    pub fn is_of_file(self) -> bool {
        matches!(self, Condition::FILE_EXISTS | Condition::FILE_PRISTINE)
    }
}

/// A condition under which a memory expires: the last 24 bytes of the facts of `memory.stored` and `memory.updated`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Expiry {
    /// The kind of condition.
    pub condition: Condition,
    /// Days of the week: bit 0 is Monday; only of weekly hours.
    pub days: u8,
    /// First minute of the day; only of weekly hours.
    pub from_minute: u16,
    /// Minute of the day at which the hours end. If it is not after the first one, it is a minute of the next day.
    pub until_minute: u16,
    /// The end of a time, the number of recalls, or the start of a period. Times are in milliseconds since 1970-01-01 UTC.
    pub first: u64,
    /// The end of a period (exclusive), or the number of recalls before the condition was set.
    pub second: u64,
}

impl Expiry {
    /// Bytes of a condition.
    pub const LEN: usize = 24;

    /// Returns a condition that has only numbers.
    pub fn of(condition: Condition, first: u64, second: u64) -> Expiry {
        Expiry {
            condition,
            days: 0,
            from_minute: 0,
            until_minute: 0,
            first,
            second,
        }
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.condition.0, self.days]);
        out.extend_from_slice(&self.from_minute.to_le_bytes());
        out.extend_from_slice(&self.until_minute.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(&self.second.to_le_bytes());
    }

    /// Reads the condition at the end of facts. Returns `None` if fewer bytes follow, and for a code that this version
    /// does not know.
    pub(super) fn at_end(at: &mut Fields<'_>) -> Option<Expiry> {
        let expiry = Expiry::read(at).ok()?;
        expiry.condition.name().map(|_| expiry)
    }

    fn read(at: &mut Fields<'_>) -> Result<Expiry, FactsError> {
        let (condition, days) = (Condition(at.u8()?), at.u8()?);
        let (from_minute, until_minute, _) = (at.u16()?, at.u16()?, at.u16()?);
        Ok(Expiry {
            condition,
            days,
            from_minute,
            until_minute,
            first: at.u64()?,
            second: at.u64()?,
        })
    }
}

/// Facts of `memory.expired`: 8 bytes. The first of the refs is the event that set the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryExpired {
    /// The kind of the condition that came true.
    pub condition: Condition,
}

impl MemoryExpired {
    /// Encodes the facts.
    pub fn encode(&self) -> Vec<u8> {
        vec![self.condition.0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// Reads the facts.
    pub fn decode(bytes: &[u8]) -> Result<Self, FactsError> {
        let mut at = Fields::new("memory.expired", bytes);
        let (condition, _) = (Condition(at.u8()?), at.array::<7>()?);
        Ok(MemoryExpired { condition })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{
        Importance, MemoryStored, MemoryUpdated, Removal, ScopeKind, Trust, fields,
    };
    use crate::id::{Name, ScopeId};

    fn weekly() -> Expiry {
        Expiry {
            days: 0b1_1111,
            from_minute: 540,
            until_minute: 1_020,
            ..Expiry::of(Condition::WEEKLY, 3, 4)
        }
    }

    fn stored(expiry: Option<Expiry>) -> MemoryStored {
        MemoryStored {
            fields: fields::ALL,
            causal_length: 1,
            scope_kind: ScopeKind::Global,
            importance: Importance::Medium,
            trust: Trust::User,
            keyword_count: 0,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
            expiry,
        }
    }

    #[test]
    fn a_condition_follows_the_other_facts() {
        let with = stored(Some(weekly()));
        assert_eq!(with.encode().len(), 48 + Expiry::LEN);
        assert_eq!(MemoryStored::decode(&with.encode()), Ok(with));
        let updated = MemoryUpdated {
            fields: fields::EXPIRES,
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
            expiry: Some(Expiry::of(Condition::PERIOD, 5, 6)),
        };
        assert_eq!(updated.encode().len(), 52 + Expiry::LEN);
        assert_eq!(MemoryUpdated::decode(&updated.encode()), Ok(updated));
        let expired = MemoryExpired {
            condition: Condition::FILE_EXISTS,
        };
        assert_eq!(expired.encode().len(), 8);
        assert_eq!(MemoryExpired::decode(&expired.encode()), Ok(expired));
        assert!(MemoryExpired::decode(&[3; 7]).is_err());
    }

    #[test]
    fn a_condition_of_another_version_hides_nothing() {
        let plain = stored(None).encode();
        assert_eq!(MemoryStored::decode(&plain), Ok(stored(None)), "older");
        let mut shorter = plain.clone();
        shorter.extend_from_slice(&[1; Expiry::LEN - 1]);
        assert_eq!(MemoryStored::decode(&shorter), Ok(stored(None)));
        let newer = stored(Some(Expiry::of(Condition(200), 1, 2)));
        assert_eq!(MemoryStored::decode(&newer.encode()), Ok(stored(None)));
        let mut unwritten = stored(Some(weekly()));
        unwritten.fields &= !fields::EXPIRES;
        let read = MemoryStored::decode(&unwritten.encode()).expect("it is readable");
        assert_eq!(read.expiry, None);
    }
}
