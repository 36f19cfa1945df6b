//! Sessions of agents.

use icm_log::facts::{SessionCause, SessionEnd};
use serde::{Deserialize, Serialize};

/// A session starts, or goes on with a fresh context. The caller names the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// The session that it works for.
    pub parent: Option<String>,
    /// The client in which it runs, for instance `claude-code`.
    pub client: Option<String>,
    /// The folder that it works in.
    pub folder: Option<String>,
    /// The kind of sub-agent, if it is one.
    pub agent: Option<String>,
    /// Why it starts.
    pub cause: SessionCause,
}

/// A session ends. The caller names the session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStop {
    /// Why it ends.
    pub reason: SessionEnd,
}
