//! A hook's input in one form for all clients.

use std::path::PathBuf;

use crate::names::Client;

/// A moment of a session, independent of the client's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// A session starts or resumes, and its model has no context of icm.
    SessionStart {
        /// The reason of the start.
        cause: Cause,
    },
    /// A prompt is about to reach the model.
    Prompt,
    /// The client is about to shorten the conversation.
    BeforeCompaction,
    /// The client has shortened the conversation.
    AfterCompaction,
    /// A turn of the model ends.
    Stop,
    /// A sub-agent starts.
    SubagentStart,
    /// A sub-agent ends.
    SubagentStop,
    /// The session ends.
    SessionEnd,
    /// A moment that icm has no use for.
    Other,
}

/// The reason why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A new session.
    Startup,
    /// An older session goes on.
    Resume,
    /// The user emptied the conversation.
    Clear,
    /// The client shortened the conversation.
    Compact,
    /// The session is a copy of another one.
    Fork,
    /// A reason that icm does not know.
    Other,
}

/// A sub-agent: an agent that another agent of the same session started.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subagent {
    /// The client's id of the sub-agent; its kind if the client gives no id.
    pub id: String,
    /// The kind, such as `Explore`.
    pub kind: Option<String>,
}

/// The input of a hook. A text is `None` if the client leaves it out, or gives `null` or an empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The client that runs the hook.
    pub client: Client,
    /// The event in the client's spelling, also if the command line used another one.
    pub event: String,
    /// The moment that the event means.
    pub moment: Moment,
    /// The client's name for the session.
    pub session: Option<String>,
    /// The sub-agent in which the event happens, or that starts or ends.
    pub agent: Option<Subagent>,
    /// The working folder of the agent; the hook's process may run in another one.
    pub folder: Option<PathBuf>,
    /// The file with the conversation. At the end of a sub-agent, the sub-agent's own file, or `None` if the client
    /// names none.
    pub transcript: Option<PathBuf>,
    /// The user's prompt. Qwen Code also runs its prompt hook without one, after each tool call; Claude Code with
    /// notices.
    pub prompt: Option<String>,
    /// The client's own word for the reason of a start, a stop, an end or a compaction.
    pub reason: Option<String>,
    /// The last message of the model, at the end of a turn.
    pub last_message: Option<String>,
}
