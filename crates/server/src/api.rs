//! What goes into the service and what comes out of it.
//!
//! Every front (command line, MCP, later JSON-RPC and HTTP) speaks these types, so the shapes that
//! `--json` prints and the structured output of an MCP tool are the same by construction.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The actor's name, for instance `user` or `agent:claude-code`; named once in the log.
    pub actor: String,
    /// The program and its version.
    pub client: Option<String>,
    /// The agent's session id, from the environment or an argument.
    pub session: Option<String>,
    /// The project found from the working folder.
    pub project: Option<String>,
}

/// Stores one memory.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Default, PartialEq)]
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
}

/// The receipt of a changing command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The memory.
    pub id: String,
    /// The event that did it (64 hex digits); for `unchanged` the event that last changed it.
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
    /// What to tell whoever wrote it, a line each: a secret was stored, or masked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// Asks for memories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallRequest {
    /// Words; never query syntax.
    pub query: String,
    /// Exact topic, or `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Only memories with this keyword.
    pub keyword: Option<String>,
    /// Only this scope.
    pub scope: Option<String>,
    /// 1 to 1000; default 10.
    pub limit: Option<usize>,
    /// As this machine knew at: RFC 3339, date, `yesterday`, `2h ago`, `@position`, event id prefix.
    pub at: Option<String>,
    /// Events with time ≤ this among all known.
    pub happened_by: Option<String>,
    /// Write a `memory.recalled` event.
    pub record: bool,
    /// Say how each result came to its rank.
    pub explain: bool,
}

/// One result of a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallHit {
    /// Larger is better; comparable within one answer only.
    pub score: f64,
    /// The query's words that matched.
    pub matched: Vec<String>,
    /// The memory as of the basis.
    #[serde(flatten)]
    pub memory: Memory,
}

/// The answer to a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallAnswer {
    /// What it was computed at.
    pub basis: Basis,
    /// Best first.
    pub results: Vec<RecallHit>,
    /// Present when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<serde_json::Value>,
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
    /// `table` or `text`.
    pub view: String,
    /// Position it has reached.
    pub position: u64,
    /// Events it has still to take in.
    pub behind: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The whole store in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Living memories.
    pub memories: u64,
    /// Tombstones.
    pub forgotten: u64,
    /// Topics with a living memory.
    pub topics: u64,
    /// Living concepts.
    pub concepts: u64,
    /// Events in the log.
    pub events: u64,
    /// Bytes of the store folder.
    pub bytes: u64,
    /// Bytes of `log/` alone.
    pub log_bytes: u64,
    /// Newest position.
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
}

fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// One step in the life of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Position of the event that made it.
    pub position: u64,
    /// The position at which it was replaced.
    pub until: Option<u64>,
    /// The event (64 hex digits).
    pub event: String,
    /// Kind of that event, for instance `memory.updated`.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// Names of the fields that changed.
    pub changed: Vec<String>,
    /// The memory as it stood from then on.
    pub memory: Memory,
    /// The text that the event wrote, where another value is shown: one that was written beside it,
    /// or that came with it in an import.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_shown: Option<String>,
    /// Position of the undo that took the event back, while that undo is in force.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undone_at: Option<u64>,
}

impl Version {
    /// Why the text of the event is not shown.
    pub fn why_not_shown(&self) -> &'static str {
        match self.undone_at.is_some() {
            true => "not shown: its event is undone",
            false => "not shown: another value holds",
        }
    }
}

/// Where a memory came from and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// As it stands now.
    pub memory: Memory,
    /// Where it came from.
    pub from: WhyFrom,
    /// Id of the summary that stands for it, if one does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub covered_by: Option<String>,
    /// The events that made and changed it, oldest first.
    pub events: Vec<WhyEvent>,
    /// The recalls that showed it to somebody, newest first; as many as were asked for.
    pub recalls: Vec<WhyRecall>,
    /// How many there were in all.
    pub recalls_total: u64,
}

/// Who or what a memory is from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyFrom {
    /// Name of the actor that stored it.
    pub actor: String,
    /// What the writer said of it: agent, client, session, project, file.
    #[serde(flatten)]
    pub source: Source,
    /// Ids of the memories that it is the summary of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub consolidated_from: Vec<String>,
}

/// An event in the life of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyEvent {
    /// Its position.
    pub position: u64,
    /// Its id (64 hex digits).
    pub event: String,
    /// For instance `memory.updated`.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// Names of the fields that it changed.
    pub changed: Vec<String>,
}

