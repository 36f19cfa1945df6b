//! The errors of files of vectors.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file of vectors could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The file is not what it should be; the caller drops it and embeds again.
    #[error("the vectors are not usable: {why}")]
    Unusable {
        /// The first fault that was found.
        why: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, VectorError>;

pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> VectorError {
    let path = path.to_owned();
    move |source| VectorError::Io {
        doing,
        path,
        source,
    }
}
