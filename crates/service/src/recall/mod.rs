//! Recall: the search for a question, the scopes it sees, the order of its results, and its records.

mod asking;
mod co_recalled;
pub(crate) mod context;
mod corrections;
mod filtered;
pub(crate) mod link_expansion;
mod prompt;
pub(crate) mod query;
pub(crate) mod question;
mod record;
pub(crate) mod recorded_recalls;
pub(crate) mod repeats;
pub(crate) mod replaced;
pub(crate) mod scopes;
pub(crate) mod tag_filter;
pub(crate) mod topic_filter;
pub(crate) mod unasked;
mod voices;
