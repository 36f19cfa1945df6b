//! The views in use: opening and rebuilding them, asking them, and bringing them up to the log.

mod error;
mod redaction;
mod retry_while_rewritten;
pub(crate) mod settle;
mod views;

pub(crate) use error::{QueryError, QueryResult, catching_panics};
pub(crate) use redaction::unknown;

/// Events that may lie between the views' files and the log before a server takes them in: it holds
/// them in memory, and a commit costs what fifty stores cost. A store of no more needs no files.
pub(crate) const TAIL_MAX: u64 = 500;
/// The same when a process ends: the next one reads, folds and indexes what lies there before it
/// answers, which costs 50 µs an event.
pub(crate) const TAIL_LEFT_MAX: u64 = 64;
