//! Recall, context, lists and statistics: requests and answers.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use icm_log::facts::Front;
use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::feedback::FeedbackHit;
use super::memory::{Importance, Memory, Trust};
use super::passage::Passage;
use super::tags::TagFilter;

/// A request to search memories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RecallRequest {
    /// Words; never query syntax.
    pub query: String,
    /// Exact topic; `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Only memories with these tags; memories with others last, or left out.
    #[serde(default)]
    pub tags: TagFilter,
    /// A scope to see from, or `all`. Default: the caller's own scopes, which are `global`, its project, and its
    /// session with parents and children.
    pub scope: Option<String>,
    /// Only memories at least this important.
    pub importance: Option<Importance>,
    /// Only memories at least this trusted. A user is trusted more than an agent, an agent more than an outside source.
    pub trust: Option<Trust>,
    /// Only memories of this time or later: the time when it happened, or else when it was stored.
    pub since: Option<String>,
    /// Only memories of this time or earlier.
    pub until: Option<String>,
    /// Most results, each saying something different, 1 to 1000. Default: 10.
    pub limit: Option<usize>,
    /// Results to skip, with their repeats: `next` of the answer before.
    #[serde(default)]
    pub offset: usize,
    /// The moment of this machine's knowledge: RFC 3339, date, `yesterday`, `2h ago`, `@position`, event id prefix.
    pub at: Option<String>,
    /// Use only events with a time up to this one, among all known events.
    pub happened_by: Option<String>,
    /// Least [`RecallHit::fit`] of results that the search finds, 0 to 1; 0 shows everything. `None` for the configured
    /// floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// Ids of memories to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// The front behind the request, for the record.
    #[serde(default)]
    pub front: Front,
    /// Write a `memory.recalled` event.
    pub record: bool,
    /// Explain the rank of each result.
    pub explain: bool,
    /// Name memories that are often recalled together with the first result.
    pub together: bool,
    /// Ignore links. Otherwise superseded memories stand behind their successors, contradictions stand together, and
    /// related memories are added.
    pub no_links: bool,
}

impl RecallRequest {
    /// Returns a request for these words, with defaults for the rest.
    pub fn new(query: impl Into<String>) -> Self {
        RecallRequest {
            query: query.into(),
            ..RecallRequest::default()
        }
    }
}

/// The link that brought a memory into an answer although the search did not find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Via {
    /// For instance `supersedes`.
    pub relation: String,
    /// Id of the result at the other end (ULID).
    pub from: String,
}

/// One result of a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallHit {
    /// Rank score: larger is better, comparable within one answer only. 0 for a result that a link brought.
    pub score: f64,
    /// Fit: confidence that the memory answers the query, 0 to 1 in thousandths, whatever else was found. 0 for a result
    /// that a link brought.
    #[serde(default)]
    pub fit: f64,
    /// Words of the query that matched; empty if the memory was found by its meaning.
    pub matched: Vec<String>,
    /// The passage that was found, if the text is long.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub passage: Option<Passage>,
    /// The link that brought it, if the search did not find it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub via: Option<Via>,
    /// `true` if a link to another result is its only reason to be here.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub expanded: bool,
    /// Id of the newer memory that supersedes it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<String>,
    /// Ids of memories that contradict it or that it contradicts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub contradicts: Vec<String>,
    /// Ids of memories that it seems to replace: a guess by rules, without a link.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub seems_to_replace: Vec<String>,
    /// Id of the newest memory that seems to replace it, by the same rules.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seems_replaced_by: Option<String>,
    /// `true` if its scope is neither global nor one of the caller's.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub elsewhere: bool,
    /// Ids of other memories that were found and say the same in the same scope. They are not results of their own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub repeats: Vec<String>,
    /// Topics of the repeats, each once, without the memory's own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub also_in: Vec<String>,
    /// The memory as of the basis.
    #[serde(flatten)]
    pub memory: Memory,
}

impl RecallHit {
    /// Returns a result for a memory without a search.
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

    /// Returns the text; of a long text, the passage that was found with its surroundings, see [`Passage::excerpt`].
    /// `None` if the text is withheld.
    pub fn shown(&self, cap_bytes: usize) -> Option<Cow<'_, str>> {
        let text = self.memory.content.as_deref()?;
        Some(match &self.passage {
            Some(passage) => passage.excerpt(text, &self.matched, cap_bytes),
            None => Cow::Borrowed(text),
        })
    }
}

