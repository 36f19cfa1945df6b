//! Memories as Markdown that people can read and edit, and that icm reads back byte for byte. The module knows the
//! format, which `schemas/markdown.md` describes, and no store. A memory here is the JSON object of a line of
//! `icm import jsonl`.
//!
//! A file begins with front matter that names its topic. Each memory is an HTML comment with its fields in YAML, and
//! its text below; `***` alone on a line begins a memory without fields. A text stands in the field `content` instead
//! if its first or last line is blank or if it has a carriage return: below the fields it would be read differently.

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
/// A line of its own that begins a memory.
const DIVIDER: &str = "***";
/// Start of the fields of a memory, or of a comment with the topic of the next memories.
const COMMENT: &str = "<!-- icm";
const COMMENT_END: &str = "-->";

/// Returns `true` if a line of text needs a backslash before it, or it would be read as a divider or a comment.
fn means_more(line: &str) -> bool {
    line.trim_end() == DIVIDER || line.starts_with(COMMENT)
}

/// Returns the line without its leading backslashes.
fn unescaped(line: &str) -> &str {
    line.trim_start_matches('\\')
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Returns the heading above the memories of a topic.
fn heading(topic: &str) -> String {
    format!("# {topic}")
}
