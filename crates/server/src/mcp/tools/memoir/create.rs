//! The tool `icm_memoir_create`: creates a memoir.

use super::{ADDS, ALLOW_SECRET, Call, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::MemoirRequest;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_create",
    title: "Create a memoir",
    description: "Create a memoir: a named graph of concepts. Call it for a subject whose parts and their links matter. Not for single facts[ ({icm_memory_store})].",
    hints: ADDS,
    search_hint: "knowledge graph, new",
    leaves_work: true,
    params: &[
        Param {
            name: "name",
            kind: Kind::Text,
            required: true,
            about: "what to call the memoir; unique",
        },
        Param {
            name: "description",
            kind: Kind::Text,
            required: false,
            about: "what it is about",
        },
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = MemoirRequest {
        name: args.required_text("name"),
        description: args.text("description").unwrap_or_default(),
        allow_secret: args.flag("allow_secret"),
    };
    let receipt = call.service.memoir_create(call.caller, &request)?;
    Ok(super::receipt(call, &receipt))
}
