//! The tool `forget` of Sediment: forgets one memory.

use serde_json::json;

use super::own_item;
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::answer;
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "forget",
    title: "Forget an item",
    description: "Delete a stored item by its ID: it is no longer recalled, and the log keeps it so that it can be brought back. Call it when the user asks for it or an item is plainly wrong. Not for a changed fact[: use {store} with replace_id].",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    search_hint: "delete, remove, outdated",
    leaves_work: true,
    params: &[Param {
        name: "id",
        kind: Kind::Text,
        required: true,
        about: "the item's ID",
    }],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let item = own_item(call, &args.required_text("id"), "delete")?;
    let id = item.id.clone();
    call.service.forget(call.caller, &[item.id])?;
    Ok(answer::plain(json!({
        "success": true,
        "message": format!("Deleted item: {id}"),
    })))
}
