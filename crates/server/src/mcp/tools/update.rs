//! The tool `icm_memory_update`: changes a memory.

use super::{ALLOW_SECRET, Call, Hints, IMPORTANCE, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::UpdateRequest;
use icm_api::error::ServiceError;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_update",
    title: "Update a memory",
    description: "Replace the content of one memory, and its importance or keywords if given. Call it when a memory is wrong or out of date; what it said stays in icm_log. Not for new facts: use icm_memory_store.",
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
            required: true,
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
            about: "replace all keywords; left out or empty: they stay",
        },
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = UpdateRequest {
        id: args.required_text("id"),
        content: args.text("content"),
        importance: args.one_of("importance"),
        keywords: args.texts("keywords"),
        allow_secret: args.flag("allow_secret"),
        ..UpdateRequest::default()
    };
    let receipt = call.service.update(call.caller, request)?;
    Ok(super::receipt::changed(call, receipt, false))
}
