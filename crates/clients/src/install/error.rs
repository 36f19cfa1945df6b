//! The reasons why a file is left alone.

use std::io;
use std::path::PathBuf;

/// The reason why a file is left alone. Each message is one line that names the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The file is too large for a settings file.
    #[error(
        "it has {bytes} bytes, more than the {max} that icm edits: shorten it, or add the entry by hand"
    )]
    TooBig {
        /// Bytes of the file.
        bytes: u64,
        /// Most bytes of a file that is edited.
        max: u64,
    },
    /// The file is not UTF-8.
    #[error("it is not UTF-8 (first other byte: {at}): save it as UTF-8")]
    NotUtf8 {
        /// Offset of the first invalid byte, from 0.
        at: usize,
    },
    /// The file does not parse.
    #[error("it does not parse as {format}: {why}; mend it first")]
    DoesNotParse {
        /// The format that the client reads.
        format: &'static str,
        /// The parser's message, with line and column.
        why: String,
    },
    /// A key occurs twice, and clients differ in which one they read.
    #[error("the key `{key}` is there twice: take one of them out")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A value has another type than the client expects.
    #[error("`{path}` is not {expected}: mend it first")]
    OtherShape {
        /// Path to the value.
        path: String,
        /// `an object` or `a list`.
        expected: &'static str,
    },
    /// A server of another program has the name.
    #[error("another server called icm is there (`{command}`): give `--force` to replace it")]
    AnotherServer {
        /// Its command.
        command: String,
    },
    /// A file of another program has the name.
    #[error("another file is there already: give `--force` to replace it")]
    AnotherFile,
    /// The file is read-only.
    #[error("it is read-only: make it writable first")]
    ReadOnly,
    /// The path is not a regular file.
    #[error("it is not a regular file: move it away first")]
    NotAFile,
    /// The file belongs to another user; a link may lead to it.
    #[error("{} belongs to another user: run icm as that user, or take the link away", target.display())]
    AnotherUser {
        /// The file at the end of the links.
        target: PathBuf,
    },
    /// A file of a project is a link out of the project.
    #[error("it is a link out of the project, to {}: put a file in its place", target.display())]
    OutsideProject {
        /// The file at the end of the links.
        target: PathBuf,
    },
    /// The marks of icm's block are not a pair.
    #[error("the marks of icm's block do not pair up: take out what is left of them")]
    BrokenMarks,
    /// The edited text does not have the wanted content.
    #[error("its layout cannot be edited safely: add the entry by hand")]
    Layout,
    /// The file changed after it was planned.
    #[error("it has changed since it was read: start again")]
    Changed,
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// `read`, `write`, `make`, `remove`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The list of written files cannot be read.
    #[error("{} does not parse: {why}; move it away, and icm finds its entries by their shape", path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        why: String,
    },
}

impl InstallError {
    /// Returns a closure that makes an error of an operation on `path`.
    pub(super) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| InstallError::Io {
            doing,
            path,
            source,
        }
    }
}
