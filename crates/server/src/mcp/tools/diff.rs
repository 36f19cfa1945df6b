//! The tool `icm_diff`: shows the changes between two positions.

use serde_json::{Map, Value, json};

use super::memoir::diff::graph_diff;
use super::{Call, Hints, Kind, Param, Reply, TOPIC, Tool, clean_value};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{Diff, DiffOp, DiffRequest, Memory, MemoryChange};
use icm_guard::frame::{Frame, cut, fair_cap};
use icm_guard::sanitize::{clean, clean_line};

/// Memories in one reply. Raised, each text gets less room.
const MEMORIES_MAX: usize = 30;
/// Links between memories in one reply.
const LINKS_MAX: usize = 50;
/// Bytes of a memory beside its texts, about, and of a link.
const ENTRY_BYTES: usize = 250;
const LINK_BYTES: usize = 100;

pub(super) static TOOL: Tool = Tool {
    name: "icm_diff",
    title: "Compare two moments",
    description: "Compare memories and memoirs at two moments: what was added, changed, forgotten and revived. Call it to see what a session did, or what is new since you last looked. Not for the steps in between[: use {icm_log}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "what changed, compare, since",
    leaves_work: false,
    params: &[
        Param {
            name: "from",
            kind: Kind::Text,
            required: true,
            about: "date, RFC 3339, 2h ago, @position or event id",
        },
        Param {
            name: "to",
            kind: Kind::Text,
            required: false,
            about: "the later moment; default now",
        },
        TOPIC,
        Param {
            name: "session",
            kind: Kind::Text,
            required: false,
            about: "only what this session changed",
        },
        Param {
            name: "memoir",
            kind: Kind::Text,
            required: false,
            about: "only this memoir, no memories",
        },
        Param {
            name: "page",
            kind: Kind::Whole {
                min: 1,
                max: 1_000_000,
            },
            required: false,
            about: "next of the reply before; give it the same to",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let page = args.whole("page").map_or(0, |page| page as usize - 1);
    let mut diff = call.service.diff(&DiffRequest {
        from: args.required_text("from"),
        to: args.text("to"),
        topic: args.text("topic"),
        session: args.text("session"),
        memoir: args.text("memoir"),
        limit: None,
    })?;
    let counts = format!(
        "{} added, {} changed, {} forgotten, {} revived{}{} from @{} ({}) to @{} ({})",
        diff.added.len(),
        diff.changed.len(),
        diff.forgotten.len(),
        diff.revived.len(),
        match (diff.linked.len(), diff.unlinked.len()) {
            (0, 0) => String::new(),
            (linked, unlinked) => format!(", {linked} linked, {unlinked} unlinked"),
        },
        match diff.faded {
            0 => String::new(),
            others => format!(", {others} others faded"),
        },
        diff.from.position,
        diff.from.at,
        diff.to.position,
        diff.to.at,
    );
    let total = diff.added.len() + diff.changed.len() + diff.forgotten.len() + diff.revived.len();
    let mut window = Window::of(page, MEMORIES_MAX);
    window.cut(&mut diff.changed);
    window.cut(&mut diff.added);
    window.cut(&mut diff.forgotten);
    window.cut(&mut diff.revived);
    let shown = MEMORIES_MAX - window.left;
    let links_total = diff.linked.len() + diff.unlinked.len();
    let mut window = Window::of(page, LINKS_MAX);
    window.cut(&mut diff.linked);
    window.cut(&mut diff.unlinked);
    let links = LINKS_MAX - window.left;
    let beyond = |total, most: usize| total > page.saturating_add(1).saturating_mul(most);
    let mut more = beyond(total, MEMORIES_MAX) || beyond(links_total, LINKS_MAX);

    let graph = graph_diff(&diff.graph, page);
    let mut text = counts;
    if shown + links > 0 {
        text.push('\n');
        let graph = graph.as_ref().map_or(0, |(lines, ..)| lines.len());
        let room = call.room_bytes().saturating_sub(graph + links * LINK_BYTES);
        text.push_str(&in_frame(&diff, shown, room));
    }
    if shown < total {
        text.push_str(&format!("\n{shown} of {total} memories shown"));
    }
    if links < links_total {
        text.push_str(&format!("\n{links} of {links_total} links shown"));
    }
    let mut structured = structured(&diff, (shown, total), call.room_bytes());
    structured["links_total"] = json!(links_total);
    if let Some((lines, graph, on)) = graph {
        text.push_str(&format!("\nmemoirs:\n{lines}"));
        structured["graph"] = graph;
        more |= on;
    }
    if more {
        let next = page + 2;
        let to = diff.to.position;
        text.push_str(&format!("\nthe next: page {next}, to \"@{to}\""));
        structured["next"] = json!(next);
    }
    Ok(Reply::new(text, structured))
}

/// The part of several lists, taken as one list, that stands on a page.
struct Window {
    skip: usize,
    left: usize,
}

impl Window {
    fn of(page: usize, most: usize) -> Window {
        Window {
            skip: page.saturating_mul(most),
            left: most,
        }
    }

    fn cut<T>(&mut self, list: &mut Vec<T>) {
        let before = self.skip.min(list.len());
        list.drain(..before);
        self.skip -= before;
        list.truncate(self.left);
        self.left -= list.len();
    }
}

fn in_frame(diff: &Diff, shown: usize, room_bytes: usize) -> String {
    let changes: Vec<String> = diff.changed.iter().map(change_text).collect();
    let lists = [
        ("added", &diff.added),
        ("forgotten", &diff.forgotten),
        ("revived", &diff.revived),
    ];
    let content = |memory: &Memory| memory.content.as_ref().map_or(0, String::len);
    let lengths = lists.iter().flat_map(|(_, list)| list.iter().map(content));
    let lengths = lengths.chain(changes.iter().map(String::len));
    let cap = fair_cap(lengths, room_bytes.saturating_sub(shown * ENTRY_BYTES));

    let mut frame = Frame::new();
    for (change, text) in diff.changed.iter().zip(&changes) {
        let head = format!("changed {} [{}] ", change.id, clean_line(&change.topic));
        frame.item(&head, text, "", cap);
    }
    for (deed, list) in lists {
        for memory in list {
            let planned = match &memory.planned_from {
                Some(from) => format!(" (planned, valid from {from})"),
                None => String::new(),
            };
            let topic = clean_line(&memory.topic);
            let head = format!("{deed} {} [{topic}]{planned} ", memory.id);
            let content = memory.content.as_deref().unwrap_or("(withheld)");
            frame.item(&head, content, "", cap);
        }
    }
    for (deed, list) in [("linked ", &diff.linked), ("unlinked ", &diff.unlinked)] {
        for link in list {
            let relation = clean_line(&link.relation);
            let said = format!("{} {relation} {}", link.from, link.to);
            frame.item(deed, &said, "", usize::MAX);
        }
    }
    frame.finish()
}

/// Returns the fields that differ, then the content with `[-old-]{+new+}`.
fn change_text(change: &MemoryChange) -> String {
    let value = |fields: &Map<String, Value>, name: &str| match fields.get(name) {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => clean_line(text).into_owned(),
        Some(other) => clean_line(&other.to_string()).into_owned(),
    };
    let mut parts: Vec<String> = change
        .fields
        .iter()
        .map(|name| match name.as_str() {
            "raw_excerpt" => "raw_excerpt changed".to_owned(),
            "content" if !change.content_diff.is_empty() => {
                let mut text = "content: ".to_owned();
                for piece in &change.content_diff {
                    let words = clean(&piece.text);
                    match piece.op {
                        DiffOp::Equal => text.push_str(&words),
                        DiffOp::Delete => text.extend(["[-", &words, "-]"]),
                        DiffOp::Insert => text.extend(["{+", &words, "+}"]),
                    }
                }
                text
            }
            name => format!(
                "{name}: {} → {}",
                value(&change.before, name),
                value(&change.after, name)
            ),
        })
        .collect();
    // The content, which is long, comes last.
    parts.sort_by_key(|part| part.starts_with("content: "));
    parts.join("; ")
}

fn structured(diff: &Diff, (shown, total): (usize, usize), room_bytes: usize) -> Value {
    let mut reply = json!({
        "from": diff.from,
        "to": diff.to,
        "added": diff.added.iter().map(memory_fields).collect::<Vec<_>>(),
        "changed": diff.changed.iter().map(|change| json!({
            "id": change.id,
            "topic": change.topic,
            "fields": change.fields,
            "before": change.before,
            "after": change.after,
        })).collect::<Vec<_>>(),
        "forgotten": diff.forgotten.iter().map(memory_fields).collect::<Vec<_>>(),
        "revived": diff.revived.iter().map(memory_fields).collect::<Vec<_>>(),
        "linked": diff.linked,
        "unlinked": diff.unlinked,
        "faded": diff.faded,
        "total": total,
    });
    for change in reply["changed"].as_array_mut().into_iter().flatten() {
        for side in ["before", "after"] {
            let fields = change[side].as_object_mut().into_iter().flatten();
            for (_, value) in fields.filter(|(_, value)| !value.is_string()) {
                let text = value.to_string();
                if text.len() > NESTED_MAX_BYTES {
                    *value = text.into();
                }
            }
        }
    }
    clean_value(&mut reply);
    let mut lengths = Vec::new();
    each_text(&mut reply, &mut |text| lengths.push(text.len()));
    // Room for short texts is part of [`ENTRY_BYTES`].
    let cap = fair_cap(
        lengths.into_iter().filter(|length| *length > SHORT_BYTES),
        room_bytes.saturating_sub(shown * ENTRY_BYTES),
    );
    each_text(&mut reply, &mut |text| {
        if text.len() > cap.max(SHORT_BYTES) {
            *text = cut(text, cap.max(SHORT_BYTES)).into_owned();
        }
    });
    reply
}

/// Lists and objects longer than this, in bytes, go out as text, which can be cut. Raised, a reply may exceed its room.
const NESTED_MAX_BYTES: usize = 1_000;
/// Length of an event id, in bytes: texts up to this length are never cut.
const SHORT_BYTES: usize = 64;

fn memory_fields(memory: &Memory) -> Value {
    json!({
        "id": memory.id,
        "topic": memory.topic,
        "content": memory.content,
        "importance": memory.importance,
        "trust": memory.trust,
    })
}

fn each_text(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, each)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, each)),
        _ => {}
    }
}