/// A recall that showed a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WhyRecall {
    /// Position of the recall.
    pub position: u64,
    /// Its event (64 hex digits).
    pub event: String,
    /// RFC 3339.
    pub at: String,
    /// Who asked.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// What was asked; `null` when it was taken out or is damaged.
    pub query: Option<String>,
    /// The memory's place among the results, from 1.
    pub rank: u16,
    /// The recall was undone: it no longer counts.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undone: bool,
}

/// Asks what became of the memories between two moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiffRequest {
    /// The earlier moment, as every `--at`.
    pub from: String,
    /// The later one; `None` for now.
    pub to: Option<String>,
    /// Memories that were or are in this topic; `a/` for everything below `a`.
    pub topic: Option<String>,
    /// Memories that an event of this session changed in between.
    pub session: Option<String>,
}

/// How the memories at one moment differ from those at an earlier one. Lists are by topic, then id.
/// What came and went in between is no difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// The earlier moment.
    pub from: Basis,
    /// The later one.
    pub to: Basis,
    /// Memories that there were not.
    pub added: Vec<Memory>,
    /// Memories that say something else.
    pub changed: Vec<MemoryChange>,
    /// Memories that are tombstones now.
    pub forgotten: Vec<Memory>,
    /// Tombstones that live again; in `changed`, too, when they say something else.
    pub revived: Vec<Memory>,
}

/// What differs in one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryChange {
    /// ULID.
    pub id: String,
    /// Topic it is in now.
    pub topic: String,
    /// Names of the fields that differ.
    pub fields: Vec<String>,
    /// Those fields as they were.
    pub before: serde_json::Map<String, serde_json::Value>,
    /// And as they are.
    pub after: serde_json::Map<String, serde_json::Value>,
    /// The content word by word; empty unless both texts are there and differ.
    pub content_diff: Vec<DiffPiece>,
}

/// A stretch of text that stayed, went or came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPiece {
    /// What became of it.
    pub op: DiffOp,
    /// The words, with the white space around them.
    pub text: String,
}

/// What became of a stretch of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffOp {
    /// In both.
    Equal,
    /// Only in the old one.
    Delete,
    /// Only in the new one.
    Insert,
}

/// Selects events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogRequest {
    /// Kind (`memory.stored`) or family (`memory`).
    pub kind: Option<String>,
    /// Memory id or prefix.
    pub id: Option<String>,
    /// Memories that are or were in this topic.
    pub topic: Option<String>,
    /// Actor name.
    pub actor: Option<String>,
    /// Session id.
    pub session: Option<String>,
    /// Not before this time.
    pub since: Option<String>,
    /// Not after this time.
    pub until: Option<String>,
    /// Newest first when false.
    pub oldest_first: bool,
    /// `None` for all.
    pub limit: Option<usize>,
    /// Continue before (or after, oldest first) this position.
    pub cursor: Option<u64>,
}

/// Asks for one summary in place of the memories of a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidateRequest {
    /// The topic; with `/` at its end, everything below it too.
    pub topic: String,
    /// The summary, at most 64 KiB.
    pub summary: String,
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
    /// An idempotency key.
    pub request_id: Option<String>,
}

/// What a consolidation did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsolidateReceipt {
    /// Of the summary.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Ids of the memories that it stands for.
    pub originals: Vec<String>,
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
    /// Where this store has written other events than the export has of it: those were left out.
    pub own_forks: Vec<ChainPlace>,
    /// The event that brought it; `None` where nothing had to be noted.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
}

/// A place in a chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainPlace {
    /// The origin.
    pub origin: String,
    /// Place in its chain.
    pub seq: u64,
}

/// Asks to take texts out of the store for good: of memories and events that are named, or of every
/// event that holds a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RedactRequest {
    /// Ids of memories (all of their events go, and every recall that showed them), event ids and
    /// positions (they alone go).
    pub targets: Vec<String>,
    /// Every event whose text holds this, as it stands here.
    pub pattern: Option<String>,
    /// Why; it stays in the log.
    pub reason: Option<String>,
    /// Only say what would go.
    pub dry_run: bool,
    /// The plan of the preview that was agreed to: with another one nothing is done.
    pub plan: Option<String>,
}

