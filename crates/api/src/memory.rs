//! Single memories: requests, receipts and answers.

use crate::authors::Authors;
use crate::crowded::Crowded;
use crate::error;
use crate::marks::Marks;
use icm_log::facts;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Importance of a memory: decides how fast it fades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// Fades twice as fast as `Medium`.
    Low,
    /// The default.
    Medium,
    /// Fades half as fast as `Medium`, is never pruned.
    High,
    /// Never fades, is never pruned.
    Critical,
}

impl Importance {
    /// Every importance, the lowest first.
    pub const ALL: [Importance; 4] = [
        Importance::Low,
        Importance::Medium,
        Importance::High,
        Importance::Critical,
    ];

    /// Returns the importance of a name in JSON.
    pub fn named(name: &str) -> Option<Importance> {
        let mut all = Importance::ALL.into_iter();
        all.find(|importance| importance.name() == name)
    }

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Importance::Low => "low",
            Importance::Medium => "medium",
            Importance::High => "high",
            Importance::Critical => "critical",
        }
    }
}

/// Trust in a memory, by the source of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// A person wrote it.
    User,
    /// An agent wrote it.
    Agent,
    /// It was imported or extracted from another source.
    External,
}

impl Trust {
    /// Every trust, the highest first.
    pub const ALL: [Trust; 3] = [Trust::User, Trust::Agent, Trust::External];

    /// Returns the trust of a name in JSON.
    pub fn named(name: &str) -> Option<Trust> {
        Trust::ALL.into_iter().find(|trust| trust.name() == name)
    }

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Trust::User => "user",
            Trust::Agent => "agent",
            Trust::External => "external",
        }
    }
}

/// The source of a memory. All fields are free text from the writer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The writer, for instance `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The program that it came through, for instance `icm-cli/0.1.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The session of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The project of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The file that it is about or was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The actor behind a request, and its program. One per process or connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The actor's name, for instance `user` or `agent:claude-code`; stored once in the log.
    pub actor: String,
    /// The program and its version.
    pub client: Option<String>,
    /// The agent's session id, from the environment or an argument.
    pub session: Option<String>,
    /// `true` if the server made up the session. Such a session groups what was done together; it is not a scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub session_is_made: bool,
    /// Name of the project of the working folder.
    pub project: Option<String>,
    /// Id of that project, for scopes: `project:ID`.
    pub project_id: Option<String>,
    /// `true` in a shallow clone of a git repository: it lacks the commit that the project is named by.
    pub shallow: bool,
    /// The folder of the session. Relative paths that a tool is given are paths in it; no other process needs it.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

/// A request to store one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreRequest {
    /// Required, at most 128 bytes.
    pub topic: String,
    /// Required, at most 64 KiB.
    pub content: String,
    /// Default: medium.
    pub importance: Option<Importance>,
    /// At most 32 of at most 64 bytes.
    pub keywords: Vec<String>,
    /// The verbatim text behind the content, at most 64 KiB.
    pub raw_excerpt: Option<String>,
    /// The caller's own stable id within the topic. Storing the same topic and key again updates the memory.
    pub key: Option<String>,
    /// Time of the event that the memory is about (RFC 3339, date, `2h ago` …).
    pub occurred_at: Option<String>,
    /// Overrides of the caller's own values.
    pub source: Source,
    /// A JSON object.
    pub metadata: Option<serde_json::Value>,
    /// `global` (default), `project:ID` or `session:ID`.
    pub scope: Option<String>,
    /// The condition under which the memory expires, as [`expiry`](crate::expiry) reads it.
    #[serde(default)]
    pub expires: Option<String>,
    /// Trust of the memory.
    pub trust: Trust,
    /// An idempotency key: the same key and content returns the first receipt again.
    pub request_id: Option<String>,
    /// Store it even if it holds a secret.
    pub allow_secret: bool,
}

impl StoreRequest {
    /// Returns a request to store a text under a topic, with defaults for the rest.
    pub fn new(topic: impl Into<String>, content: impl Into<String>) -> Self {
        StoreRequest {
            topic: topic.into(),
            content: content.into(),
            ..StoreRequest::default()
        }
    }
}

impl Default for StoreRequest {
    fn default() -> Self {
        StoreRequest {
            topic: String::new(),
            content: String::new(),
            importance: None,
            keywords: Vec::new(),
            raw_excerpt: None,
            key: None,
            occurred_at: None,
            source: Source::default(),
            metadata: None,
            scope: None,
            expires: None,
            trust: Trust::User,
            request_id: None,
            allow_secret: false,
        }
    }
}

