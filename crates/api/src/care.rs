//! Looking after a store: repair, rebuild, checkup, backup.

use serde::{Deserialize, Serialize};

use super::log::OriginHead;

/// A repair of the log.
#[derive(Debug, Clone, Default)]
pub struct RepairRequest {
    /// Why, in the words of who does it; stays in the log.
    pub reason: Option<String>,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Do just what was shown: the `plan` of an earlier answer.
    pub plan: Option<String>,
}

/// Bytes that are set aside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairAside {
    /// File below the store.
    pub file: String,
    /// Where in it, in bytes.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What they are.
    pub what: String,
}

/// An event beside some that are gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairBeside {
    /// Its position, as its author counted.
    pub position: u64,
    /// Its time.
    pub at: String,
}

/// Events that are gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairGone {
    /// Whose.
    pub origin: String,
    /// Seq of the first one.
    pub from_seq: u64,
    /// Seq of the last one; one less where none is gone, but the chain does not hold together.
    pub to_seq: u64,
    /// How many.
    pub events: u64,
    /// The newest event before them.
    pub after: Option<RepairBeside>,
    /// The oldest event after them.
    pub before: Option<RepairBeside>,
}

/// An event whose payload is gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairPayload {
    /// Whose.
    pub origin: String,
    /// Its place in its chain.
    pub seq: u64,
    /// The event.
    pub event: String,
    /// Its position, as its author counted.
    pub position: u64,
    /// Its time.
    pub at: String,
    /// Its kind.
    pub kind: String,
    /// The memory that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<String>,
    /// The topic of that memory, where that is known without the payload.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
}

/// What a repair did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairAnswer {
    /// There is something to repair, or was.
    pub damaged: bool,
    /// Nothing was done yet.
    pub dry_run: bool,
    /// Names this plan: give it back to do just what was shown.
    pub plan: String,
    /// The event that says what is gone (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// What is set aside in `torn/`.
    pub set_aside: Vec<RepairAside>,
    /// Events that are gone.
    pub gone: Vec<RepairGone>,
    /// How many.
    pub gone_events: u64,
    /// Events that stay without their payload.
    pub payloads: Vec<RepairPayload>,
    /// Events whose text a redaction took out, which is gone: a new one says it again.
    pub redacted: Vec<RepairPayload>,
    /// Events of other machines that are without their text, and nothing that is left says why: one of
    /// those that are gone may have been a redaction. `icm redact` says it again.
    pub unexplained: Vec<RepairPayload>,
    /// Events that were taken from elsewhere.
    pub refilled_events: u64,
    /// Payloads that were.
    pub refilled_payloads: u64,
    /// Segments that are written anew.
    pub segments_written: u64,
    /// Segments that are no longer there, as what they held lies elsewhere.
    pub segments_removed: u64,
    /// Why the store writes under a new origin from here on, if it does.
    pub new_origin: Option<String>,
    /// The store's secret is a new one: ids of actors and request keys start afresh.
    pub new_secret: bool,
    /// It finishes a repair that was begun before.
    pub resumed: bool,
}

/// What a rebuild did.
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
    /// Seconds it took.
    pub seconds: f64,
}

/// What `icm doctor` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkup {
    /// No check is a problem.
    pub ok: bool,
    /// What was looked at.
    pub checks: Vec<Check>,
    /// One of the problems is damage.
    #[serde(skip)]
    pub damaged: bool,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// `config`, `model`, `store`, `permissions`, `files`, `log`, `format`, `clock`, `views`, `locks`, `space`
    /// or `place`. There may be several of one name.
    pub name: String,
    /// How it is.
    pub status: CheckStatus,
    /// One line that says what was found.
    pub message: String,
    /// What to run, where a command helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// As it should be.
    Ok,
    /// Wants a look; everything works.
    Warning,
    /// Something does not work.
    Problem,
}

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackupReceipt {
    /// Where it is; what is no Unicode of it is replaced.
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

/// What was restored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RestoreReceipt {
    /// The very store was there already, and nothing was done.
    pub unchanged: bool,
    /// Where the store is; what is no Unicode of it is replaced.
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
