//! The error type of the command line: a message, a hint and an exit code.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use icm_api::error::{ServiceError, io_hint, plain};
use icm_clients::hooks::HookError;
use icm_clients::install::InstallError;
use icm_extract::ExtractError;
use serde::Serialize;

use crate::text;

/// The outcome of a command without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done or found: 0.
    Fine,
    /// The answer is no: nothing found, lines rejected, not confirmed: 1.
    No,
    /// The parser has printed the error of the arguments: 2.
    Usage,
    /// Damage was found and reported: 3.
    Damage,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Outcome::Fine => 0,
            Outcome::No => 1,
            Outcome::Usage => 2,
            Outcome::Damage => 3,
        }
    }
}

/// The kind of a failure, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The named thing does not exist: 1.
    NotFound,
    /// The command failed: 2.
    Failed,
    /// The store is damaged: 3.
    Damage,
    /// The reader of the output is gone, so nothing is printed: 0.
    ClosedPipe,
}

/// The failure of a command.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

impl CliError {
    /// Returns the message: the problem in one line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the error of an unacceptable request.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::failed(message)
    }

    /// Returns the error of a failed command.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        CliError {
            kind: ErrorKind::Failed,
            message: message.into(),
            hint: None,
        }
    }

    /// Returns the error of the operating system while `doing`.
    pub(crate) fn io(doing: impl AsRef<str>, source: &io::Error) -> Self {
        let error = Self::failed(format!("{}: {}", doing.as_ref(), plain(source)));
        match io_hint(source) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    /// Returns the error of a failed write of the answer.
    pub(crate) fn output(source: &io::Error) -> Self {
        let mut error = Self::io("cannot write the answer", source);
        if source.kind() == io::ErrorKind::BrokenPipe {
            error.kind = ErrorKind::ClosedPipe;
        }
        error
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts the file, flag or line in front of the message.
    pub(crate) fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns the message and the hint in one line.
    pub(crate) fn said(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::ClosedPipe => 0,
            ErrorKind::NotFound => 1,
            ErrorKind::Failed => 2,
            ErrorKind::Damage => 3,
        }
    }
}

impl From<ServiceError> for CliError {
    fn from(error: ServiceError) -> Self {
        let kind = match &error {
            ServiceError::ImportEnded { source, .. } => kind_of(source),
            error => kind_of(error),
        };
        let message = match &error {
            ServiceError::Internal(_) => format!("{} — please report", plain(&error)),
            _ => plain(&error),
        };
        CliError {
            kind,
            message,
            hint: error.hint(),
        }
    }
}

impl From<ExtractError> for CliError {
    fn from(error: ExtractError) -> Self {
        match &error {
            ExtractError::Io { offset, source } => Self::io(
                format!("cannot read the transcript at byte {offset}"),
                source,
            ),
            other => {
                let said = Self::failed(other.to_string());
                match other.hint() {
                    Some(hint) => said.with_hint(hint),
                    None => said,
                }
            }
        }
    }
}

/// The message names the fix.
impl From<HookError> for CliError {
    fn from(error: HookError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// The message names the fix, unless the operating system refused.
impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        match &error {
            InstallError::Io {
                doing,
                path,
                source,
            } => Self::io(format!("cannot {doing} {}", path.display()), source),
            _ => Self::failed(error.to_string()),
        }
    }
}

/// Returns the kind of a failure of the service.
fn kind_of(error: &ServiceError) -> ErrorKind {
    match error {
        ServiceError::NotFound { .. } | ServiceError::Nothing { .. } => ErrorKind::NotFound,
        ServiceError::Damaged { .. }
        | ServiceError::BadBackup { .. }
        | ServiceError::BadExport { .. } => ErrorKind::Damage,
        // The service writes exports directly to stdout.
        ServiceError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
            ErrorKind::ClosedPipe
        }
        _ => ErrorKind::Failed,
    }
}

#[derive(Serialize)]
struct Report<'a> {
    error: ErrorText<'a>,
}

#[derive(Serialize)]
struct ErrorText<'a> {
    message: &'a str,
    hint: Option<&'a str>,
}

/// Prints the error to stderr: `error: …` and `hint: …`, or one JSON object.
pub(crate) fn report(error: &CliError, json: bool) {
    let mut stderr = anstream::AutoStream::auto(io::stderr());
    // Errors of stderr are ignored: there is no other place to report them.
    let _ = write!(stderr, "{}", printed(error, json));
}

/// Returns the lines of [`report`], with colours; nothing for an error that is not told.
fn printed(error: &CliError, json: bool) -> String {
    if error.kind == ErrorKind::ClosedPipe {
        return String::new();
    }
    let message = text::one_line(&error.message);
    let hint = error.hint.as_deref().map(text::one_line);
    if json {
        let report = Report {
            error: ErrorText {
                message: &message,
                hint: hint.as_deref(),
            },
        };
        return serde_json::to_string(&report).unwrap_or_default() + "\n";
    }
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
    let mut lines = format!("{red}error:{red:#} {message}\n");
    if let Some(hint) = hint {
        lines.push_str(&format!("{cyan}hint:{cyan:#} {hint}\n"));
    }
    lines
}

/// Returns the error of a feature that a lean build lacks.
#[cfg(not(all(feature = "http", feature = "models", feature = "objects")))]
pub(crate) fn not_in_this_build(what: &str) -> CliError {
    CliError::invalid(format!("this build of icm has no {what}"))
        .with_hint("install icm with its default features")
}

#[cfg(all(test, feature = "models"))]
mod tests;
