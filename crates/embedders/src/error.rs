//! What can go wrong with getting, choosing and removing models.

use std::io;

use icm_vectors::embed::EmbedError;

/// Why a model was not installed, chosen or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Nobody knows a model of this name.
    #[error("there is no model `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What is there, in one line.
        hint: String,
    },
    /// It cannot be done as asked.
    #[error("{what}")]
    Refused {
        /// What was asked and why not.
        what: String,
        /// What to do instead.
        hint: String,
    },
    /// Neither the hub nor a package brought the files.
    #[error("{name} could not be fetched: {why}")]
    NotFetched {
        /// What was to be fetched.
        name: String,
        /// What stood in the way, of each source.
        why: String,
        /// What to do instead.
        hint: String,
    },
    /// The model is there and does not work.
    #[error(transparent)]
    Unusable(#[from] EmbedError),
    /// A file or folder.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done, with the path.
        doing: String,
        /// What the system says.
        source: io::Error,
    },
}

impl ModelError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            ModelError::Unknown { hint, .. }
            | ModelError::Refused { hint, .. }
            | ModelError::NotFetched { hint, .. } => Some(hint),
            ModelError::Unusable(EmbedError::Unavailable { hint, .. }) => hint.as_deref(),
            ModelError::Unusable(_) | ModelError::Io { .. } => None,
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
