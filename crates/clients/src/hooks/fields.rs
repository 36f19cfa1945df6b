//! The names of the fields in which each client gives the same thing.

use crate::names::Client;

/// The fields of a client: each a list of JSON pointers, of which the first that has a value counts.
pub(super) struct Fields {
    pub(super) session: &'static [&'static str],
    pub(super) agent: &'static [&'static str],
    pub(super) agent_kind: &'static [&'static str],
    pub(super) agent_transcript: &'static [&'static str],
    pub(super) folder: &'static [&'static str],
    pub(super) transcript: &'static [&'static str],
    pub(super) prompt: &'static [&'static str],
    /// The reason of a start, an end, a stop or a compaction; a client gives one of them.
    pub(super) reason: &'static [&'static str],
    pub(super) last_message: &'static [&'static str],
}

const NONE: &[&str] = &[];

/// Claude Code, and the clients that took over its shape. `prompt_response` is Gemini CLI's.
const CLAUDE: Fields = Fields {
    session: &["/session_id"],
    agent: &["/agent_id"],
    agent_kind: &["/agent_type"],
    agent_transcript: &["/agent_transcript_path"],
    folder: &["/cwd"],
    transcript: &["/transcript_path"],
    prompt: &["/prompt"],
    reason: &["/source", "/reason", "/trigger"],
    last_message: &["/last_assistant_message", "/prompt_response"],
};

/// Copilot CLI writes its own names, or those of Claude Code where a plugin uses its events, and VS Code mixes both.
const COPILOT: Fields = Fields {
    session: &["/sessionId", "/session_id"],
    agent: &["/agentId", "/agent_id"],
    agent_kind: &["/agentType", "/agent_type", "/agentName", "/agent_name"],
    agent_transcript: NONE,
    folder: &["/cwd", "/workingDirectory"],
    transcript: &["/transcriptPath", "/transcript_path"],
    prompt: &["/prompt"],
    reason: &[
        "/source",
        "/reason",
        "/trigger",
        "/stopReason",
        "/stop_reason",
    ],
    last_message: &["/response", "/finalMessage", "/last_assistant_message"],
};

/// The agent that started a sub-agent; of a main agent's, it is the session.
pub(super) const COPILOT_PARENT: &[&str] = &["/parentAgentId", "/parent_agent_id"];

const CURSOR: Fields = Fields {
    session: &["/conversation_id", "/session_id"],
    agent: &["/subagent_id"],
    agent_kind: &["/subagent_type"],
    agent_transcript: &["/agent_transcript_path"],
    folder: &["/workspace_roots/0", "/cwd"],
    transcript: &["/transcript_path"],
    prompt: &["/prompt"],
    reason: &["/reason", "/trigger", "/status"],
    last_message: &["/summary"],
};

/// A task of Cline is a session; `parent_agent_id` decides whether `agent_id` is a sub-agent.
const CLINE: Fields = Fields {
    session: &["/taskId"],
    agent: &["/agent_id"],
    agent_kind: NONE,
    agent_transcript: NONE,
    folder: &["/workspaceRoots/0", "/workspaceInfo/rootPath"],
    transcript: &["/preCompact/contextRawPath"],
    prompt: &[
        "/userPromptSubmit/prompt",
        "/taskStart/taskMetadata/initialTask",
    ],
    reason: &["/turn/status", "/reason"],
    last_message: &["/turn/outputText"],
};

/// The JSON that the plugin file for OpenCode and Kilo writes, in the names of Claude Code or in those of OpenCode.
const OPENCODE: Fields = Fields {
    session: &["/session_id", "/sessionID"],
    agent: NONE,
    agent_kind: &["/agent_type", "/agent"],
    agent_transcript: NONE,
    folder: &["/cwd", "/directory"],
    transcript: &["/transcript_path"],
    prompt: &["/prompt"],
    reason: &["/source", "/reason"],
    last_message: &["/last_assistant_message"],
};

/// The session that started this one, in the JSON of that plugin file.
pub(super) const OPENCODE_PARENT: &[&str] = &["/parent_id", "/parentID"];

const WINDSURF: Fields = Fields {
    session: &["/trajectory_id"],
    agent: NONE,
    agent_kind: NONE,
    agent_transcript: NONE,
    folder: &["/tool_info/cwd"],
    transcript: &["/tool_info/transcript_path"],
    prompt: &["/tool_info/user_prompt"],
    reason: NONE,
    last_message: &["/tool_info/response"],
};

const ANTIGRAVITY: Fields = Fields {
    session: &["/conversationId"],
    agent: NONE,
    agent_kind: NONE,
    agent_transcript: NONE,
    folder: &["/workspacePaths/0"],
    transcript: &["/transcriptPath"],
    prompt: NONE,
    reason: &["/terminationReason"],
    last_message: NONE,
};

/// Returns the fields of a client.
pub(super) fn of(client: Client) -> &'static Fields {
    match client {
        Client::CopilotCli | Client::VsCode => &COPILOT,
        Client::Cursor => &CURSOR,
        Client::Cline => &CLINE,
        Client::OpenCode | Client::Kilo => &OPENCODE,
        Client::Windsurf => &WINDSURF,
        Client::Antigravity => &ANTIGRAVITY,
        _ => &CLAUDE,
    }
}
