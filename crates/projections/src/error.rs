//! The errors of the views.

use std::path::PathBuf;

use icm_log::LogError;
use thiserror::Error;

use icm_text::TextError;
use icm_vectors::VectorError;

/// The reason why a view could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A view is damaged, torn or of another version; it is dropped and rebuilt.
    #[error("the {view} view is not usable: {why}")]
    Unusable {
        /// `table`, `rows`, `text`, `vectors` or `manifest`.
        view: &'static str,
        /// The fault.
        why: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The log is damaged. The views are not written from a part of it.
    #[error("{why}")]
    Stopped {
        /// The place and the kind of the damage.
        why: String,
    },
    /// Another process is writing the views.
    #[error("another process is writing the views")]
    Busy,
}

impl From<TextError> for ViewError {
    fn from(error: TextError) -> Self {
        ViewError::Unusable {
            view: "text",
            why: error.to_string(),
        }
    }
}

impl From<VectorError> for ViewError {
    fn from(error: VectorError) -> Self {
        match error {
            VectorError::Io {
                doing,
                path,
                source,
            } => ViewError::Io {
                doing,
                path,
                source,
            },
            VectorError::Unusable { why } => ViewError::Unusable {
                view: "vectors",
                why,
            },
            other => ViewError::Unusable {
                view: "vectors",
                why: other.to_string(),
            },
        }
    }
}

/// The result of an operation on the views.
pub type Result<T> = std::result::Result<T, ViewError>;

pub(crate) fn io(
    doing: &'static str,
    path: &std::path::Path,
) -> impl FnOnce(std::io::Error) -> ViewError {
    let path = path.to_owned();
    move |source| ViewError::Io {
        doing,
        path,
        source,
    }
}
