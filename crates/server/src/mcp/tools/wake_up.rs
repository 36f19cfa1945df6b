//! The tool `icm_wake_up`: returns a pack of memories for the start of a session.

use icm_agents::wake_up::{BUDGET, WakeUpRequest, wake_up};
use serde_json::json;

use super::{Call, Hints, Kind, Param, Reply, Tool, clean_value};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::tokens;

/// Largest budget, in tokens: clients take a reply of this size whole.
const BUDGET_MAX: u64 = 15_000;

pub(super) static TOOL: Tool = Tool {
    name: "icm_wake_up",
    title: "Wake up",
    description: "Return what this session should know before it begins: pinned, critical and high memories, preferences, and what changed since the last session of this project. Call it once, at the start. Not for a question[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "start, brief, pins, preferences",
    leaves_work: true,
    params: &[Param {
        name: "budget",
        kind: Kind::Limit {
            min: 50,
            max: BUDGET_MAX,
        },
        required: false,
        about: "tokens, default 800",
    }],
    output: None,
    run,
};

fn run(call: &Call<'_>, args: Args) -> Result<Reply, ServiceError> {
    let asked = args.whole("budget").unwrap_or(BUDGET as u64) as usize;
    let request = WakeUpRequest {
        budget: asked.min(tokens::within(call.room_bytes())),
        record: !call.options.read_only,
        ..WakeUpRequest::default()
    };
    let pack = wake_up(call.service, call.caller, &request)?;
    let mut text = match pack.items.is_empty() {
        true => "nothing to wake up with: no memory is pinned, critical, high or a preference, and nothing has changed"
            .to_owned(),
        false => pack.text.clone(),
    };
    if pack.left_out > 0 {
        text.push_str(&format!("\n{} more did not fit", pack.left_out));
    }
    let ids: Vec<&str> = pack.items.iter().map(|item| &*item.memory.id).collect();
    let mut structured = json!({
        "basis": pack.basis,
        "budget": pack.budget,
        "tokens": pack.tokens,
        "left_out": pack.left_out,
        "last_session_at": pack.last_session_at,
        "ids": ids,
    });
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}
