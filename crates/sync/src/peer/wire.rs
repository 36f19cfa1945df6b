//! What the two sides say: lines of JSON, some with bytes after them.

use std::io::{BufRead, Read, Write};

use icm_api::LogImportAnswer;
use icm_api::error::{Result, ServiceError};
use icm_log::bundle::ChainRange;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The newest way to talk that is understood here.
pub(super) const FORMAT: u32 = 1;
/// Longest line, in bytes: the ranges of some hundred thousand chains.
const LINE_LEN_MAX: u64 = 64 << 20;
/// Longest bundle, in bytes: one that is full, and a batch.
pub(super) const BUNDLE_LEN_MAX: u64 = 256 << 20;

/// The first line of who answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    /// The format.
    pub(super) icm_peer: u32,
}

/// What is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum Ask {
    /// Which events are there: answered by [`Held`].
    Held,
    /// How much it is that is not in these ranges: answered by [`BundleHead`] alone.
    Count { there: Vec<ChainRange> },
    /// A bundle of what is not in these ranges, which ends with the batch that reaches `len` bytes: answered by
    /// [`BundleHead`] and its bytes.
    Take { there: Vec<ChainRange>, len: u64 },
    /// A bundle of so many bytes follows, to be taken in: answered by [`Given`].
    Give { bytes: u64 },
}

/// An answer, or why there is none.
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
    /// There is more than this.
    pub(crate) more: bool,
    /// Origins of whose events some are damaged or missing there.
    pub(crate) incomplete: Vec<String>,
}

/// What became of a bundle.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Given {
    Taken(Box<LogImportAnswer>),
    /// What it goes on from is not there: it may come with another one.
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

/// It ended in the middle.
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

/// A line; `None` at the end.
pub(super) fn line(input: &mut dyn BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = input.take(LINE_LEN_MAX).read_until(b'\n', &mut line);
    match read.map_err(lost)? {
        0 => Ok(None),
        _ if line.ends_with(b"\n") => Ok(Some(line)),
        _ => Err(cut_off()),
    }
}

/// What a line says.
pub(super) fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T> {
    serde_json::from_slice(line).map_err(|error| {
        lost(std::io::Error::other(format!(
            "what it said is not understood: {error}"
        )))
    })
}

/// A bundle that nobody writes.
pub(super) fn too_long(bytes: u64) -> ServiceError {
    let why = format!("it would send {bytes} bytes at once, {BUNDLE_LEN_MAX} is the most");
    lost(std::io::Error::other(why))
}

/// Passes on `len` bytes.
pub(super) fn pass(input: &mut dyn Read, out: &mut dyn Write, len: u64) -> Result<()> {
    match std::io::copy(&mut input.take(len), out).map_err(lost)? {
        passed if passed == len => out.flush().map_err(lost),
        _ => Err(cut_off()),
    }
}
