//! One process of many looks after a store for all of them: the owner.
//!
//! Whoever holds the lock of `sock/owner` is the owner. It answers on a Unix socket, one JSON-RPC message a line, and says in that
//! file where the socket is. It has the views at hand and shares one sync among all who write at once. Nobody depends on
//! it: every write is decided under the store's own lock, wherever that happens, so a process that finds no owner, or one
//! that does not answer, does its work itself. A request that the owner may have done carries the id of its command, which
//! the log knows again: it is done once, and its bytes in the log are those that its own process would have written.
//!
//! Only Unix has owners. On other systems each process does its own work.

#[cfg(unix)]
mod conversation;
#[cfg(unix)]
mod door;
#[cfg(unix)]
mod file;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod mutex;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod queue;

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

/// What this program speaks on the socket. Another number is another language.
#[cfg(unix)]
const PROTOCOL: u32 = 1;
/// Longest line, either way.
#[cfg(unix)]
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

/// The way to the owner of a store, for [`Service::asking`](icm_service::Service::asking).
#[cfg(unix)]
pub fn peer(store: &Path, asks: AskOwner) -> Arc<dyn Peer> {
    match asks {
        AskOwner::Nothing => Arc::new(NoPeer),
        asks => Arc::new(Link::to(store, asks)),
    }
}

/// Returns no way to an owner: only Unix has owners.
#[cfg(not(unix))]
pub fn peer(_: &Path, _: AskOwner) -> Arc<dyn Peer> {
    Arc::new(NoPeer)
}

/// Does nothing: only Unix has owners.
#[cfg(not(unix))]
pub(crate) async fn keep(_: Arc<Service>, _: impl Fn() + Send + Sync + 'static) {}

/// The owners of stores as the doctor sees them.
#[derive(Debug, Clone, Copy)]
pub struct Owners;

#[cfg(unix)]
impl PeerWatch for Owners {
    fn state(&self, dir: &Path) -> PeerState {
        if let Some(why) = door::what_bars(dir) {
            return PeerState::Barred(why);
        }
        // An owner that was killed leaves its notice behind.
        match place::is_taken(dir).then(|| Link::look(dir)).flatten() {
            None => PeerState::None,
            Some(seen) => seen,
        }
    }

    fn is_socket_of(&self, dir: &Path, path: &Path) -> bool {
        door::is_socket_of(dir, path)
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
