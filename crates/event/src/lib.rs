//! The bytes of an event of icm, and nothing else.
//!
//! An event is a hashed head, which says what happened, and a payload with the text, which a redaction can take out
//! ([`record`]). [`kind`] is the registry of kinds, [`facts`] and [`payload`] the shapes of each kind, [`schema`] their
//! JSON Schemas, [`segment`] the first bytes of a file of events. `schemas/envelope.md` describes every byte.
//!
//! This crate does no I/O, and reads neither clock nor randomness. It must never know which files hold events, or what
//! events add up to.
//!
//! Limits: heads of 288 KiB (1,024 refs, 256 KiB of facts), payloads of 1 MiB.
//!
//! ```
//! use icm_event::{Kind, facts, payload};
//!
//! let facts = facts::Alive { causal_length: 2 }.encode();
//! assert_eq!(facts::Alive::decode("memory.forgotten", &facts)?.causal_length, 2);
//! let reason = payload::MemoryForgotten { reason: Some("an example") };
//! assert!(!payload::encode(&reason).is_empty());
//! assert_eq!(Kind::MEMORY_FORGOTTEN.name(), "memory.forgotten");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod facts;
pub mod hash;
pub mod head;
pub mod id;
pub mod kind;
pub mod payload;
pub mod record;
pub mod schema;
pub mod segment;

pub use id::*;
pub use kind::Kind;
