//! Topics with many memories, and the command that helps.

use serde::{Deserialize, Serialize};

use icm_guard::shell;

/// A topic with so many memories that a summary in their place would help; see
/// [`Service::with_hint_over`](icm_service::Service::with_hint_over).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crowded {
    /// Number of memories in the memory's topic and scope.
    #[serde(rename = "crowded")]
    pub memories: u64,
    /// That scope, if the topic has memories of other scopes, too: a consolidation takes one scope.
    #[serde(
        rename = "crowded_scope",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub scope: Option<String>,
}

impl Crowded {
    /// Returns the shell command that helps.
    pub fn command(&self, topic: &str) -> String {
        consolidate_command(topic, self.scope.as_deref())
    }
}

/// Returns the shell command that consolidates a topic.
pub fn consolidate_command(topic: &str, scope: Option<&str>) -> String {
    let mut command = format!("icm consolidate {}", shell::option("topic", 't', topic));
    if let Some(scope) = scope {
        command.push_str(&format!(" --scope {}", shell::word(scope)));
    }
    command
}
