//! Payloads of the events about memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of a text, as its writer named it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceText<'a> {
    /// The agent that wrote the text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
    /// The program that the text came through.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub client: Option<&'a str>,
    /// The session in which the text was written.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
    /// The project in which the text was written.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub project: Option<&'a str>,
    /// A file that the text speaks of or was read from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
}

impl SourceText<'_> {
    /// Returns `true` if no field is given.
    pub fn is_empty(&self) -> bool {
        *self == SourceText::default()
    }
}

/// The texts of the condition under which a memory expires. Its kind and numbers are in the facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpiresText<'a> {
    /// For a file: its absolute path on the machine that set the condition.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
    /// For weekly hours: the IANA name of the author's time zone.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<&'a str>,
    /// For a file that must not change: its length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// For a file that must not change: its modification time, in milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ms: Option<i64>,
    /// For a file that must not change and has 64 MiB or less: BLAKE3 of its bytes (64 hexadecimal digits).
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<&'a str>,
}

/// Payload of `memory.stored`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryStored<'a> {
    /// Topic of the memory.
    #[serde(borrow)]
    pub topic: &'a str,
    /// Text of the memory.
    #[serde(borrow)]
    pub content: &'a str,
    /// Verbatim text that the content was made from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub raw_excerpt: Option<&'a str>,
    /// Keywords, in order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<&'a str>,
    /// The caller's own id within the topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
    /// Text of a project's or session's scope; absent for the global scope.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Source of the text.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
    /// Valid time, in milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at_ms: Option<i64>,
    /// A JSON object, as text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a str>,
    /// For an imported line without a key: it is the n-th (from 1) in its file with this scope, topic and content. The
    /// memory's name is made from these four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth_line: Option<u32>,
    /// For an imported memory: time at which the exporting store first stored it, in milliseconds since 1970-01-01 UTC.
    /// Only shown: decay and filters by time don't read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_created_at_ms: Option<i64>,
    /// For an imported memory: time of its last change in the exporting store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_updated_at_ms: Option<i64>,
    /// Texts of the condition under which the memory expires.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<ExpiresText<'a>>,
    /// Digest (hexadecimal) of the command, if it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `memory.updated`: new values of the fields that the facts name. A field that the facts name and the
/// payload lacks is cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUpdated<'a> {
    /// New topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'a str>,
    /// New text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// Verbatim text that the content was made from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub raw_excerpt: Option<&'a str>,
    /// Keywords that the memory gets, in order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub keywords_added: Vec<&'a str>,
    /// The caller's own id within the topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
    /// Text of a project's or session's scope; absent for the global scope.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Source of the text.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
    /// Valid time, in milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at_ms: Option<i64>,
    /// A JSON object, as text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a str>,
    /// Texts of the condition under which the memory expires.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<ExpiresText<'a>>,
    /// Digest (hexadecimal) of the command, if it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `memory.recalled`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRecalled<'a> {
    /// The question; if it was long, only the part that counted.
    #[serde(borrow)]
    pub query: &'a str,
    /// Topic asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'a str>,
    /// Keyword asked for, of several the first.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<&'a str>,
    /// Further keywords of which each result had all.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub more_keywords: Vec<&'a str>,
    /// Keywords of which each result had one at least.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub any_keywords: Vec<&'a str>,
    /// Keywords whose results stood last.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub last_keywords: Vec<&'a str>,
    /// Keywords that no result had.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_keywords: Vec<&'a str>,
    /// Scope asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Names of the scopes that the recall saw. After `all` follow the scopes that counted as one's own. Older recalls
    /// saw every scope, or only the one asked for.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<&'a str>,
    /// `true` if links could change the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub links: bool,
    /// Most results asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Least importance asked for, by name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<&'a str>,
    /// Least trust asked for, by name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<&'a str>,
    /// Earliest time asked for, in milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Latest time asked for, in milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
    /// Bytes of the whole question, if only a part of it counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_len: Option<u64>,
    /// Least fit asked for, in parts per million; absent for the usual floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_ppm: Option<u32>,
    /// Fit of each result, in parts per million, in the order of the results in the facts; 0 if a link brought it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits_ppm: Vec<u32>,
}

/// Payload of `memory.linked`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLinked<'a> {
    /// The relation in words, if the facts have no code for it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<&'a str>,
    /// Reason, if one was given.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// For `similar_to`: similarity of the two texts, in parts per million.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_ppm: Option<u32>,
    /// For a confirmation: digest of the command, if it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of the `forgotten`, `revived`, `unlinked`, `pinned` and `unpinned` kinds, and of `concept.unlabelled`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryForgotten<'a> {
    /// Reason, if one was given.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}
