//! The views in use: opening and rebuilding them, asking them, and bringing them up to the log.

mod error;
mod redaction;
mod retry_while_rewritten;
pub(crate) mod settle;
mod views;

pub(crate) use error::{QueryError, QueryResult, catching_panics};
pub(crate) use redaction::unknown;

/// Events in the tail above which a server commits it to the views' files. Raised, the server needs more memory;
/// lowered, it commits more often, at the cost of fifty stores each. A store of no more events needs no files.
pub(crate) const TAIL_MAX: u64 = 500;
/// Events in the tail above which a process commits it when it ends. The next process reads, folds and indexes the tail
/// before it answers, at 50 µs an event.
pub(crate) const TAIL_LEFT_MAX: u64 = 64;
