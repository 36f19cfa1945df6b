//! A recall that waits for its record.

use icm_api::{Caller, RecallRequest};
use icm_log::{EventId, Position, Rewritten, SubjectId};
use icm_projections::FactFilter;

/// A recall whose answer is out and that is not in the log yet.
pub(crate) struct PendingRecall {
    pub(crate) caller: Caller,
    pub(crate) request: RecallRequest,
    pub(crate) facts: FactFilter,
    pub(crate) scopes: Vec<String>,
    pub(crate) basis: (Position, EventId),
    pub(crate) results: Vec<SubjectId>,
    /// The fit of each of them.
    pub(crate) fits: Vec<f64>,
    /// Tokens of what was shown of them.
    pub(crate) tokens: u32,
    /// Bytes of the whole question, if a part of it counted.
    pub(crate) whole_len: Option<u64>,
    /// How the log's files looked.
    pub(crate) read: Rewritten,
}
