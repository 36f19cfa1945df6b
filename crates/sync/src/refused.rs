//! A file that a sync did not import, with the reason.

use serde::Serialize;

/// A file that a sync did not import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Origin of the machine that wrote the file.
    pub writer: String,
    /// Name of the file.
    pub file: String,
    /// Explanation for a person.
    pub why: String,
    /// The reason, for a program.
    pub reason: Reason,
}

/// The reason for not importing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The content differs from what its machine wrote; that machine must write it again.
    Changed,
    /// A newer version of icm wrote it.
    Newer,
    /// The file is missing or incomplete as yet.
    NotThere,
    /// The file cannot be read.
    Unreadable,
    /// The bundle goes on from events that neither this store nor the target has.
    Apart,
}
