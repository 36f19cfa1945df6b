//! Reasons why a file is left alone.

use std::io;
use std::path::PathBuf;

/// Why a file is left alone. Each message is one line that names the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The file has more bytes than a settings file ever has.
    #[error(
        "it has {bytes} bytes, more than the {max} that icm edits: shorten it, or add the entry by hand"
    )]
    TooBig {
        /// Bytes of the file.
        bytes: u64,
        /// Bytes that are edited at most.
        max: u64,
    },
    /// The file has another encoding.
    #[error("it is not UTF-8 (first other byte: {at}): save it as UTF-8")]
    NotUtf8 {
        /// The place of the first byte that does not fit, from 0.
        at: usize,
    },
    /// The file does not parse.
    #[error("it does not parse as {format}: {why}; mend it first")]
    DoesNotParse {
        /// The format that the client reads.
        format: &'static str,
        /// The parser's words, with line and column.
        why: String,
    },
    /// A key is there twice, and clients differ in which one they read.
    #[error("the key `{key}` is there twice: take one of them out")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A value has another type than the client expects.
    #[error("`{path}` is not {expected}: mend it first")]
    OtherShape {
        /// The way to the value.
        path: String,
        /// `an object` or `a list`.
        expected: &'static str,
    },
    /// A server of another tool has the name.
    #[error("another server called icm is there (`{command}`): give --force to replace it")]
    AnotherServer {
        /// Its command.
        command: String,
    },
    /// A file of another tool has the name.
    #[error("another file is there already: give --force to replace it")]
    AnotherFile,
    /// The file may not be written.
    #[error("it is read-only: make it writable first")]
    ReadOnly,
    /// Something else than a file has the name.
    #[error("it is not a regular file: move it away first")]
    NotAFile,
    /// The file is another user's, and a link may lead to it.
    #[error("{} belongs to another user: run icm as that user, or take the link away", target.display())]
    AnotherUser {
        /// The file at the end of links.
        target: PathBuf,
    },
    /// A file of a project leads out of it.
    #[error("it is a link out of the project, to {}: put a file in its place", target.display())]
    OutsideProject {
        /// The file at the end of links.
        target: PathBuf,
    },
    /// The marks of icm's block do not pair up.
    #[error("the marks of icm's block do not pair up: take out what is left of them")]
    BrokenMarks,
    /// The edited text does not say what it should.
    #[error("its layout cannot be edited safely: add the entry by hand")]
    Layout,
    /// The file changed between the plan and the deed.
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
    /// The list of what icm wrote cannot be read.
    #[error("{} does not parse: {why}; move it away, and icm finds its entries by their shape", path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// The parser's words.
        why: String,
    },
}

impl InstallError {
    /// Returns a closure that names what was being done to `path`.
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
