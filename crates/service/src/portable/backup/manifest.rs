//! The last entry of a backup: the list of all entries before it.

use serde::{Deserialize, Serialize};

/// The name of the entry.
pub(super) const MANIFEST: &str = "manifest.json";
/// The version that this program writes and reads.
pub(super) const VERSION: u32 = 1;
/// Bytes of the longest manifest: a hundred thousand files. Raised, a forged backup takes more memory.
pub(super) const MANIFEST_LEN_MAX: u64 = 32 * 1_024 * 1_024;
/// Bytes of the longest file in a backup; segments have 64 MiB. Raised, a forged backup takes more of the disk.
pub(super) const FILE_LEN_MAX: u64 = 1_024 * 1_024 * 1_024;

/// The list of the files of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// `icm backup`.
    pub(super) format: String,
    /// See [`VERSION`].
    pub(super) version: u32,
    /// The program that wrote the backup.
    pub(super) program: String,
    /// The newest position.
    pub(super) position: u64,
    /// The event at that position, in hex.
    pub(super) event: String,
    /// All other entries, in order.
    pub(super) files: Vec<FileNote>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileNote {
    /// The name below the store, with `/` between folder and file.
    pub(super) name: String,
    /// The length of the file.
    pub(super) bytes: u64,
    /// The BLAKE3 of the file, in hex.
    pub(super) blake3: String,
}

impl Manifest {
    pub(super) const FORMAT: &str = "icm backup";

    /// Returns the bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
