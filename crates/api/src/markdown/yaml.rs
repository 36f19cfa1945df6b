//! Fields as YAML: reads any YAML, writes JSON values, which are valid YAML.

use serde_json::{Map, Value};
use serde_saphyr::{DuplicateKeyPolicy, UserMessageFormatter, options};

use icm_guard::json;

/// Writes a field as `name: value` on one line without the end of a comment.
pub(super) fn write(out: &mut String, name: &str, value: &Value) {
    out.push_str(name);
    out.push_str(": ");
    match value {
        Value::String(word) if is_plain(name) => out.push_str(word),
        value => {
            let mut text = String::new();
            for c in value.to_string().chars() {
                // Only texts contain these characters, so numeric escapes are valid. Some readers of YAML refuse the
                // later ones unescaped.
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

/// Returns `true` if the values of a field are words of a fixed list, which need no quotes.
fn is_plain(name: &str) -> bool {
    matches!(name, "importance" | "trust")
}

/// Reads fields. The error has the line in the text, from 1, if known, and the reason.
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
        // The strict JSON type reports duplicate keys itself.
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
            // The caller names the line in the file instead.
            let what = first.rfind(" at line ").map_or(first, |end| &first[..end]);
            Err((line, format!("not YAML: {}", what.trim_end())))
        }
    }
}
