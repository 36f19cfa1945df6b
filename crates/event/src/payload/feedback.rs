//! Payload of feedback.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::SourceText;

/// Payload of `feedback.applied`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackApplied<'a> {
    /// Reason, if one was given.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// Payload of `feedback.recorded`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackRecorded<'a> {
    /// The prediction, or what was done.
    #[serde(borrow)]
    pub predicted: &'a str,
    /// The right answer.
    #[serde(borrow)]
    pub correct: &'a str,
    /// The situation in which the prediction was made.
    #[serde(borrow)]
    pub context: &'a str,
    /// The reason why it is right.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The topic of the feedback.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'a str>,
    /// Text of a project's or session's scope; absent for the global scope.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
    /// Source of the feedback.
    #[serde(borrow, default, skip_serializing_if = "SourceText::is_empty")]
    pub source: SourceText<'a>,
}
