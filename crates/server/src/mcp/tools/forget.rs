//! The tool `icm_memory_forget`: forgets one memory.

use super::{Call, Hints, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_forget",
    title: "Forget a memory",
    description: "Forget one memory: it is no longer recalled, but can be brought back. Call it when the user asks for it or a memory is plainly wrong. Not for changed facts[ ({icm_memory_update})], and no way to erase a secret.",
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
        about: "its id, or a unique prefix",
    }],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let id = args.required_text("id");
    let receipts = call.service.forget(call.caller, &[id])?;
    match receipts.into_iter().next() {
        Some(receipt) => Ok(super::receipt::changed(call, receipt, false)),
        None => Err(ServiceError::Internal("forgot nothing".into())),
    }
}
