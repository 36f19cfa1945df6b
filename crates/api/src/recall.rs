//! Searching, listing and counting.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use icm_log::facts::Front;
use serde::{Deserialize, Serialize};

use super::memory::{Basis, Importance, Memory, Trust};
use super::passage::Passage;

/// Asks for memories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecallRequest {
    /// Words; never query syntax.
    pub query: String,
    /// Exact topic, or `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Only memories with this keyword.
    pub keyword: Option<String>,
    /// What is seen from this scope, or `all`; without it what is seen from where the caller is: `global`, and
    /// the caller's project and session with its parents and children.
    pub scope: Option<String>,
    /// Only memories at least so important.
    pub importance: Option<Importance>,
    /// Only memories at least so trusted: a person more than an agent, an agent more than what came
    /// from elsewhere.
    pub trust: Option<Trust>,
    /// Only what happened (or, where that is not known, was stored) at this time or later.
    pub since: Option<String>,
    /// Only what happened at this time or earlier.
    pub until: Option<String>,
    /// Results that say different things, 1 to 1000; default 10.
    pub limit: Option<usize>,
    /// Results to skip, repeats among them: `next` of the answer before.
    #[serde(default)]
    pub offset: usize,
    /// As this machine knew at: RFC 3339, date, `yesterday`, `2h ago`, `@position`, event id prefix.
    pub at: Option<String>,
    /// Events with time ≤ this among all known.
    pub happened_by: Option<String>,
    /// Least [`RecallHit::fit`] of what the search finds, 0 to 1; with 0 everything is shown. `None` for the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// Ids of memories that are not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// The way on which it is asked for, as the record says it.
    #[serde(default)]
    pub front: Front,
    /// Write a `memory.recalled` event.
    pub record: bool,
    /// Say how each result came to its rank.
    pub explain: bool,
    /// Say what is often recalled together with the first result.
    pub together: bool,
    /// Whether links are left alone: else what is superseded stands behind what supersedes it, what
    /// contradicts one another stands together, and what is related is added.
    pub no_links: bool,
}

/// The link by which a memory came into an answer that was not found by the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    /// For instance `supersedes`.
    pub relation: String,
    /// The result that it came from, a ULID.
    pub from: String,
}

/// One result of a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallHit {
    /// Larger is better; comparable within one answer only. 0 for what came by a link.
    pub score: f64,
    /// How sure it is that the memory answers the query, 0 to 1 in thousandths, whatever else was found. 0 for what came
    /// by a link.
    #[serde(default)]
    pub fit: f64,
    /// The query's words that matched; none where it was found by its meaning.
    pub matched: Vec<String>,
    /// The part of its text that it was found by, where that is long.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub passage: Option<Passage>,
    /// How it came into the answer, where the search did not find it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub via: Option<Via>,
    /// It is only related to a result: nothing else speaks for it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub expanded: bool,
    /// The memory that stands in its place by now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<String>,
    /// Memories that contradict it, or that it contradicts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub contradicts: Vec<String>,
    /// Memories that it seems to replace: a guess by rules, no link says so.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub seems_to_replace: Vec<String>,
    /// The newest memory that seems to replace it, likewise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seems_replaced_by: Option<String>,
    /// Its scope is neither global nor one's own.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub elsewhere: bool,
    /// Memories that were found, too, and say the same in the same scope. They are no results of their own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub repeats: Vec<String>,
    /// The topics of those, each once and without its own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub also_in: Vec<String>,
    /// The memory as of the basis.
    #[serde(flatten)]
    pub memory: Memory,
}

impl RecallHit {
    /// A memory that nothing found.
    pub fn of(memory: Memory) -> RecallHit {
        RecallHit {
            score: 0.0,
            fit: 0.0,
            matched: Vec::new(),
            passage: None,
            via: None,
            expanded: false,
            superseded_by: None,
            contradicts: Vec::new(),
            seems_to_replace: Vec::new(),
            seems_replaced_by: None,
            elsewhere: false,
            repeats: Vec::new(),
            also_in: Vec::new(),
            memory,
        }
    }

    /// Returns its text, of a long one the passage that it was found by with what stands around it; `None` where it is withheld.
    /// See [`Passage::excerpt`].
    pub fn shown(&self, cap_bytes: usize) -> Option<Cow<'_, str>> {
        let text = self.memory.content.as_deref()?;
        Some(match &self.passage {
            Some(passage) => passage.excerpt(text, &self.matched, cap_bytes),
            None => Cow::Borrowed(text),
        })
    }
}

/// The best of what was found, where all of it lies below the floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// The memory, a ULID.
    pub id: String,
    /// As that of a result.
    pub fit: f64,
    /// Its topic.
    pub topic: String,
    /// The beginning of its text on one line, 80 characters at most; `None` where that is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The answer to a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallAnswer {
    /// What it was computed at.
    pub basis: Basis,
    /// The scopes that were seen: `all`, or `global`, `project:ID`, `session:ID` and `session:ID/*`.
    pub scope: Vec<String>,
    /// Best first; what links say may move some and add others. Those that say the same are one.
    pub results: Vec<RecallHit>,
    /// Present where something was found, and all of it lies below the floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// The `offset` that shows the next ones, where the search found more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Memories that at least three recalls showed together with the first result, and this one did not;
    /// the most often shown first, three at most. Only where it is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub often_together: Vec<String>,
    /// What whoever asks has to know of the answer: that the model could not be used. Said once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Present when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<serde_json::Value>,
}

