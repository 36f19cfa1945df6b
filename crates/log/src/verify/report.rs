//! The report of a verification.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cases::Case;
use icm_event::id::{EventId, OriginId, Position, Seq};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing needs a repair.
    Notice,
    /// A newer version wrote the bytes; they are not judged.
    Newer,
    /// Data is lost or cannot be trusted.
    Damage,
}

/// A finding of the verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Row of the case table, if one applies.
    pub case: Option<Case>,
    /// Short name that never changes.
    pub code: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// File, relative to the store.
    pub file: PathBuf,
    /// Offset in the file, in bytes.
    pub offset_bytes: u64,
    /// Seq of the event that the finding is about, or that is missing.
    pub seq: Option<Seq>,
    /// Message of one line.
    pub message: String,
}

/// The newest event of a chain that could be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedHead {
    /// The chain.
    pub origin: OriginId,
    /// Place of the event in the chain.
    pub seq: Seq,
    /// Id of the event.
    pub event: EventId,
    /// `true` for the chain that this machine writes.
    pub own: bool,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of events whose head was hashed and found in its place.
    pub events: u64,
    /// Newest position of the walk.
    pub positions: Position,
    /// Number of bytes read.
    pub bytes: u64,
    /// The newest verified event of each chain.
    pub heads: Vec<VerifiedHead>,
    /// Number of events whose body is withheld or damaged.
    pub missing_bodies: u64,
    /// The findings, chain by chain.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Returns `true` if nothing is damaged.
    pub fn ok(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity != Severity::Damage)
    }
}
