//! Errors of reading a transcript.

use std::io;

/// Why a transcript was not read. Hostile content is no error: a line that is not understood is skipped and counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The operating system refused to read or to seek.
    #[error("cannot read the transcript at byte {offset}: {source}")]
    Io {
        /// Bytes from the beginning of the file.
        offset: u64,
        /// The reason.
        source: io::Error,
    },
    /// The file is one JSON document, which has to be read whole, and it is too long for that.
    #[error(
        "the transcript is one JSON document of more than {} MiB: convert it to JSON lines",
        .len_max_bytes >> 20
    )]
    TooLong {
        /// The longest document that is read.
        len_max_bytes: u64,
    },
}
