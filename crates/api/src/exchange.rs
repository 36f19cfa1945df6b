//! Export and import: requests, receipts and reports.

use serde::{Deserialize, Serialize};

/// The events that the receiver of a log export has already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExportSince {
    /// None: export all.
    #[default]
    Start,
    /// Events named by these lines of `icm log heads`, and all before them in their chains.
    Heads(String),
    /// Events that this store knew at a moment, as `--at`.
    Moment(String),
}

/// The contents of a log export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogExported {
    /// The file; `None` for a stream.
    pub file: Option<String>,
    /// Number of origins with events in it.
    pub origins: u64,
    /// Number of events.
    pub events: u64,
    /// Events without their text: redacted, or damaged.
    pub withheld: u64,
    /// Origins with damaged or missing events. Their later events were left out: the log wants repair.
    pub incomplete: Vec<String>,
    /// Length in bytes.
    pub bytes: u64,
}

/// The result of a log import, or its preview.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogImportAnswer {
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// Events that are new here.
    pub added: u64,
    /// Events that were here already.
    pub unchanged: u64,
    /// Events that were lost here and are back in their place.
    pub refilled_events: u64,
    /// Texts that were lost here and are back.
    pub refilled_payloads: u64,
    /// Texts that were left out because a redaction names them.
    pub left_out: u64,
    /// Texts of this store that were taken out because the import brought their redaction.
    pub redacted: u64,
    /// Files in the store's folder that may hold such a text and that a person has to check.
    pub out_of_reach: Vec<String>,
    /// New forks: two machines wrote under one origin. Both branches are kept.
    pub forks: Vec<ChainPlace>,
    /// Events more than a day in the future by this machine's clock; they were left out.
    pub later: Vec<ChainPlace>,
    /// Events that would replace lost ones of this store, but nothing here vouches for them. They were left out;
    /// `log repair` takes them.
    pub unproven: Vec<ChainPlace>,
    /// Starts of chain parts that undo events missing here. They were left out until those events arrive.
    pub waiting: Vec<ChainPlace>,
    /// Starts of branches of this store's own chains whose preceding events are lost here. They were left out.
    pub own_forks: Vec<ChainPlace>,
    /// The event that records the import; `None` if there was nothing to record.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// Fields that are newly in conflict; `None` if the import was too large to check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conflicts: Option<u64>,
}

/// A place in a chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainPlace {
    /// The origin.
    pub origin: String,
    /// Seq in its chain.
    pub seq: u64,
}

/// A line that an import refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Number of the line, from 1.
    pub line: u64,
    /// The file of the line.
    pub file: String,
    /// The reason, in one line.
    pub why: String,
}

/// A good line of an import and its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedLine {
    /// Number of the line, from 1.
    pub line: u64,
    /// Id of the memory (ULID); `None` if several memories without a name have the line's text.
    pub id: Option<String>,
    /// `true` if the memory was there before and stays as it was.
    pub unchanged: bool,
    /// Secrets that were stored or masked, one line each.
    pub warnings: Vec<String>,
}

/// The report of an import of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReport {
    /// New memories.
    pub added: u64,
    /// Memories that got new content.
    pub updated: u64,
    /// Lines whose memory was already there.
    pub unchanged: u64,
    /// Lines that were refused.
    pub rejected: Vec<Rejected>,
    /// Lines with a secret that was stored or masked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}
