//! One process of many looks after a store for all of them: the owner.
//!
//! Whoever holds the lock of `sock/owner` is the owner. It answers on a Unix socket, JSON-RPC a line, and says in that
//! file where the socket is; on Windows on a port of this machine, and says so in `sock/address`. It has the views at
//! hand and shares one sync among all who write at once. Nobody depends on it: every write is decided under the store's
//! own lock, wherever that happens, so a process that finds no owner, or one that does not answer, does its work itself.
//! A request that the owner may have done carries an idempotency key, which the log knows again: it is done once.

mod conversation;
mod host;
mod link;
mod place;
mod queue;
mod reader;

#[cfg(unix)]
#[path = "unix.rs"]
mod door;
#[cfg(not(unix))]
#[path = "loopback.rs"]
mod door;
#[cfg(all(unix, test))]
#[allow(dead_code)]
mod loopback;

use serde::{Deserialize, Serialize};

use crate::api::{Caller, RecallRequest, StoreRequest, UpdateRequest};

#[cfg(unix)]
pub(crate) use door::is_socket_of;
pub(crate) use door::what_bars;
#[cfg(all(unix, fuzzing))]
pub use host::fuzzed;
pub(crate) use host::keep;
pub(crate) use link::Link;
pub(crate) use place::is_taken;

/// What this program speaks on the socket. Another number is another language.
const PROTOCOL: u32 = 1;
/// Longest line, either way.
const LINE_MAX_BYTES: usize = 8 << 20;

/// What a process asks an owner for, if there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskOwner {
    /// Nothing: it does everything itself.
    #[default]
    Nothing,
    /// To write, so that all who write share a sync. For a server, which has views of its own.
    Writes,
    /// Recalls, too, so that a command need not open the views.
    All,
}

/// The parameters of every method that works.
#[derive(Debug, Serialize, Deserialize)]
struct Params<R> {
    /// Digest of the program and of what its user has set: an owner that has it otherwise says no.
    terms: String,
    caller: Caller,
    request: R,
}

/// A request that an owner may be asked.
pub(crate) trait Forwarded: Serialize {
    /// The method.
    const METHOD: &'static str;
    /// Whether it writes.
    const WRITES: bool;
    /// Its idempotency key.
    fn request_id(&mut self) -> Option<&mut Option<String>>;
}

/// Gives a request a key that nobody else has, if it has room for one and none yet. `None` where there is no chance.
pub(crate) fn fill_in<R: Forwarded>(request: &mut R) -> Option<()> {
    if let Some(id) = request.request_id()
        && id.is_none()
    {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        *id = Some(format!("{:032x}", u128::from_le_bytes(bytes)));
    }
    Some(())
}

impl Forwarded for StoreRequest {
    const METHOD: &'static str = "store";
    const WRITES: bool = true;
    fn request_id(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.request_id)
    }
}

impl Forwarded for UpdateRequest {
    const METHOD: &'static str = "update";
    const WRITES: bool = true;
    fn request_id(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.request_id)
    }
}

impl Forwarded for RecallRequest {
    const METHOD: &'static str = "recall";
    const WRITES: bool = false;
    fn request_id(&mut self) -> Option<&mut Option<String>> {
        None
    }
}