/// Asks for memories as part of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRequest {
    /// Which ones; `limit` is 20 where it is not given.
    pub recall: RecallRequest,
    /// Tokens that the text may have, 50 to 1,000,000; about four bytes each.
    pub budget: usize,
    /// As a list in Markdown.
    pub markdown: bool,
}

/// Memories as part of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// What it was computed at.
    pub basis: Basis,
    /// The scopes that were seen.
    pub scope: Vec<String>,
    /// Tokens that there might have been.
    pub budget: usize,
    /// Tokens that there are, about.
    pub tokens: usize,
    /// The text, marked as data; empty where there is no memory to show.
    pub text: String,
    /// Found, and left out because the budget is spent.
    pub left_out: usize,
    /// The memories in it, best first.
    pub results: Vec<RecallHit>,
    /// As in [`RecallAnswer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// Memories that were often recalled together with the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub often_together: Vec<String>,
    /// What whoever asks has to know of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Newest first.
    #[default]
    Created,
    /// Heaviest first.
    Weight,
    /// Most recently recalled first.
    Accessed,
}

/// Lists memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// Exact topic, or `a/` for everything below `a`.
    pub topic: Option<String>,
    /// `None` for all.
    pub limit: Option<usize>,
    /// Order.
    pub sort: Sort,
    /// Only this scope; of a session those below it, too.
    pub scope: Option<String>,
    /// As of.
    pub at: Option<String>,
    /// Include tombstones.
    pub forgotten: bool,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicSummary {
    /// Its name.
    pub topic: String,
    /// Living memories in it.
    pub memories: u64,
    /// RFC 3339, newest change of a living memory.
    pub updated_at: String,
}

/// How far a view is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewProgress {
    /// `table`, `text` or `vectors`.
    pub view: String,
    /// Position it has reached.
    pub position: u64,
    /// Events it has still to take in.
    pub behind: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The whole store in numbers, as of a moment; bytes and views are always those of now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// What it was computed at.
    pub basis: Basis,
    /// Living memories.
    pub memories: u64,
    /// Tombstones.
    pub forgotten: u64,
    /// Topics with a living memory.
    pub topics: u64,
    /// Living memoirs.
    #[serde(default)]
    pub memoirs: u64,
    /// Living concepts in them.
    pub concepts: u64,
    /// Events in the log, up to that moment.
    pub events: u64,
    /// Bytes of the store folder.
    pub bytes: u64,
    /// Bytes of `log/` alone.
    pub log_bytes: u64,
    /// The position of that moment: the newest one, unless it was asked for an earlier one.
    pub positions: u64,
    /// Where the store is; in JSON what is no Unicode of it is replaced.
    #[serde(serialize_with = "as_text")]
    pub store: PathBuf,
    /// This machine's origin, hex; `None` before the first write.
    pub origin: Option<String>,
    /// RFC 3339.
    pub first_event_at: Option<String>,
    /// RFC 3339.
    pub last_event_at: Option<String>,
    /// Views.
    pub views: Vec<ViewProgress>,
    /// Living memories by importance.
    pub by_importance: ByImportance,
    /// Living memories by the kind of their scope.
    pub by_scope: ByScope,
    /// Living memories by who vouches for them.
    pub by_trust: ByTrust,
    /// The mean of the weights of the living memories, 0 to 1; `None` where there are none.
    pub mean_weight: Option<f64>,
    /// When the oldest living memory was stored, RFC 3339.
    pub oldest_at: Option<String>,
    /// When the newest one was.
    pub newest_at: Option<String>,
    /// Recalls that were recorded.
    pub recalls: u64,
    /// What `bytes` are made of.
    pub sizes: PartSizes,
}

/// Memories by importance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByImportance {
    /// Critical ones.
    pub critical: u64,
    /// High ones.
    pub high: u64,
    /// Medium ones.
    pub medium: u64,
    /// Low ones.
    pub low: u64,
}

/// Memories by the kind of their scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByScope {
    /// Those of everywhere.
    pub global: u64,
    /// Those of projects.
    pub project: u64,
    /// Those of sessions.
    pub session: u64,
}

/// Memories by who vouches for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByTrust {
    /// A person.
    pub user: u64,
    /// An agent.
    pub agent: u64,
    /// Whoever wrote what was imported.
    pub external: u64,
}

/// Bytes of the parts of a store's folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSizes {
    /// `log/`.
    pub log: u64,
    /// Table and row facts.
    pub table: u64,
    /// Full text.
    pub text: u64,
    /// Vectors.
    pub vectors: u64,
    /// `cache/`.
    pub cache: u64,
    /// `torn/`.
    pub torn: u64,
    /// `models/`.
    pub models: u64,
    /// The rest: small files, and the notes of the views.
    pub other: u64,
}

impl PartSizes {
    /// All of them.
    pub fn sum(&self) -> u64 {
        let PartSizes {
            log,
            table,
            text,
            vectors,
            cache,
            torn,
            models,
            other,
        } = *self;
        log + table + text + vectors + cache + torn + models + other
    }
}

fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
