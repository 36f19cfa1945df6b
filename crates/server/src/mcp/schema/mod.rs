//! Parameters of a tool: one list makes both the JSON schema and the check of the arguments.
//!
//! The schemas use only what all clients and model providers understand: no `$schema`, `$ref`, `format`,
//! `additionalProperties` or unions with null. Bounds also stand in the descriptions, because some clients remove them
//! from the schemas.
//!
//! Arguments are read tolerantly: a number, a flag or a list may come as text. An optional argument may be left out,
//! null, an empty text or an empty list.

mod args;
mod value;

use serde_json::{Map, Value, json};

pub(crate) use args::Args;
use value::{flag_of, letters, list_in, number_of, text_of, texts_of, whole_of};

/// A parameter of a tool.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// Text for the model: the value to give. The schema adds the bounds of numbers.
    pub(crate) about: &'static str,
}

/// The kinds of values.
pub(crate) enum Kind {
    /// A string.
    Text,
    /// One of these strings, in snake_case, kebab-case or camelCase.
    OneOf(&'static [&'static str]),
    /// An array of strings.
    Texts,
    /// Words in one string, separated by commas; an array of words is accepted, too.
    Words,
    /// True or false.
    Flag,
    /// A whole number, both bounds inclusive. A number out of bounds is refused.
    Whole { min: u64, max: u64 },
    /// A limit, both bounds inclusive. A number out of bounds is changed to the nearer bound, and the answer says so.
    Limit { min: u64, max: u64 },
    /// A number from 0 to 1.
    Share,
}

/// Arguments that clients add to the calls of every tool: Gemini CLI, Antigravity and Windsurf (the next three), Cline,
/// n8n. A tool without such a parameter ignores them.
const ADDED_BY_CLIENTS: [&str; 8] = [
    "wait_for_previous",
    "waitForPreviousTools",
    "toolAction",
    "toolSummary",
    "task_progress",
    "toolCallId",
    "sessionId",
    "chatInput",
];

/// Returns `true` if a client, not the model, wrote an argument of this name. Clients begin the names of their own
/// arguments with an underscore (`_meta`, `_sessionID`); no parameter does.
fn is_added_by_a_client(name: &str) -> bool {
    name.starts_with('_') || ADDED_BY_CLIENTS.contains(&name)
}

/// Returns the input schema of a tool with these parameters.
pub(crate) fn input_schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<_, _> = params
        .iter()
        .map(|param| {
            let mut schema = match param.kind {
                Kind::Text | Kind::Words => json!({"type": "string"}),
                Kind::OneOf(values) => json!({"type": "string", "enum": values}),
                Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
                Kind::Flag => json!({"type": "boolean"}),
                Kind::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
                // The bound is beyond the exact numbers of a JSON client, so it is left out.
                Kind::Whole { min, max: u64::MAX } => json!({"type": "integer", "minimum": min}),
                Kind::Whole { min, max } | Kind::Limit { min, max } => {
                    json!({"type": "integer", "minimum": min, "maximum": max})
                }
            };
            schema["description"] = param.description().into();
            (param.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<_> = params
        .iter()
        .filter(|p| p.required)
        .map(|p| p.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema
}

/// Returns the mark for an argument whose text held half of a surrogate pair. The mark fits no kind, so the check
/// refuses it and gives the reason.
pub(crate) fn half_a_character() -> Value {
    json!({HALF: true})
}

const HALF: &str = "half of a surrogate pair";

impl Param {
    /// Returns the description for the schema, with the bounds of numbers.
    fn description(&self) -> String {
        match self.kind {
            Kind::Whole { max: u64::MAX, .. } => self.about.to_owned(),
            Kind::Whole { min, max } | Kind::Limit { min, max } => {
                format!("{}; {min} to {max}", self.about)
            }
            Kind::Share => format!("{}; 0 to 1", self.about),
            _ => self.about.to_owned(),
        }
    }

    /// Returns `true` if the value stands for an argument left out: an empty text, a list of empty texts, or the word
    /// `null` if the kind is not a text.
    fn is_empty(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                let text = text.trim();
                let is_list = matches!(self.kind, Kind::Texts | Kind::Words);
                text.is_empty()
                    || (text == "null" && !matches!(self.kind, Kind::Text))
                    || (is_list && list_in(text).is_some_and(|list| self.is_empty(&list)))
            }
            Value::Array(items) => items.iter().all(|item| match item {
                Value::String(text) => text.trim().is_empty(),
                item => item.is_null(),
            }),
            _ => false,
        }
    }

    /// Changes a value to the form of the schema. Returns a line about a value whose meaning changed.
    ///
    /// # Errors
    /// One line that says what to give instead.
    fn read(&self, value: &mut Value) -> Result<Option<String>, String> {
        let name = self.name;
        if value.get(HALF).is_some() {
            return Err(format!(
                "`{name}` holds half of a surrogate pair (\\ud800 to \\udfff): text was cut inside \
                 a character, send it whole"
            ));
        }
        match self.kind {
            Kind::Text => {
                let text = text_of(value).ok_or_else(|| format!("`{name}` must be a string"))?;
                *value = text.into();
            }
            Kind::Share => match number_of(value) {
                Some(share) if (0.0..=1.0).contains(&share) => *value = share.into(),
                _ => return Err(format!("`{name}` must be a number from 0 to 1")),
            },
            Kind::Flag => {
                let flag =
                    flag_of(value).ok_or_else(|| format!("`{name}` must be true or false"))?;
                *value = flag.into();
            }
            Kind::OneOf(values) => {
                let given = value.as_str().map(letters);
                let known = values.iter().find(|v| Some(letters(v)) == given);
                let known = known
                    .ok_or_else(|| format!("`{name}` must be one of {}", values.join(", ")))?;
                *value = Value::from(*known);
            }
            Kind::Words | Kind::Texts => {
                *value = texts_of(value).ok_or_else(|| {
                    format!("`{name}` must be a list of strings, for instance [\"one\", \"two\"]")
                })?;
            }
            Kind::Whole { min, max } => {
                let number = whole_of(value)
                    .and_then(|number| u64::try_from(number).ok())
                    .filter(|number| (min..=max).contains(number));
                *value = number.ok_or_else(|| self.not_whole(min, max))?.into();
            }
            Kind::Limit { min, max } => {
                let given = whole_of(value).ok_or_else(|| self.not_whole(min, max))?;
                let nearest = given.clamp(min.into(), max.into());
                *value = u64::try_from(nearest).unwrap_or(max).into();
                if nearest != given {
                    return Ok(Some(format!(
                        "`{name}` is from {min} to {max}: {nearest} was used, not {given}"
                    )));
                }
            }
        }
        Ok(None)
    }

    fn not_whole(&self, min: u64, max: u64) -> String {
        let name = self.name;
        match max {
            u64::MAX => format!("`{name}` must be a whole number from {min}"),
            _ => format!("`{name}` must be a whole number from {min} to {max}"),
        }
    }
}

#[cfg(test)]
mod tests;