/// What a redaction took out, or would take out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// Names this plan: give it back to do just what was shown.
    pub plan: String,
    /// The event that redacts (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// Events that lose their text.
    pub events: u64,
    /// Their part of all events that have one, 0 to 1.
    pub share: f64,
    /// Memories that they are about.
    pub memories: Vec<RedactMemory>,
    /// How many events are redacted one by one.
    pub single_events_total: u64,
    /// The first 100 of them.
    pub single_events: Vec<RedactEvent>,
    /// Summaries that were made from these memories: they stay, and may hold the same text.
    pub summaries: Vec<String>,
    /// Bodies that were taken out of the log's files.
    pub blanked_events: u64,
    /// Segments that were written anew.
    pub segments: u64,
    /// Files below `torn/` that hold the text that was looked for: they go.
    pub torn: Vec<String>,
    /// Files of `torn/` that were removed.
    pub torn_removed: u64,
    /// Where the text may still be.
    pub out_of_reach: Vec<String>,
}

/// A memory that a redaction touches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactMemory {
    /// ULID.
    pub id: String,
    /// Its topic, before.
    pub topic: String,
    /// All of its events go, not only some.
    pub whole: bool,
    /// Its events that go.
    pub events: u64,
}

/// An event that is redacted by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedactEvent {
    /// Event id.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
}

/// Asks to undo events: some that are named, or those that fit all of the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UndoRequest {
    /// Event ids (prefixes) and positions; their commands are undone as wholes. Or one range,
    /// `@12..@20`.
    pub events: Vec<String>,
    /// The named events alone, not the commands that they are part of.
    pub only: bool,
    /// The newest so many commands that changed something; recalls do not count.
    pub last: Option<usize>,
    /// Session id.
    pub session: Option<String>,
    /// Actor name.
    pub actor: Option<String>,
    /// Memories that are or were in this topic; with `/` at its end, below it too.
    pub topic: Option<String>,
    /// Not before this time.
    pub since: Option<String>,
    /// Also every later change of the same memories.
    pub cascade: bool,
    /// Why.
    pub reason: Option<String>,
    /// Only say what would change.
    pub dry_run: bool,
    /// The plan of the preview that was agreed to: with another one nothing is done.
    pub plan: Option<String>,
}

/// What an undo did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// The event that undoes them (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// What was asked for, as it would be typed.
    pub selector: String,
    /// Names this plan: give it back to do just what was shown.
    pub plan: String,
    /// Events that are undone.
    pub events: u64,
    /// Events that were chosen but are undone already.
    pub already_undone: u64,
    /// The commands that they are of, oldest first; the newest 100.
    pub commands: Vec<UndoneCommand>,
    /// How many commands there are.
    pub commands_total: u64,
    /// Chosen events that cannot be undone.
    pub skipped: Vec<SkippedEvent>,
    /// Memories that look different after it.
    pub changes: Vec<UndoChange>,
    /// Later changes of the same memories, oldest first; the oldest 100. With `cascade` they are
    /// undone, too, and none is left.
    pub later: Vec<LaterChange>,
    /// How many there are.
    pub later_total: u64,
}

impl UndoAnswer {
    /// Later changes whose memory is gone as a whole, and those that go on to count.
    pub fn later_gone_and_staying(&self) -> (u64, u64) {
        let hidden = self.changes.iter().filter(|change| change.after.is_none());
        let gone: u64 = hidden.map(|change| change.later_changes).sum();
        (gone, self.later_total.saturating_sub(gone))
    }

    /// What becomes of memories, in words: `2 memories gone, 1 back`.
    pub fn outcome(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        for (action, word) in [
            (UndoAction::Gone, "gone"),
            (UndoAction::Back, "back"),
            (UndoAction::Changed, "changed"),
        ] {
            let changes = self.changes.iter();
            match changes.filter(|change| change.action == action).count() {
                0 => {}
                1 if said.is_empty() => said.push(format!("1 memory {word}")),
                n if said.is_empty() => said.push(format!("{n} memories {word}")),
                n => said.push(format!("{n} {word}")),
            }
        }
        match said.is_empty() {
            true => "no memory looks different after it".to_owned(),
            false => said.join(", "),
        }
    }
}

/// A command that is undone, at least in part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoneCommand {
    /// Position of its first event that is undone.
    pub position: u64,
    /// That event.
    pub event: String,
    /// When, RFC 3339.
    pub at: String,
    /// Kind of that event.
    pub kind: String,
    /// Its events that are undone.
    pub events: u64,
}

/// An event that cannot be undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkippedEvent {
    /// Event id.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// It stays because it is redacted, not because of its kind.
    pub redacted: bool,
}

