//! The server of icm: who answers for a store.
//!
//! A process that serves ([`mcp`] over stdio, [`http`]) becomes the store's [`owner`], if no other is, and answers for
//! every process of this machine; behind the answers it keeps the views up to date.
//!
//! Stores are opened and asked through `icm-service` alone. This crate never knows a terminal or how arguments are parsed.

#[cfg(feature = "http")]
pub mod http;
pub mod mcp;
pub mod owner;

pub use owner::AskOwner;
#[cfg(all(unix, fuzzing))]
#[doc(hidden)]
pub use owner::fuzzed;
