//! The answers of hooks, compared with what each client takes.

use icm_clients::hooks::{self, Moment};
use icm_clients::names::Client;
use serde_json::{Map, Value};

use super::samples;

/// A context with characters that JSON has to escape, or that a shell or a template might expand.
const CONTEXT: &str = "<memories nonce=\"1\">\n\"Invoices\" \\ live in PostgreSQL\t\u{2028}\u{0}\u{1f418} ${HOME} $(id)\n</memories>";

/// Returns the keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    let mut keys: Vec<_> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Returns the context in an answer as the client finds it, after a check that the answer has nothing else.
///
/// `replay-tests/clients/hooks_shapes.py` has the real schemas and types that clients publish. The sources here are the
/// schemas of Codex (`codex-rs/hooks/schema`), the types of Copilot CLI's and Cline's packages, and the documentation
/// of the other clients.
fn context_in(client: Client, event: &str, answer: &[u8]) -> String {
    let text = std::str::from_utf8(answer).expect("a text");
    if client == Client::Kiro {
        return text.to_owned();
    }
    let value: Value = serde_json::from_str(text)
        .unwrap_or_else(|error| panic!("{client:?} {event}: {error}: {text}"));
    let found = match client {
        Client::CopilotCli | Client::OpenCode | Client::Kilo => {
            assert_eq!(keys(&value), ["additionalContext"]);
            &value["additionalContext"]
        }
        Client::Cursor => {
            assert_eq!(keys(&value), ["additional_context"]);
            &value["additional_context"]
        }
        Client::KimiCode => {
            assert_eq!(keys(&value), ["message"]);
            &value["message"]
        }
        Client::Cline => {
            assert_eq!(keys(&value), ["cancel", "context", "contextModification"]);
            assert_eq!(value["cancel"], false);
            assert_eq!(value["context"], value["contextModification"]);
            &value["context"]
        }
        Client::Antigravity => {
            assert_eq!(keys(&value), ["injectSteps"]);
            let steps = value["injectSteps"].as_array().expect("a list");
            assert_eq!(steps.len(), 1);
            assert_eq!(keys(&steps[0]), ["ephemeralMessage"]);
            &steps[0]["ephemeralMessage"]
        }
        _ => {
            assert_eq!(keys(&value), ["hookSpecificOutput"]);
            let inner = &value["hookSpecificOutput"];
            assert_eq!(keys(inner), ["additionalContext", "hookEventName"]);
            assert_eq!(inner["hookEventName"], event);
            &inner["additionalContext"]
        }
    };
    found.as_str().expect("a text").to_owned()
}

/// Returns the events at which a client takes a context, from its documentation.
fn injecting(client: Client) -> &'static [&'static str] {
    match client {
        Client::ClaudeCode | Client::Codex | Client::Qoder => {
            &["SessionStart", "UserPromptSubmit", "SubagentStart"]
        }
        Client::Factory | Client::QwenCode => &["SessionStart", "UserPromptSubmit"],
        Client::VsCode => &["SessionStart", "SubagentStart"],
        Client::GeminiCli => &["SessionStart", "BeforeAgent"],
        Client::CopilotCli => &["sessionStart", "userPromptSubmitted"],
        Client::Cursor => &["sessionStart"],
        Client::KimiCode => &["UserPromptSubmit"],
        Client::Cline => &["UserPromptSubmit"],
        Client::OpenCode | Client::Kilo => {
            &["session.created", "chat.message", "session.compacted"]
        }
        Client::Kiro => &["agentSpawn", "userPromptSubmit"],
        Client::Antigravity => &["PreInvocation"],
        _ => &[],
    }
}

