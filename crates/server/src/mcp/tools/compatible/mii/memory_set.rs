//! The tool `memory_set` of mii-memory: stores a memory with tags.

use serde_json::{Value, json};

use super::{MODE, in_session, scope_of, tags};
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::{TOPIC, answer};
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::{StoreRequest, Trust};
use icm_guard::sanitize::clean;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "memory_set",
    title: "Store a memory",
    description: "Store a memory with one or more tags. Call it for what should be found again: in mode global for what holds everywhere, workspace for this project, session for this session. Not for secrets.",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    search_hint: "remember, save, note, decision, preference",
    leaves_work: true,
    params: &[
        Param {
            name: "content",
            kind: Kind::Text,
            required: true,
            about: "the memory, understandable on its own",
        },
        Param {
            name: "tags",
            kind: Kind::Texts,
            required: true,
            about: "words to find it by, at least one",
        },
        Param {
            name: "mode",
            kind: MODE,
            required: false,
            about: "default global",
        },
        Param {
            name: "expiration_condition",
            kind: Kind::OneOf(&["time", "usage", "file_exist", "file_pristine", "period"]),
            required: false,
            about: "the condition under which it is hidden",
        },
        Param {
            name: "expiration_value",
            kind: Kind::Text,
            required: false,
            about: "30d or seconds, number of uses, path, 2027-01-01..2027-02-01, mon-fri 9:00-17:00",
        },
        Param {
            name: "metadata",
            kind: Kind::Text,
            required: false,
            about: "anything to keep with it",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let caller = in_session(call.caller);
    let tags = tags(args.texts("tags"));
    if tags.is_empty() {
        return Err(ServiceError::invalid_with(
            "`tags` is empty",
            "give at least one tag",
        ));
    }
    let mode = args.text("mode");
    let condition_name = args.text("expiration_condition");
    let value = args.text("expiration_value");
    let expires = call.condition(condition(condition_name.as_deref(), value)?);
    let request = StoreRequest {
        keywords: tags,
        scope: scope_of(&caller, mode.as_deref().unwrap_or("global"))?,
        metadata: args.text("metadata").map(metadata),
        expires,
        trust: Trust::Agent,
        ..StoreRequest::new(TOPIC, args.required_text("content"))
    };
    let receipt = call.service.store(&caller, request)?;
    let mut stored = json!({"id": receipt.id});
    // The value as it counts: a time in place of a duration, an absolute path.
    let value = receipt.expires.as_deref().and_then(|it| it.split_once(' '));
    if let (Some(name), Some((_, value))) = (condition_name, value) {
        stored["expiration_condition"] = json!(name);
        stored["expiration_value"] = json!(clean(value));
    }
    if !receipt.warnings.is_empty() {
        stored["warnings"] = json!(receipt.warnings);
    }
    Ok(answer::plain(stored))
}

/// Returns the condition of icm for one of mii-memory, whose times are seconds if they have no unit.
///
/// # Errors
/// `Invalid` for a condition without a value, and a value without a condition.
fn condition(name: Option<&str>, value: Option<String>) -> Result<Option<String>, ServiceError> {
    let (name, value) = match (name, value) {
        (None, None) => return Ok(None),
        (Some(name), Some(value)) => (name, value),
        _ => {
            return Err(ServiceError::invalid_with(
                "a condition needs both `expiration_condition` and `expiration_value`",
                "for instance `time` and `30d`",
            ));
        }
    };
    let value = value.trim();
    Ok(Some(match name {
        "time" if value.bytes().all(|byte| byte.is_ascii_digit()) => format!("time {value}s"),
        "file_exist" => format!("file-exists {value}"),
        "file_pristine" => format!("file-pristine {value}"),
        name => format!("{name} {value}"),
    }))
}

/// Returns metadata as an object: a text that is none becomes its field `metadata`.
fn metadata(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => json!({"metadata": text}),
    }
}
