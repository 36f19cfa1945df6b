//! The errors of the log. A finding is not an error: [`crate::verify`] returns a report.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::cases::Case;
use icm_event::id::{OriginId, Seq};

/// The reason for which the log could not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system reported an error.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// Path of the file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Somebody else holds the lock.
    #[error("another process has been writing for more than {waited_ms} ms")]
    Busy {
        /// Time waited for the lock, in milliseconds.
        waited_ms: u64,
    },
    /// The log is damaged. Writes are refused; the events before the damage can be read.
    #[error("{}, at seq {seq} in {} (byte {offset_bytes}): {what}", .case.name(), .file.display())]
    Damaged {
        /// Row of the case table.
        case: Case,
        /// File, relative to the store.
        file: PathBuf,
        /// Seq of the first event that cannot be trusted.
        seq: Seq,
        /// Offset in the file, in bytes.
        offset_bytes: u64,
        /// The defect.
        what: String,
    },
    /// A newer version wrote something that this version cannot read. Writes are refused.
    #[error("{what}")]
    NewerFormat {
        /// The part that is too new.
        what: String,
    },
    /// The folder is no store, or its `store.toml` cannot be read.
    #[error("{}: {why}", .path.display())]
    NotAStore {
        /// The folder or file.
        path: PathBuf,
        /// The defect.
        why: String,
    },
    /// The store cannot be written.
    #[error("{}: {why}", .path.display())]
    NotWritable {
        /// The folder or file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The disk is full. Nothing was lost, and nothing was appended.
    #[error("no space left for {}: the disk is full, or a limit is reached", .path.display())]
    NoSpace {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// An event or batch exceeds a ceiling.
    #[error("the {what} is {len}, the limit is {max}")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// Its size.
        len: usize,
        /// The ceiling.
        max: usize,
    },
    /// A file is cut, changed, or not a bundle. Nothing was taken from it.
    #[error("{} is not whole (byte {offset_bytes}): {what}", .path.display())]
    BadBundle {
        /// The file.
        path: PathBuf,
        /// Offset in the file, in bytes.
        offset_bytes: u64,
        /// The defect.
        what: String,
    },
    /// The events of a bundle do not join the events of the store. Nothing was taken from the bundle.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Gaps(Vec<Gap>),
    /// A bundle would make the log slow to read, so it is forged. Nothing was taken from it.
    #[error("the export is refused: {what}, which no real store reaches")]
    TooTangled {
        /// The part that is beyond any real store.
        what: String,
    },
    /// The event that a cursor names is no longer in the log.
    #[error("the event that was read at position {position} is no longer in the log")]
    StaleCursor {
        /// Position of the cursor.
        position: u64,
    },
}

/// Missing events between the events of the store and those of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("events of origin {origin} from seq {from_seq} are missing")]
pub struct Gap {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first missing event.
    pub from_seq: Seq,
}

/// The result of an operation of the log.
pub type Result<T> = std::result::Result<T, LogError>;

/// Adds the failed operation to an [`io::Error`], and tells a full disk and a store that cannot be written from other
/// errors. Callers that only read say "reading"; such an error never becomes `NotWritable`.
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
