//! Another process that answers for the same store: its owner, as the service knows it.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use icm_api::{Caller, RecallRequest, StoreRequest, UpdateRequest};
use icm_log::CommandId;

/// Silence after which a peer is asked whether it is there, its time to say so, and the wait for the next peer: 40 ms, about
/// what it costs to open the views and do the work alone. Raised, a client of a stopped peer goes on later; lowered, a busy
/// peer is taken for a stopped one.
pub const SIGN_OF_LIFE: Duration = Duration::from_millis(40);

/// The way to a process that may answer instead of this one. Nothing depends on it: without an answer this process does
/// the work itself, and the log knows a request again that the other one had done.
pub trait Peer: Send + Sync {
    /// Whether requests are asked that write, or that don't.
    fn is_for(&self, writes: bool) -> bool;

    /// Returns what the peer answers to a method, if there is a peer and it has an answer. `params` is called each time
    /// that one is asked: a peer that goes without an answer has a successor. Without parameters nothing is asked.
    fn ask(
        &self,
        method: &str,
        params: &mut dyn FnMut() -> Option<Box<RawValue>>,
    ) -> Option<Box<RawValue>>;

    /// Leaves it to the peer to bring the views up to the log. Returns whether it does.
    fn leave_views(&self) -> bool;

    /// Whether a process other than this one may be the peer, now or soon.
    fn is_of_another(&self) -> bool;

    /// Whether the peer left its last question unanswered.
    fn left_unanswered(&self) -> bool;

    /// Lets the next request ask a peer that did not answer just now, unless that one is seen to be stopped.
    fn ask_again(&self);
}

/// Nobody else answers.
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
    /// No process of this user can, for this reason.
    Barred(&'static str),
    /// A process says that it does.
    Announced {
        /// Its id.
        pid: u32,
        /// The version of its program.
        version: String,
        /// Whether it answered when asked.
        answers: bool,
    },
}

/// The look of a store's peers from outside, for the doctor.
pub trait PeerWatch {
    /// Returns the state of the peers of the store in `dir`.
    fn state(&self, dir: &Path) -> PeerState;

    /// Whether a file that is not a plain one is where a peer of the store in `dir` listens.
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

/// The parameters of every method.
#[derive(Debug, Serialize, Deserialize)]
pub struct PeerParams<R> {
    /// Digest of the program and its user's settings: a peer with another one refuses.
    pub terms: String,
    /// Who acts.
    pub caller: Caller,
    /// The id of the command, where it writes: see [`Attempt`].
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

/// A write that may be tried several times, here and by peers: all of its events have the id of the one command that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The command's id. The log knows the command again by it.
    pub command: CommandId,
    /// Milliseconds since 1970 of the first attempt.
    pub asked_ms: u64,
    /// Whether the outcome of an earlier attempt is not known.
    pub is_again: bool,
}

impl<R> PeerParams<R> {
    /// Returns the attempt that this is; `None` for what writes nothing.
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
    /// The method.
    const METHOD: &'static str;
    /// Whether it writes.
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
