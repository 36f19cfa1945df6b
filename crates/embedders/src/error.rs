//! The errors of installing, choosing and removing models.

use std::io;

use icm_vectors::embed::EmbedError;

/// The reason why a model was not installed, chosen or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The name is unknown.
    #[error("there is no model `{name}`")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names that exist, in one line.
        hint: String,
    },
    /// The request cannot be done.
    #[error("{what}")]
    Refused {
        /// The request, and the reason against it.
        what: String,
        /// Advice.
        hint: String,
    },
    /// Neither the hub nor a package provided the files.
    #[error("{name} could not be fetched: {why}")]
    NotFetched {
        /// The model or library to fetch.
        name: String,
        /// The error of each source.
        why: String,
        /// Advice.
        hint: String,
    },
    /// The model is there and does not work.
    #[error(transparent)]
    Unusable(#[from] EmbedError),
    /// Work on a file or folder failed.
    #[error("{doing}: {source}")]
    Io {
        /// The step that failed, with the path.
        doing: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl ModelError {
    /// Returns advice, if there is any.
    pub fn hint(&self) -> Option<&str> {
        match self {
            ModelError::Unknown { hint, .. }
            | ModelError::Refused { hint, .. }
            | ModelError::NotFetched { hint, .. } => Some(hint),
            ModelError::Unusable(error) => error.hint(),
            ModelError::Io { .. } => None,
        }
    }

    pub(crate) fn io(
        doing: &str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> ModelError + use<> {
        let doing = format!("{doing} {}", path.display());
        |source| ModelError::Io { doing, source }
    }
}
