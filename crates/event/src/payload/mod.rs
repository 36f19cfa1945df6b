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

/// Reads a payload; text is borrowed from `bytes`.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, PayloadError> {
    Ok(rmp_serde::from_slice(bytes)?)
}

/// Returns any payload as JSON, for people; `None` if it cannot be read.
pub fn to_json(bytes: &[u8]) -> Option<serde_json::Value> {
    rmp_serde::from_slice(bytes).ok()
}