#[test]
fn each_answer_is_what_the_client_takes_and_nothing_more() {
    let (mut given, mut silent) = (0, 0);
    for sample in samples() {
        let input = hooks::read(sample.client, sample.event(), &sample.bytes).expect("an input");
        let answer = hooks::answer(&input, CONTEXT);
        if injecting(sample.client).contains(&input.event.as_str()) {
            assert_eq!(context_in(sample.client, &input.event, &answer), CONTEXT);
            assert!(hooks::injects(sample.client, sample.event()));
            given += 1;
        } else {
            let where_ = format!("{} {}", sample.client.name(), sample.name);
            assert_eq!(answer, hooks::answer(&input, ""), "{where_}");
            assert!(!hooks::injects(sample.client, sample.event()), "{where_}");
            silent += 1;
        }
    }
    assert!(given > 30 && silent > 50, "{given} {silent}");
}

/// Without a context, a client goes on as if the hook had not run.
#[test]
fn an_empty_context_is_the_neutral_answer() {
    let mut answers = 0;
    for sample in samples() {
        let input = hooks::read(sample.client, sample.event(), &sample.bytes).expect("an input");
        let expected: &[u8] = match (sample.client, input.moment) {
            (Client::Cursor, Moment::Prompt) => br#"{"continue":true}"#,
            (Client::Cline, _) => br#"{"cancel":false}"#,
            (
                Client::Cursor
                | Client::GeminiCli
                | Client::Antigravity
                | Client::OpenCode
                | Client::Kilo,
                _,
            ) => b"{}",
            _ => b"",
        };
        assert_eq!(
            hooks::answer(&input, ""),
            expected,
            "{} {}",
            sample.client.name(),
            sample.name
        );
        answers += 1;
    }
    assert!(answers > 100);
}

/// A hook whose input cannot be read still has to answer what its client parses.
#[test]
fn the_neutral_answer_needs_no_input() {
    let mut answers = 0;
    for sample in samples() {
        let input = hooks::read(sample.client, sample.event(), &sample.bytes).expect("an input");
        let neutral = hooks::neutral(sample.client, sample.event());
        assert_eq!(neutral, hooks::answer(&input, ""), "{}", sample.name);
        answers += 1;
    }
    assert!(answers > 100);
    let long = "x".repeat(1 << 20);
    for (client, event, expected) in [
        (Client::Cursor, "beforeSubmitPrompt", r#"{"continue":true}"#),
        (Client::Cursor, "UserPromptSubmit", r#"{"continue":true}"#),
        (Client::Cursor, "afterFileEdit", "{}"),
        (Client::Cursor, "later", "{}"),
        (Client::GeminiCli, "", "{}"),
        (Client::GeminiCli, &long, "{}"),
        (Client::Cline, "later", r#"{"cancel":false}"#),
        (Client::Codex, "later", ""),
        (Client::Kiro, "userPromptSubmit", ""),
        (Client::Zed, "Stop", ""),
    ] {
        let answer = hooks::neutral(client, event);
        assert_eq!(answer, expected.as_bytes(), "{} {event:.20}", client.name());
    }
}

/// Codex rejects a hook with an unknown key, and its `Stop` takes only a decision.
#[test]
fn codex_gets_the_keys_of_its_schema_alone() {
    let allowed = [
        "continue",
        "decision",
        "hookSpecificOutput",
        "reason",
        "stopReason",
        "suppressOutput",
        "systemMessage",
    ];
    let mut checked = 0;
    for row in hooks::events(Client::Codex) {
        let input = hooks::read(Client::Codex, row.name, b"{}").expect("an input");
        let answer = hooks::answer(&input, CONTEXT);
        if answer.is_empty() {
            continue;
        }
        let value: Map<String, Value> = serde_json::from_slice(&answer).expect("an object");
        assert!(
            value.keys().all(|key| allowed.contains(&key.as_str())),
            "{value:?}"
        );
        assert_ne!(row.moment, Moment::Stop);
        checked += 1;
    }
    assert_eq!(checked, 3);
}

/// The limits of the clients that cut a context: 10,000 characters, 2,500 tokens.
#[test]
fn the_limits_leave_room_below_those_of_the_clients() {
    const { assert!(hooks::CONTEXT_CHARS_MAX < 10_000 && hooks::CONTEXT_TOKENS_MAX < 2_500) }
}
