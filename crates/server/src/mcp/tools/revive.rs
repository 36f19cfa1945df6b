//! The tool `icm_memory_revive`: brings a forgotten or expired memory back.

use super::{Call, EXPIRES, Hints, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_revive",
    title: "Revive a memory",
    description: "Bring a forgotten or expired memory back, with a new condition to expire or with none. Call it when the user asks for it[, or {icm_memory_list} with expired shows what still holds]. Not for changing a text[: use {icm_memory_update}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    search_hint: "bring back, restore, expired, forgotten",
    leaves_work: true,
    params: &[
        Param {
            name: "id",
            kind: Kind::Text,
            required: true,
            about: "its id, or a unique prefix",
        },
        EXPIRES,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let id = args.required_text("id");
    let expires = call.condition(args.text("expires"));
    let receipts = call
        .service
        .revive_with(call.caller, &[id], expires.as_deref())?;
    match receipts.into_iter().next() {
        Some(receipt) => Ok(super::receipt::changed(call, receipt, false)),
        None => Err(ServiceError::Internal("no receipt".to_owned())),
    }
}
