//! The open store: its parts, how it is opened and set up, its folder, and the wait for its lock.
//!
//! This room uses no room above it. A room that needs another method of [`Service`] adds it in an `impl` of its own.

mod compatibility;
mod embedding;
mod lock;
mod open;
mod own_way;
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

pub(crate) use embedding::Embedding;
pub(crate) use lock::LOCK_LOOK;
pub use open::{Ground, OpenOptions};
pub use own_way::{OwnWay, Write};
pub(crate) use pending_recall::PendingRecall;
pub(crate) use settings::{HINT_OVER, Settings};
pub(crate) use snapshots::Snapshots;

/// One open store: typed commands in, receipts out; typed queries in, answers with a basis out. Every front uses it
/// within its own process.
pub struct Service {
    pub(crate) options: OpenOptions,
    pub(crate) ground: Ground,
    pub(crate) log: Log,
    pub(crate) snapshots: Snapshots,
    pub(crate) notices: Mutex<Vec<String>>,
    pub(crate) pending_recalls: Mutex<Vec<PendingRecall>>,
    pub(crate) new_ids: NewIds,
    /// The graph that could not be made: it is not tried again before there are more vectors.
    pub(crate) graphless: Mutex<Option<GraphJob>>,
    /// The last remark on the log that the user was given.
    pub(crate) told: Mutex<Option<String>>,
    pub(crate) settings: Settings,
    pub(crate) embedding: Embedding,
    /// A command of this process was written.
    pub(crate) wrote: AtomicBool,
    /// Told after each command that wrote here.
    pub(crate) written: Notify,
    /// Thousands of memories were written, or written about.
    pub(crate) wrote_wide: AtomicBool,
    /// An undo was written.
    pub(crate) wrote_undo: AtomicBool,
    /// The requests by which earlier processes had begun to redact what this one has finished.
    pub(crate) begun: Mutex<Vec<RequestKey>>,
    /// The process that may be asked instead.
    pub(crate) peer: Arc<dyn Peer>,
    /// The queue of the owner, once this process is the owner.
    pub(crate) own_way: Mutex<Option<OwnWay>>,
    /// The digest of program and settings, once it was asked for.
    pub(crate) terms: OnceLock<String>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is caught by the checks of the views themselves.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Whether a command changed something here, whatever became of its answer.
    pub fn has_written(&self) -> bool {
        self.wrote.load(Ordering::Relaxed)
    }

    /// Who waits for it hears of the next command that writes here.
    pub fn written(&self) -> &Notify {
        &self.written
    }

    /// The store's folder.
    pub fn dir(&self) -> &Path {
        &self.options.dir
    }

    /// Lines to tell the user on stderr (a view was rebuilt, a torn tail set aside); empties the
    /// list.
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = std::mem::take(&mut *locked(&self.notices));
        notices.extend(self.log.take_notices());
        notices
    }

    /// The log below.
    pub fn log_handle(&self) -> &Log {
        &self.log
    }

    pub(crate) fn notice(&self, line: String) {
        locked(&self.notices).push(line);
    }

    pub(crate) fn views_dir(&self) -> PathBuf {
        match self.log.known_by() {
            None => self.options.dir.join("views"),
            // Those are of what this machine knows; of another one there never are any on disk.
            Some(other) => self
                .options
                .dir
                .join("views")
                .join(other.origin.to_string()),
        }
    }

    /// What can be deleted, and is dear to make again.
    pub(crate) fn cache_dir(&self) -> PathBuf {
        self.options.dir.join("cache")
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.ground.disk
    }

    /// Returns the time, milliseconds since the epoch.
    pub fn now_ms(&self) -> u64 {
        self.ground.env.now_ms()
    }

    /// The user's time zone.
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
