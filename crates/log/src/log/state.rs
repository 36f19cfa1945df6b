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

/// The knowledge of this process about the log.
pub(crate) struct State {
    pub(crate) store: Option<StoreFile>,
    /// The bytes of `store.toml` from which `store` was read. Equal bytes are not parsed again.
    pub(crate) store_bytes: Vec<u8>,
    /// The secret of a `store.toml` that can be read but is older than the log.
    pub(crate) older_secret: Option<[u8; 32]>,
    /// The walked chains, oldest first. The last one is this machine's own.
    pub(crate) parts: Vec<walk::Part>,
    /// Newest event of the walk.
    pub(crate) tip: Option<TipPlace>,
    /// The reason for which writes are refused, if they are.
    pub(crate) refusal: Option<Refusal>,
    /// The bytes that a writer must set aside first.
    pub(crate) trouble: Option<Trouble>,
    /// The newest slot.
    pub(crate) slot: Option<acked::Slot>,
    pub(crate) hold: Hold,
    pub(crate) notices: Vec<String>,
    /// The segments of the tip's chain.
    pub(crate) segments: Option<Arc<[SegmentFile]>>,
    /// The stamps of the files at the last read; `None` if the files must be read again.
    pub(crate) stamps: Option<FileStamps>,
    /// The mark of rewrites, read before the log was.
    pub(crate) rewritten: Rewritten,
}

/// The lock while it is held, and the sync that its holders share.
#[derive(Default)]
pub(crate) struct Hold {
    pub(crate) lock: Option<Box<dyn DiskLock>>,
    pub(crate) holders: usize,
    /// `true` while a thread decides and appends. Other threads wait for this, but not for the sync.
    pub(crate) turn: bool,
    pub(crate) since: Option<std::time::Instant>,
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    pub(crate) acked: Option<Arc<dyn DiskFile>>,
    pub(crate) acked_generation: u64,
    /// Newest seq of the own chain that is known to be durable.
    pub(crate) durable: Seq,
    /// `true` if a batch was appended since the lock was taken.
    pub(crate) appended: bool,
    /// The stamps of the files before that append.
    pub(crate) stamps_before: Option<FileStamps>,
    /// Number of threads that wait for `changed`.
    pub(crate) waiting: usize,
    /// `true` if an append failed since the lock was taken; the bytes it left must be examined.
    pub(crate) failed: bool,
    /// `true` during a sync.
    pub(crate) syncing: bool,
    /// The error of a failed sync. Nothing is appended until the state was read again.
    pub(crate) poisoned: Option<Arc<str>>,
    pub(crate) epoch: u64,
}

/// The stamps of the files, which tell whether anybody changed the log since the last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileStamps {
    pub(super) store: Stamp,
    pub(super) chain: Stamp,
    pub(super) segment: Stamp,
    /// Path of the segment.
    pub(super) path: PathBuf,
}
