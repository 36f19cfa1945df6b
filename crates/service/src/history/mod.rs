//! The past: which moment an answer is computed at, what changed, by whom, and taking it back.

pub(crate) mod basis;
pub(crate) mod conflicts;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod heads;
pub(crate) mod pauses;
mod session;
mod summary;
pub(crate) mod undo;
pub(crate) mod why;
