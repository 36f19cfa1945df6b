//! The report of a verification.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cases::Case;
use icm_event::id::{EventId, OriginId, Position, Seq};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing to repair.
    Notice,
    /// Written by a newer version: not judged.
    Newer,
    /// Something is lost or cannot be trusted.
    Damage,
}

/// Something that verify found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Row of the case table, where one fits.
    pub case: Option<Case>,
    /// Short stable name.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// File, relative to the store.
    pub file: PathBuf,
    /// Where in the file, in bytes.
    pub offset_bytes: u64,
    /// Event it concerns, or the one that should stand there.
    pub seq: Option<Seq>,
    /// One line.
    pub message: String,
}

/// The newest event of a chain, as far as it verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedHead {
    /// The chain.
    pub origin: OriginId,
    /// Its newest event's place.
    pub seq: Seq,
    /// Its newest event.
    pub event: EventId,
    /// The chain that this machine writes.
    pub own: bool,
}

/// What verify saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Events whose head was hashed and found in its place.
    pub events: u64,
    /// Newest position of the walk.
    pub positions: Position,
    /// Bytes read.
    pub bytes: u64,
    /// One a chain.
    pub heads: Vec<VerifiedHead>,
    /// Events whose body is withheld or damaged.
    pub missing_bodies: u64,
    /// What was found, chain by chain.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is damaged.
    pub fn ok(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity != Severity::Damage)
    }
}
