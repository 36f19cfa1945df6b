//! The errors of the log. A finding is not an error: [`crate::verify`] returns a report.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::cases::Case;
use icm_event::id::{OriginId, Seq};

/// Why the log could not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system said no.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Somebody else holds the lock.
    #[error("another process has been writing for more than {waited_ms} ms")]
    Busy {
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// The log is damaged: writes are refused, what lies before can be read.
    #[error("{}, at seq {seq} in {} (byte {offset_bytes}): {what}", .case.name(), .file.display())]
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
    /// Written by a newer version: writes are refused.
    #[error("{what}")]
    NewerFormat {
        /// What is too new.
        what: String,
    },
    /// The folder is no store, or its `store.toml` cannot be read.
    #[error("{}: {why}", .path.display())]
    NotAStore {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The store cannot be written.
    #[error("{}: {why}", .path.display())]
    NotWritable {
        /// The folder or file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// No space left. Nothing was lost; the append did not happen.
    #[error("no space left for {}: the disk is full, or a limit is reached", .path.display())]
    NoSpace {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// An event or batch exceeds a ceiling.
    #[error("{what} is {len}, the limit is {max}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How much it is.
        len: usize,
        /// Ceiling.
        max: usize,
    },
    /// A bundle is cut, changed, or none at all; nothing of it was taken.
    #[error("{} is not whole (byte {offset_bytes}): {what}", .path.display())]
    BadBundle {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset_bytes: u64,
        /// What is wrong.
        what: String,
    },
    /// What a bundle holds does not join up with what is here; nothing of it was taken.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Gaps(Vec<Gap>),
    /// A bundle is forged to be slow to read; nothing of it was taken.
    #[error("{what}: no store gets so by itself")]
    TooTangled {
        /// What there is too much of.
        what: String,
    },
    /// The event that a cursor names is not there any more.
    #[error("the log no longer holds what the cursor at position {position} names")]
    StaleCursor {
        /// Its position.
        position: u64,
    },
}

/// Events that are missing between what is held and what was brought.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("need origin {origin} from seq {from_seq}")]
pub struct Gap {
    /// The chain.
    pub origin: OriginId,
    /// The first event that is missing.
    pub from_seq: Seq,
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, LogError>;

/// Adds what was being done to an [`io::Error`], telling a full disk and a store that cannot be
/// written from the rest. What only reads says "reading": it is never about writing.
pub(crate) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LogError {
    let path = path.to_owned();
    move |source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            LogError::NoSpace { path }
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            if doing != "reading" =>
        {
            LogError::NotWritable {
                path,
                why: format!("{doing} failed: {source}"),
            }
        }
        _ => LogError::Io {
            doing,
            path,
            source,
        },
    }
}
