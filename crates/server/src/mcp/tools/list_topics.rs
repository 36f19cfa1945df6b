//! `icm_memory_list_topics`

use serde_json::json;

use super::{Call, Hints, Reply, Tool, day};
use crate::error::ServiceError;
use crate::mcp::frame::{Frame, REPLY_MAX_BYTES};
use crate::mcp::schema::Args;
use crate::sanitize::clean_line;

/// Bytes of a topic's entry beside its name.
const ENTRY_BYTES: usize = 80;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_list_topics",
    title: "List topics",
    description: "List the topics with the number of memories in each and the day of the last change. Call it to see what is known at all, or to pick the topic for a new memory. Not for finding a fact: use icm_memory_recall.",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    leaves_work: false,
    params: &[],
    output: None,
    run,
};

fn run(call: &Call<'_>, _: Args) -> Result<Reply, ServiceError> {
    let topics = call.service.topics()?;
    let total = topics.len();
    let mut frame = Frame::new();
    let mut shown = Vec::new();
    let mut bytes = 0;
    for topic in &topics {
        bytes += topic.topic.len() + ENTRY_BYTES;
        if bytes > REPLY_MAX_BYTES {
            break;
        }
        let name = clean_line(&topic.topic);
        let tail = format!(" ({}, {})", topic.memories, day(&topic.updated_at));
        frame.item("", &name, &tail, usize::MAX);
        shown.push(json!({
            "topic": name,
            "memories": topic.memories,
            "updated_at": topic.updated_at,
        }));
    }
    let mut text = match total {
        0 => "no topics yet: store something with icm_memory_store".to_owned(),
        _ => frame.finish(),
    };
    if shown.len() < total {
        text.push_str(&format!("\n{} of {total} topics shown", shown.len()));
    }
    let structured = json!({"topics": shown, "total": total});
    Ok(Reply { text, structured })
}
