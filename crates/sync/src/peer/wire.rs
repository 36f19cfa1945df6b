//! Messages of a sync between two stores: lines of JSON, some followed by bytes.

use std::io::{BufRead, Read, Write};

use icm_api::LogImportAnswer;
use icm_api::error::{Result, ServiceError};
use icm_log::bundle::ChainRange;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The newest protocol that this version can speak.
pub(super) const FORMAT: u32 = 1;
/// Longest line, in bytes: the ranges of some hundred thousand chains. Raised, a hostile peer can take more memory.
const LINE_LEN_MAX: u64 = 64 << 20;
/// Longest bundle accepted, in bytes: a full bundle and one more batch. Raised, a hostile peer can take more disk.
pub(super) const BUNDLE_LEN_MAX: u64 = 256 << 20;

/// The first line of the server side.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    /// Version of the protocol, at most [`FORMAT`].
    pub(super) icm_peer: u32,
}

/// A question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Ask {
    /// Asks for the ranges of events that the store holds; answered by [`Held`].
    Held,
    /// Asks for the amount of events that are not in these ranges; answered by [`BundleHead`] only.
    Count { there: Vec<ChainRange> },
    /// Asks for a bundle of events that are not in these ranges; it ends with the batch that reaches `len` bytes.
    /// Answered by [`BundleHead`] and its bytes.
    Take { there: Vec<ChainRange>, len: u64 },
    /// Announces a bundle of this many bytes to be imported; answered by [`Given`].
    Give { bytes: u64 },
}

/// An answer, or the reason for a failure.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer<T> {
    Ok(T),
    Failed { why: String, hint: Option<String> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) ranges: Vec<ChainRange>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BundleHead {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) ranges: Vec<ChainRange>,
    /// `true` if the store has more events than this bundle.
    pub(crate) more: bool,
    /// Origins with damaged or missing events in the answering store.
    pub(crate) incomplete: Vec<String>,
}

/// The result of importing a bundle.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Given {
    Taken(Box<LogImportAnswer>),
    /// The bundle goes on from events that are missing; another bundle may bring them.
    Apart {
        why: String,
    },
}

fn lost(source: std::io::Error) -> ServiceError {
    ServiceError::Io {
        doing: "talking with the other side".to_owned(),
        source,
    }
}

/// Returns the error for a connection that ended within a message.
pub(super) fn cut_off() -> ServiceError {
    ServiceError::Invalid {
        message: "the connection was cut off".to_owned(),
        hint: Some("run it again: it goes on from there".to_owned()),
    }
}

pub(super) fn say(out: &mut dyn Write, what: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(what).expect("plain values encode");
    line.push(b'\n');
    out.write_all(&line)
        .and_then(|()| out.flush())
        .map_err(lost)
}

/// Reads a line; `None` at the end of the input.
pub(super) fn line(input: &mut dyn BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = input.take(LINE_LEN_MAX).read_until(b'\n', &mut line);
    match read.map_err(lost)? {
        0 => Ok(None),
        _ if line.ends_with(b"\n") => Ok(Some(line)),
        _ => Err(cut_off()),
    }
}

/// Parses a line.
pub(super) fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T> {
    serde_json::from_slice(line).map_err(|error| {
        lost(std::io::Error::other(format!(
            "what it said is not understood: {error}"
        )))
    })
}

/// Returns the error for a bundle longer than [`BUNDLE_LEN_MAX`].
pub(super) fn too_long(bytes: u64) -> ServiceError {
    let why = format!("it would send {bytes} bytes at once, {BUNDLE_LEN_MAX} is the most");
    lost(std::io::Error::other(why))
}

/// Copies exactly `len` bytes.
pub(super) fn pass(input: &mut dyn Read, out: &mut dyn Write, len: u64) -> Result<()> {
    match std::io::copy(&mut input.take(len), out).map_err(lost)? {
        passed if passed == len => out.flush().map_err(lost),
        _ => Err(cut_off()),
    }
}
