//! The tool `list` of Sediment: lists the newest memories of a scope.

use serde_json::{Value, json};

use super::{is_superseded, scope_of};
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::answer;
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::{ListRequest, Memory};

const LIMIT_MAX: u64 = 100;
const LIMIT_DEFAULT: u64 = 10;
/// Growth of the number of memories that are asked for. Raised, a list of which many are superseded is read in fewer
/// steps.
const FURTHER: usize = 4;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "list",
    title: "List items",
    description: "List stored items, newest first, with the start of each. Call it to see what is stored. Not for finding an item[: use {recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "browse, overview, newest",
    leaves_work: false,
    params: &[
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: LIMIT_MAX,
            },
            required: false,
            about: "most results, default 10",
        },
        Param {
            name: "scope",
            kind: Kind::OneOf(&["project", "global", "all"]),
            required: false,
            about: "which items to list, default project",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let scope = match args.text("scope").as_deref() {
        Some("all") => None,
        word => Some(scope_of(call.caller, word).0),
    };
    let items = listed(call, scope.as_deref(), limit)?;
    if items.is_empty() {
        let none = json!({"count": 0, "items": []});
        return Ok(answer::nothing("No items stored yet.", None, none));
    }
    let shown: Vec<Value> = items.iter().map(item).collect();
    Ok(answer::framed(
        call,
        json!({"count": items.len()}),
        vec![("items", shown)],
    ))
}

fn item(memory: &Memory) -> Value {
    json!({
        "id": memory.id,
        "content": memory.content.as_deref().map(answer::preview),
        "created": memory.created_at,
    })
}

/// Returns the newest memories of a scope, `wanted` at most. Leaves out memories that others supersede, and memories of
/// sessions.
fn listed(
    call: &Call<'_>,
    scope: Option<&str>,
    wanted: usize,
) -> Result<Vec<Memory>, ServiceError> {
    let mut asked = wanted;
    loop {
        let request = ListRequest {
            limit: Some(asked),
            scope: scope.map(str::to_owned),
            ..ListRequest::default()
        };
        let all = call.service.list(&request)?;
        let is_all = all.len() < asked;
        let is_item =
            |memory: &Memory| !is_superseded(memory) && !memory.scope.starts_with("session:");
        let mut items: Vec<Memory> = all.into_iter().filter(is_item).collect();
        if is_all || items.len() >= wanted {
            items.truncate(wanted);
            return Ok(items);
        }
        asked = asked.saturating_mul(FURTHER);
    }
}
