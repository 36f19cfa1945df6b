//! What can go wrong with an embedder.

use std::path::PathBuf;

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The file of a model could not be read.
    #[error("reading the model {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file of a model is not whole, or no model at all; get it anew.
    #[error("the model {} is damaged: {why}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file of a model is of a format that this program does not know; a newer icm may.
    #[error("the model {} has format {found}, this icm reads format {known}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that is read here.
        known: u32,
    },
    /// The model cannot be asked now: what runs it is not there, does not answer, or answers wrongly.
    #[error("the model {model} cannot be used: {why}")]
    Unavailable {
        /// Its id.
        model: String,
        /// What is in the way, in one line.
        why: String,
        /// What the user can do about it.
        hint: Option<String>,
    },
}
