//! Why writes are refused.

use std::path::{Path, PathBuf};

use crate::cases::Case;
use crate::error::LogError;
use icm_event::id::Seq;

/// Why writes are refused; reads of what is whole go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Damage.
    Damaged {
        /// Row of the case table.
        case: Case,
        /// File, relative to the store.
        file: PathBuf,
        /// First event that cannot be trusted.
        seq: Seq,
        /// Where in the file.
        offset_bytes: u64,
        /// What is wrong.
        what: String,
    },
    /// Written by a newer version.
    Newer {
        /// What is too new.
        what: String,
    },
    /// `store.toml` is missing or unreadable while there is a log.
    NoStoreFile {
        /// What is wrong with it.
        why: String,
    },
    /// A repair was begun and is not finished.
    Repairing,
}

impl Refusal {
    /// The refusal as the error of a write.
    pub fn to_error(&self, dir: &Path) -> LogError {
        match self.clone() {
            Refusal::Damaged {
                case,
                file,
                seq,
                offset_bytes,
                what,
            } => LogError::Damaged {
                case,
                file,
                seq,
                offset_bytes,
                what,
            },
            Refusal::Newer { what } => LogError::NewerFormat { what },
            Refusal::NoStoreFile { why } => LogError::NotWritable {
                path: dir.to_owned(),
                why,
            },
            Refusal::Repairing => LogError::NotWritable {
                path: dir.to_owned(),
                why: "a repair was begun and is not finished: `icm log repair` goes on with it"
                    .to_owned(),
            },
        }
    }
}
