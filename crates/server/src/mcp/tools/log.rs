//! `icm_log`

use serde_json::{Map, Value, json};

use super::{Call, Hints, Kind, Param, Reply, Tool, clean_value};
use crate::api::{LogEntry, LogRequest, Version, WhyRecall};
use crate::error::ServiceError;
use crate::ids::event_prefix;
use crate::mcp::frame::{Frame, REPLY_MAX_BYTES, cut, fair_cap};
use crate::mcp::schema::Args;
use crate::sanitize::{clean, clean_line};

const LIMIT_DEFAULT: u64 = 20;
const LIMIT_MAX: u64 = 200;
/// Bytes of an entry beside its texts, about.
const ENTRY_BYTES: usize = 300;
/// Recalls of a memory that are told of, and bytes of what each asked.
const RECALLS_MAX: usize = 20;
const QUERY_MAX_BYTES: usize = 200;

pub(crate) static TOOL: Tool = Tool {
    name: "icm_log",
    title: "Read the event log",
    description: "Read what happened, newest first: who stored, changed or forgot what, and when. With id: where one memory came from, its versions, and the recalls that showed it. Call it to explain or audit a memory. Not for finding facts: use icm_memory_recall.",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
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
            about: "event kind, e.g. memory.stored, or family, e.g. memory",
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
            kind: Kind::Whole {
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
            about: "next_cursor of the reply before",
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
        // One more tells whether there is a next page.
        limit: Some(limit + 1),
        cursor: args.whole("cursor"),
        ..LogRequest::default()
    };
    match id {
        None => events(call, &request, limit),
        Some(id) => {
            let filtered = request.kind.is_some()
                || request.topic.is_some()
                || request.since.is_some()
                || request.cursor.is_some();
            if filtered {
                return Err(ServiceError::invalid_with(
                    "`id` gives the whole history of one memory, or one event",
                    "leave out kind, topic, since and cursor, or leave out id",
                ));
            }
            if id.trim_start().starts_with('@') {
                return event(call, &id);
            }
            match history(call, &id, limit) {
                // What is no memory may be an event.
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
    Ok(shown_events(&[detail.entry], false))
}

fn events(call: &Call<'_>, request: &LogRequest, limit: usize) -> Result<Reply, ServiceError> {
    let mut entries: Vec<LogEntry> = Vec::new();
    let mut more = false;
    let mut bytes = 0;
    call.service.log(request, &mut |entry| {
        bytes += entry_bytes(&entry);
        more = entries.len() == limit || (bytes > REPLY_MAX_BYTES && !entries.is_empty());
        if !more {
            entries.push(entry);
        }
        !more
    })?;
    if entries.is_empty() {
        return Ok(Reply {
            text: "no events match".into(),
            structured: json!({"events": []}),
        });
    }
    Ok(shown_events(&entries, more))
}

fn shown_events(entries: &[LogEntry], more: bool) -> Reply {
    // Only a single entry can still be too long.
    let cap = REPLY_MAX_BYTES / 2;
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
    Reply { text, structured }
}

fn entry_bytes(entry: &LogEntry) -> usize {
    ENTRY_BYTES
        + entry.summary.len()
        + entry.actor.len()
        + entry.session.as_ref().map_or(0, String::len)
}

fn history(call: &Call<'_>, id: &str, limit: usize) -> Result<Reply, ServiceError> {
    let mut versions = call.service.history(id)?;
    let why = call.service.why(id, RECALLS_MAX)?;
    versions.sort_by_key(|version| std::cmp::Reverse(version.position));
    let total = versions.len();
    versions.truncate(limit.min(REPLY_MAX_BYTES / 2 / ENTRY_BYTES));
    let lengths = versions
        .iter()
        .map(|v| v.memory.content.as_ref().map_or(0, String::len));
    let cap = fair_cap(lengths, REPLY_MAX_BYTES - versions.len() * ENTRY_BYTES);

    let mut frame = Frame::new();
    let mut shown = Vec::new();
    for version in &versions {
        let memory = &version.memory;
        let content = version.not_shown.as_ref().or(memory.content.as_ref());
        let content = clean(content.map_or("(withheld)", String::as_str));
        let state = match &memory.consolidated_into {
            _ if version.is_not_shown() => format!(" ({})", version.why_not_shown()),
            Some(summary) => format!(" (consolidated into {summary})"),
            None if memory.undone => " (undone: there is no memory from here on)".to_owned(),
            None if memory.forgotten => " (forgotten)".to_owned(),
            None => String::new(),
        };
        let undone = version.undone_at.map(|at| format!(" (undone at @{at})"));
        let state = state + undone.as_deref().unwrap_or_default();
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
    for recall in &why.recalls {
        let WhyRecall {
            position, at, rank, ..
        } = recall;
        let actor = clean_line(&recall.actor);
        let head = format!("@{position} {at} shown to {actor} at rank {rank} for ");
        frame.item(&head, &clean_line(query_of(recall)), "", QUERY_MAX_BYTES);
    }
    let mut text = frame.finish();
    if let Some(newest) = versions.first() {
        text = format!(
            "{}, {}, {}, newest first\n{text}",
            newest.memory.id,
            super::count(total as u64, "version", "versions"),
            super::count(why.recalls_total, "recall", "recalls"),
        );
    }
    if versions.len() < total {
        text.push_str(&format!(
            "\nthe newest {} of {total} versions shown",
            versions.len()
        ));
    }
    let mut from = json!(why.from);
    clean_value(&mut from);
    let structured = json!({
        "id": why.memory.id,
        "from": from,
        "versions": shown,
        "total": total,
        "recalls": why.recalls.iter().map(recall_fields).collect::<Vec<_>>(),
        "recalls_total": why.recalls_total,
    });
    Ok(Reply { text, structured })
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
