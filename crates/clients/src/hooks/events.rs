//! The events of each client, and the moments that they mean.

use crate::names::Client;

use super::error::HookError;
use super::input::{Cause, Moment};

/// An event of a client that icm uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRow {
    /// The event as the client writes it.
    pub name: &'static str,
    /// The moment; a start has the cause that holds if the input names none.
    pub moment: Moment,
    /// `true` if the client gives the hook's context to the model.
    pub injects: bool,
    /// `true` if `init` installs the hook by default: it gives context to the model, or icm learns from it.
    pub by_default: bool,
}

const START: Moment = Moment::SessionStart {
    cause: Cause::Startup,
};
const RESUME: Moment = Moment::SessionStart {
    cause: Cause::Resume,
};

/// Returns a row for an event whose answer reaches the model.
const fn injecting(name: &'static str, moment: Moment) -> EventRow {
    EventRow {
        name,
        moment,
        injects: true,
        by_default: true,
    }
}

/// Returns a row for an event whose answer does not reach the model.
const fn telling(name: &'static str, moment: Moment) -> EventRow {
    EventRow {
        name,
        moment,
        injects: false,
        by_default: true,
    }
}

/// Returns the row, installed only on request.
const fn asked(row: EventRow) -> EventRow {
    EventRow {
        by_default: false,
        ..row
    }
}

/// Claude Code. A start with cause `compact` follows each compaction, so `PostCompact` has nothing to add.
const CLAUDE: &[EventRow] = &[
    injecting("SessionStart", START),
    injecting("UserPromptSubmit", Moment::Prompt),
    telling("PreCompact", Moment::BeforeCompaction),
    telling("Stop", Moment::Stop),
    injecting("SubagentStart", Moment::SubagentStart),
    telling("SubagentStop", Moment::SubagentStop),
    telling("SessionEnd", Moment::SessionEnd),
    asked(telling("PostCompact", Moment::AfterCompaction)),
];

/// Qwen Code does not give a sub-agent the context of its start hook.
const QWEN: &[EventRow] = &[
    injecting("SessionStart", START),
    injecting("UserPromptSubmit", Moment::Prompt),
    telling("PreCompact", Moment::BeforeCompaction),
    telling("Stop", Moment::Stop),
    telling("SubagentStart", Moment::SubagentStart),
    telling("SubagentStop", Moment::SubagentStop),
    telling("SessionEnd", Moment::SessionEnd),
    asked(telling("PostCompact", Moment::AfterCompaction)),
];

/// Gemini CLI. `PreCompress` fires before each request to the model, so it marks no compaction.
const GEMINI: &[EventRow] = &[
    injecting("SessionStart", START),
    injecting("BeforeAgent", Moment::Prompt),
    telling("AfterAgent", Moment::Stop),
    telling("SessionEnd", Moment::SessionEnd),
];

/// Antigravity. The first `PreInvocation` of a conversation is its start; no event has the prompt.
const ANTIGRAVITY: &[EventRow] = &[
    injecting("PreInvocation", START),
    telling("Stop", Moment::Stop),
];

/// Copilot CLI puts the context of a sub-agent's start before its prompt and gives both to the prompt hook, so only
/// that hook injects.
const COPILOT: &[EventRow] = &[
    injecting("sessionStart", START),
    injecting("userPromptSubmitted", Moment::Prompt),
    telling("preCompact", Moment::BeforeCompaction),
    telling("agentStop", Moment::Stop),
    telling("subagentStart", Moment::SubagentStart),
    telling("subagentStop", Moment::SubagentStop),
    telling("sessionEnd", Moment::SessionEnd),
];

/// The agent hooks of VS Code. A prompt takes no context, and no event ends a session.
const VSCODE: &[EventRow] = &[
    injecting("SessionStart", START),
    asked(telling("UserPromptSubmit", Moment::Prompt)),
    telling("PreCompact", Moment::BeforeCompaction),
    telling("Stop", Moment::Stop),
    injecting("SubagentStart", Moment::SubagentStart),
    telling("SubagentStop", Moment::SubagentStop),
];

