//! The errors of the service. The command line adds exit codes and colours, MCP and HTTP their codes, nothing else.

use std::io::{self, ErrorKind};

use icm_log::LogError;
use icm_projections::ViewError;
use thiserror::Error;

/// Longest wait of an answer for the views' files while another process writes them.
pub use icm_wait::bounds::PEER as VIEWS_WAIT;

/// The reason of [`ServiceError::ReadOnly`] if the service itself was opened for reading only.
pub const OPENED_READ_ONLY: &str = "it was opened read-only";
/// The reason of [`ServiceError::ReadOnly`] if alerts are due that cannot be marked as shown.
pub const ALERTS_UNWRITTEN: &str = "its alerts cannot be marked as shown";

/// The reason why a command or a query failed. The text is one line; [`ServiceError::hint`] says what to do next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// An argument is not acceptable.
    #[error("{message}")]
    Invalid {
        /// The fault, with the limit if there is one.
        message: String,
        /// Advice for the next step.
        hint: Option<String>,
    },
    /// The request is fine, but its target is forgotten, not there yet, or has no more to give.
    #[error("{message}")]
    Nothing {
        /// The message.
        message: String,
        /// Advice for the next step.
        hint: String,
    },
    /// A text holds a secret; nothing was written. The message never repeats the secret.
    #[error("the {field} holds what looks like a secret ({rule}): it was not stored")]
    Secret {
        /// `content`, `topic`, …
        field: String,
        /// Name of the rule that found it.
        rule: &'static str,
    },
    /// No memory, event, … has this id.
    #[error("no {what} {id}")]
    NotFound {
        /// `memory`, `event`, `topic`.
        what: &'static str,
        /// The id, as given.
        id: String,
        /// The nearest ids.
        nearest: Vec<String>,
    },
    /// A prefix fits several ids.
    #[error("{what} {prefix} is ambiguous: {}", .matches.join(", "))]
    Ambiguous {
        /// `memory`, `event`.
        what: &'static str,
        /// The prefix, as given.
        prefix: String,
        /// Ids that it fits, at most ten.
        matches: Vec<String>,
    },
    /// The plan that was shown and accepted is not what would be done now.
    #[error("the memories have changed since this was shown: nothing was done")]
    OtherPlan,
    /// The request id was used before, for other content.
    #[error("request id {request_id} was already used for other content")]
    Conflict {
        /// The request id, as given.
        request_id: String,
    },
    /// Another process holds the lock.
    #[error("the store is busy: another process {}", writes_for(*.waited_ms))]
    Busy {
        /// Duration of the wait; 0 if it is not known.
        waited_ms: u64,
    },
    /// The process that holds the lock is stopped; reads go on.
    #[error(
        "the store can only be read: process {pid}, which holds its lock, is stopped{}",
        if *.asked { "; once it goes on, it may still do what it was asked" } else { "" }
    )]
    Stopped {
        /// The stopped process.
        pid: u32,
        /// `true` if the owner got the request and has not answered: it may still do it.
        asked: bool,
    },
    /// The store is damaged; undamaged parts can be read.
    #[error("the log is damaged: {what}")]
    Damaged {
        /// Place and kind of the damage.
        what: String,
    },
    /// A newer icm wrote the store, or the file that was given.
    #[error("a newer icm is needed: {what}")]
    NewerFormat {
        /// The part that is too new.
        what: String,
    },
    /// A backup is cut, changed or damaged; nothing was restored from it.
    #[error("the backup {file} is damaged: {why}")]
    BadBackup {
        /// The file.
        file: String,
        /// The fault.
        why: String,
    },
    /// An export of a log is cut, changed or damaged; nothing was taken from it.
    #[error("{why}")]
    BadExport {
        /// The export and its fault.
        why: String,
    },
    /// An export of a log does not join up with this store; nothing was taken from it.
    #[error("{why}")]
    DoesNotFit {
        /// The missing or contradicting part.
        why: String,
    },
    /// The store cannot be written.
    #[error("the store cannot be written: {why}")]
    ReadOnly {
        /// The reason.
        why: String,
    },
    /// The disk is full; the command did not happen and nothing is lost.
    #[error("{why}")]
    NoSpace {
        /// The disk that is full.
        why: String,
    },
    /// The operating system refused an operation.
    #[error("{doing}: {source}")]
    Io {
        /// The operation, with the path.
        doing: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An import failed after some of its lines were stored; they stay.
    #[error("{}; {taken} are in already", plain(.source))]
    ImportEnded {
        /// Number of lines or memories that were stored.
        taken: String,
        /// The error that ended the import.
        source: Box<ServiceError>,
    },
    /// A bug of ours; the store is untouched.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ServiceError {
    /// Returns an argument error without a hint.
    pub fn invalid(message: impl Into<String>) -> Self {
        ServiceError::Invalid {
            message: message.into(),
            hint: None,
        }
    }

    /// Returns an error for a target that is not there (any more, or yet), with a hint.
    pub fn nothing(message: impl Into<String>, hint: impl Into<String>) -> Self {
        ServiceError::Nothing {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Returns an argument error with a hint.
    pub fn invalid_with(message: impl Into<String>, hint: impl Into<String>) -> Self {
        ServiceError::Invalid {
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    /// Returns advice for the next step, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            ServiceError::Invalid { hint, .. } => hint.clone(),
            ServiceError::Nothing { hint, .. } => Some(hint.clone()),
            ServiceError::Secret { field, .. } if is_of_caller(field) => Some(format!(
                "the log would keep it: give another {field}, or see `[secrets]` in the config file"
            )),
            ServiceError::Secret { .. } => Some(
                "the log would keep it: say where it is kept instead, or store it anyway with \
                 `--allow-secret`"
                    .into(),
            ),
            ServiceError::NotFound { what, nearest, id } => {
                let number = id.trim_start_matches('0');
                if matches!(nearest.as_slice(), [near] if near.strip_prefix('@') == Some(number)) {
                    Some(format!("did you mean the position `@{number}`?"))
                } else if nearest.is_empty() {
                    Some(match *what {
                        "memory" if id.starts_with('@') => {
                            format!("that is a position: see `icm log show {id}`")
                        }
                        "event" => "list events with `icm log`".into(),
                        "memory or event" => {
                            "list memories with `icm list`, events with `icm log`".into()
                        }
                        "topic" => "list topics with `icm topics`".into(),
                        "origin" => "list origins with `icm log heads`".into(),
                        "memoir" => "list memoirs with `icm memoir list`".into(),
                        "correction" => "list corrections with `icm feedback list`".into(),
                        "concept" => "list concepts with `icm memoir show`".into(),
                        _ => "list memories with `icm list`, search with `icm recall`".into(),
                    })
                } else {
                    Some(format!("nearest: {}", nearest.join(", ")))
                }
            }
            ServiceError::Ambiguous { matches, .. } => {
                let position = matches.iter().find(|name| name.starts_with('@'));
                Some(match position {
                    Some(position) => format!("give more characters, or `{position}` for the position"),
                    None => "give more characters".into(),
                })
            }
            ServiceError::OtherPlan => {
                Some("see the preview again with `--dry-run`, then confirm that one".into())
            }
            ServiceError::Conflict { .. } => {
                Some("use a new request id for new content (`--request-id`)".into())
            }
            ServiceError::Busy { .. } => {
                Some("try again; `icm doctor` says which process holds the lock".into())
            }
            ServiceError::Stopped { pid, asked } => Some(format!(
                "let it go on with `kill -CONT {pid}`, or end it with `kill -KILL {pid}`, then {}",
                match asked {
                    true => "see whether it was done before you try again",
                    false => "try again",
                }
            )),
            ServiceError::Damaged { .. } => {
                Some("what is whole can still be read; `icm log repair` sets the rest aside".into())
            }
            ServiceError::BadBackup { .. } => {
                Some("nothing was restored: use another backup, or copy this one again".into())
            }
            ServiceError::BadExport { .. } => {
                Some("nothing was taken: write it again with `icm log export`".into())
            }
            ServiceError::DoesNotFit { .. } => Some(
                "nothing was taken: export all of it with `icm log export` on a machine that has it"
                    .into(),
            ),
            ServiceError::NewerFormat { .. } => Some("update icm; the store can still be read".into()),
            ServiceError::NoSpace { .. } => {
                Some("nothing was lost; free some space (or see `ulimit -f`) and try again".into())
            }
            ServiceError::ReadOnly { why } if why.contains("`icm log repair`") => None,
            ServiceError::ReadOnly { why } if why == OPENED_READ_ONLY => {
                Some("start icm without `--read-only` to write".into())
            }
            ServiceError::ReadOnly { why } if why.starts_with(ALERTS_UNWRITTEN) => {
                Some("`icm alerts --read-only` shows them, and they are shown again later".into())
            }
            ServiceError::ReadOnly { why } if why.contains(icm_log::STORE_FILE) => {
                Some("`icm log repair` makes a new one; reads still work".into())
            }
            ServiceError::ReadOnly { .. } => {
                Some("make it writable, or name another store with `--db`; reads still work".into())
            }
            ServiceError::Io { source, .. } => io_hint(source).map(str::to_owned),
            ServiceError::ImportEnded { source, .. } => {
                let again = "run the import again: it goes on after them";
                Some(match source.hint() {
                    Some(hint) => format!("{hint}; {again}"),
                    None => again.into(),
                })
            }
            ServiceError::Internal(_) => None,
        }
    }
}

/// Returns advice about an error of the operating system, if there is any.
pub fn io_hint(source: &io::Error) -> Option<&'static str> {
    Some(match source.kind() {
        io::ErrorKind::NotFound => "see whether the path is right, with `ls`",
        io::ErrorKind::InvalidData => {
            "a store holds plain files only: move it away, and see `icm verify`"
        }
        io::ErrorKind::PermissionDenied => {
            "see who owns it with `ls -l`, or name another store with `--db`"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space and try again"
        }
        io::ErrorKind::FileTooLarge => "see `ulimit -f`, or write it to another file system",
        _ => return None,
    })
}

/// Returns `true` for fields that name the caller in all its writes: no single write can allow a secret there.
fn is_of_caller(field: &str) -> bool {
    ["actor", "session", "client", "project"].contains(&field)
}

/// Result with [`ServiceError`].
pub type Result<T> = std::result::Result<T, ServiceError>;

/// Returns the text of an error without the operating system's `(os error 2)`, which tells people nothing.
pub fn plain(error: impl std::fmt::Display) -> String {
    let mut text = error.to_string();
    while let Some(start) = text.find(" (os error ") {
        let Some(len) = text[start..].find(')') else {
            break;
        };
        text.replace_range(start..=start + len, "");
    }
    text
}

/// Returns what a process does that writes for as long as this one waited.
fn writes_for(waited_ms: u64) -> String {
    match waited_ms {
        0 => "is writing".to_owned(),
        _ => format!("has been writing for more than {waited_ms} ms"),
    }
}

impl From<LogError> for ServiceError {
    fn from(error: LogError) -> ServiceError {
        match error {
            LogError::Busy { waited_ms } => ServiceError::Busy { waited_ms },
            LogError::NewerFormat { what } => ServiceError::NewerFormat { what },
            LogError::NoSpace { .. } => ServiceError::NoSpace {
                why: error.to_string(),
            },
            LogError::NotWritable { .. } => ServiceError::ReadOnly { why: plain(error) },
            LogError::Io {
                doing,
                path,
                source,
            } => ServiceError::Io {
                doing: format!("{doing} {}", path.display()),
                source,
            },
            LogError::TooLarge { .. } => {
                ServiceError::invalid_with(error.to_string(), "do it in several smaller commands")
            }
            LogError::NotAStore { .. } => ServiceError::invalid_with(
                error.to_string(),
                "name the folder of a store with `--db` or `ICM_DB`",
            ),
            LogError::BadBundle { .. } | LogError::TooTangled { .. } => ServiceError::BadExport {
                why: error.to_string(),
            },
            LogError::Gaps(_) => ServiceError::DoesNotFit {
                why: error.to_string(),
            },
            LogError::StaleCursor { .. } => ServiceError::Internal(error.to_string()),
            LogError::Damaged { .. } => ServiceError::Damaged {
                what: error.to_string(),
            },
            other => ServiceError::Internal(other.to_string()),
        }
    }
}

impl From<ViewError> for ServiceError {
    fn from(error: ViewError) -> ServiceError {
        match error {
            ViewError::Log(error) => error.into(),
            ViewError::Stopped { why } => ServiceError::Damaged { what: why },
            // A redaction waits longer for the views than an answer, and a process that only looks does not wait.
            ViewError::Busy => ServiceError::Busy { waited_ms: 0 },
            ViewError::Io {
                doing,
                path,
                source,
            } if matches!(
                source.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ) =>
            {
                ServiceError::ReadOnly {
                    why: format!("{}: {doing} failed: {}", path.display(), plain(source)),
                }
            }
            ViewError::Io {
                doing,
                path,
                source,
            } => ServiceError::Io {
                doing: format!("{doing} {}", path.display()),
                source,
            },
            other => ServiceError::Internal(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use icm_projections::ViewError;

    use super::{ALERTS_UNWRITTEN, ServiceError, plain};

    #[test]
    fn a_busy_store_tells_only_a_wait_that_was() {
        for (error, says) in [
            (
                ServiceError::Busy { waited_ms: 30_000 },
                "has been writing for more than 30000 ms",
            ),
            (ServiceError::from(ViewError::Busy), "is writing"),
        ] {
            let expected = format!("the store is busy: another process {says}");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn alerts_that_cannot_be_marked_name_a_way_to_look() {
        let why = format!("{ALERTS_UNWRITTEN} (alerts.lock: Permission denied)");
        let hint = ServiceError::ReadOnly { why }.hint();
        assert!(hint.is_some_and(|hint| hint.contains("`icm alerts --read-only`")));
    }

    #[test]
    fn numbers_of_errors_are_left_out() {
        for (said, expected) in [
            ("a: No such file (os error 2)", "a: No such file"),
            ("x (os error 2) and y (os error 30).", "x and y."),
            ("cut (os error 2", "cut (os error 2"),
        ] {
            assert_eq!(plain(said), expected);
        }
    }
}
