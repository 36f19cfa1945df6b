//! Payloads: text and metadata, as MessagePack maps with field names.
//!
//! A payload is hashed as stored and never encoded anew. New fields are optional, and readers ignore unknown fields. No
//! field is a floating-point number: a writer's metadata stays the JSON text that it was given as.

mod alert;
mod feedback;
mod graph;
mod log;
mod memory;
mod session;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use alert::AlertSet;
pub use feedback::{FeedbackApplied, FeedbackRecorded};
pub use graph::{ConceptAdded, ConceptLabelled, ConceptRefined, MemoirCreated, MemoirDescribed};
pub use log::{LogActorNamed, LogOriginStarted, LogRedacted, LogRepaired, LogUndone};
pub use memory::{
    ExpiresText, MemoryForgotten, MemoryLinked, MemoryRecalled, MemoryStored, MemoryUpdated,
    SourceText,
};
pub use session::SessionStarted;

/// The payload of kinds whose facts say everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {}

/// An error: the payload is not what its kind says.
#[derive(Debug, Error)]
#[error("the payload is not readable: {0}")]
pub struct PayloadError(#[from] rmp_serde::decode::Error);

/// Returns the encoded payload.
///
/// # Panics
/// Never: the payload types hold only text, numbers, lists and maps of them.
pub fn encode<T: Serialize>(payload: &T) -> Vec<u8> {
    rmp_serde::to_vec_named(payload).expect("payload types encode")
}

/// Most lists and maps in each other that a payload may have to be readable. No writer nests more than a few. Raised, a
/// payload of another machine overflows the stack of a thread.
const DEPTH_MAX: usize = 64;

/// Reads a payload; text is borrowed from `bytes`.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, PayloadError> {
    let mut from = rmp_serde::Deserializer::from_read_ref(bytes);
    from.set_max_depth(DEPTH_MAX);
    Ok(T::deserialize(&mut from)?)
}

/// Returns any payload as JSON, for people; `None` if it cannot be read.
pub fn to_json(bytes: &[u8]) -> Option<serde_json::Value> {
    decode(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `depth` lists in each other, as the value of a field that no reader knows.
    fn nested(depth: usize) -> Vec<u8> {
        let mut bytes = vec![0x81, 0xa1, b'x'];
        bytes.extend(vec![0x91; depth]);
        bytes.push(0xc0);
        bytes
    }

    #[test]
    fn a_payload_that_is_nested_deeply_is_not_readable() {
        let few = DEPTH_MAX / 2;
        assert!(to_json(&nested(few)).is_some());
        assert!(decode::<Nothing>(&nested(few)).is_ok());
        for depth in [DEPTH_MAX, 900, 200_000] {
            assert_eq!(to_json(&nested(depth)), None, "{depth}");
            assert!(decode::<Nothing>(&nested(depth)).is_err(), "{depth}");
        }
    }
}
