//! One summary in place of many memories.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::memory::{Importance, Receipt, Trust};

/// A command of the user's that makes summaries, for the platform's shell. It reads the texts on stdin and writes the
/// summary to stdout.
#[derive(Debug, Clone, PartialEq)]
pub struct Summarizer {
    /// The command line.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
}

impl Summarizer {
    /// Longest run of a command by default, 60 s. Raised, a command that hangs holds `consolidate` up; lowered, models on
    /// slow machines are stopped.
    pub const TIMEOUT: Duration = Duration::from_secs(60);
}

/// Where a summary comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Summary {
    /// Somebody wrote it; at most 64 KiB.
    Given(String),
    /// Made of the memories' own sentences; at most 4 KiB.
    Rules,
    /// This command makes it.
    Command(Summarizer),
    /// The configured command makes it, or rules where none is configured.
    #[default]
    Configured,
}

impl From<String> for Summary {
    fn from(text: String) -> Summary {
        Summary::Given(text)
    }
}

/// Asks for one summary in place of the memories of a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidateRequest {
    /// The topic; with `/` at its end, everything below it too.
    pub topic: String,
    /// Where the summary comes from.
    pub summary: Summary,
    /// Default: the highest of the originals.
    pub importance: Option<Importance>,
    /// Default: those of the originals.
    pub keywords: Vec<String>,
    /// Only memories of this scope. Without it they all have to be of one.
    pub scope: Option<String>,
    /// The originals stay as they are beside it.
    pub keep_originals: bool,
    /// What looks like a secret is stored all the same.
    pub allow_secret: bool,
    /// Who vouches for it.
    pub trust: Trust,
    /// An idempotency key; only for a summary that is given.
    pub request_id: Option<String>,
}

/// Who made a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryBy {
    /// Whoever asked.
    Given,
    /// Rules.
    Rules,
    /// A command.
    Command,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeSummary {
    /// The text.
    pub text: String,
    /// Who made it.
    pub by: SummaryBy,
    /// Memories that it stands for and that were not put into it, because another one supersedes them.
    pub superseded: u64,
    /// Memories whose text was taken out or is damaged.
    pub withheld: u64,
    /// Sentences that rules left out because others say the same.
    pub repeated: u64,
    /// Sentences that rules left out because there was no room.
    pub no_room: u64,
}

/// What a consolidation did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsolidateReceipt {
    /// Of the summary.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The summary; `None` in the second receipt of one request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<MadeSummary>,
    /// Ids of the memories that it stands for.
    pub originals: Vec<String>,
}

/// What a consolidation would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsolidatePreview {
    /// Always true.
    pub dry_run: bool,
    /// The topic that the summary would be in.
    pub topic: String,
    /// The scope that it would have.
    pub scope: String,
    /// The summary.
    pub summary: MadeSummary,
    /// Ids of the memories that it would stand for.
    pub originals: Vec<String>,
}
