//! Finds the client that runs a hook of a shared plugin.

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::names::Client;

use super::read::without_mark;

/// Stands for a client's name in a plugin that several clients share: `icm hook plugin SessionStart`.
pub const PLUGIN: &str = "plugin";

/// Folders above the transcripts of each client.
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

/// Variables that only a hook's process has. An agent in the shell of another agent inherits other variables.
const HOOK_VARIABLES: [(&str, Client); 7] = [
    ("COPILOT_PLUGIN_ROOT", Client::CopilotCli),
    ("CURSOR_PLUGIN_ROOT", Client::Cursor),
    ("DROID_PLUGIN_ROOT", Client::Factory),
    ("FACTORY_PROJECT_DIR", Client::Factory),
    ("QODER_PLUGIN_ROOT", Client::Qoder),
    ("QWEN_PROJECT_DIR", Client::QwenCode),
    ("GEMINI_PROJECT_DIR", Client::GeminiCli),
];

/// The fields that tell clients apart. Other fields are skipped; [`read()`](super::read()) parses the whole input.
#[derive(Default, Deserialize)]
struct Traits {
    transcript_path: Option<Value>,
    #[serde(rename = "transcriptPath")]
    transcript_path_of_copilot: Option<Value>,
    turn_id: Option<IgnoredAny>,
    cursor_version: Option<IgnoredAny>,
}

/// Returns the client that runs a hook named [`PLUGIN`], by environment and input.
///
/// The path of the transcript counts first, then fields and variables of a single client. The default is Claude Code,
/// because the other clients of a shared plugin take its shape. Input that is not JSON is ignored. The cost is one pass
/// over the input without building its values.
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

/// Returns `true` if a client with hooks of its own runs a hook that was written for `client`.
///
/// Cursor also runs the hooks in Claude Code's settings, which would show its model everything twice. Cursor takes
/// another answer than Claude Code, so these hooks stay silent there. Continue runs them, too, in Claude Code's shape;
/// `init` gives Continue no hooks of its own, so there is no second answer.
pub fn is_borrowed(client: Client, stdin: &[u8]) -> bool {
    let input: Traits = serde_json::from_slice(without_mark(stdin)).unwrap_or_default();
    client == Client::ClaudeCode && input.cursor_version.is_some()
}

fn by_transcript(input: &Traits) -> Option<Client> {
    let paths = [&input.transcript_path, &input.transcript_path_of_copilot];
    let path = paths.into_iter().flatten().find_map(Value::as_str)?;
    // Windows writes `\`, which is not a separator on other systems.
    let path = path.replace('\\', "/");
    let file = Path::new(&path).file_name()?.to_string_lossy().into_owned();
    if file.starts_with("rollout-") {
        return Some(Client::Codex);
    }
    // A project may lie below a folder with such a name, so the innermost folder counts.
    path.rsplit('/').find_map(|part| {
        let known = TRANSCRIPTS.iter().find(|(folder, _)| *folder == part);
        known.map(|(_, client)| *client)
    })
}
