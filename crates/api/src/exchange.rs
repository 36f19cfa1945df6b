//! What goes out to other machines and files, and what comes in.

use serde::{Deserialize, Serialize};

/// What whoever gets an export of the log has already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ExportSince {
    /// Nothing.
    #[default]
    Start,
    /// What these lines of `icm log heads` name, and all before it in each chain.
    Heads(String),
    /// What this store knew at a moment, given as to `--at`.
    Moment(String),
}

/// What an export of the log holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogExported {
    /// The file; `None` for a stream.
    pub file: Option<String>,
    /// Machines and installations whose events it holds.
    pub origins: u64,
    /// Events.
    pub events: u64,
    /// Events without their text: redacted, or damaged.
    pub withheld: u64,
    /// Machines and installations of whose events some are damaged or missing, and what comes after
    /// them left out: the log wants repair.
    pub incomplete: Vec<String>,
    /// Its length.
    pub bytes: u64,
}

/// What an import of a log brought, or would bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogImportAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// Events that are new here.
    pub added: u64,
    /// Events that were here already.
    pub unchanged: u64,
    /// Events that were lost here and are back in their place.
    pub refilled_events: u64,
    /// Texts that were lost here and are back.
    pub refilled_payloads: u64,
    /// Texts that were left out, since a redaction names them.
    pub left_out: u64,
    /// Texts of this store that were taken out, since a redaction came along.
    pub redacted: u64,
    /// Files in the store's folder that may hold such a text, and that only a person can judge.
    pub out_of_reach: Vec<String>,
    /// Places where a chain branches: two machines wrote under one origin. Both branches are kept.
    pub forks: Vec<ChainPlace>,
    /// What lies more than a day in the future by this machine's clock, and was left out.
    pub later: Vec<ChainPlace>,
    /// What would stand in for lost events of this store, but nothing here vouches for it: it was left
    /// out, and `log repair` takes it.
    pub unproven: Vec<ChainPlace>,
    /// From where on chains take back events that are not here: they were left out until those are.
    pub waiting: Vec<ChainPlace>,
    /// Where this store has written other events than the export has of it, and lost those that they go on from: they were left
    /// out.
    pub own_forks: Vec<ChainPlace>,
    /// The event that brought it; `None` where nothing had to be noted.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// Fields that are in conflict now and were not before; `None` where it brought too much to look.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conflicts: Option<u64>,
}

/// A place in a chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainPlace {
    /// The origin.
    pub origin: String,
    /// Place in its chain.
    pub seq: u64,
}

/// A line that was not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// From 1.
    pub line: u64,
    /// File it stood in.
    pub file: String,
    /// The reason, in one line.
    pub why: String,
}

/// A good line of an import: the memory that it is about, and whether it changed that memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedLine {
    /// From 1.
    pub line: u64,
    /// A ULID; `None` if several memories without a name have the line's text.
    pub id: Option<String>,
    /// Whether the memory was there before, and stays as it was.
    pub unchanged: bool,
    /// Secrets that were stored or masked, in one line each.
    pub warnings: Vec<String>,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReport {
    /// New memories.
    pub added: u64,
    /// Memories that got new content.
    pub updated: u64,
    /// Lines that were already there.
    pub unchanged: u64,
    /// Bad lines.
    pub rejected: Vec<Rejected>,
    /// Lines with a secret that was stored, or masked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}
