//! What goes into the service and what comes out of it.
//!
//! Every front (command line, MCP, later JSON-RPC and HTTP) speaks these types, so the shapes that
//! `--json` prints and the structured output of an MCP tool are the same by construction.

mod bench;
mod care;
mod conflicts;
mod consolidate;
mod decay;
mod embed;
mod exchange;
mod graph;
mod health;
mod log;
mod memory;
mod past;
mod recall;
mod redact;
mod topics;
mod turn;
mod undo;

pub use bench::*;
pub use care::*;
pub use conflicts::*;
pub use consolidate::*;
pub use decay::*;
pub use embed::*;
pub use exchange::*;
pub use graph::*;
pub use health::*;
pub use log::*;
pub use memory::*;
pub use past::*;
pub use recall::*;
pub use redact::*;
pub use topics::*;
pub use turn::*;
pub use undo::*;

/// Told how long work goes on. Silent unless somebody watches.
pub trait Progress: Sync {
    /// A new phase of `total` steps (`None`: unknown).
    fn start(&self, phase: &str, total: Option<u64>);
    /// `steps` more are done.
    fn advance(&self, steps: u64);
    /// The phase ended.
    fn finish(&self);
    /// Whoever asked has given up: what can be left undone is.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
}
