//! Looking after a store: repair, rebuild, checkup, backup.

use serde::{Deserialize, Serialize};

use super::log::OriginHead;

/// A request to repair the log.
#[derive(Debug, Clone, Default)]
pub struct RepairRequest {
    /// The reason, in the caller's words; it stays in the log.
    pub reason: Option<String>,
    /// Only return the plan, change nothing.
    pub dry_run: bool,
    /// The `plan` of an earlier answer: do exactly that.
    pub plan: Option<String>,
}

/// Bytes that a repair sets aside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairAside {
    /// File below the store.
    pub file: String,
    /// Offset in that file, in bytes.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// A description of the bytes.
    pub what: String,
}

/// A known event next to a gap in its chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairBeside {
    /// Its position, by its author's count.
    pub position: u64,
    /// Its time.
    pub at: String,
}

/// A gap in a chain: events that are gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairGone {
    /// Origin of the chain, hex.
    pub origin: String,
    /// Seq of the first one.
    pub from_seq: u64,
    /// Seq of the last one; `from_seq` − 1 if no event is gone but the chain does not hold together here.
    pub to_seq: u64,
    /// Number of events.
    pub events: u64,
    /// The newest event before the gap.
    pub after: Option<RepairBeside>,
    /// The oldest event after the gap.
    pub before: Option<RepairBeside>,
}

/// An event whose payload is gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairPayload {
    /// Origin of the chain, hex.
    pub origin: String,
    /// Its place in its chain.
    pub seq: u64,
    /// The event.
    pub event: String,
    /// Its position, by its author's count.
    pub position: u64,
    /// Its time.
    pub at: String,
    /// Its kind.
    pub kind: String,
    /// The memory that the event is about, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<String>,
    /// The topic of that memory, if it is known without the payload.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
}

/// A repair that was done, or its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairAnswer {
    /// `true` if there is, or was, something to repair.
    pub damaged: bool,
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// Name of this plan: pass it as `plan` to do exactly this.
    pub plan: String,
    /// The event that records the gaps (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// Bytes that are set aside in `torn/`.
    pub set_aside: Vec<RepairAside>,
    /// Gaps in the chains.
    pub gone: Vec<RepairGone>,
    /// Events that are gone, in all gaps.
    pub gone_events: u64,
    /// Events that stay without their payload.
    pub payloads: Vec<RepairPayload>,
    /// Events whose text was taken out by a redaction that is gone; a new redaction takes its place.
    pub redacted: Vec<RepairPayload>,
    /// Events of other machines without their text, for no known reason: a redaction may be among the lost events.
    /// `icm redact` redacts them again.
    pub unexplained: Vec<RepairPayload>,
    /// Events that were restored from elsewhere.
    pub refilled_events: u64,
    /// Payloads that were restored from elsewhere.
    pub refilled_payloads: u64,
    /// Segments that are written anew.
    pub segments_written: u64,
    /// Segments that were removed because their events lie elsewhere.
    pub segments_removed: u64,
    /// The reason why the store writes under a new origin from now on; `None` if it does not.
    pub new_origin: Option<String>,
    /// `true` if the store got a new secret: ids of actors and request keys start afresh.
    pub new_secret: bool,
    /// `true` if this finished a repair that was begun earlier.
    pub resumed: bool,
}

/// The report of a rebuild of the views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RebuildReport {
    /// Events folded.
    pub events: u64,
    /// Living memories.
    pub memories: u64,
    /// Newest position.
    pub positions: u64,
    /// Hash over the living values, hex.
    pub state_hash: String,
    /// Duration in seconds.
    pub seconds: f64,
}

/// The report of `icm doctor`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkup {
    /// `true` if no check found a problem.
    pub ok: bool,
    /// Every check that was made.
    pub checks: Vec<Check>,
    /// `true` if one of the problems is damage.
    #[serde(skip)]
    pub damaged: bool,
}

/// One check of `icm doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// `config`, `model`, `store`, `permissions`, `files`, `log`, `format`, `clock`, `views`, `locks`, `space` or
    /// `place`. Several checks may share a name.
    pub name: String,
    /// The outcome.
    pub status: CheckStatus,
    /// The outcome in one line.
    pub message: String,
    /// A command that helps, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// As it should be.
    Ok,
    /// Everything works, but a person should look.
    Warning,
    /// Something does not work.
    Problem,
}

/// The contents of a new backup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackupReceipt {
    /// Path of the backup; bytes that are not Unicode are replaced.
    pub file: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Events in it.
    pub events: u64,
    /// Newest position in it.
    pub position: u64,
    /// Heads in it.
    pub origins: Vec<OriginHead>,
}

/// The receipt of a restore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestoreReceipt {
    /// `true` if this very store was there already: nothing was done.
    pub unchanged: bool,
    /// Path of the store; bytes that are not Unicode are replaced.
    pub store: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// Events in it.
    pub events: u64,
    /// Newest position in it.
    pub position: u64,
    /// Heads in it.
    pub origins: Vec<OriginHead>,
}
