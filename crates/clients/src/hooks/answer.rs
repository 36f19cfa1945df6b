//! The answer of a hook: a context in the form that its client takes.

use serde_json::Value;

use crate::names::Client;

use super::events::{find, injects};
use super::input::{Input, Moment};

/// Returns the bytes for stdout. They let the client go on as without the hook, and give it `context`.
///
/// An empty context, and any context at an event that [injects](super::injects) nothing, is the client's neutral
/// answer: no bytes, or JSON without effect. Nothing is cut here: the caller keeps the context below
/// [`CONTEXT_CHARS_MAX`](super::CONTEXT_CHARS_MAX) and [`CONTEXT_TOKENS_MAX`](super::CONTEXT_TOKENS_MAX).
pub fn answer(input: &Input, context: &str) -> Vec<u8> {
    let takes = injects(input.client, &input.event) && input.moment != Moment::Other;
    if context.is_empty() || !takes {
        return neutral(input.client, &input.event);
    }
    // Written by hand, so that the bytes do not depend on the order in which a map keeps its keys.
    let text = Value::from(context);
    let answer = match input.client {
        Client::CopilotCli | Client::OpenCode | Client::Kilo => {
            format!(r#"{{"additionalContext":{text}}}"#)
        }
        Client::Cursor => format!(r#"{{"additional_context":{text}}}"#),
        Client::KimiCode => format!(r#"{{"message":{text}}}"#),
        // New versions read `context`, old ones `contextModification`; no version reads both.
        Client::Cline => {
            format!(r#"{{"cancel":false,"context":{text},"contextModification":{text}}}"#)
        }
        Client::Antigravity => format!(r#"{{"injectSteps":[{{"ephemeralMessage":{text}}}]}}"#),
        Client::Kiro => context.to_owned(),
        _ => claude(&input.event, &text),
    };
    answer.into_bytes()
}

/// Returns an answer in Claude Code's shape. Codex refuses any other key.
fn claude(event: &str, text: &Value) -> String {
    let event = Value::from(event);
    format!(r#"{{"hookSpecificOutput":{{"hookEventName":{event},"additionalContext":{text}}}}}"#)
}

/// Returns the neutral answer: no bytes, or JSON that lets the client go on as without the hook.
///
/// It needs no input, so a hook can answer when its input cannot be read. An event that icm does not know gets the
/// answer of most events of the client, and a client without hooks gets no bytes.
pub fn neutral(client: Client, event: &str) -> Vec<u8> {
    let moment = find(client, event).map(|row| row.moment);
    let answer = match (client, moment) {
        (Client::Cursor, Ok(Moment::Prompt)) => r#"{"continue":true}"#,
        (Client::Cline, _) => r#"{"cancel":false}"#,
        // These clients parse the answer, so it must be an object.
        (
            Client::Cursor
            | Client::GeminiCli
            | Client::Antigravity
            | Client::OpenCode
            | Client::Kilo,
            _,
        ) => "{}",
        _ => "",
    };
    answer.as_bytes().to_vec()
}
