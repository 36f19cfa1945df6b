//! What is asked and answered about single memories.

use crate::error;
use icm_log::facts;
use serde::{Deserialize, Serialize};

use icm_guard::shell;

/// How much a memory matters. Decides how fast it fades.
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
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Importance::Low => "low",
            Importance::Medium => "medium",
            Importance::High => "high",
            Importance::Critical => "critical",
        }
    }
}

/// Where a text came from, as far as trusting it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// A person typed it.
    User,
    /// An agent wrote it.
    Agent,
    /// It was imported or extracted from elsewhere.
    External,
}

impl Trust {
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Trust::User => "user",
            Trust::Agent => "agent",
            Trust::External => "external",
        }
    }
}

/// Where a memory came from. All fields are free text, given by the writer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Who wrote it, for instance `claude-code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The program it came through, for instance `icm-cli/0.1.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The session it was written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The project it was written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// A file it speaks of or was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Who is asking, through what. One per process or connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The actor's name, for instance `user` or `agent:claude-code`; named once in the log.
    pub actor: String,
    /// The program and its version.
    pub client: Option<String>,
    /// The agent's session id, from the environment or an argument.
    pub session: Option<String>,
    /// The server made that session, because nobody named one: it tells what was done together, and is no scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub session_is_made: bool,
    /// The project found from the working folder, by its name.
    pub project: Option<String>,
    /// What that project is told from others by, in scopes: `project:ID`.
    pub project_id: Option<String>,
    /// The working folder is in a shallow clone of a git repository, which lacks the commit that a project is named by.
    pub shallow: bool,
}

/// Stores one memory.
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
    /// Verbatim text the content was made from, at most 64 KiB.
    pub raw_excerpt: Option<String>,
    /// The caller's own stable id within the topic: storing the same topic and key again updates.
    pub key: Option<String>,
    /// When it happened, apart from when it was recorded (RFC 3339, date, `2h ago` …).
    pub occurred_at: Option<String>,
    /// Overrides of what the caller says of itself.
    pub source: Source,
    /// A JSON object.
    pub metadata: Option<serde_json::Value>,
    /// `global` (default), `project:ID` or `session:ID`.
    pub scope: Option<String>,
    /// Who vouches for it.
    pub trust: Trust,
    /// An idempotency key: the same key and content gives the first receipt again.
    pub request_id: Option<String>,
    /// Store it even if it holds a secret.
    pub allow_secret: bool,
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
            trust: Trust::User,
            request_id: None,
            allow_secret: false,
        }
    }
}

/// Changes one memory; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UpdateRequest {
    /// Full id or a unique prefix.
    pub id: String,
    /// New content.
    pub content: Option<String>,
    /// New importance.
    pub importance: Option<Importance>,
    /// Replaces the whole set of keywords.
    pub keywords: Option<Vec<String>>,
    /// Moves the memory.
    pub topic: Option<String>,
    /// Moves the memory.
    pub scope: Option<String>,
    /// Who vouches for it from now on.
    #[serde(default)]
    pub trust: Option<Trust>,
    /// An idempotency key.
    pub request_id: Option<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// What a changing command did.
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
    /// Nothing to change, nothing was written.
    Unchanged,
    /// The memory is a tombstone now.
    Forgotten,
    /// The memory is back.
    Revived,
    /// The memory is shown to every session that wakes up.
    Pinned,
    /// The memory is no longer pinned.
    Unpinned,
}

/// The receipt of a changing command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The memory.
    pub id: String,
    /// The event that did it (64 hex digits); for `unchanged` the event that last changed it, or that confirms it.
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// What was done.
    pub action: Action,
    /// The topic the memory is in.
    pub topic: String,
    /// A memory of the topic that says nearly the same: it was linked to, or it is the one that was
    /// updated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub similar: Option<Similar>,
    /// Memories of the topic that the new one seems to replace: a guess by rules or by the judge, the newest first, three at
    /// most. No link is written.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub seems_to_replace: Vec<Replaced>,
    /// Older memories that the judge has yet to decide on; empty in what a front answers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub to_be_judged: Vec<Replaced>,
    /// Nothing changed, and it is noted that somebody else has stored it, too.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub confirmed: bool,
    /// What to tell whoever wrote it, a line each: a secret was stored, or masked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// That the topic of a new memory is crowded now.
    #[serde(flatten)]
    pub crowded: Option<Crowded>,
}

/// So many memories of a topic that one summary in their place would help; see
/// [`Service::with_hint_over`](icm_service::Service::with_hint_over).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crowded {
    /// How many of the memory's topic and scope there are.
    #[serde(rename = "crowded")]
    pub memories: u64,
    /// That scope, where the topic has memories of others, too: a consolidation takes those of one.
    #[serde(
        rename = "crowded_scope",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub scope: Option<String>,
}

impl Crowded {
    /// The command that helps, as one types it into a shell.
    pub fn command(&self, topic: &str) -> String {
        consolidate_command(topic, self.scope.as_deref())
    }
}

