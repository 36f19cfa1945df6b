//! The tool `icm_feedback_search`: searches the corrections.

use super::{AS_OF, Call, FLOOR, Kind, Param, READS, Reply, Tool, dated, structured};
use crate::mcp::schema::Args;
use icm_api::FeedbackSearchRequest;
use icm_api::error::ServiceError;
use icm_api::found_by::{fit, found_by, nothing_fits};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_feedback_search",
    title: "Search corrections",
    description: "Search what was predicted wrongly before, and what was right. Call it before a prediction or decision of a kind that went wrong earlier. Not for memories: use icm_memory_recall, which shows fitting corrections, too.",
    hints: READS,
    search_hint: "mistakes, corrections, past errors",
    leaves_work: false,
    params: &[
        Param {
            name: "query",
            kind: Kind::Text,
            required: true,
            about: "a few plain words; no query syntax",
        },
        Param {
            name: "topic",
            kind: Kind::Text,
            required: false,
            about: "only this category",
        },
        Param {
            name: "limit",
            kind: Kind::Limit { min: 1, max: 50 },
            required: false,
            about: "default 10",
        },
        Param {
            name: "scope",
            kind: Kind::Text,
            required: false,
            about: "as seen from it, or all; default: global, this project and session",
        },
        AS_OF,
        FLOOR,
    ],
    output: None,
    run,
};

/// Characters of each text of a correction, 400. Raised, fewer corrections fit.
const SHOWN_CHARS: usize = 400;

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = FeedbackSearchRequest {
        query: args.required_text("query"),
        topic: args.text("topic"),
        scope: call.caller.scope(args.text("scope"))?,
        limit: args.whole("limit").map(|limit| limit as usize),
        floor: args.share("floor"),
        at: args.text("as_of"),
    };
    let mut found = call.service.feedback_search(call.caller, &request)?;
    let mut frame = Frame::new();
    let (mut shown, mut bytes) = (0, 0);
    for hit in &found.results {
        let topic = hit.feedback.topic.as_deref().map(clean_line);
        let head = match topic {
            Some(topic) => format!("{} [{topic}] ", hit.feedback.id),
            None => format!("{} ", hit.feedback.id),
        };
        let told = hit.feedback.told(SHOWN_CHARS);
        let from = hit.feedback.memory.as_ref();
        let from = from.map_or_else(String::new, |memory| format!(", from {memory}"));
        let tail = format!(" ({}, {}{from})", found_by(&hit.matched), fit(hit.fit));
        bytes += head.len() + told.len() + tail.len();
        if bytes > call.room_bytes() && shown > 0 {
            break;
        }
        frame.item(&head, &told, &tail, call.room_bytes() / 2);
        shown += 1;
    }
    found.results.truncate(shown);
    found.results = (found.results.into_iter())
        .map(|hit| hit.shortened(SHOWN_CHARS))
        .collect();
    found.nearest = found.nearest.map(|hit| hit.shortened(SHOWN_CHARS));
    let mut text = match (shown, &found.nearest) {
        (0, Some(nearest)) => nothing_fits(&nearest.feedback.id, nearest.fit),
        (0, None) => "no correction fits".to_owned(),
        _ => frame.finish(),
    };
    if let Some(note) = &found.note {
        text.push_str(&format!("\nnote: {}", clean_line(note)));
    }
    Ok(Reply::new(
        dated(text, &found.basis, request.at.is_some()),
        structured(&found),
    ))
}
