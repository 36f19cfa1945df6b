//! The tool `memory_get` of mii-memory: searches the memories by words and tags.

use serde_json::{Value, json};

use super::{MODE, in_session, mode_of, scope_of, tags};
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::answer;
use crate::mcp::tools::recall::fitting;
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::limits::RECALL_LIMIT_MAX;
use icm_api::{RecallHit, RecallRequest, TagFilter};

const LIMIT_MAX: u64 = 100;
const LIMIT_DEFAULT: u64 = 10;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "memory_get",
    title: "Retrieve memories",
    description: "Retrieve the memories that fit a query, by words, meaning and tags. Call it before a task and whenever earlier decisions, preferences or facts may matter. Not for an overview[: use {list_tags}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "search, remember, earlier decisions, preferences",
    leaves_work: true,
    params: &[
        Param {
            name: "query",
            kind: Kind::Text,
            required: true,
            about: "a few plain words",
        },
        Param {
            name: "tag",
            kind: Kind::Texts,
            required: false,
            about: "only memories with all of these tags",
        },
        Param {
            name: "p_tag",
            kind: Kind::Texts,
            required: false,
            about: "the same as tag",
        },
        Param {
            name: "n_tag",
            kind: Kind::Texts,
            required: false,
            about: "memories with one of these tags come last",
        },
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
            name: "offset",
            kind: Kind::Whole {
                min: 0,
                max: RECALL_LIMIT_MAX as u64 - 1,
            },
            required: false,
            about: "results to skip",
        },
        Param {
            name: "mode",
            kind: MODE,
            required: false,
            about: "only memories of this mode",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let caller = in_session(call.caller);
    let call = &Call {
        caller: &caller,
        ..*call
    };
    let wanted = [tags(args.texts("tag")), tags(args.texts("p_tag"))].concat();
    let unwanted = tags(args.texts("n_tag"));
    let mode = args.text("mode");
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let request = RecallRequest {
        query: args.required_text("query"),
        scope: match &mode {
            Some(mode) => scope_of(&caller, mode)?,
            None => None,
        },
        tags: TagFilter {
            all: wanted,
            not: unwanted,
            ..TagFilter::default()
        },
        limit: Some(limit.min(fitting(call))),
        offset: args.whole("offset").unwrap_or_default() as usize,
        record: !call.options.read_only,
        ..RecallRequest::default()
    };
    let answer = call.service.recall_where(call.caller, &request, |hit| {
        let is_of_mode = |mode: &String| mode_of(&hit.memory.scope).0 == mode;
        mode.as_ref().is_none_or(is_of_mode)
    })?;
    if answer.results.is_empty() {
        let none = json!({"memories": []});
        let nearest = answer.nearest.as_ref();
        return Ok(answer::nothing(&none.to_string(), nearest, none.clone()));
    }
    let contents = answer::contents(call, &request.query, &answer.results);
    let hits = answer.results.iter().zip(contents);
    let memories = hits.map(|(hit, content)| item(hit, content)).collect();
    Ok(answer::framed(
        call,
        json!({}),
        vec![("memories", memories)],
    ))
}

fn item(hit: &RecallHit, content: Option<String>) -> Value {
    let memory = &hit.memory;
    let (mode, mode_ref) = mode_of(&memory.scope);
    json!({
        "id": memory.id,
        "content": content,
        "mode": mode,
        "mode_ref": mode_ref,
        "tags": memory.keywords,
        "score": hit.fit,
        "usage_count": memory.access_count,
        "metadata": memory.metadata.as_ref().map(metadata),
        "created_at": memory.created_at,
    })
}

/// Returns metadata as the text that `memory_set` was given.
fn metadata(stored: &Value) -> String {
    match stored.as_object() {
        Some(fields) if fields.len() == 1 => match fields.get("metadata") {
            Some(Value::String(text)) => text.clone(),
            _ => stored.to_string(),
        },
        _ => stored.to_string(),
    }
}