/// The command that consolidates a topic, as one types it into a shell.
pub fn consolidate_command(topic: &str, scope: Option<&str>) -> String {
    let mut command = format!("icm consolidate {}", shell::option("topic", 't', topic));
    if let Some(scope) = scope {
        command.push_str(&format!(" --scope {}", shell::word(scope)));
    }
    command
}

/// A memory that a new one seems to replace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// ULID.
    pub id: String,
    /// Why, in a phrase for people.
    pub reason: String,
    /// Its text.
    pub content: String,
}

/// A memory that says nearly what was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Similar {
    /// ULID.
    pub id: String,
    /// How alike the texts are, 0 to 1.
    pub score: f64,
    /// What it said then; `null` when that was taken out or is damaged.
    pub content: Option<String>,
}

/// What a store does where its topic says nearly the same already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnSimilar {
    /// Both are kept, and linked.
    #[default]
    Link,
    /// The one that is there gets the new text.
    Update,
    /// Nothing is looked for: what is stored twice is there twice.
    Off,
}

impl OnSimilar {
    /// Every one.
    pub const ALL: [OnSimilar; 3] = [OnSimilar::Link, OnSimilar::Update, OnSimilar::Off];

    /// As it stands in a config file.
    pub fn name(self) -> &'static str {
        match self {
            OnSimilar::Link => "link",
            OnSimilar::Update => "update",
            OnSimilar::Off => "off",
        }
    }
}

/// How stores treat what is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dedup {
    /// From here on texts are similar, parts per million; 0 when only the same text is looked for.
    pub similar_ppm: u32,
    /// What is done then.
    pub on_similar: OnSimilar,
}

impl Default for Dedup {
    fn default() -> Self {
        Dedup {
            similar_ppm: 850_000,
            on_similar: OnSimilar::default(),
        }
    }
}

/// Links a memory to another one, or takes that away.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkRequest {
    /// The memory that it goes out from: full id or a unique prefix.
    pub from: String,
    /// The memory that it goes to.
    pub to: String,
    /// `related`, `supersedes`, `contradicts`, `derived_from` or `similar_to`.
    pub relation: String,
    /// Why.
    pub reason: Option<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// The receipt of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkReceipt {
    /// Of the memory that it goes out from.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// How it relates to the other.
    pub relation: String,
    /// The other memory.
    pub to: String,
}

/// Another memory that one is linked to or from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    /// ULID.
    pub id: String,
    /// For instance `supersedes`.
    pub relation: String,
    /// Where the link goes.
    pub direction: Direction,
    /// The event that added it (64 hex digits).
    pub event: String,
}

/// Where a link goes, seen from a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the other one.
    Out,
    /// From the other one.
    In,
}

/// A basis: what an answer was computed at. Giving `event` or `@position` back repeats the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Place in this machine's order of learning; 0 in an empty store.
    pub position: u64,
    /// Event id at that position (64 hex digits), empty in an empty store.
    pub event: String,
    /// Time of that event, RFC 3339.
    pub at: String,
}

/// One memory as it stood at some basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// ULID.
    pub id: String,
    /// The caller's own id within the topic.
    pub key: Option<String>,
    /// Topic.
    pub topic: String,
    /// The text. `null` in JSON when it was taken out by a redaction or is damaged.
    pub content: Option<String>,
    /// Verbatim text the content was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_excerpt: Option<String>,
    /// How much it matters.
    pub importance: Importance,
    /// 0 to 1.
    pub weight: f64,
    /// Keywords, in order of addition.
    pub keywords: Vec<String>,
    /// `global`, `project:ID`, `session:ID`.
    pub scope: String,
    /// Who vouches for it.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// When it happened, RFC 3339.
    pub occurred_at: Option<String>,
    /// RFC 3339, of the newest recall that showed it.
    pub last_accessed: Option<String>,
    /// Number of recalls that showed it.
    pub access_count: u64,
    /// Until when it is pinned, RFC 3339, or `unpinned` if it stays pinned until then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pinned_until: Option<String>,
    /// The writer's JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
    /// True for a tombstone (only in history and where asked for).
    pub forgotten: bool,
    /// True while nothing that stored it is in force (only in history and where asked for).
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undone: bool,
    /// The summary that stands for it, of a tombstone that a consolidation made (not in lists).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub consolidated_into: Option<String>,
    /// Names of the fields whose text is withheld.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub withheld: Vec<String>,
    /// Memories that it is linked to or from, while both are to be seen.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub related: Vec<Related>,
    /// Memories that at least three recalls showed together with it, the most often shown first, three at
    /// most (only where one memory is asked for).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub often_together: Vec<String>,
    /// How many others confirm it: sessions (or else actors) whose own memory says nearly the same or was
    /// derived from it.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub confirmations: u64,
    /// Fields for which several machines wrote different values beside each other (only where one memory is
    /// asked for, or its history).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conflicts: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
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
    /// A scope as somebody writes it: `project` and `session` alone stand for those of the caller.
    ///
    /// # Errors
    /// `Invalid` where the caller is in none.
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
