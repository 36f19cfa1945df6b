//! The tool `icm_memory_list`: lists memories in pages, newest first.

use serde_json::{Value, json};

use super::paging::{CURSOR, Page};
use super::{
    ANY_TAGS, AS_OF, Call, EXCLUDE, Hints, KEYWORD, Kind, NOT_TAGS, Param, Reply, TOPIC, Tool,
    clean_value, dated, tag_filter,
};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{ListRequest, Memory};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

const LIMIT_DEFAULT: u64 = 20;
const LIMIT_MAX: u64 = 100;
/// Bytes of the text of each memory, 300. Raised, a page holds fewer memories.
const TEXT_MAX_BYTES: usize = 300;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_list",
    title: "List memories",
    description: "List memories, newest first, or the expired ones, which nothing else shows. Call it to look through a topic or a keyword[, or for what {icm_memory_revive} can bring back]. Not for finding a fact[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "browse, expired, by keyword, by tag",
    leaves_work: true,
    params: &[
        TOPIC,
        KEYWORD,
        ANY_TAGS,
        NOT_TAGS,
        EXCLUDE,
        Param {
            name: "expired",
            kind: Kind::Flag,
            required: false,
            about: "true: only expired memories",
        },
        Param {
            name: "scope",
            kind: Kind::Text,
            required: false,
            about: "only this scope; default all",
        },
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: LIMIT_MAX,
            },
            required: false,
            about: "default 20",
        },
        CURSOR,
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let page = Page::of(&mut args, "a list")?;
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let scope = args.text("scope").filter(|scope| scope.trim() != "all");
    let basis = call.service.basis(page.as_of.as_deref())?;
    let request = ListRequest {
        topic: args.text("topic"),
        tags: tag_filter(&mut args),
        // One more memory shows whether there is a next page.
        limit: Some(page.offset.saturating_add(limit + 1)),
        scope: call.caller.scope(scope)?,
        expired: args.flag("expired"),
        at: page.as_of.clone(),
        ..ListRequest::default()
    };
    let all = call.service.list(&request)?;
    let mut frame = Frame::new();
    let mut shown = Vec::new();
    for memory in all.iter().skip(page.offset).take(limit) {
        if frame.len_bytes() > call.room_bytes() / 2 {
            break;
        }
        let topic = clean_line(&memory.topic);
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let head = format!("{} [{topic}] ", memory.id);
        frame.item(
            &head,
            &clean_line(content),
            &about(call, memory),
            TEXT_MAX_BYTES,
        );
        shown.push(item(memory));
    }
    let mut text = match (shown.is_empty(), request.expired) {
        (false, _) => format!("{}\ndays in {}", frame.finish(), call.service.zone_name()),
        (true, _) if page.offset > 0 => "no more memories".to_owned(),
        (true, true) => "no memory is expired".to_owned(),
        (true, false) => "no memories there".to_owned(),
    };
    text = dated(text, &basis, page.as_of.is_some());
    let next = page.offset + shown.len();
    let shown_count = shown.len();
    let mut structured = json!({"basis": basis, "memories": shown});
    if all.len() > next && shown_count > 0 {
        page.tell_next(shown_count, &basis, (&mut text, &mut structured));
    }
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

/// Returns what stands behind the text of a memory.
fn about(call: &Call<'_>, memory: &Memory) -> String {
    let mut words = vec![
        call.day(memory.occurred_at.as_ref().unwrap_or(&memory.created_at)),
        memory.importance.name().to_owned(),
    ];
    if !memory.keywords.is_empty() {
        words.push(format!(
            "keywords {}",
            clean_line(&memory.keywords.join(", "))
        ));
    }
    words.extend(memory.states().iter().map(|state| state.word().to_owned()));
    words.extend(
        memory
            .expires
            .as_deref()
            .map(|condition| call.expires(condition, memory.recalls_left)),
    );
    format!(" ({})", words.join("; "))
}

fn item(memory: &Memory) -> Value {
    let mut item = json!({
        "id": memory.id,
        "topic": memory.topic,
        "importance": memory.importance,
        "keywords": memory.keywords,
        "scope": memory.scope,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    });
    if let Some(condition) = &memory.expires {
        item["expires"] = json!(condition);
        item["expired"] = json!(memory.expired);
        if let Some(left) = memory.recalls_left {
            item["recalls_left"] = json!(left);
        }
    }
    item
}
