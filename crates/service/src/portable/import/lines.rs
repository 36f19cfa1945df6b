//! Reading JSON lines, and recognising files that hold something else.

use std::io::BufRead;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use icm_api::error::{Result, ServiceError};
use icm_guard::json;

/// Bytes of the longest line.
const LINE_LEN_MAX: usize = 1_024 * 1_024;

/// A memory of a file, or the error of its line.
pub(super) struct Entry {
    /// The number of the line, from 1.
    pub(super) line: u64,
    pub(super) fields: Result<Map<String, Value>>,
}

/// Calls `take` for the object of each JSON line.
pub(super) fn json_lines(
    input: &mut dyn BufRead,
    name: &str,
    take: &mut dyn FnMut(Entry) -> Result<()>,
) -> Result<()> {
    let mut number = 0;
    let mut begun = false;
    let mut ahead = None;
    while let Some(text) = match ahead.take() {
        Some(text) => Some(text),
        None => next_line(input, name, number + 1)?,
    } {
        number += 1;
        if !begun && !is_blank(&text) {
            begun = true;
            ahead = next_line(input, name, number + 1)?;
            if let Some(why) = no_lines(&text, ahead.as_deref()) {
                let fields = Err(ServiceError::invalid(why));
                return take(Entry {
                    line: number,
                    fields,
                });
            }
        }
        if let Some(fields) = object_of(text).transpose() {
            take(Entry {
                line: number,
                fields,
            })?;
        }
    }
    Ok(())
}

/// Messages for files without JSON lines, with the way to convert them.
const ARRAY: &str =
    "this is a JSON array, and one object a line is wanted: convert the file with `jq -c '.[]'`";
const SPREAD: &str = "this is a JSON object over several lines, and one object a line is wanted: convert the file with `jq -c .`";
const TABLE: &str = "this is a table (CSV), and one JSON object a line is wanted: convert the file with `mlr --icsv --ojsonl cat`";

/// Returns the message for a file without JSON lines, by its first line that is not blank and the line after it. `None`
/// if the file may hold JSON lines, valid or not.
fn no_lines(first: &[u8], next: Option<&[u8]>) -> Option<&'static str> {
    let wrong = |line: &[u8]| serde_json::from_slice::<IgnoredAny>(line).err();
    let why = wrong(first)?;
    let first = first.trim_ascii();
    match first.first() {
        Some(b'[') => {
            // Lines of other programs begin with `[INFO]`.
            let rest = first[1..].trim_ascii_start();
            (rest.is_empty() || rest.starts_with(b"{")).then_some(ARRAY)
        }
        Some(b'{') if first.len() <= LINE_LEN_MAX => {
            // Whole lines may follow one that was cut.
            let goes_on = next.is_some_and(|next| wrong(next).is_some());
            (why.is_eof() && (first == b"{" || goes_on)).then_some(SPREAD)
        }
        _ => {
            let names = first.split(|byte| *byte == b',');
            let names: Vec<_> = names.map(|name| name.trim_ascii()).collect();
            let has = |name: &[u8]| {
                let quoted = [b"\"", name, b"\""].concat();
                names.iter().any(|it| *it == name || *it == quoted)
            };
            (has(b"topic") && has(b"content")).then_some(TABLE)
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Returns the object of a line; `None` for a blank line.
fn object_of(text: Vec<u8>) -> Result<Option<Map<String, Value>>> {
    if text.len() > LINE_LEN_MAX {
        return Err(ServiceError::invalid(format!(
            "the line is longer than {} KiB",
            LINE_LEN_MAX / 1_024
        )));
    }
    let text = String::from_utf8(text).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ServiceError::invalid(format!("not UTF-8 at byte {at}"))
    })?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    match json::parse(&text).map_err(ServiceError::invalid)? {
        Value::Object(object) => Ok(Some(object)),
        Value::Array(_) => Err(ServiceError::invalid(ARRAY)),
        _ => Err(ServiceError::invalid("not a JSON object")),
    }
}

/// The mark that some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the next line without its end, and the first one without a byte order mark; `None` at the end of the input.
/// A line far beyond the limit is read to its end, but not kept.
pub fn next_line(input: &mut dyn BufRead, name: &str, number: u64) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let available = input.fill_buf().map_err(|source| ServiceError::Io {
            doing: format!("reading line {number} of {name}"),
            source,
        })?;
        if number == 1 && line.is_empty() && available.starts_with(BYTE_ORDER_MARK) {
            input.consume(BYTE_ORDER_MARK.len());
            continue;
        }
        if available.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() <= LINE_LEN_MAX {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if line.is_empty() {
                // An empty line inside the file is not its end.
                line.push(b' ');
            }
            return Ok(Some(line));
        }
    }
}
