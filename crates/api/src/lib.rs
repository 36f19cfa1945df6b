//! The requests, answers, errors and limits of icm.
//!
//! Command line, MCP and HTTP speak these types, so the shapes that `--json` prints and the structured
//! output of an MCP tool are the same by construction. Beside them stand the texts that all three read and write alike:
//! ids ([`ids`]), moments ([`when`]), memories as Markdown ([`markdown`]).
//!
//! This crate never opens a store, and knows neither a terminal nor a protocol.
//!
//! ```
//! use icm_api::StoreRequest;
//! use icm_api::limits::CONTENT_LEN_MAX;
//!
//! let request = StoreRequest { topic: "build".to_owned(), content: "Tests need a database".to_owned(), ..Default::default() };
//! assert!(request.content.len() <= CONTENT_LEN_MAX);
//! ```

mod alert;
mod authors;
mod basis;
mod bench;
mod care;
pub mod clients;
mod conflicts;
mod consolidate;
pub mod counted;
mod crowded;
pub mod cursor;
mod decay;
mod dedup;
mod embed;
pub mod error;
mod exchange;
pub mod expiry;
mod explained;
mod fact;
mod feedback;
pub mod found_by;
mod graph;
mod health;
pub mod ids;
pub mod limits;
mod log;
pub mod markdown;
mod marks;
pub mod memoir_text;
mod memory;
mod passage;
mod past;
mod recall;
mod redact;
pub mod session;
pub mod shown_value;
mod state;
mod tags;
pub mod tokens;
mod topics;
mod turn;
mod undo;
mod undo_entry;
pub mod when;

pub use alert::*;
pub use authors::*;
pub use basis::*;
pub use bench::*;
pub use care::*;
pub use conflicts::*;
pub use consolidate::*;
pub use crowded::*;
pub use decay::*;
pub use dedup::*;
pub use embed::*;
pub use exchange::*;
pub use explained::*;
pub use fact::*;
pub use feedback::*;
pub use graph::*;
pub use health::*;
pub use log::*;
pub use marks::*;
pub use memory::*;
pub use passage::*;
pub use past::*;
pub use recall::*;
pub use redact::*;
pub use state::*;
pub use tags::*;
pub use topics::*;
pub use turn::*;
pub use undo::*;
pub use undo_entry::*;

/// The command that an empty page of a store names.
pub const STORE_EXAMPLE: &str = "icm store -t notes -c \"a text\"";

/// A listener to the progress of long work; silent by default.
pub trait Progress: Sync {
    /// Starts a phase of `total` steps (`None`: unknown).
    fn start(&self, phase: &str, total: Option<u64>);
    /// Counts `steps` more as done.
    fn advance(&self, steps: u64);
    /// Ends the phase.
    fn finish(&self);
    /// Returns `true` if the caller has given up, so the work may stop early.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A listener that shows nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
}
