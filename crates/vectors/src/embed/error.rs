//! The errors of embedders.

use std::path::PathBuf;

/// The reason why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The file of a model could not be read.
    #[error("reading the model {}: {source}", .path.display())]
    Io {
        /// The file of the model.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file of a model is cut, changed, or no model at all; install it again.
    #[error("the model {} is damaged: {why}", .path.display())]
    Damaged {
        /// The file of the model.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The file of a model has a format that this program does not know; a newer icm may know it.
    #[error("the model {} has format {found}, this icm reads format {known}", .path.display())]
    Format {
        /// The file of the model.
        path: PathBuf,
        /// The format of the file.
        found: u32,
        /// The format that this program reads.
        known: u32,
    },
    /// The model cannot be asked now: its runtime is missing, does not answer, or answers wrongly.
    #[error("the model {model} cannot be used: {why}")]
    Unavailable {
        /// The id of the model.
        model: String,
        /// The obstacle, in one line.
        why: String,
        /// A remedy for the user.
        hint: Option<String>,
    },
}

impl EmbedError {
    /// Returns advice, if there is any.
    pub fn hint(&self) -> Option<&str> {
        match self {
            EmbedError::Io { .. } => Some("see with `ls -l` whether the file can be read"),
            EmbedError::Damaged { .. } => {
                Some("take it away with `icm model remove`, then `icm model install` it again")
            }
            EmbedError::Format { .. } => {
                Some("update icm, or install the model again with `icm model install`")
            }
            EmbedError::Unavailable { hint, .. } => hint.as_deref(),
        }
    }
}
