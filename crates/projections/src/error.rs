//! The errors of the views.

use std::path::PathBuf;

use icm_log::LogError;
use thiserror::Error;

use icm_text::TextError;
use icm_vectors::VectorError;

/// Why a view could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A view is not what it should be; it is dropped and rebuilt.
    #[error("the {view} view is not usable: {why}")]
    Unusable {
        /// `table`, `rows`, `text`, `vectors` or `manifest`.
        view: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The operating system said no.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
    /// The log is damaged: views are not written from a part of it.
    #[error("{why}")]
    Stopped {
        /// Where and how.
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

/// Shorthand.
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
