//! Reads JSON from outside, more strictly than the parser alone.
//!
//! Names that an object has twice, and halves of surrogate pairs, would silently be lost or replaced. Here they are
//! errors for the writer.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Parses one JSON value. The error is one line: the fault and its place.
pub fn parse(text: &str) -> Result<Value, String> {
    match serde_json::from_str::<Strict>(text) {
        Ok(strict) => Ok(strict.0),
        Err(error) => match lone_surrogates(text) {
            Some((_, places)) => Err(match places.first() {
                Some(place) => format!("lone surrogate in `{}`", named(place)),
                None => "lone surrogate in a name".to_owned(),
            }),
            None if error.is_data() => Err(without_place(&error)),
            None => Err(format!("not JSON: {error}")),
        },
    }
}

/// Returns the error without `at line …`, for callers that name the place themselves.
pub fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

fn named(place: &[String]) -> String {
    place.join(".")
}

/// A JSON value without repeated names in its objects.
pub struct Strict(pub Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Strict(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Strict, A::Error> {
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("the name `{name}` stands twice")));
            }
            let Strict(value) = entries.next_value()?;
            object.insert(name, value);
        }
        Ok(Strict(Value::Object(object)))
    }
}

/// Returns the value of a text whose only faults are halves of surrogate pairs, each replaced by U+FFFD, and their
/// places. `None` if there are no halves or other faults.
///
/// `JSON.stringify` writes such halves for a string that was cut inside an emoji, and serde_json refuses them. So every
/// JavaScript client can send them.
pub fn lone_surrogates(text: &str) -> Option<(Value, Vec<Vec<String>>)> {
    // A half stood in every place where two different replacements give different values.
    let value = serde_json::from_str(&replaced(text, "\\ufffd")?).ok()?;
    let other = serde_json::from_str(&replaced(text, "\\ufffc")?).ok()?;
    let mut places = Vec::new();
    differing(&value, &other, &mut Vec::new(), &mut places);
    Some((value, places))
}

fn differing(a: &Value, b: &Value, place: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                if let Some(other) = b.get(name) {
                    place.push(name.clone());
                    differing(value, other, place, found);
                    place.pop();
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for (index, (value, other)) in a.iter().zip(b).enumerate() {
                place.push(index.to_string());
                differing(value, other, place, found);
                place.pop();
            }
        }
        _ if a != b => found.push(place.clone()),
        _ => {}
    }
}

/// Returns the text with `by` for each half of a surrogate pair; `None` if there are none.
fn replaced(text: &str, by: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = text[at..].find('\\') {
        at += offset;
        match escaped_unit(bytes, at) {
            Some(0xd800..=0xdbff)
                if escaped_unit(bytes, at + 6).is_some_and(|u| (0xdc00..=0xdfff).contains(&u)) =>
            {
                at += 12;
            }
            Some(0xd800..=0xdfff) => {
                out.push_str(&text[copied..at]);
                out.push_str(by);
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            // Another escape. Its second character may be a backslash, too.
            None => {
                at += 1;
                at += text[at..].chars().next().map_or(0, char::len_utf8);
            }
        }
    }
    (copied > 0).then(|| {
        out.push_str(&text[copied..]);
        out
    })
}

/// Returns the UTF-16 unit of the escape `\uXXXX` at `at`.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") || !escape[2..].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            (r#"{"a": 1, "b": [{"a": "\ud83d\ude00"}]}"#, "ok"),
            (r#"{"a": 1, "a": 1}"#, "the name `a` stands twice"),
            (
                r#"{"x": [{"a": {}, "b": 1, "a": 2}]}"#,
                "the name `a` stands twice",
            ),
            (r#"{"a": "\ud83d"}"#, "lone surrogate in `a`"),
            (
                r#"{"b": 1, "a": {"c": ["x", "\ude00"]}}"#,
                "lone surrogate in `a.c.1`",
            ),
            (r#"{"\ud83d": 1}"#, "lone surrogate in a name"),
            (
                r#"{"a": "\ud83d""#,
                "not JSON: unexpected end of hex escape at line 1 column 14",
            ),
            (
                "{",
                "not JSON: EOF while parsing an object at line 1 column 1",
            ),
        ] {
            let said = parse(text).map_or_else(|why| why, |_| "ok".to_owned());
            assert_eq!(said, expected, "{text}");
        }
    }

    #[test]
    fn values_are_those_of_a_parser() {
        let text = r#"{"a": [null, true, -1, 18446744073709551615, 1.5, "x"], "b": {}}"#;
        let plain: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(parse(text), Ok(plain));
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        for (raw, expected) in [
            (r"\ud83d", Some(r"\ufffd")),
            (r"a\uDE00b\ud83dc", Some(r"a\ufffdb\ufffdc")),
            (r"\ud83d\ud83d\ude00", Some(r"\ufffd\ud83d\ude00")),
            (r"\\ud83d", None),
            (r"\\\ud83d", Some(r"\\\ufffd")),
            (r"\ud83d\ude00", None),
            (r"\u00e9\", None),
            ("\\é\\ud83", None),
        ] {
            assert_eq!(replaced(raw, "\\ufffd").as_deref(), expected, "{raw}");
        }
    }
}
