//! Writing.

use serde_json::{Map, Value, json};

use super::{COMMENT, COMMENT_END, DIVIDER, FENCE, heading, is_blank, means_more, unescaped, yaml};

/// The order in which the fields of a memory stand.
const FIELDS: [&str; 14] = [
    "id",
    "key",
    "importance",
    "keywords",
    "scope",
    "trust",
    "occurred_at",
    "created_at",
    "updated_at",
    "source",
    "metadata",
    "raw_excerpt",
    "topic",
    "content",
];

/// The start of a file that holds one topic.
pub fn front_matter(topic: &str, memories: usize) -> String {
    let mut out = format!("{FENCE}\n");
    yaml::write(&mut out, "topic", &json!(topic));
    yaml::write(&mut out, "memories", &json!(memories));
    out.push_str(&format!("{FENCE}\n\n{}\n", heading(topic)));
    out
}

/// The start of a document that holds several topics.
pub fn document_start(position: u64, at: &str, memories: usize) -> String {
    let mut out = format!("{FENCE}\n");
    yaml::write(&mut out, "as_of", &json!(format!("@{position}")));
    yaml::write(&mut out, "at", &json!(at));
    yaml::write(&mut out, "memories", &json!(memories));
    out.push_str(&format!("{FENCE}\n"));
    out
}

/// The start of a topic within such a document.
pub fn topic_start(topic: &str) -> String {
    let mut out = format!("\n{COMMENT}\n");
    yaml::write(&mut out, "topic", &json!(topic));
    out.push_str(&format!("{COMMENT_END}\n\n{}\n", heading(topic)));
    out
}

/// A memory: its fields, and its text; the topic is said before. `first` says that none stands before it.
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

/// Whether a text comes back as it was when it stands below its fields.
fn reads_as_it_is(text: &str) -> bool {
    let mut lines = text.split('\n');
    let ends = [lines.next(), lines.next_back()];
    !text.contains('\r') && !ends.into_iter().flatten().any(is_blank)
}
