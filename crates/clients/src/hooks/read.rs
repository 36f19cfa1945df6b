//! Reads the JSON of a client into an [`Input`].

use std::path::PathBuf;

use serde_json::Value;

use crate::names::Client;

use super::INPUT_LEN_MAX;
use super::error::HookError;
use super::events::find;
use super::fields::{self, COPILOT_PARENT, Fields, OPENCODE_PARENT};
use super::input::{Cause, Input, Moment, Subagent};

/// Reads the JSON that `client` gives to a hook of `event` on stdin.
///
/// The event may have the client's spelling, other capitals, or the form `session-start`. Unknown fields are ignored,
/// and an absent field is `None`. The cost is one parse of at most [`INPUT_LEN_MAX`] bytes.
///
/// # Errors
/// A [`HookError`] for a client without hooks or an unknown event. Also for input that is empty, too large, cut off or
/// no JSON object, or that has another type in a field that icm reads. The caller logs the error and lets the client go
/// on.
pub fn read(client: Client, event: &str, stdin: &[u8]) -> Result<Input, HookError> {
    let row = find(client, event)?;
    let fields = Reader {
        client,
        fields: fields::of(client),
        value: parse(client, stdin)?,
    };
    let reason = fields.text(fields.fields.reason)?;
    let moment = match row.moment {
        Moment::SessionStart { .. } if fields.goes_on() => Moment::Other,
        Moment::SessionStart { cause } => Moment::SessionStart {
            cause: reason.as_deref().map_or(cause, cause_of),
        },
        moment => moment,
    };
    let mut input = Input {
        client,
        event: row.name.to_owned(),
        moment,
        session: fields.text(fields.fields.session)?,
        agent: fields.agent(moment)?,
        folder: fields.path(fields.fields.folder)?,
        transcript: fields.transcript(moment)?,
        prompt: fields.prompt()?,
        reason,
        last_message: fields.text(fields.fields.last_message)?,
    };
    match client {
        Client::OpenCode | Client::Kilo => {
            if let Some(parent) = fields.text(OPENCODE_PARENT)? {
                below(&mut input, parent, fields.text(fields.fields.agent_kind)?);
            }
        }
        Client::GeminiCli => input.prompt = input.prompt.and_then(without_hook_context),
        Client::CopilotCli => {
            // In a sub-agent, the session is the sub-agent's own.
            let own = input.agent.as_ref().map(|agent| &agent.id);
            if own.is_some() && own == input.session.as_ref() {
                input.session = fields.text(COPILOT_PARENT)?.or(input.session);
            }
        }
        Client::ClaudeCode => of_claude(&mut input, &fields.value),
        _ => {}
    }
    Ok(input)
}

/// Removes events that Claude Code causes without its user.
///
/// Claude Code tells the model about the end of a background task by a prompt, and compacts with agents of no kind.
fn of_claude(input: &mut Input, value: &Value) {
    let by_client = matches!(input.reason.as_deref(), Some("system" | "poll_event"));
    let notifies = |prompt: &String| by_client || prompt.starts_with("<task-notification>");
    if input.moment == Moment::Prompt && input.prompt.as_ref().is_some_and(notifies) {
        input.prompt = None;
    }
    let kind = value.get("agent_type").and_then(Value::as_str);
    if input.moment == Moment::SubagentStop && kind == Some("") {
        input.moment = Moment::Other;
    }
}

/// Turns a session with a parent into a sub-agent of the parent's session.
fn below(input: &mut Input, parent: String, kind: Option<String>) {
    let child = input.session.replace(parent);
    input.agent = child.map(|id| Subagent { id, kind });
    input.moment = match input.moment {
        Moment::SessionStart { .. } => Moment::SubagentStart,
        Moment::Stop => Moment::SubagentStop,
        moment => moment,
    };
}

/// Returns a prompt without the contexts of hooks, which Gemini CLI puts before the user's words.
///
/// Gemini CLI escapes `<` inside these contexts.
fn without_hook_context(prompt: String) -> Option<String> {
    let mut rest = prompt.as_str();
    while let Some(open) = rest.trim_start().strip_prefix("<hook_context>") {
        let Some((_, after)) = open.split_once("</hook_context>") else {
            break;
        };
        rest = after.trim_start();
    }
    Some(rest.to_owned()).filter(|rest| !rest.is_empty())
}

