//! The open store: its parts, its opening and settings, its folder, and the wait for its lock.
//!
//! This folder uses no other folder of the service. A folder that needs another method of [`Service`] adds an `impl` of
//! its own.

mod claim;
mod compatibility;
mod delivery;
mod embedding;
mod lock;
mod open;
mod own_queue;
mod owner;
mod pending_recall;
mod settings;
mod snapshots;
pub(crate) mod store_folder;
#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use icm_log::disk::Disk;
use icm_log::{Log, RequestKey};
use icm_projections::GraphJob;
use jiff::tz::TimeZone;
use tokio::sync::Notify;

use crate::peer::Peer;
use icm_api::ids::NewIds;

pub use delivery::Delivery;
pub(crate) use embedding::Embedding;
pub(crate) use lock::LOCK_LOOK;
pub use open::{Ground, OpenOptions};
pub use own_queue::{OwnQueue, Write};
pub(crate) use pending_recall::{PendingExpiry, PendingRecall};
pub(crate) use settings::{HINT_OVER, Settings};
pub(crate) use snapshots::Snapshots;

/// One open store: typed commands in, receipts out; typed queries in, answers with a basis out. Command line, MCP
/// and HTTP use this type, each within its own process.
pub struct Service {
    pub(crate) options: OpenOptions,
    pub(crate) ground: Ground,
    pub(crate) log: Log,
    pub(crate) snapshots: Snapshots,
    pub(crate) notices: Mutex<Vec<String>>,
    pub(crate) pending_recalls: Mutex<Vec<PendingRecall>>,
    pub(crate) pending_expiries: Mutex<Vec<PendingExpiry>>,
    pub(crate) new_ids: NewIds,
    /// The graph that could not be made. It is tried again once there are more vectors.
    pub(crate) graphless: Mutex<Option<GraphJob>>,
    /// The last remark on the log that the user was told.
    pub(crate) told: Mutex<Option<String>>,
    pub(crate) settings: Settings,
    pub(crate) embedding: Embedding,
    /// `true` once this process has written a command.
    pub(crate) wrote: AtomicBool,
    /// Notified after each command that this process writes.
    pub(crate) written: Notify,
    /// `true` after a batch of more than 10,000 events, or with an event of more than 256 KiB.
    pub(crate) wrote_wide: AtomicBool,
    /// `true` after an undo was written.
    pub(crate) wrote_undo: AtomicBool,
    /// Request keys of redactions that earlier processes began and this one finished.
    pub(crate) begun: Mutex<Vec<RequestKey>>,
    /// The process that may be asked to answer.
    pub(crate) peer: Arc<dyn Peer>,
    /// The queue of the owner, once this process is the owner.
    pub(crate) own_queue: Mutex<Option<OwnQueue>>,
    /// The digest of program and settings, once it was needed.
    pub(crate) settings_digest: OnceLock<String>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic may leave the views damaged; their own checks find that.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Returns `true` if a command of this process changed the store, whether or not it was answered.
    pub fn has_written(&self) -> bool {
        self.wrote.load(Ordering::Relaxed)
    }

    /// Returns what is notified after each command that this process writes.
    pub fn written(&self) -> &Notify {
        &self.written
    }

    /// Returns the store's folder.
    pub fn dir(&self) -> &Path {
        &self.options.dir
    }

    /// Returns the lines to tell the user on stderr (a view was rebuilt, a torn tail set aside), and empties the list.
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = std::mem::take(&mut *locked(&self.notices));
        notices.extend(self.log.take_notices());
        notices
    }

    /// Returns the log.
    pub fn log_handle(&self) -> &Log {
        &self.log
    }

    pub(crate) fn notice(&self, line: String) {
        locked(&self.notices).push(line);
    }

    pub(crate) fn views_dir(&self) -> PathBuf {
        match self.log.known_by() {
            None => self.options.dir.join("views"),
            // `views` itself holds what this machine knows. Views of what another machine knows are never on disk.
            Some(other) => self
                .options
                .dir
                .join("views")
                .join(other.origin.to_string()),
        }
    }

    /// Returns the folder of files that can be deleted but are slow to make again.
    pub(crate) fn cache_dir(&self) -> PathBuf {
        self.options.dir.join("cache")
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.ground.disk
    }

    /// Returns the time in milliseconds since the epoch.
    pub fn now_ms(&self) -> u64 {
        self.ground.env.now_ms()
    }

    /// Returns the user's time zone.
    pub fn zone(&self) -> TimeZone {
        (self.ground.zone)()
    }

    /// Returns the day of an RFC 3339 time in the user's zone.
    pub fn day(&self, time: &str) -> String {
        icm_api::when::day(time, &self.zone())
    }

    /// Returns the name of the user's zone.
    pub fn zone_name(&self) -> String {
        icm_api::when::zone_name(&self.zone(), self.now_ms())
    }
}
