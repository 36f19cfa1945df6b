//! The tool `icm_memory_consolidate`: replaces the memories of a topic by a summary.

use serde_json::json;

use super::{Call, Hints, Kind, Param, Reply, Tool, count};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{ConsolidateRequest, Summary, SummaryBy, Trust};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_consolidate",
    title: "Consolidate a topic",
    description: "Store one summary in place of the memories of a topic; they stay in history[ and {icm_undo} brings them back]. Call it when a topic has grown long and you have read all of it. Not for correcting one memory[: use {icm_memory_update}].",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    search_hint: "summarize, compress, merge memories",
    leaves_work: true,
    params: &[
        Param {
            name: "topic",
            kind: Kind::Text,
            required: true,
            about: "the topic; a/ for all below a",
        },
        Param {
            name: "summary",
            kind: Kind::Text,
            required: false,
            about: "everything worth keeping; else rules choose sentences",
        },
        Param {
            name: "scope",
            kind: Kind::Text,
            required: false,
            about: "only this scope, where the topic has several",
        },
        Param {
            name: "keep_originals",
            kind: Kind::Flag,
            required: false,
            about: "true: leave the originals as they are",
        },
        Param {
            name: "allow_secret",
            kind: Kind::Flag,
            required: false,
            about: "true: store what looks like a secret",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = ConsolidateRequest {
        topic: args.required_text("topic"),
        summary: match args.text("summary") {
            Some(text) => text.into(),
            None => Summary::Configured,
        },
        importance: None,
        keywords: Vec::new(),
        scope: call.caller.scope(args.text("scope"))?,
        keep_originals: args.flag("keep_originals"),
        allow_secret: args.flag("allow_secret"),
        trust: Trust::Agent,
        request_id: None,
    };
    let done = (call.service).consolidate_watched(call.caller, &request, call.progress)?;
    let originals = count(done.originals.len() as u64, "memory", "memories");
    let mut reply = super::receipt::changed(call, done.receipt, true);
    reply.text = format!("{}; it stands for {originals}", reply.text);
    reply.structured["originals"] = json!(done.originals);
    if let Some(made) = done.summary.filter(|made| made.by != SummaryBy::Given) {
        let mut frame = Frame::new();
        frame.item("", &made.text, "", usize::MAX);
        reply.text = format!("{}\n{}", reply.text, frame.finish());
        reply.structured["summary"] = json!({
            "text": clean(&made.text),
            "by": made.by,
            "superseded": made.superseded,
            "withheld": made.withheld,
            "repeated": made.repeated,
            "no_room": made.no_room,
        });
    }
    Ok(reply)
}
