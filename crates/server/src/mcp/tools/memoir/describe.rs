//! The tool `icm_memoir_describe`: changes the description of a memoir.

use super::{ADDS, ALLOW_SECRET, Call, Hints, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::MemoirRequest;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_describe",
    title: "Describe a memoir",
    description: "Say anew what a memoir is about. Call it when its description is no longer right. Not for concepts[ ({icm_memoir_refine})].",
    hints: Hints {
        idempotent: true,
        ..ADDS
    },
    search_hint: "knowledge graph, description",
    leaves_work: true,
    params: &[
        Param {
            name: "name",
            kind: Kind::Text,
            required: true,
            about: "name of the memoir",
        },
        Param {
            name: "description",
            kind: Kind::Text,
            required: true,
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
        description: args.required_text("description"),
        allow_secret: args.flag("allow_secret"),
    };
    let receipt = call.service.memoir_describe(call.caller, &request)?;
    Ok(super::receipt(call, &receipt))
}
