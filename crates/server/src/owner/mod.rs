//! The owner: one process that answers for a store on behalf of all processes of this machine.
//!
//! The process that holds the lock of `sock/owner` is the owner. Its notice in that file gives the path of a Unix
//! socket, on which it answers JSON-RPC, one message a line. It has the views open, and shares one sync among all
//! writes of a moment. No process depends on it. Every write is decided under the store's own lock, so a process
//! without an owner, or without an answer, does its work itself. A request that the owner may have done carries the id
//! of its command, which the log recognises. So the command is done once, and its bytes in the log are the same as
//! without an owner.
//!
//! Only Unix has owners. On other systems each process does its own work.

#[cfg(unix)]
mod conversation;
#[cfg(unix)]
mod election;
#[cfg(unix)]
mod file;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod mutex;
#[cfg(unix)]
mod queue;
#[cfg(unix)]
mod socket;

#[cfg(all(unix, fuzzing))]
pub use host::fuzzed;
#[cfg(unix)]
pub(crate) use host::keep;
#[cfg(unix)]
use link::Link;

use std::path::Path;
use std::sync::Arc;

#[cfg(not(unix))]
use icm_service::Service;
use icm_service::peer::{NoPeer, Peer, PeerState, PeerWatch};

/// Version of the protocol on the socket. Another number is another protocol.
#[cfg(unix)]
const PROTOCOL: u32 = 1;
/// Longest line in either direction, in bytes. Raised, a process can take more memory.
#[cfg(unix)]
const LINE_MAX_BYTES: usize = 8 << 20;

/// The requests that a process sends to the owner, if there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskOwner {
    /// None: the process does all work itself.
    #[default]
    Nothing,
    /// Writes, which share a sync with those of other processes. For a server, which has views of its own.
    Writes,
    /// Writes and recalls, so that a command need not open the views.
    All,
}

/// Returns the client of a store's owner, for [`Service::asking`](icm_service::Service::asking).
#[cfg(unix)]
pub fn peer(store: &Path, asks: AskOwner) -> Arc<dyn Peer> {
    match asks {
        AskOwner::Nothing => Arc::new(NoPeer),
        asks => Arc::new(Link::to(store, asks)),
    }
}

/// Returns no client: only Unix has owners.
#[cfg(not(unix))]
pub fn peer(_: &Path, _: AskOwner) -> Arc<dyn Peer> {
    Arc::new(NoPeer)
}

/// Does nothing: only Unix has owners.
#[cfg(not(unix))]
pub(crate) async fn keep(_: Arc<Service>, _: impl Fn() + Send + Sync + 'static) {}

/// The owners of stores, for the doctor.
#[derive(Debug, Clone, Copy)]
pub struct Owners;

#[cfg(unix)]
impl PeerWatch for Owners {
    fn state(&self, dir: &Path) -> PeerState {
        if let Some(why) = socket::what_bars(dir) {
            return PeerState::Barred(why);
        }
        // A killed owner leaves its notice behind, so the lock is checked first.
        match election::is_taken(dir).then(|| Link::look(dir)).flatten() {
            None => PeerState::None,
            Some(seen) => seen,
        }
    }

    fn is_socket_of(&self, dir: &Path, path: &Path) -> bool {
        socket::is_socket_of(dir, path)
    }
}

#[cfg(not(unix))]
impl PeerWatch for Owners {
    fn state(&self, dir: &Path) -> PeerState {
        NoPeer.state(dir)
    }

    fn is_socket_of(&self, dir: &Path, path: &Path) -> bool {
        NoPeer.is_socket_of(dir, path)
    }
}
