//! The tool `icm_memory_stats`: counts memories, events and bytes.

use serde_json::{Value, json};

use super::{AS_OF, Call, Hints, Reply, Tool, count, dated};
use crate::mcp::schema::Args;
use icm_api::ViewProgress;
use icm_api::error::ServiceError;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_stats",
    title: "Memory statistics",
    description: "Show how much is stored: memories, topics, events of the log, bytes, and how far the indexes are. Call it when the user asks about the memory itself or something seems missing. Not for finding memories[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "count, size of the store",
    leaves_work: false,
    params: &[AS_OF],
    output: Some(output),
    run,
};

fn output() -> Value {
    let count = json!({"type": "integer"});
    json!({
        "type": "object",
        "properties": {
            "memories": count,
            "topics": count,
            "events": count,
            "bytes": count,
        },
        "required": ["memories", "topics", "events", "bytes"],
    })
}

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let as_of = args.text("as_of");
    let stats = call.service.stats(as_of.as_deref())?;
    let mut text = format!(
        "{} in {}, {} forgotten, {}\n{} in the log",
        count(stats.memories, "memory", "memories"),
        count(stats.topics, "topic", "topics"),
        stats.forgotten,
        count(stats.concepts, "concept", "concepts"),
        count(stats.events, "event", "events"),
    );
    if let (Some(first), Some(last)) = (&stats.first_event_at, &stats.last_event_at) {
        text.push_str(&format!(", from {first} to {last}"));
    }
    text = dated(text, &stats.basis, as_of.is_some());
    text.push_str(&format!(
        "\n{} on disk in total, {} of them the log",
        count(stats.bytes, "byte", "bytes"),
        stats.log_bytes
    ));
    // A view without files is read from the log, so it is not behind.
    let lagging = |view: &&ViewProgress| view.behind > 0 && view.bytes > 0;
    for view in stats.views.iter().filter(lagging) {
        let behind = count(view.behind, "event", "events");
        text.push_str(&format!("\nthe {} view is {behind} behind", view.view));
    }
    let mut structured = serde_json::to_value(&stats)
        .map_err(|error| ServiceError::Internal(format!("stats as JSON: {error}")))?;
    super::clean_value(&mut structured);
    if let Value::Object(fields) = &mut structured {
        // A model has no use for the path of the store.
        fields.remove("store");
        fields.retain(|_, value| !value.is_null());
    }
    Ok(Reply::new(text, structured))
}
