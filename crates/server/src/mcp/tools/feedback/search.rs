//! The tool `icm_feedback_search`: searches the corrections, or lists them.

use super::{AS_OF, Call, FLOOR, Kind, Param, READS, Reply, Tool, dated, structured};
use crate::mcp::schema::Args;
use crate::mcp::tools::SCOPE_SEEN;
use crate::mcp::tools::paging::{CURSOR, Page};
use icm_api::error::ServiceError;
use icm_api::found_by::{fit, found_by, nothing_fits};
use icm_api::{Feedback, FeedbackHit, FeedbackListRequest, FeedbackSearchRequest};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_feedback_search",
    title: "Search corrections",
    description: "Search what was predicted wrongly before, and what was right; without a query the newest. Call it before a prediction or decision of a kind that went wrong earlier. Not for memories[: use {icm_memory_recall}, which shows fitting corrections, too].",
    hints: READS,
    search_hint: "mistakes, corrections, past errors",
    leaves_work: false,
    params: &[
        Param {
            name: "query",
            kind: Kind::Text,
            required: false,
            about: "a few plain words; left out: a list, newest first",
        },
        Param {
            name: "topic",
            kind: Kind::Text,
            required: false,
            about: "only this topic",
        },
        Param {
            name: "limit",
            kind: Kind::Limit { min: 1, max: 50 },
            required: false,
            about: "default 10",
        },
        SCOPE_SEEN,
        AS_OF,
        FLOOR,
        CURSOR,
    ],
    output: None,
    run,
};

/// Corrections of a page without a limit.
const LIMIT_DEFAULT: u64 = 10;
/// Characters of each text of a correction, 400. Raised, fewer corrections fit.
const SHOWN_CHARS: usize = 400;

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let Some(query) = args.text("query") else {
        return list(call, args);
    };
    if args.text("cursor").is_some() {
        return Err(ServiceError::invalid_with(
            "`cursor` belongs to the list, and a search has one page",
            "leave `query` or `cursor` out",
        ));
    }
    let request = FeedbackSearchRequest {
        query,
        topic: args.text("topic"),
        scope: call.caller.scope(args.text("scope"))?,
        limit: args.whole("limit").map(|limit| limit as usize),
        floor: args.share("floor"),
        at: args.text("as_of"),
    };
    let mut found = call.service.feedback_search(call.caller, &request)?;
    let about = |hit: &FeedbackHit| format!("{}, {}", found_by(&hit.matched), fit(hit.fit));
    let hits = found.results.iter();
    let (framed, shown) = in_frame(call, hits.map(|hit| (&hit.feedback, about(hit))));
    found.results.truncate(shown);
    found.results = (found.results.into_iter())
        .map(|hit| hit.shortened(SHOWN_CHARS))
        .collect();
    found.nearest = found.nearest.map(|hit| hit.shortened(SHOWN_CHARS));
    let mut text = match (shown, &found.nearest) {
        (0, Some(nearest)) => nothing_fits(&nearest.feedback.id, nearest.fit),
        (0, None) => "no correction fits".to_owned(),
        _ => framed,
    };
    if let Some(note) = &found.note {
        text.push_str(&format!("\nnote: {}", clean_line(note)));
    }
    Ok(Reply::new(
        dated(text, &found.basis, request.at.is_some()),
        structured(&found),
    ))
}

/// Returns a page of all corrections, newest first.
fn list(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let page = Page::of(&mut args, "a list")?;
    let scope = args.text("scope").filter(|scope| scope.trim() != "all");
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let mut found = call.service.feedback_list(&FeedbackListRequest {
        topic: args.text("topic"),
        scope: call.caller.scope(scope)?,
        offset: page.offset,
        limit: Some(limit),
        at: page.as_of.clone(),
    })?;
    let corrections = found.feedback.iter();
    let corrections = corrections.map(|it| (it, call.day(&it.created_at)));
    let (framed, shown) = in_frame(call, corrections);
    found.more |= shown < found.feedback.len();
    found.feedback.truncate(shown);
    let mut text = match shown {
        0 if page.offset > 0 => "no more corrections".to_owned(),
        0 => "no corrections".to_owned(),
        _ => framed,
    };
    text = dated(text, &found.basis, page.as_of.is_some());
    let mut answer = structured(&found);
    if found.more {
        page.tell_next(shown, &found.basis, (&mut text, &mut answer));
    }
    Ok(Reply::new(text, answer))
}

/// Returns corrections in a frame, each cut to a line with a note about it, and the number of those that fit.
fn in_frame<'a>(
    call: &Call<'_>,
    corrections: impl Iterator<Item = (&'a Feedback, String)>,
) -> (String, usize) {
    let mut frame = Frame::new();
    let (mut shown, mut bytes) = (0, 0);
    for (correction, about) in corrections {
        let topic = correction.topic.as_deref().map(clean_line);
        let head = match topic {
            Some(topic) => format!("{} [{topic}] ", correction.id),
            None => format!("{} ", correction.id),
        };
        let told = correction.told(SHOWN_CHARS);
        let from = correction.memory.as_ref();
        let from = from.map_or_else(String::new, |memory| format!(", from {memory}"));
        let tail = format!(" ({about}{from})");
        bytes += head.len() + told.len() + tail.len();
        if bytes > call.room_bytes() && shown > 0 {
            break;
        }
        frame.item(&head, &told, &tail, call.room_bytes() / 2);
        shown += 1;
    }
    (frame.finish(), shown)
}