/// Cursor. Its model gets no context at a prompt.
const CURSOR: &[EventRow] = &[
    injecting("sessionStart", START),
    asked(telling("beforeSubmitPrompt", Moment::Prompt)),
    telling("preCompact", Moment::BeforeCompaction),
    telling("stop", Moment::Stop),
    telling("subagentStart", Moment::SubagentStart),
    telling("subagentStop", Moment::SubagentStop),
    telling("sessionEnd", Moment::SessionEnd),
];

const FACTORY: &[EventRow] = &[
    injecting("SessionStart", START),
    injecting("UserPromptSubmit", Moment::Prompt),
    telling("PreCompact", Moment::BeforeCompaction),
    telling("Stop", Moment::Stop),
    telling("SubagentStop", Moment::SubagentStop),
    telling("SessionEnd", Moment::SessionEnd),
];

/// Kimi Code drops the context of a start.
const KIMI: &[EventRow] = &[
    telling("SessionStart", START),
    injecting("UserPromptSubmit", Moment::Prompt),
    telling("PreCompact", Moment::BeforeCompaction),
    telling("PostCompact", Moment::AfterCompaction),
    telling("Stop", Moment::Stop),
    telling("SubagentStart", Moment::SubagentStart),
    telling("SubagentStop", Moment::SubagentStop),
    telling("SessionEnd", Moment::SessionEnd),
];

/// Cline runs the hooks of a task's start and end without reading their output.
const CLINE: &[EventRow] = &[
    telling("TaskStart", START),
    telling("TaskResume", RESUME),
    injecting("UserPromptSubmit", Moment::Prompt),
    telling("PreCompact", Moment::BeforeCompaction),
    telling("TaskComplete", Moment::Stop),
    telling("TaskCancel", Moment::Stop),
    telling("SessionShutdown", Moment::SessionEnd),
];

/// OpenCode and Kilo. Their plugin file runs the hooks with JSON that icm defines.
const OPENCODE: &[EventRow] = &[
    injecting("session.created", START),
    injecting("chat.message", Moment::Prompt),
    telling("experimental.session.compacting", Moment::BeforeCompaction),
    injecting("session.compacted", Moment::AfterCompaction),
    telling("session.idle", Moment::Stop),
    telling("session.deleted", Moment::SessionEnd),
];

const KIRO: &[EventRow] = &[
    injecting("agentSpawn", START),
    injecting("userPromptSubmit", Moment::Prompt),
    telling("preCompact", Moment::BeforeCompaction),
    telling("postCompact", Moment::AfterCompaction),
    telling("stop", Moment::Stop),
];

/// Windsurf. No hook can give the model a context. The end of a turn has the text of the answer.
const WINDSURF: &[EventRow] = &[
    asked(telling("pre_user_prompt", Moment::Prompt)),
    telling("post_cascade_response", Moment::Stop),
];

/// Returns the names of the events whose hooks are installed by default.
pub fn defaults(client: Client) -> impl Iterator<Item = &'static str> {
    let rows = events(client).iter().filter(|row| row.by_default);
    rows.map(|row| row.name)
}

/// Returns the events of a client that icm uses, session starts first. Empty if the client has no hooks.
pub fn events(client: Client) -> &'static [EventRow] {
    match client {
        Client::ClaudeCode | Client::Codex | Client::Qoder => CLAUDE,
        Client::QwenCode => QWEN,
        Client::GeminiCli => GEMINI,
        Client::Antigravity => ANTIGRAVITY,
        Client::CopilotCli => COPILOT,
        Client::VsCode => VSCODE,
        Client::Cursor => CURSOR,
        Client::Factory => FACTORY,
        Client::KimiCode => KIMI,
        Client::Cline => CLINE,
        Client::OpenCode | Client::Kilo => OPENCODE,
        Client::Kiro => KIRO,
        Client::Windsurf => WINDSURF,
        _ => &[],
    }
}