/// The best memory that was found, if all lie below the floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// Its id (ULID).
    pub id: String,
    /// Its fit, as of a result.
    pub fit: f64,
    /// Its topic.
    pub topic: String,
    /// The start of its text in one line, at most 80 characters; `None` if the text is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The answer to a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallAnswer {
    /// The basis of the answer.
    pub basis: Basis,
    /// The scopes that were searched: `all`, or `global`, `project:ID`, `session:ID` and `session:ID/*`.
    pub scope: Vec<String>,
    /// The results, best first; links move some and add others. Memories that say the same are one result.
    pub results: Vec<RecallHit>,
    /// The best memory below the floor; present if there is no result above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// The `offset` of the next results; `None` at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Ids of memories that at least three recalls showed together with the first result, but this one did not. Most
    /// often first, three at most, only on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub often_together: Vec<String>,
    /// Corrections of earlier predictions whose context fits the query, two at most; only of the first page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<FeedbackHit>,
    /// A remark on the answer: the model could not be used. Given once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The explanation, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<serde_json::Value>,
}

/// A request for memories as part of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRequest {
    /// The search; its `limit` is 20 by default.
    pub recall: RecallRequest,
    /// Most tokens of the text, 50 to 1,000,000, at about four bytes each.
    pub budget: usize,
    /// `true` for a Markdown list.
    pub markdown: bool,
}

/// Memories as part of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The basis of the answer.
    pub basis: Basis,
    /// The scopes that were searched.
    pub scope: Vec<String>,
    /// The tokens that were allowed.
    pub budget: usize,
    /// The tokens of the text, about.
    pub tokens: usize,
    /// The text, marked as data; empty if there are no memories to show.
    pub text: String,
    /// Number of results that the budget had no room for.
    pub left_out: usize,
    /// The memories in it, best first.
    pub results: Vec<RecallHit>,
    /// As in [`RecallAnswer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// The corrections in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<FeedbackHit>,
    /// Ids of memories that were often recalled together with the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub often_together: Vec<String>,
    /// A remark on the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// Newest first.
    #[default]
    Created,
    /// Heaviest first.
    Weight,
    /// Most recently shown by a recall first.
    Accessed,
}

/// A request for a list of memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// Exact topic; `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Only memories with these tags; memories with others last, or left out.
    pub tags: TagFilter,
    /// Most memories; `None` for all.
    pub limit: Option<usize>,
    /// Order.
    pub sort: Sort,
    /// Only this scope; for a session, also the sessions below it.
    pub scope: Option<String>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
    /// Include tombstones.
    pub forgotten: bool,
    /// Only expired memories.
    pub expired: bool,
    /// Start of the page: id of the last memory of the page before, in a list of the same order.
    pub after: Option<String>,
}

/// A topic with its number of memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicSummary {
    /// Its name.
    pub topic: String,
    /// Living memories in it.
    pub memories: u64,
    /// Time of the newest change of a living memory, RFC 3339.
    pub updated_at: String,
}

/// The progress of a view along the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewProgress {
    /// `table`, `text` or `vectors`.
    pub view: String,
    /// Position it has reached.
    pub position: u64,
    /// Events that it still has to follow.
    pub behind: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The numbers of a store at a moment. Sizes and views are those of now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// The basis of the answer.
    pub basis: Basis,
    /// Living memories.
    pub memories: u64,
    /// Tombstones.
    pub forgotten: u64,
    /// Expired memories, which no other number counts.
    #[serde(skip_serializing_if = "crate::memory::is_zero", default)]
    pub expired: u64,
    /// Topics with a living memory.
    pub topics: u64,
    /// Living memoirs.
    #[serde(default)]
    pub memoirs: u64,
    /// Living concepts.
    pub concepts: u64,
    /// Events in the log up to the basis.
    pub events: u64,
    /// Bytes of the store folder.
    pub bytes: u64,
    /// Bytes of `log/` alone.
    pub log_bytes: u64,
    /// Newest position up to the basis.
    pub positions: u64,
    /// Path of the store; in JSON, bytes that are not Unicode are replaced.
    #[serde(serialize_with = "as_text")]
    pub store: PathBuf,
    /// This machine's origin, hex; `None` before the first write.
    pub origin: Option<String>,
    /// RFC 3339.
    pub first_event_at: Option<String>,
    /// RFC 3339.
    pub last_event_at: Option<String>,
    /// Progress of each view.
    pub views: Vec<ViewProgress>,
    /// Living memories by importance.
    pub by_importance: ByImportance,
    /// Living memories by the kind of their scope.
    pub by_scope: ByScope,
    /// Living memories by trust.
    pub by_trust: ByTrust,
    /// Mean weight of the living memories, 0 to 1; `None` without memories.
    pub mean_weight: Option<f64>,
    /// Time when the oldest living memory was stored, RFC 3339.
    pub oldest_at: Option<String>,
    /// Time when the newest living memory was stored, RFC 3339.
    pub newest_at: Option<String>,
    /// Recorded recalls.
    pub recalls: u64,
    /// The parts of `bytes`.
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
    /// Memories with global scope.
    pub global: u64,
    /// Memories with the scope of a project.
    pub project: u64,
    /// Memories with the scope of a session.
    pub session: u64,
}

/// Memories by trust.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByTrust {
    /// From a person.
    pub user: u64,
    /// From an agent.
    pub agent: u64,
    /// From an outside source.
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
    /// Returns the sum of all parts.
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
