//! The last entry of a backup: what must have come before it.

use serde::{Deserialize, Serialize};

/// Name of the entry.
pub(super) const MANIFEST: &str = "manifest.json";
/// What this version writes and reads.
pub(super) const VERSION: u32 = 1;
/// Bytes of a manifest: a hundred thousand files.
pub(super) const MANIFEST_LEN_MAX: u64 = 32 * 1_024 * 1_024;
/// Bytes of a file of a backup; segments are of 64 MiB.
pub(super) const FILE_LEN_MAX: u64 = 1_024 * 1_024 * 1_024;

/// Says what a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// `icm backup`.
    pub(super) format: String,
    /// See [`VERSION`].
    pub(super) version: u32,
    /// The program that wrote it.
    pub(super) program: String,
    /// Newest position.
    pub(super) position: u64,
    /// The event there, hex.
    pub(super) event: String,
    /// Every other entry, in order.
    pub(super) files: Vec<FileNote>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileNote {
    /// Below the store, with `/` between folder and file.
    pub(super) name: String,
    /// Its length.
    pub(super) bytes: u64,
    /// BLAKE3 of its bytes, hex.
    pub(super) blake3: String,
}

impl Manifest {
    pub(super) const FORMAT: &str = "icm backup";

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
