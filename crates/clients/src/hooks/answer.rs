//! A context as the answer that a client takes.

use serde_json::{Value, json};

use crate::names::Client;

use super::events::injects;
use super::input::{Input, Moment};

/// Returns the bytes for stdout. They let the client go on as without the hook, and give it `context`.
///
/// An empty context, and any context at an event that [injects](super::injects) nothing, is the client's neutral
/// answer: no bytes, or JSON without effect. Nothing is cut here: the caller keeps the context below
/// [`CONTEXT_CHARS_MAX`](super::CONTEXT_CHARS_MAX) and [`CONTEXT_TOKENS_MAX`](super::CONTEXT_TOKENS_MAX).
pub fn answer(input: &Input, context: &str) -> Vec<u8> {
    let takes = injects(input.client, &input.event) && input.moment != Moment::Other;
    if context.is_empty() || !takes {
        return neutral(input).as_bytes().to_vec();
    }
    let value = match input.client {
        Client::CopilotCli | Client::OpenCode | Client::Kilo => {
            json!({ "additionalContext": context })
        }
        Client::Cursor => json!({ "additional_context": context }),
        Client::KimiCode => json!({ "message": context }),
        // Cline before version 3.40 reads the second name only; later ones read the first that is there.
        Client::Cline => {
            json!({ "cancel": false, "context": context, "contextModification": context })
        }
        Client::Antigravity => json!({ "injectSteps": [{ "ephemeralMessage": context }] }),
        Client::Kiro => return context.as_bytes().to_vec(),
        _ => claude(&input.event, context),
    };
    value.to_string().into_bytes()
}

/// Claude Code's shape. Codex refuses any key beside these.
fn claude(event: &str, context: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": context } })
}

/// Returns the answer without effect.
fn neutral(input: &Input) -> &'static str {
    match (input.client, input.moment) {
        (Client::Cursor, Moment::Prompt) => r#"{"continue":true}"#,
        (Client::Cline, _) => r#"{"cancel":false}"#,
        // These parse what comes, so it has to be an object.
        (
            Client::Cursor
            | Client::GeminiCli
            | Client::Antigravity
            | Client::OpenCode
            | Client::Kilo,
            _,
        ) => "{}",
        _ => "",
    }
}
