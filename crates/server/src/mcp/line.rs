//! Parses one line of input, and makes the answer if the line is not a message.
//!
//! This module does no I/O. Its rule: every line with an id gets an answer with that id, however broken the line is,
//! because the client waits for it.

use rmcp::model::{ClientJsonRpcMessage, InitializeRequestParams};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::schema::half_a_character;
use icm_guard::json::lone_surrogates;

/// Most answers to one line (a batch names many ids). Raised, one line can cause more output.
const REPLIES_MAX: usize = 100;
/// Longest id looked for in a broken line, in bytes. Raised, a broken line takes more memory.
const ID_MAX_BYTES: usize = 256;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// The result of parsing a line.
#[derive(Debug)]
pub(super) enum Parsed {
    /// A message for the protocol layer.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing to do: a blank line, or a malformed notification (notifications are never answered).
    Nothing,
    /// Not a message: the answers to it, as whole lines.
    Refused(Vec<Vec<u8>>),
}

/// Parses one line, without its line ending.
pub(super) fn parse(line: &[u8]) -> Parsed {
    match value_in(line) {
        Ok(Some(value)) => parse_value(value),
        Ok(None) => Parsed::Nothing,
        Err(refused) => refused,
    }
}

/// Parses the body of an HTTP request as [`parse`] does. Returns the body to pass on, or the answer to it.
#[cfg(feature = "http")]
pub(crate) fn parse_body(body: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
    let value = match value_in(body) {
        Ok(value) => value.unwrap_or_default(),
        Err(refused) => return Err(first_answer(refused)),
    };
    let passed_on = value.to_string().into_bytes();
    match parse_value(value) {
        Parsed::Message(_) => Ok(passed_on),
        refused => Err(first_answer(refused)),
    }
}

/// Returns the first answer; HTTP has room for one.
#[cfg(feature = "http")]
fn first_answer(parsed: Parsed) -> Vec<u8> {
    let answer = match parsed {
        Parsed::Refused(answers) => answers.into_iter().next(),
        _ => None,
    };
    answer.unwrap_or_else(|| error_line(None, INVALID_REQUEST, "not a JSON-RPC message"))
}

/// Parses the JSON value in a line; `None` for a blank line.
fn value_in(line: &[u8]) -> Result<Option<Value>, Parsed> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    let error = match serde_json::from_str::<Value>(text) {
        Ok(value) => return Ok(Some(value)),
        Err(error) => error,
    };
    match lone_surrogates(text) {
        Some((mut value, places)) => {
            mark_arguments(&mut value, &places);
            Ok(Some(value))
        }
        None => {
            let mut finder = IdFinder::default();
            finder.feed(text.as_bytes());
            let what = format!("not JSON: {error}");
            Err(refuse(finder.id(), PARSE_ERROR, &what))
        }
    }
}

fn parse_value(value: Value) -> Parsed {
    match value {
        Value::Object(object) => parse_object(object),
        Value::Array(batch) => refuse_batch(&batch),
        _ => refuse(
            None,
            INVALID_REQUEST,
            "not a JSON-RPC message: an object is expected",
        ),
    }
}

/// Marks each tool argument that held half of a surrogate pair, so that the tool refuses it by name. In other places
/// the replacement U+FFFD does no harm.
fn mark_arguments(value: &mut Value, places: &[Vec<String>]) {
    for place in places {
        let [params, arguments, name, ..] = place.as_slice() else {
            continue;
        };
        if params == "params"
            && arguments == "arguments"
            && let Some(argument) = value["params"]["arguments"].get_mut(name)
        {
            *argument = half_a_character();
        }
    }
}

/// Returns the answer to a line that was skipped for its length.
pub(super) fn too_long(id: Option<Value>, limit_bytes: usize) -> Parsed {
    let what = format!("the line is longer than {limit_bytes} bytes and was skipped");
    refuse(id, INVALID_REQUEST, &what)
}

