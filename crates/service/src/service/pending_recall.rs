//! Records that are written once the answer is out.

use icm_api::{Caller, RecallRequest};
use icm_log::{EventId, NewEvent, Position, Rewritten, SubjectId};
use icm_projections::FactFilter;

/// A recall whose answer is out and whose record is not in the log yet.
pub(crate) struct PendingRecall {
    pub(crate) caller: Caller,
    pub(crate) request: RecallRequest,
    pub(crate) facts: FactFilter,
    pub(crate) scopes: Vec<String>,
    pub(crate) basis: (Position, EventId),
    /// The moment of the basis, if answers name it.
    pub(crate) moment_ms: Option<u64>,
    pub(crate) results: Vec<SubjectId>,
    /// The events that set a condition of recalls of a result. They become the refs of the record.
    pub(crate) conditions: Vec<EventId>,
    /// The fit of each result.
    pub(crate) fits: Vec<f64>,
    /// Tokens of the results that were shown.
    pub(crate) tokens: u32,
    /// Bytes of the whole question, if only a part of it was searched for.
    pub(crate) whole_len: Option<u64>,
    /// The state of the log's files when the recall read them.
    pub(crate) read: Rewritten,
}

/// A `memory.expired` that is not in the log yet.
pub(crate) struct PendingExpiry {
    pub(crate) event: NewEvent,
    /// The position at which the memory was read.
    pub(crate) position: Position,
    /// The state of the log's files when the memory was read.
    pub(crate) read: Rewritten,
}
