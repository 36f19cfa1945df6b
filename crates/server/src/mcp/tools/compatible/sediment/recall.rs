//! The tool `recall` of Sediment: searches the memories of all projects.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::is_of_another_project;
use crate::mcp::schema::Args;
use crate::mcp::tools::compatible::answer;
use crate::mcp::tools::recall::fitting;
use crate::mcp::tools::{Call, Hints, Kind, Param, Reply, Tool};
use icm_api::error::ServiceError;
use icm_api::{RecallHit, RecallRequest};

const LIMIT_MAX: u64 = 100;
const LIMIT_DEFAULT: u64 = 5;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "recall",
    title: "Recall items",
    description: "Search stored content by meaning and words. Call it before a task and whenever earlier decisions, preferences or facts may matter. Items of other projects are marked cross_project. Not for browsing[: use {list}].",
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
            about: "what to search for",
        },
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: LIMIT_MAX,
            },
            required: false,
            about: "most results, default 5",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let request = RecallRequest {
        query: args.required_text("query"),
        // Sediment searches all projects.
        scope: Some("all".to_owned()),
        limit: Some(limit.min(fitting(call))),
        record: !call.options.read_only,
        together: true,
        ..RecallRequest::default()
    };
    let mut fits = HashMap::new();
    let answer = call.service.recall_where(call.caller, &request, |hit| {
        fits.insert(hit.memory.id.clone(), hit.fit);
        hit.superseded_by.is_none() && !is_of_another_session(hit)
    })?;
    let contents = answer::contents(call, &request.query, &answer.results);
    let (mut results, mut neighbours) = (Vec::new(), Vec::new());
    for (hit, content) in answer.results.iter().zip(contents) {
        match &hit.via {
            // A memory in place of an older one that was found.
            Some(via) if via.relation == super::SUPERSEDES => {
                let fit = fits.get(&via.from).copied().unwrap_or_default();
                results.push(result(call, hit, content, fit));
            }
            Some(via) => neighbours.push(neighbour(call, hit, content, &via.relation)),
            None => results.push(result(call, hit, content, hit.fit)),
        }
    }
    if results.is_empty() {
        let none = json!({"count": 0, "results": []});
        let said = "No items found matching your query.";
        return Ok(answer::nothing(said, answer.nearest.as_ref(), none));
    }
    let suggested = answer.often_together.iter();
    let suggested: Vec<Value> = suggested.filter_map(|id| suggestion(call, id)).collect();
    let count = json!({"count": results.len()});
    let mut lists = vec![("results", results)];
    for (name, items) in [("graph_expanded", neighbours), ("suggested", suggested)] {
        if !items.is_empty() {
            lists.push((name, items));
        }
    }
    Ok(answer::framed(call, count, lists))
}

/// Returns `true` if a result is of a session that is not the caller's. Sediment has no sessions.
fn is_of_another_session(hit: &RecallHit) -> bool {
    hit.elsewhere && hit.memory.scope.starts_with("session:")
}

fn result(call: &Call<'_>, hit: &RecallHit, content: Option<String>, fit: f64) -> Value {
    let memory = &hit.memory;
    let mut item = json!({
        "id": memory.id,
        "content": content,
        "similarity": format!("{fit:.2}"),
        "created": memory.created_at,
    });
    if is_of_another_project(call.caller, &memory.scope) {
        item["cross_project"] = true.into();
    }
    if !memory.related.is_empty() {
        // The links are in the order of the other memories.
        let mut ids: Vec<&str> = memory.related.iter().map(|it| it.id.as_str()).collect();
        ids.dedup();
        item["related_ids"] = json!(ids);
    }
    item
}

/// Returns a memory that a link brought. The content of another project's memory is left out.
fn neighbour(call: &Call<'_>, hit: &RecallHit, content: Option<String>, relation: &str) -> Value {
    let memory = &hit.memory;
    let mut item = json!({
        "id": memory.id,
        "similarity": "graph",
        "created": memory.created_at,
        "graph_expanded": true,
        "rel_type": relation,
    });
    match is_of_another_project(call.caller, &memory.scope) {
        true => item["cross_project"] = true.into(),
        false => item["content"] = json!(content),
    }
    item
}

/// Returns a memory that was often recalled with the first result; `None` if it is gone.
fn suggestion(call: &Call<'_>, id: &str) -> Option<Value> {
    let memory = call.service.get(id, None).ok()?;
    let mut item = json!({
        "id": memory.id,
        "reason": "frequently recalled with the first result (3 times or more)",
    });
    match is_of_another_project(call.caller, &memory.scope) {
        true => item["cross_project"] = true.into(),
        false => item["content"] = json!(memory.content.as_deref().map(answer::preview)),
    }
    Some(item)
}
