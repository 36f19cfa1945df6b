//! A file that a sync left alone, and why.

use serde::Serialize;

/// A file that was left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The machine that wrote it.
    pub writer: String,
    /// Its name.
    pub file: String,
    /// Why, for a person.
    pub why: String,
    /// Why.
    pub reason: Reason,
}

/// Why a file was left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is not what was written: its machine has to write it again.
    Changed,
    /// A newer version of icm wrote it.
    Newer,
    /// It, or all of it, is not there yet.
    NotThere,
    /// It cannot be read.
    Unreadable,
    /// It goes on from events that neither this store nor the target has.
    Apart,
}
