//! Writes memories as Markdown.

use serde_json::{Map, Value, json};

use super::{COMMENT, COMMENT_END, DIVIDER, FENCE, heading, is_blank, means_more, unescaped, yaml};

/// The order of a memory's fields.
const FIELDS: [&str; 15] = [
    "id",
    "key",
    "importance",
    "keywords",
    "scope",
    "trust",
    "occurred_at",
    "expires",
    "created_at",
    "updated_at",
    "source",
    "metadata",
    "raw_excerpt",
    "topic",
    "content",
];

/// Returns the start of a file with one topic.
pub fn front_matter(topic: &str, memories: usize) -> String {
    let mut out = format!("{FENCE}\n");
    yaml::write(&mut out, "topic", &json!(topic));
    yaml::write(&mut out, "memories", &json!(memories));
    out.push_str(&format!("{FENCE}\n\n{}\n", heading(topic)));
    out
}

/// Returns the start of a document with several topics.
pub fn document_start(position: u64, at: &str, memories: usize) -> String {
    let mut out = format!("{FENCE}\n");
    yaml::write(&mut out, "as_of", &json!(format!("@{position}")));
    yaml::write(&mut out, "at", &json!(at));
    yaml::write(&mut out, "memories", &json!(memories));
    out.push_str(&format!("{FENCE}\n"));
    out
}

/// Returns the start of a topic within a document.
pub fn topic_start(topic: &str) -> String {
    let mut out = format!("\n{COMMENT}\n");
    yaml::write(&mut out, "topic", &json!(topic));
    out.push_str(&format!("{COMMENT_END}\n\n{}\n", heading(topic)));
    out
}

/// Returns a memory: its fields and its text, without the topic. `first`: no memory stands before it.
pub fn memory(mut fields: Map<String, Value>, first: bool) -> String {
    fields.remove("topic");
    let content = match fields.get("content") {
        Some(Value::String(text)) if reads_as_it_is(text) => fields.remove("content"),
        _ => None,
    };
    let mut out = match first {
        true => "\n".to_owned(),
        false => format!("\n{DIVIDER}\n\n"),
    };
    out.push_str(COMMENT);
    out.push('\n');
    for name in FIELDS {
        if let Some(value) = fields.remove(name) {
            yaml::write(&mut out, name, &value);
        }
    }
    debug_assert!(fields.is_empty(), "a field without a place: {fields:?}");
    out.push_str(COMMENT_END);
    out.push('\n');
    if let Some(Value::String(text)) = content {
        out.push('\n');
        for line in text.split('\n') {
            if means_more(unescaped(line)) {
                out.push('\\');
            }
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Returns `true` if a text below its fields is read back unchanged.
fn reads_as_it_is(text: &str) -> bool {
    let mut lines = text.split('\n');
    let ends = [lines.next(), lines.next_back()];
    !text.contains('\r') && !ends.into_iter().flatten().any(is_blank)
}
