//! The past: the basis of an answer, the events and their authors, differences, conflicts, and undo.

mod actor;
pub(crate) mod basis;
pub(crate) mod conflicts;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod heads;
pub(crate) mod pauses;
pub(crate) mod range;
mod session;
mod summary;
pub(crate) mod undo;
pub(crate) mod why;
