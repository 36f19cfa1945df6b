//! The errors of the text view. The remedy is always the same: delete the view and rebuild it.

pub use tantivy::TantivyError;
use tantivy::directory::error::{OpenReadError, OpenWriteError};

/// An error of the full-text view.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The index could not be read or written.
    #[error("{doing}: {}", cause(.source))]
    Index {
        /// The operation that failed.
        doing: &'static str,
        /// tantivy's error.
        source: TantivyError,
    },
    /// The folder of the index could not be made.
    #[error("{doing}: {source}")]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// Another version of this program wrote the index.
    #[error("another version of icm wrote the index ({found})")]
    Format {
        /// The format that was found.
        found: String,
    },
    /// The two tiers are of different commits: a writer died between them.
    #[error("a process was stopped while it wrote the index")]
    Torn,
    /// Files have a wrong checksum.
    #[error("damaged files: {}", files.join(", "))]
    Damaged {
        /// The names of the files within the folder of the view.
        files: Vec<String>,
    },
    /// A writer got a version twice, or got a new version after a newer one.
    #[error("ordinal {ordinal} is given out of turn")]
    OutOfTurn {
        /// The ordinal of the version.
        ordinal: u64,
    },
    /// Another writer holds the index, or has committed since the index was loaded.
    #[error("another process is writing the index, or has changed it")]
    Busy,
}

/// Returns an error of tantivy for people: tantivy quotes files and other errors as Rust's `Debug` writes them.
fn cause(source: &TantivyError) -> String {
    match source {
        TantivyError::IoError(error) => error.to_string(),
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path)) => {
            format!("{} is missing", path.display())
        }
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
            format!("{}: {io_error}", filepath.display())
        }
        TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_))
        | TantivyError::IncompatibleIndex(_) => "another version of icm wrote it".to_owned(),
        other => {
            let said = other.to_string().replace('"', "");
            said.trim_end_matches(['.', '\'']).to_owned()
        }
    }
}

/// Adds the operation that failed to an error of tantivy.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, TextError>;
}

impl<T, E: Into<TantivyError>> Doing<T> for Result<T, E> {
    fn doing(self, doing: &'static str) -> Result<T, TextError> {
        self.map_err(|source| TextError::Index {
            doing,
            source: source.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn errors_of_tantivy_are_told_without_quotes() {
        let file = || PathBuf::from("view/meta.json");
        let full = || io::Error::other("the disk is full");
        for (source, told) in [
            (
                TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file())),
                "view/meta.json is missing",
            ),
            (
                TantivyError::OpenReadError(OpenReadError::IoError {
                    io_error: Arc::new(full()),
                    filepath: file(),
                }),
                "view/meta.json: the disk is full",
            ),
            (
                TantivyError::OpenWriteError(OpenWriteError::IoError {
                    io_error: Arc::new(full()),
                    filepath: file(),
                }),
                "view/meta.json: the disk is full",
            ),
            (TantivyError::IoError(Arc::new(full())), "the disk is full"),
            (
                TantivyError::SystemError("the \"writer\" ended.".to_owned()),
                "System error.'the writer ended",
            ),
        ] {
            let error = Err::<(), _>(source).doing("opening").expect_err("an error");
            assert_eq!(error.to_string(), format!("opening: {told}"));
        }
    }
}
