//! The service of icm: commands and queries over one store, MCP over stdio and HTTP.
//!
//! Fronts (the command line, MCP clients) speak the types of [`api`]; [`Service`] turns commands
//! into events of the log and answers queries from the views. This crate never knows a terminal or
//! how arguments are parsed. The clock, the environment and randomness are read here and handed
//! down.

pub mod api;
mod backup;
mod bench;
mod clients;
mod context;
mod cursor;
mod embedding;
mod error;
mod found_by;
mod holder;
pub mod http;
mod ids;
pub mod json;
pub mod limits;
mod markdown;
pub mod mcp;
mod owner;
pub mod sanitize;
pub mod secrets;
mod service;
mod shell;
mod summarizer;
mod system;
mod tokens;
pub mod when;

pub use backup::restore;
pub use bench::{bench_recall, bench_replay};
pub use embedding::Model;
pub use error::{Result, ServiceError, io_hint, plain};
pub use icm_log::bundle::BUNDLE_MAGIC;
pub use icm_log::repair::Spare;
pub use icm_projections::ranking::Ranking;
pub use ids::{ID_LEN, id_text};
pub use owner::AskOwner;
#[cfg(all(unix, fuzzing))]
#[doc(hidden)]
pub use owner::fuzzed;
pub use service::{ExportFile, Ground, Left, OpenOptions, STDIN, Service};
pub use summarizer::Summarizer;
pub use system::SystemEnv;