/// Returns the known events of a client that icm does not use, separated by spaces.
fn others(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => {
            "PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptExpansion StopFailure \
             PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated \
             TaskCompleted Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove \
             InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay PreSkillShellCommand"
        }
        Client::Codex => {
            "PreToolUse PostToolUse PermissionRequest PreModelRequest PostModelRequest Interrupt StopFailure \
             Notification"
        }
        Client::QwenCode => {
            "PreToolUse PostToolUse PostToolUseFailure PostToolBatch UserPromptExpansion SessionDelete MessageDisplay \
             StopFailure Notification PermissionRequest PermissionDenied TodoCreated TodoCompleted InstructionsLoaded"
        }
        Client::Qoder => {
            "PreToolUse PostToolUse PostToolUseFailure Setup PermissionRequest Notification"
        }
        Client::GeminiCli => {
            "BeforeTool AfterTool BeforeModel AfterModel BeforeToolSelection PreCompress Notification"
        }
        Client::Antigravity => "SessionStart PreToolUse PostToolUse PostInvocation",
        Client::CopilotCli => {
            "preToolUse preMcpToolCall postToolUse postToolUseFailure userPromptTransformed postResult \
             prePRDescription errorOccurred permissionRequest notification"
        }
        Client::VsCode => "PreToolUse PostToolUse",
        Client::Cursor => {
            "preToolUse postToolUse postToolUseFailure beforeShellExecution afterShellExecution beforeMCPExecution \
             afterMCPExecution beforeReadFile afterFileEdit afterAgentResponse afterAgentThought beforeTabFileRead \
             afterTabFileEdit workspaceOpen"
        }
        Client::Factory => "PreToolUse PostToolUse Notification",
        Client::KimiCode => {
            "PreToolUse PostToolUse PostToolUseFailure StopFailure Notification PermissionRequest"
        }
        Client::Cline => "TaskError PreToolUse PostToolUse",
        Client::OpenCode | Client::Kilo => {
            "session.updated session.status session.diff session.error message.updated message.part.updated \
             chat.params tool.execute.before tool.execute.after experimental.chat.system.transform \
             experimental.chat.messages.transform"
        }
        Client::Kiro => "preToolUse postToolUse",
        Client::Windsurf => {
            "pre_read_code post_read_code pre_write_code post_write_code pre_run_command post_run_command \
             pre_mcp_tool_use post_mcp_tool_use post_cascade_response_with_transcript post_setup_worktree"
        }
        _ => "",
    }
}

