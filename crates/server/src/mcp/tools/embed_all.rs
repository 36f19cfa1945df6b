//! The tool `icm_memory_embed_all`: embeds memories that have no vector yet.

use std::time::Duration;

use serde_json::json;

use super::{Call, Hints, Kind, Param, Reply, Tool, count};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

/// Time after which a call begins no more batches, 20 s. Raised, clients give the call up; lowered, more calls are
/// needed.
const CALL_MAX: Duration = Duration::from_secs(20);

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_embed_all",
    title: "Embed what is left",
    description: "Embed memories that have no vector of the model yet, up to 20 seconds; call again while some are left. Call it after the model changed or after an import. Not for daily use: the server does it in its own time.",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    search_hint: "vectors, embeddings, index",
    leaves_work: false,
    params: &[Param {
        name: "topic",
        kind: Kind::Text,
        required: false,
        about: "ignored: they are embedded in their order",
    }],
    output: None,
    run,
};

fn run(call: &Call<'_>, _: Args) -> Result<Reply, ServiceError> {
    let report = call.service.embed_for(call.progress, Some(CALL_MAX))?;
    let status = &report.status;
    let left = status.versions.saturating_sub(status.embedded);
    let (text, texts) = status.embeds.words();
    let all = count(status.versions, text, texts);
    let text = match (status.dim, left) {
        (0, _) => "there is no model: memories are found by their words".to_owned(),
        (_, 0) => format!(
            "embedded {} now; all {all} have a vector of {}",
            report.new, status.model
        ),
        _ => format!(
            "embedded {} now; {} of {all} have a vector of {}, {left} are left: call again",
            report.new, status.embedded, status.model
        ),
    };
    let left = if status.dim == 0 { 0 } else { left };
    let structured = json!({
        "model": status.model,
        "embeds": status.embeds,
        "new": report.new,
        "done": status.embedded,
        "left": left,
        "versions": status.versions,
    });
    Ok(Reply::new(text, structured))
}
