//! Payloads of sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `session.started`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStarted<'a> {
    /// The session's name, as it was given.
    #[serde(borrow)]
    pub session: &'a str,
    /// Name of the session that this one works for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<&'a str>,
    /// The client in which the session runs.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub client: Option<&'a str>,
    /// The project that the session works on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub project: Option<&'a str>,
    /// The folder in which the session works.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<&'a str>,
    /// The kind of sub-agent, if the session is one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
}