/// Returns an error answer as a line.
pub(super) fn error_line(id: Option<&Value>, code: i32, message: &str) -> Vec<u8> {
    let mut reply = json!({"jsonrpc": "2.0", "error": {"code": code, "message": message}});
    if let Some(id) = id {
        reply["id"] = id.clone();
    }
    let mut line = reply.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Returns the answer to a request with the id of another request at work.
pub(super) fn id_in_use(id: &Value) -> Vec<u8> {
    error_line(
        Some(id),
        INVALID_REQUEST,
        "a request with this id is still being answered",
    )
}

/// Returns the answer to a request that came before the connection was opened. `malformed` are the params of an
/// `initialize` that cannot be parsed.
pub(super) fn too_early(id: &Value, malformed: Option<&Value>) -> Vec<u8> {
    let wrong = malformed.and_then(|params| InitializeRequestParams::deserialize(params).err());
    let what = match wrong {
        Some(wrong) => format!("initialize: {wrong}"),
        None => "send `initialize` first; who speaks 2026-07-28 sends io.modelcontextprotocol/protocolVersion \
                 and io.modelcontextprotocol/clientCapabilities in `_meta` of each request instead"
            .to_owned(),
    };
    error_line(Some(id), INVALID_PARAMS, &what)
}

fn parse_object(object: Map<String, Value>) -> Parsed {
    let has_method = object.get("method").is_some_and(Value::is_string);
    let id = usable_id(object.get("id"));
    let wrong = if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        Some("not a JSON-RPC 2.0 message: `jsonrpc` must be \"2.0\"")
    } else if has_method && object.contains_key("id") {
        match object.get("id") {
            Some(Value::String(_)) => None,
            Some(Value::Number(number)) if number.is_i64() => None,
            _ => Some("`id` must be a string or an integer"),
        }
    } else if has_method || object.contains_key("result") || object.contains_key("error") {
        None
    } else {
        Some("not a JSON-RPC message: `method` is missing or not a string")
    };
    if let Some(wrong) = wrong {
        return refuse(id, INVALID_REQUEST, wrong);
    }
    let is_request = has_method && object.contains_key("id");
    match serde_json::from_value(Value::Object(object)) {
        Ok(message) => Parsed::Message(Box::new(message)),
        Err(error) if is_request => refuse(
            id,
            INVALID_REQUEST,
            &format!("not a JSON-RPC message: {error}"),
        ),
        Err(error) => {
            tracing::debug!(%error, "ignoring a notification or response that makes no sense");
            Parsed::Nothing
        }
    }
}

fn refuse(id: Option<Value>, code: i32, message: &str) -> Parsed {
    Parsed::Refused(vec![error_line(id.as_ref(), code, message)])
}

/// Answers each request of a batch; a request without an answer would wait for ever.
fn refuse_batch(batch: &[Value]) -> Parsed {
    const WHAT: &str = "batches are not part of MCP: send one message a line";
    let replies: Vec<_> = batch
        .iter()
        .filter_map(|element| usable_id(element.get("id")))
        .take(REPLIES_MAX)
        .map(|id| error_line(Some(&id), INVALID_REQUEST, WHAT))
        .collect();
    if replies.is_empty() {
        return refuse(None, INVALID_REQUEST, WHAT);
    }
    Parsed::Refused(replies)
}

fn usable_id(id: Option<&Value>) -> Option<Value> {
    id.filter(|id| id.is_string() || id.is_number()).cloned()
}

/// Finds the `id` of the outermost object in text that need not be JSON.
///
/// The finder takes bytes as they come and keeps little state. So it also reads a line that is skipped for its length:
/// some clients write the id last.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: u64,
    at: At,
    in_string: bool,
    escaped: bool,
    /// The bytes of the key or the id being read.
    capture: Vec<u8>,
    capturing: Capturing,
    found: Option<Value>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Capturing {
    #[default]
    No,
    Text,
    Number,
}

/// Position of the next byte in the outermost object.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum At {
    #[default]
    Elsewhere,
    Key,
    Colon {
        of_id: bool,
    },
    IdValue,
}

