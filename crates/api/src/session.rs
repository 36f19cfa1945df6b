//! Sessions of agents.

use icm_log::facts::{SessionCause, SessionEnd};
use serde::{Deserialize, Serialize};

/// The start of a session, also with a fresh context. The session itself is named by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// The parent session, for a sub-agent.
    pub parent: Option<String>,
    /// The client program, for instance `claude-code`.
    pub client: Option<String>,
    /// The working folder.
    pub folder: Option<String>,
    /// The kind of sub-agent, if the session has one.
    pub agent: Option<String>,
    /// The cause of the start.
    pub cause: SessionCause,
}

/// The end of a session. The session itself is named by the caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStop {
    /// The reason of the end.
    pub reason: SessionEnd,
}
