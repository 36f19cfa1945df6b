//! Payloads of the log family.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `log.origin_started`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogOriginStarted<'a> {
    /// The program that started the origin, for instance `icm 0.1.0`.
    #[serde(borrow)]
    pub program: &'a str,
}

/// Payload of `log.actor_named`; the subject is the actor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogActorNamed<'a> {
    /// For instance `user` or `agent:claude-code`.
    #[serde(borrow)]
    pub name: &'a str,
}

/// Payload of `log.undone`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogUndone<'a> {
    /// How the events were chosen, as it was asked for: `--last 1`, `--session s1`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<&'a str>,
    /// Why, in the words of who did it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// Digest (hexadecimal) of the command, when it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `log.redacted`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogRedacted<'a> {
    /// Why, in the words of who did it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// Payload of `log.repaired`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogRepaired<'a> {
    /// Why, in the words of who did it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}
