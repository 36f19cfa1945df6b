//! The tool `icm_memory_forget_topic`: forgets all memories of a topic, after a preview.

use serde_json::json;

use super::{CONFIRM, Call, Hints, Kind, Param, Reply, Tool, clean_value, count, short};
use crate::mcp::schema::Args;
use icm_api::TurnTopicRequest;
use icm_api::error::ServiceError;
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Memories in a preview, and bytes of each.
const SHOWN: usize = 10;
const SHOWN_MAX_BYTES: usize = 200;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_forget_topic",
    title: "Forget a topic",
    description: "Forget all memories of a topic[; {icm_undo} brings them back]. Call it when the user asks to drop a whole topic; without confirm it only previews. Not for one memory[: use {icm_memory_forget}].",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    search_hint: "delete all, remove a topic",
    leaves_work: true,
    params: &[
        Param {
            name: "topic",
            kind: Kind::Text,
            required: true,
            about: "the topic; a/ for all below a",
        },
        CONFIRM,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let plan = args.text("confirm");
    let request = TurnTopicRequest {
        topic: args.required_text("topic"),
        dry_run: plan.is_none(),
        plan,
        shown: SHOWN,
        ..TurnTopicRequest::default()
    };
    let answer = call.service.turn_topic(call.caller, &request)?;
    if answer.memories == 0 {
        return Err(nothing(call, request.topic)?);
    }
    let topic = clean_line(&request.topic).into_owned();
    let memories = count(answer.memories, "memory", "memories");
    let topics = count(answer.topics, "topic", "topics");
    let mut structured = json!({
        "dry_run": answer.dry_run,
        "topic": topic,
        "plan": answer.plan,
        "memories": answer.memories,
        "topics": answer.topics,
    });
    let text = match answer.receipts.last() {
        Some(last) => {
            structured["event"] = json!(last.event);
            structured["position"] = json!(last.position);
            format!(
                "forgotten {memories} in \"{topic}\" (event {}, @{}){}",
                short(&last.event),
                last.position,
                call.told("[; {icm_undo} with that event brings all of them back]"),
            )
        }
        None => {
            let mut frame = Frame::new();
            let mut shown = Vec::new();
            for memory in &answer.shown {
                let content = memory.content.as_deref().unwrap_or("(withheld)");
                let head = format!("{} ", memory.id);
                frame.item(&head, &clean_line(content), "", SHOWN_MAX_BYTES);
                shown.push(json!({"id": memory.id, "topic": memory.topic}));
            }
            structured["shown"] = json!(shown);
            let more = answer.memories - answer.shown.len() as u64;
            let more = match more {
                0 => String::new(),
                more => format!("\n… and {more} more"),
            };
            format!(
                "would forget {memories} in {topics}; nothing is done yet: call again with confirm: \
                 \"{}\"\n{}{more}",
                answer.plan,
                frame.finish()
            )
        }
    };
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

/// Returns the error for an empty topic; its hint tells how to name the topics below it, if there are any.
fn nothing(call: &Call<'_>, topic: String) -> Result<ServiceError, ServiceError> {
    let look = TurnTopicRequest {
        topic: format!("{}/", topic.trim_end_matches('/')),
        dry_run: true,
        ..TurnTopicRequest::default()
    };
    let below = match topic.ends_with('/') {
        true => 0,
        false => call.service.turn_topic(call.caller, &look)?.memories,
    };
    Ok(ServiceError::Nothing {
        hint: match below {
            0 => "`icm topics` lists topics; `a/` means `a` and everything below it".to_owned(),
            _ => format!(
                "`{}` means it and everything below it: {}",
                look.topic,
                count(below, "memory", "memories")
            ),
        },
        message: format!("no memories in `{topic}`"),
    })
}
