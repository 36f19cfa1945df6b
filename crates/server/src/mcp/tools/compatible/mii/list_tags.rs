//! The tool `list_tags` of mii-memory: counts the tags of the memories that the caller sees.

use serde_json::{Value, json};

use super::in_session;
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::answer;
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::TagsRequest;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "list_tags",
    title: "List tags",
    description: "List the tags of the memories, with counts. Call it to see what is known at all[, or to pick tags for {memory_get} and {memory_set}]. Not for finding a memory.",
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
    let request = TagsRequest {
        filter: args.text("filter"),
        ..TagsRequest::default()
    };
    let found = call.service.tags(&in_session(call.caller), &request)?;
    let tags: Vec<Value> = found
        .tags
        .iter()
        .filter(|tag| tag.memories > 0)
        .map(|tag| json!({"tag": tag.tag, "count": tag.memories}))
        .collect();
    Ok(match tags.is_empty() {
        true => answer::plain(json!({"tags": []})),
        false => answer::framed(call, json!({}), vec![("tags", tags)]),
    })
}
