//! Errors of reading a hook's input.

use crate::names::Client;

/// The reason why a hook's input cannot be read. Each message is one line and says what to do.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookError {
    /// The client has no hooks that icm knows.
    #[error("{} has no hooks that icm knows; clients with hooks: {}", .client.title(), .with_hooks.join(", "))]
    NoHooks {
        /// The client.
        client: Client,
        /// The names of the clients that have hooks.
        with_hooks: Vec<&'static str>,
    },
    /// The client has no such event.
    #[error("{} has no event `{event}` that icm knows; it has {}", .client.title(), .known.join(", "))]
    UnknownEvent {
        /// The client.
        client: Client,
        /// The event, cut to a readable length.
        event: String,
        /// The events that icm uses.
        known: Vec<&'static str>,
    },
    /// Nothing came on stdin.
    #[error("no input: {} gives its hooks JSON on stdin; use `--try TEXT` to see what a prompt gets", .client.title())]
    Empty {
        /// The client.
        client: Client,
    },
    /// The input is longer than [`INPUT_LEN_MAX`](super::INPUT_LEN_MAX).
    #[error(
        "the input of {len_bytes} bytes is above the limit of {limit_bytes}; nothing of it was used"
    )]
    TooLarge {
        /// Bytes that came.
        len_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The input ends within a value.
    #[error(
        "the input is cut off after {len_bytes} bytes; the client may have ended while it wrote"
    )]
    CutOff {
        /// Bytes that came.
        len_bytes: usize,
    },
    /// The input is no JSON.
    #[error(
        "the input is no JSON: {problem}; the hook must be given what the client writes, unchanged"
    )]
    NotJson {
        /// The message of the parser.
        problem: String,
    },
    /// The input is JSON, but no object.
    #[error("the input is {found}, but {} gives an object; the hook must be given what the client writes, unchanged", .client.title())]
    NotAnObject {
        /// The client.
        client: Client,
        /// The kind of value that came.
        found: &'static str,
    },
    /// A field has another type than the client documents.
    #[error(
        "`{field}` is {found}, but {} gives {expected}; this version of the client may need a newer icm",
        .client.title()
    )]
    WrongType {
        /// The client.
        client: Client,
        /// The field, as a path of names.
        field: String,
        /// The type that icm reads.
        expected: &'static str,
        /// The kind of value that came.
        found: &'static str,
    },
}