/// Returns the object on stdin, without a byte order mark before it.
fn parse(client: Client, stdin: &[u8]) -> Result<Value, HookError> {
    if stdin.len() > INPUT_LEN_MAX {
        return Err(HookError::TooLarge {
            len_bytes: stdin.len(),
            limit_bytes: INPUT_LEN_MAX,
        });
    }
    let text = without_mark(stdin);
    if text.trim_ascii().is_empty() {
        return Err(HookError::Empty { client });
    }
    let value: Value = serde_json::from_slice(text).map_err(|error| {
        if error.is_eof() {
            HookError::CutOff {
                len_bytes: stdin.len(),
            }
        } else {
            HookError::NotJson {
                problem: error.to_string(),
            }
        }
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(HookError::NotAnObject {
            client,
            found: kind(&value),
        })
    }
}

/// Returns the input without a byte order mark, which shells on Windows put before it.
pub(super) fn without_mark(stdin: &[u8]) -> &[u8] {
    stdin.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stdin)
}

/// Returns the reason of a start, as clients write it.
fn cause_of(reason: &str) -> Cause {
    match reason {
        "startup" | "new" => Cause::Startup,
        "resume" => Cause::Resume,
        "clear" => Cause::Clear,
        "compact" => Cause::Compact,
        "fork" => Cause::Fork,
        _ => Cause::Other,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Reader {
    client: Client,
    fields: &'static Fields,
    value: Value,
}

impl Reader {
    /// Returns the first field of `pointers` that is present and not null, with its name.
    fn first(&self, pointers: &[&'static str]) -> Option<(&'static str, &Value)> {
        let found = pointers.iter().map(|at| (*at, self.value.pointer(at)));
        let mut present = found.filter_map(|(at, value)| Some((at, value?)));
        present.find(|(_, value)| !value.is_null())
    }

    fn wrong(&self, at: &str, expected: &'static str, found: &Value) -> HookError {
        HookError::WrongType {
            client: self.client,
            field: at.trim_start_matches('/').replace('/', "."),
            expected,
            found: kind(found),
        }
    }

    fn text(&self, pointers: &[&'static str]) -> Result<Option<String>, HookError> {
        match self.first(pointers) {
            None => Ok(None),
            Some((_, Value::String(text))) => {
                Ok(Some(text.clone()).filter(|text| !text.is_empty()))
            }
            Some((at, other)) => Err(self.wrong(at, "a text", other)),
        }
    }

    fn path(&self, pointers: &[&'static str]) -> Result<Option<PathBuf>, HookError> {
        Ok(self.text(pointers)?.map(PathBuf::from))
    }

    /// Returns the prompt: a text, or the texts of a list of content blocks (Kimi Code), one per line.
    fn prompt(&self) -> Result<Option<String>, HookError> {
        let Some((at, Value::Array(blocks))) = self.first(self.fields.prompt) else {
            return self.text(self.fields.prompt);
        };
        let mut texts = Vec::new();
        for block in blocks {
            match (block, block.get("text")) {
                (Value::String(text), _) | (_, Some(Value::String(text))) => {
                    texts.push(text.as_str())
                }
                // An image has no text.
                (Value::Object(_), None) => {}
                (other, _) => return Err(self.wrong(at, "a text or a list of texts", other)),
            }
        }
        Ok(Some(texts.join("\n")).filter(|text| !text.is_empty()))
    }

    fn agent(&self, moment: Moment) -> Result<Option<Subagent>, HookError> {
        let of_agent = matches!(moment, Moment::SubagentStart | Moment::SubagentStop);
        let main = self.client == Client::Cline && self.first(&["/parent_agent_id"]).is_none();
        if main && !of_agent {
            return Ok(None);
        }
        let kind = self.text(self.fields.agent_kind)?;
        let id = self.text(self.fields.agent)?;
        let id = id.or_else(|| kind.clone().filter(|_| of_agent));
        Ok(id.map(|id| Subagent { id, kind }))
    }

    fn transcript(&self, moment: Moment) -> Result<Option<PathBuf>, HookError> {
        // The file of the session has the main agent's words; the reader would count them as read.
        if moment == Moment::SubagentStop {
            return self.path(self.fields.agent_transcript);
        }
        self.path(self.fields.transcript)
    }

    /// Returns `true` if Antigravity asks the model again within a turn: its event comes before each request.
    fn goes_on(&self) -> bool {
        let nth = self.value.get("invocationNum").and_then(Value::as_f64);
        self.client == Client::Antigravity && nth != Some(0.0)
    }
}
