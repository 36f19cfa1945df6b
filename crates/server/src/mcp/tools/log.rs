//! The tool `icm_log`: lists events, or shows one memory with its history.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{Call, Hints, Kind, Param, Reply, Tool, clean_value};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::ids::event_prefix;
use icm_api::{LogEntry, LogRequest, MemoryState, Version, WhyRecall};
use icm_guard::frame::{Frame, cut, end_within, fair_cap, framed_len};
use icm_guard::sanitize::{clean, clean_line};

const LIMIT_DEFAULT: u64 = 20;
const LIMIT_MAX: u64 = 200;
/// Bytes of an entry beside its texts, about.
const ENTRY_BYTES: usize = 300;
/// Recalls of a memory that are listed, and bytes of each query.
const RECALLS_MAX: usize = 20;
const QUERY_MAX_BYTES: usize = 200;
/// Bytes of a line about a recall, about.
const RECALL_BYTES: usize = 350;

pub(crate) static TOOL: Tool = Tool {
    name: "icm_log",
    title: "Read the event log",
    description: "Read what happened, newest first: who stored, changed or forgot what. With id: the source of one memory, its versions and its recalls. Call it to explain or audit a memory. Not for finding facts[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "history, audit, who wrote, whole text",
    leaves_work: false,
    params: &[
        Param {
            name: "id",
            kind: Kind::Text,
            required: false,
            about: "a memory (its history), an event, or @position; without other filters",
        },
        Param {
            name: "kind",
            kind: Kind::Text,
            required: false,
            about: "e.g. memory.stored, or a family such as memory",
        },
        Param {
            name: "topic",
            kind: Kind::Text,
            required: false,
            about: "only memories that are or were in it",
        },
        Param {
            name: "since",
            kind: Kind::Text,
            required: false,
            about: "date, RFC 3339, or 2h ago",
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
        Param {
            name: "cursor",
            kind: Kind::Whole {
                min: 1,
                max: u64::MAX,
            },
            required: false,
            about: "from the reply before, after `more`",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let id = args.text("id");
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let request = LogRequest {
        kind: args.text("kind"),
        topic: args.text("topic"),
        since: args.text("since"),
        // One more entry shows whether there is a next page.
        limit: Some(limit + 1),
        cursor: args.whole("cursor"),
        ..LogRequest::default()
    };
    match id {
        None => events(call, &request, limit),
        Some(id) => {
            let filtered =
                request.kind.is_some() || request.topic.is_some() || request.since.is_some();
            if filtered {
                return Err(ServiceError::invalid_with(
                    "`id` gives the whole history of one memory, or one event",
                    "leave out kind, topic and since, or leave out id",
                ));
            }
            if let Some(cursor) = request.cursor {
                return text_from(call, &id, usize::try_from(cursor).unwrap_or(usize::MAX));
            }
            if id.trim_start().starts_with('@') {
                return event(call, &id);
            }
            match history(call, &id, limit) {
                // An id that names no memory may name an event.
                Err(error @ ServiceError::NotFound { .. }) => match event_prefix(&id) {
                    Some(_) => event(call, &id).map_err(|also| match also {
                        ServiceError::NotFound { .. } => error,
                        other => other,
                    }),
                    None => Err(error),
                },
                other => other,
            }
        }
    }
}

fn event(call: &Call<'_>, id: &str) -> Result<Reply, ServiceError> {
    let detail = call.service.log_show(id)?;
    let entry = detail.entry;
    let is_cut = framed_len(&entry.summary) > call.room_bytes() / 2;
    let mut reply = shown_events(std::slice::from_ref(&entry), false, call.room_bytes());
    if let Some(subject) = entry.subject.filter(|_| is_cut) {
        reply
            .text
            .push_str(&format!("\nthe whole text: icm_log (id: \"{subject}\")"));
    }
    Ok(reply)
}

fn events(call: &Call<'_>, request: &LogRequest, limit: usize) -> Result<Reply, ServiceError> {
    let mut entries: Vec<LogEntry> = Vec::new();
    let mut more = false;
    let mut bytes = 0;
    call.service.log(request, &mut |entry| {
        bytes += entry_bytes(&entry);
        more = entries.len() == limit || (bytes > call.room_bytes() && !entries.is_empty());
        if !more {
            entries.push(entry);
        }
        !more
    })?;
    if entries.is_empty() {
        return Ok(Reply::new("no events match".into(), json!({"events": []})));
    }
    Ok(shown_events(&entries, more, call.room_bytes()))
}

fn shown_events(entries: &[LogEntry], more: bool, room_bytes: usize) -> Reply {
    // Only a single entry can still be too long.
    let cap = room_bytes / 2;
    let mut frame = Frame::new();
    let mut shown = Vec::new();
    for entry in entries {
        let actor = clean_line(&entry.actor);
        let subject = entry
            .subject
            .as_deref()
            .map_or(String::new(), |s| format!(" {s}"));
        let head = format!(
            "@{} {} {}{subject} by {actor}: ",
            entry.position, entry.at, entry.kind
        );
        frame.item(&head, &clean_line(&entry.summary), "", cap);
        let mut fields = Map::new();
        fields.insert("position".into(), entry.position.into());
        fields.insert("event".into(), entry.event.as_str().into());
        fields.insert("kind".into(), entry.kind.as_str().into());
        fields.insert("at".into(), entry.at.as_str().into());
        fields.insert("actor".into(), actor.into());
        if let Some(session) = &entry.session {
            fields.insert("session".into(), clean(session).into());
        }
        if let Some(subject) = &entry.subject {
            fields.insert("subject".into(), subject.as_str().into());
        }
        fields.insert("summary".into(), cut(&clean(&entry.summary), cap).into());
        fields.insert("body".into(), entry.body.as_str().into());
        shown.push(Value::Object(fields));
    }
    let mut text = frame.finish();
    let mut structured = json!({"events": shown});
    if more && let Some(last) = entries.last() {
        text.push_str(&format!("\nmore: cursor {}", last.position));
        structured["next_cursor"] = last.position.into();
    }
    Reply::new(text, structured)
}

fn entry_bytes(entry: &LogEntry) -> usize {
    ENTRY_BYTES
        + entry.summary.len()
        + entry.actor.len()
        + entry.session.as_ref().map_or(0, String::len)
}

/// Returns the text of a version, cleaned.
fn text_of(version: &Version) -> Cow<'_, str> {
    let content = version
        .not_shown
        .as_ref()
        .or(version.memory.content.as_ref());
    clean(content.map_or("(withheld)", String::as_str))
}

/// Returns the text of the newest version from byte `start` on, for a text that did not fit into the reply before.
fn text_from(call: &Call<'_>, id: &str, start: usize) -> Result<Reply, ServiceError> {
    let versions = call.service.history(id)?;
    let newest = versions.iter().max_by_key(|version| version.position);
    let text = newest.map(text_of).unwrap_or_default();
    if start >= text.len() {
        return Err(ServiceError::invalid_with(
            format!(
                "the cursor is {start}, and the text of {id} has {} bytes",
                text.len()
            ),
            "give the cursor of the reply before, or leave it out",
        ));
    }
    let start = text.floor_char_boundary(start);
    let end = start + end_within(&text[start..], call.room_bytes());
    let mut frame = Frame::new();
    frame.item("", &text[start..end], "", usize::MAX);
    let mut structured = json!({"id": id, "text": text[start..end], "total_bytes": text.len()});
    let mut reply = frame.finish();
    if end < text.len() {
        reply.push_str(&more(end, text.len()));
        structured["next_cursor"] = end.into();
    }
    Ok(Reply::new(reply, structured))
}

/// Returns the line that a text goes on.
fn more(end: usize, total: usize) -> String {
    format!(
        "\n{end} of {total} bytes of the newest text shown; more: cursor {end}, with the same id"
    )
}

fn history(call: &Call<'_>, id: &str, limit: usize) -> Result<Reply, ServiceError> {
    let mut versions = call.service.history(id)?;
    let why = call.service.why(id, RECALLS_MAX)?;
    versions.sort_by_key(|version| std::cmp::Reverse(version.position));
    let total = versions.len();
    // The text of a memory is worth more than the list of its recalls.
    let recalls = why.recalls.len().min(call.room_bytes() / 4 / RECALL_BYTES);
    let room = call.room_bytes() - recalls * RECALL_BYTES;
    versions.truncate(limit.min(room / 2 / ENTRY_BYTES).max(1));
    let room = room.saturating_sub(versions.len() * ENTRY_BYTES);
    // The newest text has priority: earlier texts share the rest, a quarter of the room at least.
    let newest = versions.first().map(text_of).unwrap_or_default();
    let newest_cap = end_within(&newest, room * 3 / 4);
    let newest_len = newest.len();
    let earlier = versions.iter().skip(1);
    let earlier = earlier.map(|version| framed_len(&text_of(version)));
    let cap = fair_cap(earlier, room - framed_len(&newest[..newest_cap]));

    let mut frame = Frame::new();
    let mut shown = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        let memory = &version.memory;
        let content = text_of(version);
        // The next reply continues at exactly this byte.
        let is_begun = at == 0 && newest_cap < newest_len;
        let (content, cap) = match is_begun {
            true => (format!("{}…", &content[..newest_cap]).into(), usize::MAX),
            false if at == 0 => (content, usize::MAX),
            false => (content, cap),
        };
        let state = match (memory.end(), &memory.consolidated_into) {
            _ if version.is_not_shown() => format!(" ({})", version.why_not_shown()),
            (Some(MemoryState::Consolidated), Some(summary)) => {
                format!(" (consolidated into {summary})")
            }
            (Some(MemoryState::Undone), _) => {
                " (undone: there is no memory from here on)".to_owned()
            }
            (Some(end), _) => format!(" ({})", end.word()),
            (None, _) => String::new(),
        };
        let of = memory.occurred_at.as_ref();
        let of = of.map_or_else(String::new, |at| format!(" (of {})", call.day(at)));
        let undone = version.undone_at.map(|at| format!(" (undone at @{at})"));
        let state = of + &state + undone.as_deref().unwrap_or_default();
        let head = format!(
            "@{} {} {} by {} [{}] ",
            version.position,
            version.at,
            version.kind,
            clean_line(&version.actor),
            clean_line(&version.memory.topic),
        );
        frame.item(&head, &content, &state, cap);
        shown.push(version_fields(version, cap));
    }
    for recall in &why.recalls[..recalls] {
        let WhyRecall {
            position, at, rank, ..
        } = recall;
        let actor = clean_line(&recall.actor);
        let head = format!("@{position} {at} shown to {actor} at rank {rank} for ");
        frame.item(&head, &clean_line(query_of(recall)), "", QUERY_MAX_BYTES);
    }
    let mut text = frame.finish();
    let mut from = json!(why.from);
    clean_value(&mut from);
    if let Some(newest) = versions.first() {
        text = format!(
            "{}, {}, {}, newest first\n{text}",
            newest.memory.id,
            super::count(total as u64, "version", "versions"),
            super::count(why.recalls_total, "recall", "recalls"),
        );
    }
    let mut structured = json!({
        "id": why.memory.id,
        "from": from,
        "versions": shown,
        "total": total,
        "recalls": why.recalls.iter().map(recall_fields).collect::<Vec<_>>(),
        "recalls_total": why.recalls_total,
    });
    if newest_cap < newest_len {
        text.push_str(&more(newest_cap, newest_len));
        structured["next_cursor"] = newest_cap.into();
    }
    if versions.len() < total {
        text.push_str(&format!(
            "\nthe newest {} of {total} versions shown",
            versions.len()
        ));
    }
    Ok(Reply::new(text, structured))
}

fn query_of(recall: &WhyRecall) -> &str {
    recall.query.as_deref().unwrap_or("(withheld)")
}

fn recall_fields(recall: &WhyRecall) -> Value {
    let mut fields = json!({
        "position": recall.position,
        "event": recall.event,
        "at": recall.at,
        "actor": clean(&recall.actor),
        "rank": recall.rank,
    });
    if let Some(session) = &recall.session {
        fields["session"] = clean(session).into();
    }
    if let Some(query) = &recall.query {
        fields["query"] = cut(&clean(query), QUERY_MAX_BYTES).into();
    }
    fields
}

fn version_fields(version: &Version, cap_bytes: usize) -> Value {
    let memory = &version.memory;
    let mut fields = json!({
        "position": version.position,
        "event": version.event,
        "kind": version.kind,
        "at": version.at,
        "actor": clean(&version.actor),
        "changed": version.changed,
        "topic": clean(&memory.topic),
        "importance": memory.importance,
        "trust": memory.trust,
        "forgotten": memory.forgotten,
    });
    if let Some(until) = version.until {
        fields["until"] = until.into();
    }
    if let Some(content) = &memory.content {
        fields["content"] = cut(&clean(content), cap_bytes).into();
    }
    if let Some(text) = &version.not_shown {
        fields["not_shown"] = cut(&clean(text), cap_bytes).into();
    }
    if !version.not_shown_fields.is_empty() {
        let mut others = Value::Object(version.not_shown_fields.clone());
        clean_value(&mut others);
        fields["not_shown_fields"] = others;
    }
    if let Some(summary) = &memory.consolidated_into {
        fields["consolidated_into"] = summary.as_str().into();
    }
    if memory.undone {
        fields["undone"] = true.into();
    }
    if let Some(at) = version.undone_at {
        fields["undone_at"] = at.into();
    }
    fields
}
