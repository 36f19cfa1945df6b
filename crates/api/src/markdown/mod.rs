//! Memories as Markdown that people read and edit, and that comes back byte for byte. This module knows the
//! format, which `schemas/markdown.md` describes, and nothing of a store: a memory is the JSON object of a line
//! of `icm import jsonl`.
//!
//! A file begins with front matter that names its topic. Each memory is an HTML comment with its fields, in
//! YAML, and below it its text; `***` alone on a line begins a memory without fields. A text that would not be
//! read as it is (its ends are empty lines, or it has a carriage return) stands among the fields, as `content`.

mod name;
mod read;
mod write;
mod yaml;

#[cfg(test)]
mod tests;

pub use name::Names;
pub use read::Sections;
pub use write::{document_start, front_matter, memory, topic_start};

/// Begins and ends front matter.
const FENCE: &str = "---";
/// Alone on a line: here begins a memory.
const DIVIDER: &str = "***";
/// Begins the fields of a memory, or says of which topic the next ones are.
const COMMENT: &str = "<!-- icm";
const COMMENT_END: &str = "-->";

/// Whether a line of text would be read as something else, were it not for a backslash before it.
fn means_more(line: &str) -> bool {
    line.trim_end() == DIVIDER || line.starts_with(COMMENT)
}

/// The line without the backslashes that it begins with.
fn unescaped(line: &str) -> &str {
    line.trim_start_matches('\\')
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// What stands above the memories of a topic.
fn heading(topic: &str) -> String {
    format!("# {topic}")
}
