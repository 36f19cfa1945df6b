//! Finds the client of a shared plugin.

use icm_clients::hooks::{is_borrowed, which};
use icm_clients::names::Client;

use super::samples;

/// Returns a lookup in a few variables.
fn env<'a>(variables: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

const CLAUDE: &[(&str, &str)] = &[
    ("CLAUDECODE", "1"),
    ("CLAUDE_PLUGIN_ROOT", "/p"),
    ("CLAUDE_PROJECT_DIR", "/src"),
];
const CODEX: &[(&str, &str)] = &[("PLUGIN_ROOT", "/p"), ("CLAUDE_PLUGIN_ROOT", "/p")];
const COPILOT: &[(&str, &str)] = &[
    ("COPILOT_CLI", "1"),
    ("COPILOT_PLUGIN_ROOT", "/p"),
    ("PLUGIN_ROOT", "/p"),
    ("CLAUDE_PLUGIN_ROOT", "/p"),
    ("CLAUDE_PROJECT_DIR", "/src"),
];
const QWEN: &[(&str, &str)] = &[
    ("QWEN_PROJECT_DIR", "/src"),
    ("GEMINI_PROJECT_DIR", "/src"),
    ("CLAUDE_PROJECT_DIR", "/src"),
];

/// The variables are those that each client gives to a hook of a plugin.
#[test]
fn each_client_is_known_by_its_variables() {
    for (variables, client) in [
        (CLAUDE, Client::ClaudeCode),
        (CODEX, Client::Codex),
        (COPILOT, Client::CopilotCli),
        (QWEN, Client::QwenCode),
        (&[("FACTORY_PROJECT_DIR", "/src")], Client::Factory),
        (&[("GEMINI_PROJECT_DIR", "/src")], Client::GeminiCli),
        (&[("QWEN_PROJECT_DIR", "")], Client::ClaudeCode),
        (&[], Client::ClaudeCode),
    ] {
        for stdin in [
            &b"{}"[..],
            b"",
            b"\xff",
            b"[]",
            br#"{"transcript_path":7}"#,
            br#"{"transcript_path":""}"#,
        ] {
            assert_eq!(which(env(variables), stdin), client, "{variables:?}");
        }
    }
}

#[test]
fn each_client_is_known_by_its_transcript_in_any_environment() {
    let mut known = 0;
    for sample in samples() {
        let own = [
            Client::ClaudeCode,
            Client::Codex,
            Client::QwenCode,
            Client::Qoder,
            Client::Factory,
        ];
        let stop = sample.event() == "Stop";
        if stop && own.contains(&sample.client) {
            for variables in [CLAUDE, CODEX, COPILOT, QWEN, &[]] {
                assert_eq!(
                    which(env(variables), &sample.bytes),
                    sample.client,
                    "{variables:?}"
                );
            }
            known += 1;
        }
    }
    assert_eq!(known, 5);
}

#[test]
fn the_innermost_folder_of_a_path_counts() {
    for (path, client) in [
        (
            r"/home/ann/.claude/work/.qwen/projects/a/chats/1.jsonl",
            Client::QwenCode,
        ),
        (
            r"/home/ann/.codex/work/.claude/projects/a/1.jsonl",
            Client::ClaudeCode,
        ),
        (
            r"C:\\Users\\ann\\.factory\\sessions\\a\\1.jsonl",
            Client::Factory,
        ),
        (
            r"/data/codex-home/sessions/rollout-2026-11-26T19-27-38-01a2.jsonl",
            Client::Codex,
        ),
        (r"/home/ann/.claude", Client::ClaudeCode),
    ] {
        let stdin = format!(r#"{{"transcript_path":"{path}"}}"#);
        assert_eq!(which(env(COPILOT), stdin.as_bytes()), client, "{path}");
    }
}

/// A plugin of Codex that runs in the shell of Claude Code inherits the variables of both.
#[test]
fn a_turn_of_codex_is_known_within_claude_code() {
    let within = env(CLAUDE);
    assert_eq!(
        which(&within, br#"{"turn_id":"t","transcript_path":null}"#),
        Client::Codex
    );
    assert_eq!(which(&within, br#"{"session_id":"s"}"#), Client::ClaudeCode);
}

/// Cursor runs the hooks of Claude Code and its plugins, in a shape of its own.
#[test]
fn every_input_of_cursor_is_known_as_cursors() {
    let (mut of_cursor, mut others) = (0, 0);
    for sample in samples() {
        let is_cursor = sample.client == Client::Cursor;
        assert_eq!(
            is_borrowed(Client::ClaudeCode, &sample.bytes),
            is_cursor,
            "{} {}",
            sample.client.name(),
            sample.name
        );
        assert!(!is_borrowed(Client::Cursor, &sample.bytes));
        if is_cursor {
            assert_eq!(which(env(CLAUDE), &sample.bytes), Client::Cursor);
            of_cursor += 1;
        } else {
            others += 1;
        }
    }
    assert!(of_cursor > 5 && others > 50, "{of_cursor} {others}");
    assert!(!is_borrowed(Client::ClaudeCode, b"not json"));
}

/// Shells on Windows put a byte order mark before the input. Odd values of one field must not hide the other fields.
#[test]
fn a_mark_and_odd_values_hide_no_client() {
    for stdin in [
        "\u{feff}{\"turn_id\":\"t\"}",
        "\u{feff}{\"transcript_path\":\"/home/ann/.codex/1\"}",
        r#"{"turn_id":{"deep":[1,2]},"transcript_path":7}"#,
        r#"{"transcript_path":[],"transcriptPath":"/home/ann/.codex/1"}"#,
    ] {
        assert_eq!(which(env(&[]), stdin.as_bytes()), Client::Codex, "{stdin}");
    }
}
