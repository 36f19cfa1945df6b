//! The state of a log in this process.

use std::path::PathBuf;
use std::sync::Arc;

use super::Refusal;
use crate::acked;
use crate::chain::SegmentFile;
use crate::disk::{DiskFile, DiskLock, Stamp};
use crate::recover::{TipPlace, Trouble};
use crate::rewritten::Rewritten;
use crate::store_file::StoreFile;
use crate::walk;
use icm_event::id::Seq;

/// What this process knows of the log.
pub(crate) struct State {
    pub(crate) store: Option<StoreFile>,
    /// The bytes that `store` was read of: the same bytes need not be read again.
    pub(crate) store_bytes: Vec<u8>,
    /// The secret of a `store.toml` that can be read, and is older than the log.
    pub(crate) older_secret: Option<[u8; 32]>,
    /// The chains that are walked, oldest first; the last is this machine's own.
    pub(crate) parts: Vec<walk::Part>,
    /// Newest event of the walk.
    pub(crate) tip: Option<TipPlace>,
    /// Why writes are refused, if they are.
    pub(crate) refusal: Option<Refusal>,
    /// What a writer would have to set aside first.
    pub(crate) trouble: Option<Trouble>,
    /// The newest slot.
    pub(crate) slot: Option<acked::Slot>,
    pub(crate) hold: Hold,
    pub(crate) notices: Vec<String>,
    /// The segments of the tip's chain.
    pub(crate) segments: Option<Arc<[SegmentFile]>>,
    /// How the files looked when they were last read; `None` when they have to be read again.
    pub(crate) looks: Option<Looks>,
    /// What the mark of files that were written anew said, before they were read.
    pub(crate) rewritten: Rewritten,
}

/// The lock, while it is held, and the sync that its holders share.
#[derive(Default)]
pub(crate) struct Hold {
    pub(crate) lock: Option<Box<dyn DiskLock>>,
    pub(crate) holders: usize,
    /// A thread decides and appends; others wait for it, but not for its sync.
    pub(crate) turn: bool,
    pub(crate) since: Option<std::time::Instant>,
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    pub(crate) acked: Option<Arc<dyn DiskFile>>,
    pub(crate) acked_generation: u64,
    /// Newest seq of the own chain known durable.
    pub(crate) durable: Seq,
    /// Something was appended since the lock was taken.
    pub(crate) appended: bool,
    /// How the files looked before that.
    pub(crate) looked: Option<Looks>,
    /// Threads that wait for `changed`.
    pub(crate) waiting: usize,
    /// An append failed since then: what it left has to be looked at.
    pub(crate) failed: bool,
    /// A sync is going on.
    pub(crate) syncing: bool,
    /// A sync failed; nothing is appended until the state was read anew.
    pub(crate) poisoned: Option<Arc<str>>,
    pub(crate) epoch: u64,
}

/// How the files look that say whether anybody changed the log since it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looks {
    pub(super) store: Stamp,
    pub(super) chain: Stamp,
    pub(super) segment: Stamp,
    /// The segment.
    pub(super) path: PathBuf,
}
