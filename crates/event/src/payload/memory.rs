//! Payloads of the memory family.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a memory came from, as its writer said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceText<'a> {
    /// Who wrote it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
    /// The program it came through.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub client: Option<&'a str>,
    /// The session it was written in.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
    /// The project it was written in.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub project: Option<&'a str>,
    /// A file it speaks of or was read from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
}

impl SourceText<'_> {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == SourceText::default()
    }
}

/// Payload of `memory.stored`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryStored<'a> {
    /// Topic.
    #[serde(borrow)]
    pub topic: &'a str,
    /// The text.
    #[serde(borrow)]
    pub content: &'a str,
    /// Verbatim text the content was made from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub raw_excerpt: Option<&'a str>,
    /// Keywords, in order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<&'a str>,
    /// The caller's own id within the topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
    /// Text of a project's or session's scope; absent for the global one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Where it came from.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
    /// When it happened, milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at_ms: Option<i64>,
    /// A JSON object, as text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a str>,
    /// For an imported line without a key: it is the n-th (from 1) with this scope, topic and
    /// content in its file. Such a memory is named by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth_line: Option<u32>,
    /// For an imported memory: when the store that it was exported from first stored it,
    /// milliseconds since 1970-01-01 UTC. For show alone: decay and filters by time don't read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_created_at_ms: Option<i64>,
    /// The same of its last change there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_updated_at_ms: Option<i64>,
    /// Digest (hexadecimal) of the command, when it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `memory.updated`: the new values of the fields that the facts name; a field that is
/// named there and absent here is cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUpdated<'a> {
    /// Topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'a str>,
    /// The text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    /// Verbatim text the content was made from.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub raw_excerpt: Option<&'a str>,
    /// Keywords added, in order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub keywords_added: Vec<&'a str>,
    /// The caller's own id within the topic.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<&'a str>,
    /// Text of a project's or session's scope.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Where it came from.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
    /// When it happened, milliseconds since 1970-01-01 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at_ms: Option<i64>,
    /// A JSON object, as text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a str>,
    /// Digest (hexadecimal) of the command, when it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `memory.recalled`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRecalled<'a> {
    /// The question; of a long one the part that counted.
    #[serde(borrow)]
    pub query: &'a str,
    /// Topic asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'a str>,
    /// Keyword asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<&'a str>,
    /// Scope asked for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Scopes that were seen, as answers name them, and after `all` those that counted as one's own.
    /// Older recalls saw every scope, or just the one they asked for.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<&'a str>,
    /// Whether links had a say in the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub links: bool,
    /// Most results wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Least importance asked for, by name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<&'a str>,
    /// Least trust asked for, by name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<&'a str>,
    /// Earliest time asked for, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Latest time asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
    /// Bytes of the whole question, if a part of it counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_len: Option<u64>,
    /// Least fit of a result that was asked for, in parts per million; without it the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_ppm: Option<u32>,
    /// Fit of each result, in parts per million, in the order of the results in the facts; 0 for what came by a link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits_ppm: Vec<u32>,
}

/// Payload of `memory.linked`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryLinked<'a> {
    /// The relation in words, when the facts have no code for it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<&'a str>,
    /// Why, if said.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// Of `similar_to`: how alike the texts are, in parts per million.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_ppm: Option<u32>,
    /// Of a confirmation: digest of the command, with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `memory.forgotten`, `memory.revived` and `memory.unlinked`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryForgotten<'a> {
    /// Why, if said.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}