impl IdFinder {
    /// Reads further bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if self.found.is_some() {
            return;
        }
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// Returns the id, if one was found.
    pub(super) fn id(mut self) -> Option<Value> {
        self.end_number();
        self.found
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.step_in_string(byte);
            return;
        }
        if self.capturing == Capturing::Number {
            if matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E') {
                self.push(byte);
                return;
            }
            self.end_number();
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && matches!(self.at, At::Key | At::IdValue) {
                    self.capturing = Capturing::Text;
                    self.capture.clear();
                    self.capture.push(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.at = if self.depth == 1 && byte == b'{' {
                    At::Key
                } else {
                    At::Elsewhere
                };
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.at = At::Elsewhere;
            }
            b',' if self.depth == 1 => self.at = At::Key,
            b':' if self.depth == 1 => {
                self.at = match self.at {
                    At::Colon { of_id: true } => At::IdValue,
                    _ => At::Elsewhere,
                };
            }
            b'0'..=b'9' | b'-' if self.depth == 1 && self.at == At::IdValue => {
                self.capturing = Capturing::Number;
                self.capture.clear();
                self.capture.push(byte);
            }
            _ => {}
        }
    }

    fn step_in_string(&mut self, byte: u8) {
        if self.capturing == Capturing::Text {
            self.push(byte);
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => {
                self.in_string = false;
                if self.capturing == Capturing::Text {
                    self.end_text();
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, byte: u8) {
        if self.capture.len() < ID_MAX_BYTES {
            self.capture.push(byte);
        } else {
            self.capturing = Capturing::No;
            self.at = At::Elsewhere;
        }
    }

    fn end_text(&mut self) {
        self.capturing = Capturing::No;
        if self.at == At::Key {
            self.at = At::Colon {
                of_id: self.capture == b"\"id\"",
            };
        } else {
            self.keep();
        }
    }

    fn end_number(&mut self) {
        if self.capturing == Capturing::Number {
            self.capturing = Capturing::No;
            self.keep();
        }
    }

    fn keep(&mut self) {
        self.at = At::Elsewhere;
        if self.found.is_none() {
            self.found = serde_json::from_slice(&self.capture).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the answers to a line as `id code`, or `message` or `nothing`.
    fn outcome(line: &[u8]) -> String {
        match parse(line) {
            Parsed::Message(_) => "message".into(),
            Parsed::Nothing => "nothing".into(),
            Parsed::Refused(lines) => {
                let replies: Vec<String> = lines
                    .iter()
                    .map(|line| {
                        assert!(line.ends_with(b"\n"));
                        let reply: Value = serde_json::from_slice(line).expect("a reply is JSON");
                        let id = reply.get("id").map_or("-".into(), Value::to_string);
                        format!("{id} {}", reply["error"]["code"])
                    })
                    .collect();
                replies.join(", ")
            }
        }
    }

    #[test]
    fn every_line_is_a_message_or_has_an_answer() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"x":{}}}}}"#,
            "[".repeat(5000)
        );
        let table: &[(&[u8], &str)] = &[
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "message"),
            (b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r", "message"),
            (br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "message"),
            (br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "message"),
            (b"", "nothing"),
            (b"  \r", "nothing"),
            (b"garbage", "- -32700"),
            (b"garbage {\"id\": 12, \"x\"", "12 -32700"),
            (br#"{"jsonrpc":"2.0","id":3,"method":"#, "3 -32700"),
            (br#"{"method":"x","params":{"id":9},"jsonrpc":"2.0","id":"a-1""#, "\"a-1\" -32700"),
            (br#"{"params":{"id":9}"#, "- -32700"),
            (br#"{"note":"\"id\":4","method":"#, "- -32700"),
            (br#"{"id":"cut"#, "- -32700"),
            (br#"{"id":null,"method":"#, "- -32700"),
            (deep.as_bytes(), "7 -32700"),
            (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"x\xff\"}", "message"),
            (br#"{"jsonrpc":"2.0","id":4,"method":"x","params":{"a":"\ud83d"}}"#, "message"),
            (br#"{"jsonrpc":"2.0","id":4,"method":"x","params":{"a":"\ude00\\ud800\ud83d\ude00"}}"#, "message"),
            (br#"{"jsonrpc":"2.0","id":4,"method":"x","params":{"a":"\ud83d"}"#, "4 -32700"),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#, "1 -32600, \"b\" -32600"),
            (b"[]", "- -32600"),
            (b"17", "- -32600"),
            (br#""text""#, "- -32600"),
            (b"{}", "- -32600"),
            (br#"{"id":5}"#, "5 -32600"),
            (br#"{"jsonrpc":"2.0","id":5}"#, "5 -32600"),
            (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, "5 -32600"),
            (br#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, "5 -32600"),
            (br#"{"id":5,"method":"ping"}"#, "5 -32600"),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "- -32600"),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "1.5 -32600"),
            (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "- -32600"),
            (br#"{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}"#, "5 -32600"),
        ];
        for (line, expected) in table {
            assert_eq!(
                outcome(line),
                *expected,
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }

    #[test]
    fn the_finder_takes_bytes_as_they_come() {
        let line = br#"{"params":{"id":1,"s":"}\"{"},"list":[{"id":2}],"id":"x\u0041"}"#;
        for size in [1, 2, 3, 7, line.len()] {
            let mut finder = IdFinder::default();
            for part in line.chunks(size) {
                finder.feed(part);
            }
            assert_eq!(finder.id(), Some(json!("xA")), "in parts of {size}");
        }
    }
}
