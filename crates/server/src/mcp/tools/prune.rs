//! The tool `icm_memory_prune`: forgets memories that have faded, after a preview.

use serde_json::json;

use super::decay::ahead;
use super::{CONFIRM, Call, Hints, Kind, Param, Reply, Tool, clean_value, count, short};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{KEPT_AFTER_RECALL_DAYS, PruneAnswer, PruneRequest, PrunedPause};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Bytes of each memory that a preview shows.
const SHOWN_MAX_BYTES: usize = 200;

/// Memories that a line about a pause of the log names.
const PAUSE_IDS_MAX: usize = 10;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_prune",
    title: "Forget what has faded",
    description: "Forget the medium and low memories that have faded[; {icm_undo} brings them back]. Call it when the user asks to clean up; without confirm it only previews. Not for single memories[: use {icm_memory_forget}].",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    search_hint: "delete faded, clean up",
    leaves_work: true,
    params: &[
        Param {
            name: "threshold",
            kind: Kind::Share,
            required: false,
            about: "weight below which they go, 0 to 1; default 0.1",
        },
        CONFIRM,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let plan = args.text("confirm");
    let request = PruneRequest {
        threshold: args.share("threshold"),
        dry_run: plan.is_none(),
        plan,
        ..PruneRequest::default()
    };
    let answer = call.service.prune(call.caller, &request)?;
    let mut structured = json!({
        "dry_run": answer.dry_run,
        "plan": answer.plan,
        "threshold": answer.threshold,
        "memories": answer.memories,
        "recalled": answer.recalled,
    });
    let mut text = match (&answer.event, answer.memories) {
        (_, 0) if answer.recalled > 0 => "nothing to forget".to_owned(),
        (_, 0) => format!(
            "no memory of medium or low importance is below {}",
            answer.threshold
        ),
        (Some(event), memories) => {
            let position = answer.position.unwrap_or_default();
            structured["event"] = json!(event);
            structured["position"] = json!(position);
            format!(
                "forgotten {} below {} (event {}, @{position}){}",
                count(memories, "memory", "memories"),
                answer.threshold,
                short(event),
                call.told("[; {icm_undo} with that event brings all of them back]"),
            )
        }
        (None, _) => preview(&answer),
    };
    let shown = answer.first.iter();
    let shown = shown.map(|it| json!({"id": it.id, "topic": it.topic, "weight": it.weight}));
    structured["shown"] = shown.collect();
    if !answer.pauses.is_empty() {
        structured["pauses"] = json!(answer.pauses);
    }
    if answer.recalled > 0 {
        text.push_str(&format!(
            "\n{} below {} kept: recalled in the last {KEPT_AFTER_RECALL_DAYS} days",
            count(answer.recalled, "memory", "memories"),
            answer.threshold,
        ));
    }
    text.push_str(&ahead(call, &answer.ahead));
    for pause in &answer.pauses {
        text.push_str(&because_of(pause));
    }
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

/// Returns a line about the memories that fade below the threshold because of one pause of the log.
fn because_of(pause: &PrunedPause) -> String {
    let PrunedPause { from, to, ids } = pause;
    let memories = count(ids.len() as u64, "memory", "memories");
    let first: Vec<&str> = ids.iter().map(String::as_str).take(PAUSE_IDS_MAX).collect();
    let first = first.join(" ");
    format!(
        "\nwarning: {memories} faded only through the time from {from} to {to}, in which nothing was written; a clock \
         may have been wrong (the first: {first})"
    )
}

fn preview(answer: &PruneAnswer) -> String {
    let mut frame = Frame::new();
    for memory in &answer.first {
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let head = format!("{} ", memory.id);
        let tail = format!(" ({:.3})", memory.weight);
        frame.item(&head, &clean_line(content), &tail, SHOWN_MAX_BYTES);
    }
    let more = match answer.memories - answer.first.len() as u64 {
        0 => String::new(),
        more => format!("\n… and {more} more"),
    };
    format!(
        "would forget {} below {}; nothing is done yet: call again with confirm: \"{}\"\n{}{more}",
        count(answer.memories, "memory", "memories"),
        answer.threshold,
        answer.plan,
        frame.finish()
    )
}
