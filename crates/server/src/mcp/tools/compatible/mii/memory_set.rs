//! The tool `memory_set` of mii-memory: stores a memory with tags.

use serde_json::{Value, json};

use super::{MODE, in_session, scope_of, tags};
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::{TOPIC, answer};
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::{StoreRequest, Trust};

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
    let request = StoreRequest {
        keywords: tags,
        scope: scope_of(&caller, mode.as_deref().unwrap_or("global"))?,
        metadata: args.text("metadata").map(metadata),
        trust: Trust::Agent,
        ..StoreRequest::new(TOPIC, args.required_text("content"))
    };
    let receipt = call.service.store(&caller, request)?;
    let mut stored = json!({"id": receipt.id});
    if !receipt.warnings.is_empty() {
        stored["warnings"] = json!(receipt.warnings);
    }
    Ok(answer::plain(stored))
}

/// Returns metadata as an object: a text that is none becomes its field `metadata`.
fn metadata(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => json!({"metadata": text}),
    }
}
