//! The names of fields in the input of each client.

use crate::names::Client;

/// The fields of a client: lists of JSON pointers. The first pointer with a value counts.
pub(super) struct Fields {
    pub(super) session: &'static [&'static str],
    pub(super) agent: &'static [&'static str],
    pub(super) agent_kind: &'static [&'static str],
    pub(super) agent_transcript: &'static [&'static str],
    pub(super) folder: &'static [&'static str],
    pub(super) transcript: &'static [&'static str],
    pub(super) prompt: &'static [&'static str],
    /// The reason of a start, an end, a stop or a compaction.
    pub(super) reason: &'static [&'static str],
    pub(super) last_message: &'static [&'static str],
}

const NONE: &[&str] = &[];

/// Claude Code, and the clients with its shape. `prompt_response` is from Gemini CLI.
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

/// Copilot CLI uses its own names, or those of Claude Code if a plugin uses its events; VS Code mixes both.
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

/// The agent that started a sub-agent; for a main agent, the session.
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

/// Cline. A task is a session; `agent_id` is a sub-agent only if there is a `parent_agent_id`.
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

/// OpenCode and Kilo. Their plugin file writes JSON with the names of Claude Code or of OpenCode.
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

/// The parent session, in the JSON of that plugin file.
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
