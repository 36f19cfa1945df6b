//! A transcript that is a single JSON document: a list of messages, or an object with one.

use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

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
            LISTS.iter().any(|list| {
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

/// Calls `take` with each message until `take` returns `false`, the document ends, or JSON is invalid.
pub(super) fn each(reader: impl Read, take: &mut dyn FnMut(&Value) -> bool) {
    let mut json =
        serde_json::Deserializer::from_reader(BufReader::with_capacity(64 * 1_024, reader));
    // A document that is still being written ends early; the messages before its end count.
    let _ = Document { take }.deserialize(&mut json);
}

struct Document<'t> {
    take: &'t mut dyn FnMut(&Value) -> bool,
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
        while let Some(message) = list.next_element::<Value>()? {
            if !(self.take)(&message) {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let take = self.take;
        while let Some(name) = object.next_key::<String>()? {
            match LISTS.contains(&name.as_str()) {
                true => object.next_value_seed(Messages { take: &mut *take })?,
                false => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The list of messages in an object. Values of other types are no list.
struct Messages<'t> {
    take: &'t mut dyn FnMut(&Value) -> bool,
}

impl<'de> DeserializeSeed<'de> for Messages<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(Document { take: self.take })
    }
}
