//! Fields in YAML: read as anybody writes them, written as JSON, which YAML takes in.

use serde_json::{Map, Value};
use serde_saphyr::{DuplicateKeyPolicy, UserMessageFormatter, options};

use icm_guard::json;

/// Writes a field as `name: value`, on one line that holds no end of a comment.
pub(super) fn write(out: &mut String, name: &str, value: &Value) {
    out.push_str(name);
    out.push_str(": ");
    match value {
        Value::String(word) if is_plain(name) => out.push_str(word),
        value => {
            let mut text = String::new();
            for c in value.to_string().chars() {
                // Only texts have these, so they can be written by their numbers. Not every reader of YAML
                // takes the others as they are.
                match c {
                    '>' if text.ends_with("--") => text.push_str("\\u003e"),
                    '\u{7f}'..='\u{9f}'
                    | '\u{2028}'
                    | '\u{2029}'
                    | '\u{feff}'
                    | '\u{fffe}'
                    | '\u{ffff}' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
                    c => text.push(c),
                }
            }
            out.push_str(&text);
        }
    }
    out.push('\n');
}

/// Words of a fixed list need no quotes.
fn is_plain(name: &str) -> bool {
    matches!(name, "importance" | "trust")
}

/// Reads fields. The error says what is wrong, and in which line of the text, from 1, where that is known.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, (Option<u64>, String)> {
    if text.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    }) {
        return Ok(Map::new());
    }
    let options = options! {
        strict_booleans: true,
        with_snippet: false,
        // Ours tells of them.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
    };
    match serde_saphyr::from_str_with_options::<json::Strict>(text, options) {
        Ok(json::Strict(Value::Object(fields))) => Ok(fields),
        Ok(_) => Err((None, "no fields: write `name: value`".to_owned())),
        Err(error) => {
            let line = error.location().map(|location| location.line());
            let message = error
                .without_snippet()
                .render_with_formatter(&UserMessageFormatter);
            let first = message.lines().next().unwrap_or_default();
            // The place is told as that in the file.
            let what = first.rfind(" at line ").map_or(first, |end| &first[..end]);
            Err((line, format!("not YAML: {}", what.trim_end())))
        }
    }
}
