//! Payloads of the concept graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SourceText;

/// Payload of `memoir.created`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoirCreated<'a> {
    /// Name of the memoir.
    #[serde(borrow)]
    pub name: &'a str,
    /// Description of the memoir.
    #[serde(borrow)]
    pub description: &'a str,
    /// Source of the text.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}

/// Payload of `memoir.described`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoirDescribed<'a> {
    /// New description of the memoir.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
}

/// Payload of `concept.added`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptAdded<'a> {
    /// Name of the concept's memoir.
    #[serde(borrow)]
    pub memoir: &'a str,
    /// Name of the concept.
    #[serde(borrow)]
    pub name: &'a str,
    /// Definition of the concept.
    #[serde(borrow)]
    pub definition: &'a str,
    /// Labels, `namespace:value` or a value alone, in order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<&'a str>,
    /// Source of the text.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}

/// Payload of `concept.refined`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptRefined<'a> {
    /// New definition of the concept.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<&'a str>,
    /// Source of the new text.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}

/// Payload of `concept.labelled`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConceptLabelled<'a> {
    /// Labels that the concept gets, in order, each `namespace:value` or a value alone.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<&'a str>,
}
