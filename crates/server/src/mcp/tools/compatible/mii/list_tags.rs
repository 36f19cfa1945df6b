//! The tool `list_tags` of mii-memory: counts the tags of the memories that the caller sees.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{in_session, scope_of};
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::answer;
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::{Caller, ListRequest};

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "list_tags",
    title: "List tags",
    description: "List the tags of the memories, with counts. Call it to see what is known at all, or to pick tags for memory_get and memory_set. Not for finding a memory.",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "what is known, browse, overview",
    leaves_work: false,
    params: &[Param {
        name: "filter",
        kind: Kind::Text,
        required: false,
        about: "only tags with this text in them",
    }],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let filter = args.text("filter").unwrap_or_default().to_lowercase();
    let counts = counts(call)?.into_iter();
    let counts = counts.filter(|(tag, _)| tag.to_lowercase().contains(filter.trim()));
    let tags: Vec<Value> = counts
        .map(|(tag, count)| json!({"tag": tag, "count": count}))
        .collect();
    Ok(match tags.is_empty() {
        true => answer::plain(json!({"tags": []})),
        false => answer::framed(call, json!({}), vec![("tags", tags)]),
    })
}

/// Returns the tags of what the caller sees, each with its number of memories.
fn counts(call: &Call<'_>) -> Result<BTreeMap<String, u64>, ServiceError> {
    let caller = in_session(call.caller);
    let mut counts = BTreeMap::new();
    for scope in scopes(&caller) {
        let request = ListRequest {
            scope: Some(scope),
            ..ListRequest::default()
        };
        for memory in call.service.list(&request)? {
            for keyword in memory.keywords {
                *counts.entry(keyword).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

/// Returns the scopes of all modes that the caller has.
fn scopes(caller: &Caller) -> Vec<String> {
    let modes = ["global", "workspace", "session"];
    let scopes = modes.map(|mode| scope_of(caller, mode).ok().flatten());
    scopes.into_iter().flatten().collect()
}
