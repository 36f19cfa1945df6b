//! Payload of an alert.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `alert.set`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlertSet<'a> {
    /// The text to be shown.
    #[serde(borrow)]
    pub text: &'a str,
    /// Name of the session that the alert is for, as it was given.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
    /// Id of the project that the alert is for, as in the scope `project:ID`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub project: Option<&'a str>,
}
