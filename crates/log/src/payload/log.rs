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