/// Returns `name` without the marks and capitals in which `SessionStart`, `session-start` and `session_start` differ.
fn folded(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '-' | '_' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the row of an event; its moment is [`Moment::Other`] if icm does not use the event.
///
/// The events of Claude Code mean the same moments in every client, because plugins and migrated files keep its names.
///
/// # Errors
/// [`HookError::NoHooks`] and [`HookError::UnknownEvent`].
pub(super) fn find(client: Client, event: &str) -> Result<EventRow, HookError> {
    let rows = events(client);
    if rows.is_empty() {
        let with = Client::ALL.iter().filter(|it| !events(**it).is_empty());
        return Err(HookError::NoHooks {
            client,
            with_hooks: with.map(|it| it.name()).collect(),
        });
    }
    let wanted = folded(event);
    let named = |rows: &[EventRow]| rows.iter().copied().find(|row| folded(row.name) == wanted);
    if let Some(row) = named(rows) {
        return Ok(row);
    }
    let unused = |of: Client| {
        let mut names = others(of).split_whitespace();
        let name = names.find(|name| folded(name) == wanted)?;
        Some(asked(telling(name, Moment::Other)))
    };
    let alike =
        || named(CLAUDE).and_then(|of| rows.iter().copied().find(|row| row.moment == of.moment));
    let found = unused(client)
        .or_else(alike)
        .or_else(|| unused(Client::ClaudeCode));
    found.ok_or_else(|| HookError::UnknownEvent {
        client,
        event: event.chars().take(64).collect(),
        known: rows.iter().map(|row| row.name).collect(),
    })
}

/// Returns whether the client gives an event's context to the model. `false` for an unknown event.
pub fn injects(client: Client, event: &str) -> bool {
    find(client, event).is_ok_and(|row| row.injects)
}

/// Returns `true` if an event marks a new context of the model, without what the session has seen before.
///
/// These are starts and the end of a compaction. The beginning of a compaction counts only in clients without an event
/// for its end. Unknown events return `false`. The caller must skip inputs with [`Moment::Other`]: Antigravity's
/// `PreInvocation` comes again within a turn.
pub fn freshens(client: Client, event: &str) -> bool {
    match find(client, event).map(|row| row.moment) {
        Ok(Moment::SessionStart { .. } | Moment::SubagentStart | Moment::AfterCompaction) => true,
        Ok(Moment::BeforeCompaction) => !tells_end_of_compaction(client),
        _ => false,
    }
}

/// Returns `true` if each compaction is followed by an event that is installed by default.
///
/// Factory documents a start with source `compact` but does not send it (Factory-AI/factory, issue 760).
fn tells_end_of_compaction(client: Client) -> bool {
    let starts_again = matches!(
        client,
        Client::ClaudeCode | Client::Codex | Client::Qoder | Client::QwenCode
    );
    let is_end = |row: &EventRow| row.by_default && row.moment == Moment::AfterCompaction;
    starts_again || events(client).iter().any(is_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_client_is_there_once() {
        let mut names = 0;
        for client in Client::ALL {
            let used = events(*client).iter().map(|row| row.name);
            let mut all: Vec<_> = used
                .chain(others(*client).split_whitespace())
                .map(folded)
                .collect();
            names += all.len();
            all.sort_unstable();
            let count = all.len();
            all.dedup();
            assert_eq!(all.len(), count, "{client:?}");
        }
        assert!(names > 150, "{names}");
    }

    /// A hook costs a process. A hook without context for the model must serve a moment that icm records or learns
    /// from.
    #[test]
    fn no_hook_is_installed_for_nothing() {
        let mut rows = 0;
        for client in Client::ALL {
            for row in events(*client).iter().filter(|row| row.by_default) {
                let is_of_use = match row.moment {
                    Moment::Prompt => row.injects,
                    Moment::Other => false,
                    _ => true,
                };
                assert!(is_of_use, "{client:?}: {}", row.name);
                rows += 1;
            }
        }
        assert!(rows > 80, "{rows}");
    }

    #[test]
    fn an_event_is_found_in_each_way_to_write_it() {
        for name in [
            "UserPromptSubmit",
            "user-prompt-submit",
            "user_prompt_submit",
            "USERPROMPTSUBMIT",
        ] {
            for (client, found) in [
                (Client::ClaudeCode, "UserPromptSubmit"),
                (Client::CopilotCli, "userPromptSubmitted"),
                (Client::GeminiCli, "BeforeAgent"),
                (Client::Windsurf, "pre_user_prompt"),
            ] {
                assert_eq!(
                    find(client, name).map(|row| row.name),
                    Ok(found),
                    "{client:?}"
                );
            }
        }
        assert!(injects(Client::OpenCode, "session-created"));
        assert!(!injects(Client::ClaudeCode, "PreCompact"));
        assert!(!injects(Client::Zed, "SessionStart"));
    }

    #[test]
    fn the_events_that_icm_has_no_use_for_are_no_moments() {
        for (client, event) in [
            (Client::GeminiCli, "PreCompress"),
            (Client::ClaudeCode, "Notification"),
            (Client::Cursor, "afterFileEdit"),
            (Client::ClaudeCode, "PostToolUse"),
            (Client::CopilotCli, "PostToolUse"),
            (Client::GeminiCli, "AfterTool"),
            (Client::GeminiCli, "PostToolUse"),
            (Client::OpenCode, "tool.execute.after"),
        ] {
            let row = find(client, event).expect("a known event");
            assert_eq!((row.moment, row.injects), (Moment::Other, false), "{event}");
        }
    }

    #[test]
    fn an_unknown_event_is_named_with_the_known_ones() {
        let error = find(Client::GeminiCli, "PreCompact")
            .expect_err("an error")
            .to_string();
        assert_eq!(
            error,
            "Gemini CLI has no event `PreCompact` that icm knows; it has SessionStart, BeforeAgent, AfterAgent, \
             SessionEnd"
        );
        let long = find(Client::Codex, &"x".repeat(1 << 20))
            .expect_err("an error")
            .to_string();
        assert!(long.len() < 400, "{long}");
        let none = find(Client::Zed, "Stop").expect_err("an error").to_string();
        assert!(
            none.starts_with(
                "Zed has no hooks that icm knows; clients with hooks: claude-code, codex"
            ),
            "{none}"
        );
    }
}
