//! Payloads of the events about the log itself (`log.…`).

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
    /// Name of the actor, for instance `user` or `agent:claude-code`.
    #[serde(borrow)]
    pub name: &'a str,
}

/// Payload of `log.undone`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogUndone<'a> {
    /// The selection of the undone events, as the command gave it: `--last 1`, `--session s1`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<&'a str>,
    /// Reason, in the words of the person or agent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// Digest (hexadecimal) of the command, if it came with an idempotency key.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub request_digest: Option<&'a str>,
}

/// Payload of `log.redacted`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogRedacted<'a> {
    /// Reason, in the words of the person or agent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// Payload of `log.repaired`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogRepaired<'a> {
    /// Reason, in the words of the person or agent.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}