/// A change that came after what is undone, of the same memory, and stays in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaterChange {
    /// Event id.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// The memory (ULID).
    pub id: String,
}

/// What becomes of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// It is no longer seen.
    Gone,
    /// It is seen again.
    Back,
    /// It looks different.
    Changed,
}

/// What an undo makes of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoChange {
    /// ULID.
    pub id: String,
    /// Its topic.
    pub topic: String,
    /// What becomes of it.
    pub action: UndoAction,
    /// What differs, where it is changed.
    pub fields: Vec<String>,
    /// As it was; `null` when it was undone.
    pub before: Option<Memory>,
    /// As it is then; `null` when no event that stores it is left in force.
    pub after: Option<Memory>,
    /// Links out from it that come or go.
    pub links: Vec<UndoLink>,
    /// Later changes of it that stay in force; where `after` is `null` the memory is gone with them,
    /// and they count again when it comes back.
    pub later_changes: u64,
}

/// What an undo makes of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoLink {
    /// `gone` or `back`.
    pub action: UndoAction,
    /// For instance `supersedes`.
    pub relation: String,
    /// The memory that it goes to (ULID).
    pub to: String,
    /// The event that added it (64 hex digits).
    pub event: String,
}

/// One event of the log, for people and scripts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Place in this machine's order of learning.
    pub position: u64,
    /// Event id (64 hex digits).
    pub event: String,
    /// For instance `memory.stored`.
    pub kind: String,
    /// RFC 3339.
    pub at: String,
    /// Origin, hex.
    pub origin: String,
    /// Place in the origin's chain.
    pub seq: u64,
    /// What it is about, if anything (a memory's ULID).
    pub subject: Option<String>,
    /// Name of the actor.
    pub actor: String,
    /// Session id, if any.
    pub session: Option<String>,
    /// Command id, hex: shared by all events of one command.
    pub command: String,
    /// One line for people.
    pub summary: String,
    /// The facts, decoded.
    pub facts: serde_json::Value,
    /// The payload, decoded; `null` when withheld or damaged.
    pub payload: serde_json::Value,
    /// `present`, `withheld` or `damaged`.
    pub body: String,
}

/// Everything about one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventDetail {
    /// As in the list.
    #[serde(flatten)]
    pub entry: LogEntry,
    /// Id of the event before it in its chain, hex.
    pub prev: String,
    /// Events it observed, hex.
    pub refs: Vec<String>,
    /// Index and count in its batch.
    pub batch: (u16, u16),
    /// Commitment, hex.
    pub commitment: String,
    /// Length of the head in bytes.
    pub head_len_bytes: u64,
    /// Length of the payload in bytes.
    pub payload_len_bytes: u64,
    /// Segment file it lies in.
    pub segment: String,
    /// Offset in that file.
    pub offset_bytes: u64,
}

/// One thing that `verify` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Short stable code, for instance `damaged_head`.
    pub code: String,
    /// `damage`, or `notice` for what needs no repair.
    pub severity: String,
    /// One line that says where and what to do.
    pub message: String,
    /// File, relative to the store.
    pub file: Option<String>,
    /// Place in the chain.
    pub seq: Option<u64>,
}

/// The head of one origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OriginHead {
    /// Hex.
    pub origin: String,
    /// Newest seq.
    pub seq: u64,
    /// Newest event id, hex.
    pub head: String,
    /// True for this machine's own chain.
    #[serde(default)]
    pub own: bool,
}

/// The report of `icm verify` and `icm log verify`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// No damage and no disagreement.
    pub ok: bool,
    /// Events read.
    pub events: u64,
    /// Newest position.
    pub positions: u64,
    /// Heads.
    pub origins: Vec<OriginHead>,
    /// Hash over the living values, hex; `None` for `icm log verify`.
    pub state_hash: Option<String>,
    /// Events whose body is withheld or damaged.
    pub missing_bodies: u64,
    /// What was found.
    pub findings: Vec<Finding>,
}

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
    /// `config`, `store`, `permissions`, `files`, `log`, `format`, `clock`, `views`, `locks`, `space`
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

/// Told how long work goes on. Silent unless somebody watches.
pub trait Progress: Sync {
    /// A new phase of `total` steps (`None`: unknown).
    fn start(&self, phase: &str, total: Option<u64>);
    /// `steps` more are done.
    fn advance(&self, steps: u64);
    /// The phase ended.
    fn finish(&self);
}

/// Nobody watches.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
    fn finish(&self) {}
}
