//! The tool `icm_memory_list_topics`: lists topics in pages.

use serde_json::json;

use super::paging::{NAME_CURSOR, after_name, tell_next_name};
use super::{AS_OF, Call, Hints, Kind, Param, Reply, Tool, dated};
use crate::mcp::schema::Args;
use icm_api::TopicsRequest;
use icm_api::error::ServiceError;
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Topics in one reply.
const PAGE: usize = 200;
/// Most levels of topics that can be asked for.
const DEPTH_MAX: u64 = 64;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_list_topics",
    title: "List topics",
    description: "List the topics as a tree, with counts. Call it to see what is known at all, or to pick the topic for a new memory. Not for finding a fact[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "what is known, browse, overview",
    leaves_work: false,
    params: &[
        Param {
            name: "prefix",
            kind: Kind::Text,
            required: false,
            about: "only this topic and below",
        },
        Param {
            name: "depth",
            kind: Kind::Limit {
                min: 1,
                max: DEPTH_MAX,
            },
            required: false,
            about: "levels to show",
        },
        NAME_CURSOR,
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let after = after_name(&mut args)?;
    let as_of = args.text("as_of");
    let request = TopicsRequest {
        prefix: args.text("prefix"),
        depth: args.whole("depth").map(|depth| depth as u32),
        flat: false,
        after,
        limit: Some(PAGE),
        at: as_of.clone(),
    };
    let topics = call.service.topic_tree(&request)?;
    let mut frame = Frame::new();
    let mut shown = Vec::new();
    for node in &topics.topics {
        if frame.len_bytes() > call.room_bytes() {
            break;
        }
        let name = clean_line(&node.topic);
        let below = &node.with_below;
        let more = below.memories - node.memories;
        let (count, weight, changed) = match more {
            0 => (
                node.memories.to_string(),
                node.mean_weight.unwrap_or_default(),
                &node.updated_at,
            ),
            more => (
                format!("{} + {more} below", node.memories),
                below.mean_weight,
                &below.updated_at,
            ),
        };
        let tail = format!(" ({count}, weight {weight:.2}, {})", call.day(changed));
        frame.item("", &name, &tail, usize::MAX);
        shown.push(json!({
            "topic": name,
            "memories": node.memories,
            "memories_with_below": below.memories,
            "mean_weight": node.mean_weight.unwrap_or(below.mean_weight),
            "updated_at": node.updated_at,
        }));
    }
    let shown_count = shown.len();
    let mut text = match (topics.total, &request.prefix) {
        (0, None) if as_of.is_some() => "no topics then".to_owned(),
        (0, None) => call.told("no topics yet[: store something with {icm_memory_store}]"),
        (0, Some(_)) => "no topics there: leave prefix out to see all".to_owned(),
        _ => format!("{}\ndays in {}", frame.finish(), call.service.zone_name()),
    };
    text = dated(text, &topics.basis, as_of.is_some());
    let mut structured = json!({"topics": shown, "total": topics.total});
    let is_cut = shown_count < topics.topics.len();
    if let (true, Some(last)) = (topics.more || is_cut, topics.topics[..shown_count].last()) {
        let answer = (&mut text, &mut structured);
        tell_next_name(&last.topic, (shown_count, topics.total), answer);
    }
    Ok(Reply::new(text, structured))
}