/// A request to change one memory; `None` keeps a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UpdateRequest {
    /// Full id or a unique prefix.
    pub id: String,
    /// New content.
    pub content: Option<String>,
    /// New importance.
    pub importance: Option<Importance>,
    /// New keywords, in place of all old ones.
    pub keywords: Option<Vec<String>>,
    /// New topic.
    pub topic: Option<String>,
    /// New scope.
    pub scope: Option<String>,
    /// New trust.
    #[serde(default)]
    pub trust: Option<Trust>,
    /// A new condition under which the memory expires; an empty text takes the condition away.
    #[serde(default)]
    pub expires: Option<String>,
    /// The `updated_at` that the caller saw: a memory that was changed since is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_updated_at: Option<String>,
    /// An idempotency key.
    pub request_id: Option<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// The outcome of a command that changes a memory, memoir or concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A new memory.
    Stored,
    /// A memory got new values.
    Updated,
    /// A memory was linked to another one.
    Linked,
    /// A link was taken away.
    Unlinked,
    /// Nothing had to change, so nothing was written.
    Unchanged,
    /// The memory is a tombstone now.
    Forgotten,
    /// The memory is back.
    Revived,
    /// The memory is pinned: every session that wakes up sees it.
    Pinned,
    /// The memory is no longer pinned.
    Unpinned,
}

impl Action {
    /// Returns the outcome as the word that receipts have for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Action::Stored => "stored",
            Action::Updated => "updated",
            Action::Linked => "linked",
            Action::Unlinked => "unlinked",
            Action::Unchanged => "unchanged",
            Action::Forgotten => "forgotten",
            Action::Revived => "revived",
            Action::Pinned => "pinned",
            Action::Unpinned => "unpinned",
        }
    }
}

/// The receipt of a command that changes a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The memory.
    pub id: String,
    /// The event that did it (64 hex digits); for `unchanged`, the event that last changed or confirmed the memory.
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// The outcome.
    pub action: Action,
    /// The topic of the memory.
    pub topic: String,
    /// The condition under which the memory expires now, if the command set one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<String>,
    /// A memory of the topic that says nearly the same: the new one was linked to it, or it was updated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub similar: Option<Similar>,
    /// Memories of the topic that the new one seems to replace, by rules or by the judge; newest first, three at most.
    /// No link is written.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub seems_to_replace: Vec<Replaced>,
    /// Older memories that the judge has still to decide on; empty in every answer that is shown.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub to_be_judged: Vec<Replaced>,
    /// `true` if nothing changed and it was recorded that another author stored the memory, too.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub confirmed: bool,
    /// Warnings for the writer, one line each: a secret was stored or masked, or a fact begins anew.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// Present if the topic of a new memory is crowded now.
    #[serde(flatten)]
    pub crowded: Option<Crowded>,
}

impl Receipt {
    /// Returns the similar memory, unless the new one seems to replace it: then it is told of there.
    pub fn similar_alone(&self) -> Option<&Similar> {
        let is_replaced =
            |near: &Similar| self.seems_to_replace.iter().any(|old| old.id == near.id);
        self.similar.as_ref().filter(|near| !is_replaced(near))
    }
}

/// A memory that a new one seems to replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// ULID.
    pub id: String,
    /// The reason, in a phrase for people.
    pub reason: String,
    /// Its text.
    pub content: String,
}

/// A memory that says nearly the same as the stored text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Similar {
    /// ULID.
    pub id: String,
    /// Similarity of the texts, 0 to 1.
    pub score: f64,
    /// Its text before; `null` if the text was taken out or is damaged.
    pub content: Option<String>,
}

impl Similar {
    /// Returns the similarity to the stored text, rounded down to hundredths. Two texts that differ in anything are 0.99
    /// alike at most.
    pub fn likeness(&self, stored: &str) -> String {
        let is_same = self.content.as_deref() == Some(stored);
        likeness(self.score.min(if is_same { 1.0 } else { 0.99 }))
    }
}

/// Returns the similarity of two texts, rounded down to hundredths.
pub fn likeness(score: f64) -> String {
    // A score is a whole number of millionths.
    let hundredths = (score * 1e6).round() as u64 / 10_000;
    format!("{:.2}", hundredths as f64 / 100.0)
}

/// A request to link two memories, or to remove that link.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkRequest {
    /// The memory at its start: full id or a unique prefix.
    pub from: String,
    /// The memory at its end: full id or a unique prefix.
    pub to: String,
    /// `related`, `supersedes`, `contradicts`, `derived_from` or `similar_to`.
    pub relation: String,
    /// The reason.
    pub reason: Option<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// The receipt of a link between memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkReceipt {
    /// The receipt of the memory at its start.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Relation of the link.
    pub relation: String,
    /// Id of the memory at its end.
    pub to: String,
}

/// A memory at the other end of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    /// ULID.
    pub id: String,
    /// For instance `supersedes`.
    pub relation: String,
    /// Direction of the link.
    pub direction: Direction,
    /// The event that added it (64 hex digits).
    pub event: String,
}

/// Direction of a link, seen from a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the other memory.
    Out,
    /// From the other memory.
    In,
}

