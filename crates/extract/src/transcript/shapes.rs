//! The forms of messages in the transcripts of clients.

use jiff::Timestamp;
use serde_json::Value;

use crate::found::Speaker;

/// The kind of an object of a transcript.
pub(super) enum Shape<'a> {
    /// A message of a speaker.
    Message(Message<'a>),
    /// A record of a known form without text to extract.
    Known,
    /// A record of an unknown form.
    Unknown,
}

/// A message.
pub(super) struct Message<'a> {
    pub(super) texts: Vec<(Speaker, &'a str)>,
    pub(super) at_ms: Option<i64>,
    pub(super) id: Option<&'a str>,
}

/// Returns the shape of an object, by its content.
pub(super) fn shape_of(object: &Value) -> Shape<'_> {
    let kind = object["type"].as_str();
    // Codex: `response_item` with a payload. Its events with the same texts are left out.
    if let (Some(kind), Some(payload)) = (kind, object.get("payload").filter(|it| it.is_object())) {
        return match (kind, payload["type"].as_str()) {
            ("response_item", Some("message")) => of_role(payload)
                .map_or(Shape::Known, |speaker| {
                    message(object, texts(&payload["content"], speaker), &[])
                }),
            ("response_item", Some("function_call_output" | "custom_tool_call_output")) => {
                message(object, texts(&payload["output"], Speaker::Tool), &[])
            }
            _ => Shape::Known,
        };
    }
    // Copilot CLI: events with `data`.
    if let (Some(kind), Some(data)) = (kind, object.get("data").filter(|it| it.is_object())) {
        return match kind {
            "user.message" => message(object, texts(&data["content"], Speaker::User), &["id"]),
            "assistant.message" => {
                message(object, texts(&data["content"], Speaker::Assistant), &["id"])
            }
            "tool.execution_complete" => message(
                object,
                texts(&data["result"]["content"], Speaker::Tool),
                &["id"],
            ),
            _ => Shape::Known,
        };
    }
    // ChatGPT's export: a message of a conversation.
    if let Some(role) = object["author"]["role"].as_str() {
        return of_export(object, role);
    }
    // Texts that a program wrote in a person's name: reminders, summaries of compactions, error messages.
    let by_program = [
        "isMeta",
        "isCompactSummary",
        "isApiErrorMessage",
        "isVisibleInTranscriptOnly",
    ];
    if by_program.iter().any(|mark| object[*mark] == true) {
        return Shape::Known;
    }
    // Claude Code and Qwen Code: a message with a role in a record with a type.
    if let Some(inner) = object.get("message").filter(|it| it.is_object()) {
        let speaker = match kind.and_then(speaker_named).or_else(|| of_role(inner)) {
            // A model asks a sub-agent.
            Some(Speaker::User) if object["isSidechain"] == true => Speaker::Assistant,
            Some(speaker) => speaker,
            None => return Shape::Known,
        };
        let content = inner.get("content").or_else(|| inner.get("parts"));
        return message(
            object,
            content.map_or(Vec::new(), |it| texts(it, speaker)),
            &["uuid", "id"],
        );
    }
    // Gemini CLI, and plain lists of messages: the content stands beside the type or role.
    let content = object.get("content").or_else(|| object.get("parts"));
    let speaker = kind.and_then(speaker_named).or_else(|| of_role(object));
    match (speaker, content) {
        (Some(speaker), Some(content)) => message(object, texts(content, speaker), &["id", "uuid"]),
        _ => match kind.is_some()
            || object.get("sessionId").is_some()
            || object.get("$set").is_some()
            || object.get("role").is_some()
        {
            true => Shape::Known,
            false => Shape::Unknown,
        },
    }
}

fn message<'a>(object: &'a Value, texts: Vec<(Speaker, &'a str)>, ids: &[&str]) -> Shape<'a> {
    let at_ms = match &object["timestamp"] {
        Value::String(text) => text
            .parse::<Timestamp>()
            .ok()
            .map(Timestamp::as_millisecond),
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    Shape::Message(Message {
        texts,
        at_ms,
        id: ids
            .iter()
            .find_map(|id| object[*id].as_str())
            .filter(|id| id.len() <= 128),
    })
}

/// Returns the shape of a message of ChatGPT's export. Its calls of tools, thoughts and hidden instructions have other
/// types of content, another recipient or a mark.
fn of_export<'a>(object: &'a Value, role: &str) -> Shape<'a> {
    let content = &object["content"];
    let hidden = object["metadata"]["is_visually_hidden_from_conversation"] == true;
    let is_text = matches!(
        content["content_type"].as_str(),
        Some("text" | "multimodal_text") | None
    );
    let for_all = matches!(object["recipient"].as_str(), Some("all") | None);
    let Some(speaker) = speaker_named(role).filter(|_| is_text && for_all && !hidden) else {
        return Shape::Known;
    };
    Shape::Message(Message {
        texts: texts(&content["parts"], speaker),
        // Seconds with a fraction.
        at_ms: object["create_time"]
            .as_f64()
            .map(|seconds| (seconds * 1_000.0).round() as i64),
        id: object["id"].as_str().filter(|id| id.len() <= 128),
    })
}

fn of_role(object: &Value) -> Option<Speaker> {
    speaker_named(object["role"].as_str()?)
}

/// Returns the speaker of a role; `None` for system and developer messages.
fn speaker_named(role: &str) -> Option<Speaker> {
    match role {
        "user" | "human" => Some(Speaker::User),
        "assistant" | "model" | "gemini" | "qwen" | "agent" => Some(Speaker::Assistant),
        "tool" | "tool_result" | "function" => Some(Speaker::Tool),
        _ => None,
    }
}

/// Returns the texts of a content: a string, or a list of parts. Thinking and images have no text.
fn texts(content: &Value, speaker: Speaker) -> Vec<(Speaker, &str)> {
    match content {
        Value::String(text) => vec![(speaker, text)],
        Value::Array(parts) => parts
            .iter()
            .flat_map(|part| part_texts(part, speaker))
            .collect(),
        Value::Object(_) => part_texts(content, speaker),
        _ => Vec::new(),
    }
}

fn part_texts(part: &Value, speaker: Speaker) -> Vec<(Speaker, &str)> {
    if let Value::String(text) = part {
        return vec![(speaker, text)];
    }
    if part["thought"] == true {
        return Vec::new();
    }
    let plain = |value: &'_ Value| value.as_str().is_some();
    match part["type"].as_str() {
        Some("text" | "input_text" | "output_text") | None if plain(&part["text"]) => {
            vec![(speaker, part["text"].as_str().unwrap_or_default())]
        }
        Some("tool_result") => match &part["content"] {
            Value::String(text) => vec![(Speaker::Tool, text)],
            // A result inside a result is not read.
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                texts.map(|text| (Speaker::Tool, text)).collect()
            }
            _ => Vec::new(),
        },
        None => {
            let output = part["functionResponse"]["response"]["output"].as_str();
            output
                .map(|text| (Speaker::Tool, text))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}
