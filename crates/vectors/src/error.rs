//! The errors of vector files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The reason why a vector file could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The file is cut, damaged, or made for another model or format; the caller drops it and embeds again.
    #[error("the vectors are not usable: {why}")]
    Unusable {
        /// The first fault.
        why: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// The result of an operation on a vector file.
pub type Result<T> = std::result::Result<T, VectorError>;

pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> VectorError {
    let path = path.to_owned();
    move |source| VectorError::Io {
        doing,
        path,
        source,
    }
}
