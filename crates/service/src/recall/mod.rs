//! Recall: what a question finds, from where it is asked, and what the log has of earlier recalls.

pub(crate) mod co_recalled;
pub(crate) mod context;
pub(crate) mod link_expansion;
mod prompt;
pub(crate) mod query;
pub(crate) mod question;
pub(crate) mod recorded_recalls;
pub(crate) mod repeats;
pub(crate) mod replaced;
pub(crate) mod scopes;
pub(crate) mod topic_filter;
pub(crate) mod unasked;