/// A memory at some basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// ULID.
    pub id: String,
    /// The caller's own id within the topic.
    pub key: Option<String>,
    /// Topic.
    pub topic: String,
    /// The text; `null` in JSON if it was redacted or is damaged.
    pub content: Option<String>,
    /// The verbatim text behind the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_excerpt: Option<String>,
    /// Importance of the memory.
    pub importance: Importance,
    /// Weight: its present importance, after decay, 0 to 1.
    pub weight: f64,
    /// Keywords, in order of addition.
    pub keywords: Vec<String>,
    /// `global`, `project:ID`, `session:ID`.
    pub scope: String,
    /// Trust of the memory.
    pub trust: Trust,
    /// Source of the memory.
    pub source: Source,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// Time of the event that it is about, RFC 3339.
    pub occurred_at: Option<String>,
    /// Time of the newest recall that showed it, RFC 3339.
    pub last_accessed: Option<String>,
    /// Number of recalls that showed it.
    pub access_count: u64,
    /// End of its pin, RFC 3339, or `unpinned` if it is pinned until it is unpinned.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pinned_until: Option<String>,
    /// The condition under which it expires.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<String>,
    /// `true` if it is expired at the moment of the answer: only `get`, `history` and `list --expired` show it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub expired: bool,
    /// Recalls after this answer's basis that show it before it expires, if it expires by recalls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recalls_left: Option<u64>,
    /// First moment of the planned value, RFC 3339, if it is a fact without any earlier value: it is hidden until then (not
    /// in its history).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub planned_from: Option<String>,
    /// JSON object of the writer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
    /// `true` for a tombstone (only in history and on request).
    pub forgotten: bool,
    /// `true` while no event that stored it is in force (only in history and on request).
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undone: bool,
    /// Id of the summary, for a tombstone of a consolidation (not in lists).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub consolidated_into: Option<String>,
    /// Names of the fields whose text is withheld.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub withheld: Vec<String>,
    /// Memories at the other end of its links, while both can be seen.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub related: Vec<Related>,
    /// Memories that at least three recalls showed together with it, most often first, three at most (only for a single
    /// memory).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub often_together: Vec<String>,
    /// Number of other sessions (or else actors) with a memory of their own that says nearly the same or was derived
    /// from it.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub confirmations: u64,
    /// How often it was called useful and wrong, if it ever was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub marks: Option<Marks>,
    /// Authors of its text and of its first version (only for a single memory).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub authors: Option<Authors>,
    /// Fields with conflicting values of several machines (only for a single memory or its history).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conflicts: Vec<String>,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<facts::Importance> for Importance {
    fn from(importance: facts::Importance) -> Self {
        match importance {
            facts::Importance::Low => Importance::Low,
            facts::Importance::Medium => Importance::Medium,
            facts::Importance::High => Importance::High,
            facts::Importance::Critical => Importance::Critical,
        }
    }
}

impl From<Importance> for facts::Importance {
    fn from(importance: Importance) -> Self {
        match importance {
            Importance::Low => facts::Importance::Low,
            Importance::Medium => facts::Importance::Medium,
            Importance::High => facts::Importance::High,
            Importance::Critical => facts::Importance::Critical,
        }
    }
}

impl From<facts::Trust> for Trust {
    fn from(trust: facts::Trust) -> Self {
        match trust {
            facts::Trust::User => Trust::User,
            facts::Trust::Agent => Trust::Agent,
            facts::Trust::External => Trust::External,
        }
    }
}

impl From<Trust> for facts::Trust {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::User => facts::Trust::User,
            Trust::Agent => facts::Trust::Agent,
            Trust::External => facts::Trust::External,
        }
    }
}

impl Caller {
    /// Returns a scope for what a user wrote: `project` and `session` alone become those of the caller.
    ///
    /// # Errors
    /// `Invalid` if the caller has no project or session.
    pub fn scope(&self, given: Option<String>) -> error::Result<Option<String>> {
        let Some(given) = given else { return Ok(None) };
        let word = given.trim().to_ascii_lowercase();
        match word.as_str() {
            "global" | "all" => Ok(Some(word)),
            "project" => match &self.project_id {
                Some(id) => Ok(Some(format!("project:{id}"))),
                None if self.shallow => Err(error::ServiceError::invalid_with(
                    "this is a shallow clone, which lacks the first commit that a project is named by",
                    "fetch it with `git fetch --unshallow`, put a name into a file `.icm-project`, or \
                     write `project:ID`",
                )),
                None => Err(error::ServiceError::invalid_with(
                    "no project was found here",
                    "go to a git repository that has a commit, put a name into a file `.icm-project`, \
                     or write `project:ID`",
                )),
            },
            "session" => match &self.session {
                Some(id) if !self.session_is_made => Ok(Some(format!("session:{id}"))),
                _ => Err(error::ServiceError::invalid_with(
                    "there is no session here",
                    "set `ICM_SESSION`, or write `session:ID`",
                )),
            },
            _ => Ok(Some(given)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_are_never_wholly_alike() {
        for (score, content, told) in [
            (1.0, "one text", "1.00"),
            (1.0, "text one", "0.99"),
            (0.999_999, "another", "0.99"),
            (0.888_888, "another", "0.88"),
            (0.85, "another", "0.85"),
            (0.57, "another", "0.57"),
        ] {
            let similar = Similar {
                id: String::new(),
                score,
                content: Some(content.to_owned()),
            };
            assert_eq!(similar.likeness("one text"), told, "{content}");
        }
        assert_eq!(likeness(0.999_999), "0.99");
    }
}
