//! Another process that answers for the same store: the owner, as the service sees it.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use icm_api::{Caller, RecallRequest, StoreRequest, UpdateRequest};
use icm_log::CommandId;

/// Silence after which a peer is asked for a sign of life, its time to give one, and the wait for the next peer: 40 ms,
/// about the cost of opening the views and doing the work alone. Raised, a client of a stopped peer goes on later;
/// lowered, a busy peer is taken for a stopped one.
pub const SIGN_OF_LIFE: Duration = Duration::from_millis(40);

/// The way to a process that may answer instead of this one. Nothing depends on it. Without an answer this process does
/// the work itself, and the log recognises a request that the peer had already done.
pub trait Peer: Send + Sync {
    /// Returns `true` if the peer takes requests that write, or that don't.
    fn is_for(&self, writes: bool) -> bool;

    /// Returns the peer's answer to a method, if there is a peer that answers. `params` is called for each peer that is
    /// asked: a peer that ends without an answer has a successor. If `params` returns `None`, no peer is asked.
    fn ask(
        &self,
        method: &str,
        params: &mut dyn FnMut() -> Option<Box<RawValue>>,
    ) -> Option<Box<RawValue>>;

    /// Leaves it to the peer to bring the views up to the log. Returns `true` if the peer does.
    fn leave_views(&self) -> bool;

    /// Returns `true` if another process is the peer, or may soon be.
    fn is_of_another(&self) -> bool;

    /// Returns `true` if the peer left its last question unanswered.
    fn left_unanswered(&self) -> bool;

    /// Lets the next request ask a peer that did not answer just now, unless that peer is seen to be stopped.
    fn ask_again(&self);
}

/// No peer.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPeer;

impl Peer for NoPeer {
    fn is_for(&self, _: bool) -> bool {
        false
    }

    fn ask(&self, _: &str, _: &mut dyn FnMut() -> Option<Box<RawValue>>) -> Option<Box<RawValue>> {
        None
    }

    fn leave_views(&self) -> bool {
        false
    }

    fn is_of_another(&self) -> bool {
        false
    }

    fn left_unanswered(&self) -> bool {
        false
    }

    fn ask_again(&self) {}
}

/// The state of the peers of a store, for the doctor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerState {
    /// No process answers others.
    None,
    /// No process of this user can answer others, for this reason.
    Barred(&'static str),
    /// A process says that it answers others.
    Announced {
        /// The id of the process.
        pid: u32,
        /// The version of its program.
        version: String,
        /// `true` if it answered when asked.
        answers: bool,
    },
}

/// A look at the peers of a store from outside, for the doctor.
pub trait PeerWatch {
    /// Returns the state of the peers of the store in `dir`.
    fn state(&self, dir: &Path) -> PeerState;

    /// Returns `true` if `path` is the socket of a peer of the store in `dir`.
    fn is_socket_of(&self, dir: &Path, path: &Path) -> bool;
}

impl PeerWatch for NoPeer {
    fn state(&self, _: &Path) -> PeerState {
        PeerState::None
    }

    fn is_socket_of(&self, _: &Path, _: &Path) -> bool {
        false
    }
}

/// The parameters of a method.
#[derive(Debug, Serialize, Deserialize)]
pub struct PeerParams<R> {
    /// Digest of the program and its user's settings. A peer with another digest refuses.
    #[serde(rename = "terms")]
    pub settings_digest: String,
    /// The caller that acts.
    pub caller: Caller,
    /// The id of the command, if the request writes: see [`Attempt`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// See [`Attempt::asked_ms`].
    #[serde(default)]
    pub asked_ms: u64,
    /// See [`Attempt::is_again`].
    #[serde(default)]
    pub is_again: bool,
    /// The request.
    pub request: R,
}

/// An attempt at a write that may be tried several times, here and by peers. All events of the write have one command
/// id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The id by which the log recognises the command.
    pub command: CommandId,
    /// Time of the first attempt, in milliseconds since 1970.
    pub asked_ms: u64,
    /// `true` if the outcome of an earlier attempt is not known.
    pub is_again: bool,
}

impl<R> PeerParams<R> {
    /// Returns the attempt; `None` for a request that writes nothing.
    pub fn attempt(&self) -> Option<Attempt> {
        let command = CommandId::parse_hex(self.command.as_deref()?)?;
        Some(Attempt {
            command,
            asked_ms: self.asked_ms,
            is_again: self.is_again,
        })
    }
}

/// A request that a peer may be asked.
pub trait Forwarded: Serialize {
    /// The name of the method.
    const METHOD: &'static str;
    /// `true` if the request writes.
    const WRITES: bool;
}

impl Forwarded for StoreRequest {
    const METHOD: &'static str = "store";
    const WRITES: bool = true;
}

impl Forwarded for UpdateRequest {
    const METHOD: &'static str = "update";
    const WRITES: bool = true;
}

impl Forwarded for RecallRequest {
    const METHOD: &'static str = "recall";
    const WRITES: bool = false;
}
