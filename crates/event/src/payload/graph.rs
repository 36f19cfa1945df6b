//! Payloads of the concept graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SourceText;

/// Payload of `memoir.created`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoirCreated<'a> {
    /// What it is called.
    #[serde(borrow)]
    pub name: &'a str,
    /// What it is about.
    #[serde(borrow)]
    pub description: &'a str,
    /// Where it came from.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}

/// Payload of `memoir.described`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoirDescribed<'a> {
    /// What it is about.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
}

/// Payload of `concept.added`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptAdded<'a> {
    /// Name of the memoir that it is in.
    #[serde(borrow)]
    pub memoir: &'a str,
    /// What it is called.
    #[serde(borrow)]
    pub name: &'a str,
    /// What it means.
    #[serde(borrow)]
    pub definition: &'a str,
    /// Labels, `namespace:value` or a value alone, in order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<&'a str>,
    /// Where it came from.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}

/// Payload of `concept.refined`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptRefined<'a> {
    /// What it means.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<&'a str>,
    /// Where that came from.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}

/// Payload of `concept.labelled`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptLabelled<'a> {
    /// Labels, `namespace:value` or a value alone, in order, added to those there are.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<&'a str>,
}
