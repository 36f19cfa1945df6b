//! The conditions under which memories expire, as far as the events decide. The moment of a question comes from its
//! asker: the fold reads no clock.

use icm_log::facts::{self, Condition, Facts, fields};
use icm_log::{Event, payload};
use serde::Deserialize;

use super::record::{Expiry, Version};

/// The value of [`Version::expires_ms`] for a memory that no time alone makes expire.
pub const NEVER_MS: u64 = u64::MAX;

impl<T> Version<T> {
    /// Returns the time from which the memory is expired, in milliseconds since the epoch: 0 if an event says so,
    /// [`NEVER_MS`] if no time alone decides.
    pub fn expires_ms(&self) -> u64 {
        let Some(expiry) = &self.expiry else {
            return NEVER_MS;
        };
        match expiry.facts.condition {
            _ if self.expired == Some(expiry.set_by) => 0,
            Condition::TIME => expiry.facts.first,
            Condition::PERIOD => expiry.facts.second,
            _ => NEVER_MS,
        }
    }

    /// Returns `true` if the memory may be expired before [`Version::expires_ms`]: its condition is not a time alone.
    pub fn expires_by_more(&self) -> bool {
        let expiry = self.expiry.as_ref();
        expiry.is_some_and(|expiry| expiry.facts.condition != Condition::TIME)
    }
}

/// Sets the condition that an event writes. Its kind and numbers stand in the facts, its texts in the payload.
pub(super) fn put_expiry<T>(
    version: &mut Version<T>,
    shown: u32,
    event: &Event<'_>,
    facts: Option<facts::Expiry>,
) {
    if shown & fields::EXPIRES != 0 {
        version.expiry = facts.map(|facts| Box::new(expiry_of(event, facts)));
    }
}

/// Sets the event whose condition came true, as `memory.expired` says it.
pub(super) fn put_expired<T>(version: &mut Version<T>, shown: u32, event: &Event<'_>) {
    if shown & fields::EXPIRED != 0 {
        version.expired = event.head.refs().next();
    }
}

/// Returns the condition that an event sets.
pub(super) fn expiry_of(event: &Event<'_>, facts: facts::Expiry) -> Expiry {
    // Both kinds of events have the texts under one name.
    #[derive(Deserialize)]
    struct Payload<'a> {
        #[serde(borrow, default)]
        expires: Option<payload::ExpiresText<'a>>,
    }
    let payload = event
        .body
        .payload()
        .and_then(|bytes| payload::decode::<Payload<'_>>(bytes).ok());
    let texts = payload.and_then(|payload| payload.expires);
    let texts = texts.unwrap_or_default();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Expiry {
        facts,
        set_by: event.id,
        path: owned(texts.path),
        zone: owned(texts.zone),
        len: texts.len,
        modified_ms: texts.modified_ms,
        hash: owned(texts.hash),
    }
}

/// Returns `true` if an event sets a condition, in force or not.
pub(super) fn sets_one(facts: &Facts) -> bool {
    match facts {
        Facts::Stored(facts) => facts.expiry.is_some(),
        Facts::Updated(facts) => facts.expiry.is_some(),
        _ => false,
    }
}

/// Returns `true` if an event, in force or not, says that what its memory describes happens after the event.
pub(super) fn is_plan(event: &Event<'_>, facts: &Facts) -> bool {
    // Both kinds of events have the time under one name.
    #[derive(Deserialize)]
    struct Payload {
        #[serde(default)]
        occurred_at_ms: Option<i64>,
    }
    let written = match facts {
        Facts::Stored(facts) => facts.fields,
        Facts::Updated(facts) => facts.fields,
        _ => 0,
    };
    if written & fields::OCCURRED_AT == 0 {
        return false;
    }
    let payload = event.body.payload();
    let payload = payload.and_then(|bytes| payload::decode::<Payload>(bytes).ok());
    let occurred_at_ms = payload.and_then(|payload| payload.occurred_at_ms);
    occurred_at_ms.is_some_and(|ms| i128::from(ms) > i128::from(event.head.time().ms()))
}

/// Appends the bytes of the digest of a row's condition. Rows without one add nothing.
pub(super) fn write_digest<T>(version: &Version<T>, bytes: &mut Vec<u8>) {
    if let Some(expiry) = &version.expiry {
        let facts = &expiry.facts;
        bytes.extend_from_slice(&[b'x', facts.condition.0, facts.days]);
        bytes.extend_from_slice(&facts.from_minute.to_le_bytes());
        bytes.extend_from_slice(&facts.until_minute.to_le_bytes());
        bytes.extend_from_slice(&facts.first.to_le_bytes());
        bytes.extend_from_slice(&facts.second.to_le_bytes());
        bytes.extend_from_slice(&expiry.set_by.0);
        for text in [&expiry.path, &expiry.zone, &expiry.hash] {
            let len = text.as_ref().map_or(u64::MAX, |text| text.len() as u64);
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(text.as_deref().unwrap_or_default().as_bytes());
        }
        bytes.extend_from_slice(&expiry.len.unwrap_or(u64::MAX).to_le_bytes());
        bytes.extend_from_slice(&expiry.modified_ms.unwrap_or(i64::MIN).to_le_bytes());
    }
    if let Some(event) = &version.expired {
        bytes.push(b'X');
        bytes.extend_from_slice(&event.0);
    }
}
