//! The server of icm: processes that answer for a store.
//!
//! A process that serves ([`mcp`] over stdio, [`http`]) becomes the [`owner`] of the store, unless another process is.
//! It then answers for all processes of this machine. In the background it keeps the views up to date.
//!
//! Stores are opened and asked through `icm-service` only. This crate must never know a terminal, the parsing of
//! arguments, or a file of the log or of the views.
//!
//! ```
//! use std::time::Duration;
//!
//! use icm_server::{AskOwner, owner};
//! use icm_service::{OpenOptions, Service};
//!
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().join("store");
//! // Writes go to the owner of the store while one runs; else this process does them itself.
//! let peer = owner::peer(&dir, AskOwner::Writes);
//! let options = OpenOptions { dir, lock_wait: Duration::from_secs(1), read_only: false };
//! let service = Service::open(options)?.asking(peer);
//! # let _ = service;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "http")]
pub mod http;
pub mod mcp;
pub mod owner;

pub use owner::AskOwner;
#[cfg(all(unix, fuzzing))]
#[doc(hidden)]
pub use owner::fuzzed;
