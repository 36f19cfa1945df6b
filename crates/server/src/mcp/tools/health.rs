//! The tool `icm_memory_health`: reports topics that need care.

use serde_json::json;

use super::{Call, Hints, Reply, TOPIC, Tool, clean_value, count, if_offered};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{FindingItem, FindingKind, HealthRequest};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_health",
    title: "Memory health",
    description: "Count stale, repeated, contradicting and never recalled memories, and crowded topics, each with what helps. Call it to tidy up, or when recall shows duplicates. Not for finding facts[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "duplicates, stale, clean up",
    leaves_work: false,
    params: &[TOPIC],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = HealthRequest {
        topic: args.text("topic"),
        ..HealthRequest::default()
    };
    let health = call.service.health(&request)?;
    let mut frame = Frame::new();
    let mut any = false;
    for finding in health.findings.iter().filter(|finding| finding.count > 0) {
        any = true;
        let (name, helps) = words(finding.finding, finding.count);
        let names: Vec<String> = finding.first.iter().map(said).collect();
        let left = finding.count - names.len() as u64;
        let left = match left {
            0 => String::new(),
            left => format!(" and {left} more"),
        };
        let head = format!("{} {name}: ", finding.count);
        let helps = if_offered(helps, call.options);
        let helps = helps.map_or_else(String::new, |helps| format!(" → {helps}"));
        let tail = format!("{left}{helps}");
        frame.item(&head, &names.join("; "), &tail, usize::MAX);
    }
    let looked = format!("{} looked at", count(health.memories, "memory", "memories"));
    let text = match any {
        true => format!("{looked}\n{}", frame.finish()),
        false => format!("{looked}: nothing wants a look"),
    };
    let mut structured = json!({
        "basis": health.basis,
        "memories": health.memories,
        "findings": health.findings,
    });
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

fn said(found: &FindingItem) -> String {
    let topic = clean_line(&found.topic);
    match found.memories {
        Some(memories) => match &found.scope {
            Some(scope) => format!("{topic} ({memories} of scope {})", clean_line(scope)),
            None => format!("{topic} ({memories})"),
        },
        None => format!("{} [{topic}]", found.ids.join(" = ")),
    }
}

/// Returns the name of a finding, and the tool that settles it.
fn words(finding: FindingKind, n: u64) -> (&'static str, &'static str) {
    match finding {
        FindingKind::Stale => (
            "stale",
            "update what still holds, {icm_memory_forget} the rest",
        ),
        FindingKind::NearDuplicates => ("nearly the same", "{icm_memory_forget} one of each"),
        FindingKind::Contradictions => (
            "contradicting each other",
            "{icm_memory_update} or {icm_memory_forget} the wrong one",
        ),
        FindingKind::NeverRecalled => ("never recalled", "{icm_memory_forget} what nobody needs"),
        FindingKind::ExpireSoon => ("about to expire", "{icm_memory_store} again what must stay"),
        FindingKind::Crowded => match n {
            1 => ("crowded topic", "{icm_memory_consolidate}"),
            _ => ("crowded topics", "{icm_memory_consolidate}"),
        },
    }
}
