//! Errors of reading a transcript.

use std::io;

/// The reason why a transcript was not read. Hostile content is no error: a line of unknown form is skipped and
/// counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The operating system refused to read or to seek.
    #[error("cannot read the transcript at byte {offset}: {source}")]
    Io {
        /// Bytes from the start of the file.
        offset: u64,
        /// The reason.
        source: io::Error,
    },
    /// The file is a single JSON document, which must be read whole, and is too long.
    #[error("the transcript is one JSON document of more than {} MiB", .len_max_bytes >> 20)]
    TooLong {
        /// Most bytes of a document that is read.
        len_max_bytes: u64,
    },
}

impl ExtractError {
    /// Returns advice, if there is any.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ExtractError::Io { .. } => None,
            ExtractError::TooLong { .. } => Some("convert it to JSON lines, one message a line"),
        }
    }
}
