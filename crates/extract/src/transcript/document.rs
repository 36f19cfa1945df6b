//! A transcript that is a single JSON document: a list of messages, an object with one, or the conversations of
//! ChatGPT's export.

use std::collections::HashSet;
use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Most bytes of a document, which must be read whole. Raised, a reading takes longer.
pub(super) const LEN_MAX: u64 = 64 * 1_024 * 1_024;

/// Names of the list of messages in an object.
const LISTS: &[&str] = &["messages", "history", "contents"];

/// Returns `true` if a file with this start is a single document, not one object per line.
pub(super) fn is_document(head: &[u8]) -> bool {
    let head = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    let line_end = head.iter().position(|byte| *byte == b'\n');
    let first = head[..line_end.unwrap_or(head.len())].trim_ascii_end();
    match first {
        b"{" | b"[" => true,
        [b'[', rest @ ..] => rest.trim_ascii_start().starts_with(b"{"),
        [b'{', ..] => {
            let text = String::from_utf8_lossy(first);
            let conversation = text.starts_with("{\"title\"") && has_conversations(first);
            conversation
                || LISTS.iter().any(|list| {
                    let place = text.find(&format!("\"{list}\""));
                    let after = place.map(|at| text[at + list.len() + 2..].trim_start());
                    // In JSON lines, the messages stand in an object of their own.
                    after
                        .and_then(|it| it.strip_prefix(':'))
                        .is_some_and(|it| it.trim_start().starts_with('['))
                        && (text.contains("\"sessionId\"")
                            || text.starts_with(&format!("{{\"{list}\"")))
                })
        }
        _ => false,
    }
}

/// Returns `true` if a document with this start has conversations, each with a `mapping` of messages.
pub(super) fn has_conversations(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"\"mapping\"").is_some()
}

/// Calls `take` with each message until `take` returns `false`, the document ends, or JSON is invalid. Returns `true` if
/// the document has a list of messages or conversations, even an empty one.
pub(super) fn each(reader: impl Read, take: &mut dyn FnMut(&Value) -> bool) -> bool {
    let mut seen = false;
    let mut json =
        serde_json::Deserializer::from_reader(BufReader::with_capacity(64 * 1_024, reader));
    // A document that is still being written ends early; the messages before its end count.
    let document = Document {
        take,
        seen: &mut seen,
    };
    let _ = document.deserialize(&mut json);
    seen
}

/// Calls `take` with each message of a conversation of ChatGPT, from the first one, until `take` returns `false`; then
/// returns `false`. A prompt that was edited makes a branch. The branch that ends in `last` is read, else the one with
/// the newest message.
fn conversation(
    nodes: &Map<String, Value>,
    last: Option<&str>,
    take: &mut dyn FnMut(&Value) -> bool,
) -> bool {
    let time = |node: &Value| node["message"]["create_time"].as_f64().unwrap_or(0.0);
    let newest = || {
        let newest = nodes.iter().max_by(|a, b| time(a.1).total_cmp(&time(b.1)));
        newest.map(|(id, _)| id.as_str())
    };
    let mut next = last.filter(|id| nodes.contains_key(*id)).or_else(newest);
    let mut branch = Vec::new();
    // The parents of a damaged file may form a circle.
    let mut seen = HashSet::new();
    while let Some((id, node)) = next.and_then(|id| nodes.get_key_value(id))
        && seen.insert(id)
    {
        branch.push(&node["message"]);
        next = node["parent"].as_str();
    }
    let mut messages = branch.into_iter().rev().filter(|it| it.is_object());
    messages.all(take)
}

struct Document<'t> {
    take: &'t mut dyn FnMut(&Value) -> bool,
    /// Set to `true` at a list of messages.
    seen: &'t mut bool,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        *self.seen = true;
        while let Some(message) = list.next_element::<Value>()? {
            let goes_on = match message["mapping"].as_object() {
                Some(nodes) => {
                    conversation(nodes, message["current_node"].as_str(), &mut *self.take)
                }
                None => (self.take)(&message),
            };
            if !goes_on {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Document { take, seen } = self;
        let (mut nodes, mut last) = (Value::Null, Value::Null);
        while let Some(name) = object.next_key::<String>()? {
            match name.as_str() {
                "mapping" => nodes = object.next_value()?,
                "current_node" => last = object.next_value()?,
                name if LISTS.contains(&name) => object.next_value_seed(Messages {
                    take: &mut *take,
                    seen: &mut *seen,
                })?,
                _ => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(nodes) = nodes.as_object() {
            *seen = true;
            conversation(nodes, last.as_str(), take);
        }
        Ok(())
    }
}

/// The list of messages in an object. Values of other types are no list.
struct Messages<'t> {
    take: &'t mut dyn FnMut(&Value) -> bool,
    seen: &'t mut bool,
}

impl<'de> DeserializeSeed<'de> for Messages<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(Document {
            take: self.take,
            seen: self.seen,
        })
    }
}
