//! The client that runs a hook of a plugin which several clients share.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::names::Client;

use super::read::without_mark;

/// The word in place of a client's name in a plugin that several clients share: `icm hook plugin SessionStart`.
pub const PLUGIN: &str = "plugin";

/// Folders below which each client keeps its transcripts.
const TRANSCRIPTS: [(&str, Client); 8] = [
    (".claude", Client::ClaudeCode),
    (".codex", Client::Codex),
    (".copilot", Client::CopilotCli),
    (".qwen", Client::QwenCode),
    (".gemini", Client::GeminiCli),
    (".factory", Client::Factory),
    (".qoder", Client::Qoder),
    (".cursor", Client::Cursor),
];

/// Variables that only the process of a hook has: an agent that runs in the shell of another one inherits the rest.
const HOOK_VARIABLES: [(&str, Client); 7] = [
    ("COPILOT_PLUGIN_ROOT", Client::CopilotCli),
    ("CURSOR_PLUGIN_ROOT", Client::Cursor),
    ("DROID_PLUGIN_ROOT", Client::Factory),
    ("FACTORY_PROJECT_DIR", Client::Factory),
    ("QODER_PLUGIN_ROOT", Client::Qoder),
    ("QWEN_PROJECT_DIR", Client::QwenCode),
    ("GEMINI_PROJECT_DIR", Client::GeminiCli),
];

/// The fields that tell a client. No other one is kept: [`read()`](super::read()) parses the input as a whole.
#[derive(Default, Deserialize)]
struct Traits {
    transcript_path: Option<Value>,
    #[serde(rename = "transcriptPath")]
    transcript_path_of_copilot: Option<Value>,
    turn_id: Option<IgnoredAny>,
    cursor_version: Option<IgnoredAny>,
}

/// Returns the client that runs a hook named [`PLUGIN`], by its environment and its input.
///
/// The path of the transcript counts first, then the fields and variables that one client has. Claude Code is the
/// answer if nothing tells: the others that share a plugin take its shape. Input that is no JSON counts as none. The
/// cost is one pass over the input, without a tree of its values.
pub fn which(env: impl Fn(&str) -> Option<String>, stdin: &[u8]) -> Client {
    let input: Traits = serde_json::from_slice(without_mark(stdin)).unwrap_or_default();
    // Cursor tells its version in each input.
    if input.cursor_version.is_some() {
        return Client::Cursor;
    }
    if let Some(client) = by_transcript(&input) {
        return client;
    }
    let set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    if let Some((_, client)) = HOOK_VARIABLES.iter().find(|(name, _)| set(name)) {
        return *client;
    }
    // Codex sets `PLUGIN_ROOT` beside Claude Code's variable, and names its turns.
    let codex = input.turn_id.is_some() || (set("PLUGIN_ROOT") && set("CLAUDE_PLUGIN_ROOT"));
    if codex {
        Client::Codex
    } else {
        Client::ClaudeCode
    }
}

/// Returns whether another client runs a hook that was written for `client`, and has hooks of its own.
///
/// Cursor runs the hooks in Claude Code's settings beside its own, which would tell its model everything twice. It takes
/// another answer than Claude Code, so these hooks say nothing there. Continue runs them, too, in Claude Code's shape;
/// `init` gives it no hooks of its own, so they are the only ones.
pub fn is_borrowed(client: Client, stdin: &[u8]) -> bool {
    let input: Traits = serde_json::from_slice(without_mark(stdin)).unwrap_or_default();
    client == Client::ClaudeCode && input.cursor_version.is_some()
}

fn by_transcript(input: &Traits) -> Option<Client> {
    let paths = [&input.transcript_path, &input.transcript_path_of_copilot];
    let path = paths.into_iter().flatten().find_map(Value::as_str)?;
    // Windows writes `\`, which is no separator here.
    let path = path.replace('\\', "/");
    let file = Path::new(&path).file_name()?.to_string_lossy().into_owned();
    if file.starts_with("rollout-") {
        return Some(Client::Codex);
    }
    // A project may lie below a folder of this name, so the innermost one counts.
    path.rsplit('/').find_map(|part| {
        let known = TRANSCRIPTS.iter().find(|(folder, _)| *folder == part);
        known.map(|(_, client)| *client)
    })
}
