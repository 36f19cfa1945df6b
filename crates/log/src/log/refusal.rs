//! The reason for which a log refuses writes.

use std::path::{Path, PathBuf};

use crate::cases::Case;
use crate::error::LogError;
use icm_event::id::Seq;

/// The reason for which writes are refused. The undamaged part can still be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The log is damaged.
    Damaged {
        /// Row of the case table.
        case: Case,
        /// File, relative to the store.
        file: PathBuf,
        /// First event that cannot be trusted.
        seq: Seq,
        /// Offset in the file, in bytes.
        offset_bytes: u64,
        /// The defect.
        what: String,
    },
    /// A newer version wrote something that this version cannot read.
    Newer {
        /// The part that is too new.
        what: String,
    },
    /// `store.toml` is missing or unreadable while there is a log.
    NoStoreFile {
        /// The defect.
        why: String,
    },
    /// A repair was begun and is not finished.
    Repairing,
}

impl Refusal {
    /// Returns the error of a write that is refused.
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
