//! The tool `icm_memory_update`: changes a memory.

use super::{ALLOW_SECRET, Call, Hints, IMPORTANCE, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::UpdateRequest;
use icm_api::error::ServiceError;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_update",
    title: "Update a memory",
    description: "Change one memory: give what is new. Call it when it is wrong or out of date[; what it said stays in {icm_log}]. Not for new facts[: use {icm_memory_store}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    search_hint: "correct, edit, change a memory",
    leaves_work: true,
    params: &[
        Param {
            name: "id",
            kind: Kind::Text,
            required: true,
            about: "its id, or a unique prefix",
        },
        Param {
            name: "content",
            kind: Kind::Text,
            required: false,
            about: "the whole new text",
        },
        Param {
            name: "importance",
            kind: IMPORTANCE,
            required: false,
            about: "left out: stays as it is",
        },
        Param {
            name: "keywords",
            kind: Kind::Texts,
            required: false,
            about: "replace all; left out or empty: they stay",
        },
        Param {
            name: "expires",
            kind: Kind::Text,
            required: false,
            about: "as for a new memory, or none",
        },
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let expires = call.condition(args.text("expires"));
    let expires = expires.map(|condition| match condition.trim() {
        "none" => String::new(),
        _ => condition,
    });
    let request = UpdateRequest {
        id: args.required_text("id"),
        content: args.text("content"),
        importance: args.one_of("importance"),
        keywords: args.texts("keywords"),
        expires,
        allow_secret: args.flag("allow_secret"),
        ..UpdateRequest::default()
    };
    let named = request.content.is_some()
        || request.importance.is_some()
        || request.keywords.is_some()
        || request.expires.is_some();
    if !named {
        return Err(ServiceError::invalid_with(
            "nothing to change is given",
            "give content, importance, keywords or expires",
        ));
    }
    let receipt = call.service.update(call.caller, request)?;
    Ok(super::receipt::changed(call, receipt, false))
}
