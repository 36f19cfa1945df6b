//! What can go wrong with the text view. The remedy is always the same: drop it, rebuild.

use tantivy::TantivyError;

/// An error of the full-text view.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The index could not be read or written.
    #[error("full text: {doing}: {source}")]
    Index {
        /// What was being done.
        doing: &'static str,
        /// What tantivy says.
        source: TantivyError,
    },
    /// The folder of the index could not be made.
    #[error("full text: {doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another version of this program wrote the index.
    #[error("full text: the index has another format ({found})")]
    Format {
        /// What was found instead of the format of this version.
        found: String,
    },
    /// The two tiers are not of one commit: a writer died between them.
    #[error("full text: the tiers of live and closed versions were not committed together")]
    Torn,
    /// Files whose checksum is wrong.
    #[error("full text: damaged files: {}", files.join(", "))]
    Damaged {
        /// Their names within the folder of the view.
        files: Vec<String>,
    },
    /// A version was given to one writer twice, or a new one after a newer one.
    #[error("full text: version {ordinal} is given out of turn")]
    OutOfTurn {
        /// Its ordinal.
        ordinal: u64,
    },
    /// Another writer has the index, or has committed since it was loaded.
    #[error("full text: another writer has the index or has changed it; reload it")]
    Busy,
}

/// Says what was being done when tantivy failed.
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
