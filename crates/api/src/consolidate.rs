//! Consolidation: one summary in place of many memories.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::memory::{Importance, Receipt, Trust};

/// A command of the user that makes summaries, run by the platform's shell. It reads the texts on stdin and writes the
/// summary to stdout.
#[derive(Debug, Clone, PartialEq)]
pub struct Summarizer {
    /// The command line.
    pub command: String,
    /// Longest run of the command.
    pub timeout: Duration,
}

impl Summarizer {
    /// Default for the longest run of a command, 60 s. Raised, a command that hangs holds `consolidate` up longer;
    /// lowered, models on slow machines are stopped.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
}

/// The source of a summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Summary {
    /// The caller's own text, at most 64 KiB.
    Given(String),
    /// Sentences of the memories, chosen by rules; at most 4 KiB.
    Rules,
    /// The output of this command.
    Command(Summarizer),
    /// The output of the configured command; by rules if none is configured.
    #[default]
    Configured,
}

impl From<String> for Summary {
    fn from(text: String) -> Summary {
        Summary::Given(text)
    }
}

/// A request to replace the memories of a topic by one summary.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidateRequest {
    /// The topic; `a/` for `a` and everything below it.
    pub topic: String,
    /// The source of the summary.
    pub summary: Summary,
    /// Importance of the summary. Default: the highest of the originals.
    pub importance: Option<Importance>,
    /// Keywords of the summary. Default: those of the originals.
    pub keywords: Vec<String>,
    /// Only memories of this scope; `None` requires that all have the same scope.
    pub scope: Option<String>,
    /// Keep the originals beside the summary.
    pub keep_originals: bool,
    /// Store the summary even if it looks like it holds a secret.
    pub allow_secret: bool,
    /// Trust of the summary.
    pub trust: Trust,
    /// An idempotency key; only with a summary that the caller gives.
    pub request_id: Option<String>,
}

/// The author of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryBy {
    /// The caller.
    Given,
    /// The built-in rules.
    Rules,
    /// A command.
    Command,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeSummary {
    /// The text.
    pub text: String,
    /// Its author.
    pub by: SummaryBy,
    /// Memories that were left out of the text because another memory supersedes them; the summary stands for them,
    /// too.
    pub superseded: u64,
    /// Memories whose text was taken out or is damaged.
    pub withheld: u64,
    /// Sentences that rules left out because others say the same.
    pub repeated: u64,
    /// Sentences that rules left out because there was no room.
    pub no_room: u64,
}

/// The receipt of a consolidation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsolidateReceipt {
    /// The receipt of the summary.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The summary; `None` if the same request was answered before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<MadeSummary>,
    /// Ids of the memories that the summary stands for.
    pub originals: Vec<String>,
}

/// The preview of a consolidation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsolidatePreview {
    /// Always true.
    pub dry_run: bool,
    /// The topic of the summary.
    pub topic: String,
    /// The scope of the summary.
    pub scope: String,
    /// The summary.
    pub summary: MadeSummary,
    /// Ids of the memories that the summary would stand for.
    pub originals: Vec<String>,
}
