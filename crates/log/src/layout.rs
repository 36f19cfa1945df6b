//! The folders and files of a store that the log owns: their names, and the paths below the store.

use std::path::{Path, PathBuf};

use icm_event::id::OriginId;

/// Folder of all chains, below the store.
pub const LOG_DIR: &str = "log";
/// Folder for bytes that recovery sets aside.
pub const TORN_DIR: &str = "torn";
/// Name of the lock file in the store's folder.
pub const LOCK_FILE: &str = "lock";
/// Name of the file that describes the store.
pub const STORE_FILE: &str = "store.toml";
/// Name of the file with the two slots that name the newest acknowledged event.
pub const ACKED_FILE: &str = "acked";
/// Name of the marker of a repair that was begun.
pub(crate) const REPAIRING_FILE: &str = "repairing";
/// Name of the marker of a redaction that was begun.
pub(crate) const REDACTING_FILE: &str = "redacting";
/// Name of the file whose content changes when files of the log are written anew.
pub(crate) const REWRITTEN_FILE: &str = "rewritten";

/// The folder of a chain.
pub(crate) fn dir_of(store: &Path, origin: OriginId) -> PathBuf {
    store.join(LOG_DIR).join(origin.to_string())
}

/// The origin that a folder's name says; names have one spelling, in lower case.
pub(crate) fn origin_of(name: &str) -> Option<OriginId> {
    OriginId::parse_hex(name).filter(|origin| origin.to_string() == name)
}

/// A path below the store, for messages.
pub(crate) fn relative(store: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(store).unwrap_or(path).to_owned()
}
