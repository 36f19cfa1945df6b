//! The tool `icm_memory_tags`: counts keywords, in pages.

use serde_json::json;

use super::paging::{NAME_CURSOR, after_name, tell_next_name};
use super::{Call, Hints, Kind, Param, Reply, SCOPE_SEEN, Tool, clean_value};
use crate::mcp::schema::Args;
use icm_api::TagsRequest;
use icm_api::error::ServiceError;
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Tags in one reply.
const PAGE: usize = 200;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_tags",
    title: "List keywords",
    description: "List the keywords of the memories, with counts. Call it to see by which keywords memories can be filtered, or to pick some for a new memory. Not for finding a fact[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "tags, labels, overview",
    leaves_work: false,
    params: &[
        Param {
            name: "filter",
            kind: Kind::Text,
            required: false,
            about: "only keywords with this text in them",
        },
        SCOPE_SEEN,
        NAME_CURSOR,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let after = after_name(&mut args)?;
    let request = TagsRequest {
        filter: args.text("filter"),
        scope: call.caller.scope(args.text("scope"))?,
        after,
        limit: Some(PAGE),
        at: None,
    };
    let found = call.service.tags(call.caller, &request)?;
    let mut frame = Frame::new();
    let mut shown = 0;
    for tag in &found.tags {
        if frame.len_bytes() > call.room_bytes() {
            break;
        }
        let mut tail = format!(" ({}", tag.memories);
        for (count, word) in [(tag.expired, "expired"), (tag.planned, "planned")] {
            if count > 0 {
                tail.push_str(&format!(", {count} {word}"));
            }
        }
        tail.push(')');
        frame.item("", &clean_line(&tag.tag), &tail, usize::MAX);
        shown += 1;
    }
    let mut text = match (shown, &request.filter) {
        (0, Some(_)) => "no keyword has this text in it".to_owned(),
        (0, None) => "no keywords".to_owned(),
        _ => frame.finish(),
    };
    let is_cut = found.more || shown < found.tags.len();
    let mut structured = json!({"tags": found.tags[..shown], "total": found.total});
    clean_value(&mut structured);
    if let (true, Some(last)) = (is_cut, found.tags[..shown].last()) {
        let answer = (&mut text, &mut structured);
        tell_next_name(&last.tag, (shown, found.total), answer);
    }
    Ok(Reply::new(text, structured))
}
