//! The tool `icm_memory_rename_tag`: puts one keyword in the place of another, after a preview.

use serde_json::json;

use super::{CONFIRM, Call, Hints, Kind, Param, Reply, Tool, clean_value, count, short};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{ReplaceTagAnswer, ReplaceTagRequest};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Memories in a preview, and bytes of each.
const SHOWN: usize = 10;
const SHOWN_MAX_BYTES: usize = 200;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_rename_tag",
    title: "Rename a keyword",
    description: "Rename a keyword in all memories that have it, or merge it into another[; {icm_undo} takes it back]. Call it to tidy up keywords that mean the same; without confirm it only previews. Not for one memory[: use {icm_memory_update}].",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    search_hint: "tags, merge tags, tidy up",
    leaves_work: true,
    params: &[
        Param {
            name: "from",
            kind: Kind::Text,
            required: true,
            about: "the keyword",
        },
        Param {
            name: "to",
            kind: Kind::Text,
            required: true,
            about: "its new name, or with merge the keyword in its place",
        },
        Param {
            name: "merge",
            kind: Kind::Flag,
            required: false,
            about: "true: the other keyword exists already",
        },
        CONFIRM,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let plan = args.text("confirm");
    let request = ReplaceTagRequest {
        from: args.required_text("from"),
        to: args.required_text("to"),
        merge: args.flag("merge"),
        dry_run: plan.is_none(),
        plan,
        shown: SHOWN,
    };
    let answer = call.service.replace_tag(call.caller, &request)?;
    let mut structured = json!({
        "dry_run": answer.dry_run,
        "plan": answer.plan,
        "from": answer.from,
        "to": answer.to,
        "memories": answer.memories,
        "expired": answer.expired,
    });
    let mut text = match (&answer.event, answer.position) {
        (Some(event), Some(position)) => {
            structured["event"] = json!(event);
            structured["position"] = json!(position);
            format!(
                "changed {} (event {}, @{position}){}",
                memories(&answer),
                short(event),
                call.told("[; {icm_undo} with that event takes it back]"),
            )
        }
        _ => preview(&answer),
    };
    for warning in &answer.warnings {
        text.push_str(&format!("\nwarning: {}", clean_line(warning)));
    }
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

fn memories(answer: &ReplaceTagAnswer) -> String {
    let memories = count(answer.memories, "memory", "memories");
    match answer.expired {
        0 => memories,
        expired => format!("{memories}, {expired} of them expired"),
    }
}

fn preview(answer: &ReplaceTagAnswer) -> String {
    let mut frame = Frame::new();
    for memory in &answer.newest {
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let head = format!("{} ", memory.id);
        frame.item(&head, &clean_line(content), "", SHOWN_MAX_BYTES);
    }
    let more = match answer.memories - answer.newest.len() as u64 {
        0 => String::new(),
        more => format!("\n… and {more} more"),
    };
    format!(
        "would change {}; nothing is done yet: call again with confirm: \"{}\"\n{}{more}",
        memories(answer),
        answer.plan,
        frame.finish()
    )
}
