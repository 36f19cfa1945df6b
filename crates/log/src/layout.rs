//! Names of the store's folders and files that the log owns, and paths below the store.

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
/// Name of the file with the two slots for the newest acknowledged event.
pub const ACKED_FILE: &str = "acked";
/// Name of the file that marks a repair under way.
pub(crate) const REPAIRING_FILE: &str = "repairing";
/// Name of the file that marks a redaction under way.
pub(crate) const REDACTING_FILE: &str = "redacting";
/// Name of the file whose content changes when log files are rewritten.
pub(crate) const REWRITTEN_FILE: &str = "rewritten";

/// Returns the folder of a chain.
pub(crate) fn dir_of(store: &Path, origin: OriginId) -> PathBuf {
    store.join(LOG_DIR).join(origin.to_string())
}

/// Returns the origin that a folder's name spells. Only lower-case names are valid.
pub(crate) fn origin_of(name: &str) -> Option<OriginId> {
    OriginId::parse_hex(name).filter(|origin| origin.to_string() == name)
}

/// Returns a path relative to the store, for messages.
pub(crate) fn relative(store: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(store).unwrap_or(path).to_owned()
}
