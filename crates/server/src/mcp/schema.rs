//! Parameters of a tool: one list makes both the JSON schema and the check of the arguments.
//!
//! The schemas keep to what every client and model provider understands: no `$schema`, `$ref`,
//! `format` or unions with null. An optional argument may be left out or be null.

use serde_json::{Map, Value, json};

/// One argument of a tool.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// For the model: what to give.
    pub(crate) about: &'static str,
}

/// What an argument may be.
pub(crate) enum Kind {
    /// A string.
    Text,
    /// One of these strings, however it is spelled: in snake_case, kebab-case or camelCase.
    OneOf(&'static [&'static str]),
    /// An array of strings.
    Texts,
    /// Words in one string, with commas between them; an array of them is as good.
    Words,
    /// True or false.
    Flag,
    /// A whole number, both bounds inclusive.
    Whole { min: u64, max: u64 },
    /// A number from 0 to 1.
    Share,
}

/// The input schema of a tool with these parameters.
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
                // Positions reach beyond what a client's double can hold; no need to say so.
                Kind::Whole { min, max: u64::MAX } => json!({"type": "integer", "minimum": min}),
                Kind::Whole { min, max } => {
                    json!({"type": "integer", "minimum": min, "maximum": max})
                }
            };
            schema["description"] = param.about.into();
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
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// What stands for an argument whose text held half of a surrogate pair: no kind of argument, so the
/// check below refuses it, and says why.
pub(crate) fn half_a_character() -> Value {
    json!({HALF: true})
}

const HALF: &str = "half of a surrogate pair";

/// Arguments that fit their parameters.
#[derive(Default)]
pub(crate) struct Args(Map<String, Value>);

impl Args {
    /// Checks `given`; the error is one line that says what to change.
    pub(crate) fn check(params: &[Param], mut given: Map<String, Value>) -> Result<Args, String> {
        given.retain(|_, value| !value.is_null());
        for name in given.keys() {
            if !params.iter().any(|param| param.name == name) {
                let name = &name[..name.floor_char_boundary(64)];
                return Err(match params {
                    [] => format!("unknown argument `{name}`: this tool takes none"),
                    _ => {
                        let names: Vec<_> = params.iter().map(|p| p.name).collect();
                        format!("unknown argument `{name}`: give only {}", names.join(", "))
                    }
                });
            }
        }
        for param in params {
            match given.get_mut(param.name) {
                Some(value) => param.fits(value)?,
                None if param.required => {
                    let Param { name, about, .. } = param;
                    return Err(format!("missing argument `{name}`: {about}"));
                }
                None => {}
            }
        }
        Ok(Args(given))
    }

    /// A text, taken out.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// A required text, taken out.
    pub(crate) fn required_text(&mut self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// Texts, taken out.
    pub(crate) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        match self.0.remove(name) {
            Some(Value::Array(texts)) => Some(
                texts
                    .into_iter()
                    .filter_map(|text| match text {
                        Value::String(text) => Some(text),
                        _ => None,
                    })
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Words, taken out: trimmed, without empty ones.
    pub(crate) fn words(&mut self, name: &str) -> Vec<String> {
        let words = self.texts(name).unwrap_or_default();
        let words = words.iter().map(|word| word.trim());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Whether it was said.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A whole number.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// A number from 0 to 1.
    pub(crate) fn share(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// One of the values of an enum, as the service's type.
    pub(crate) fn one_of<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.0
            .remove(name)
            .and_then(|value| serde_json::from_value(value).ok())
    }
}

impl Param {
    /// The value that a text stands for where nothing but text can be given. What stands for none stays text,
    /// which the check refuses.
    pub(crate) fn of_text(&self, text: &str) -> Value {
        let as_text = || Value::from(text);
        match self.kind {
            Kind::Text | Kind::OneOf(_) | Kind::Words => as_text(),
            Kind::Texts => text.split(',').collect(),
            Kind::Flag | Kind::Whole { .. } | Kind::Share => {
                serde_json::from_str(text).unwrap_or_else(|_| as_text())
            }
        }
    }

    fn fits(&self, value: &mut Value) -> Result<(), String> {
        let name = self.name;
        if value.get(HALF).is_some() {
            return Err(format!(
                "`{name}` holds half of a surrogate pair (\\ud800 to \\udfff): text was cut inside \
                 a character, send it whole"
            ));
        }
        match self.kind {
            Kind::Text if value.is_string() => Ok(()),
            Kind::Text => Err(format!("`{name}` must be a string")),
            Kind::Share => match value.as_f64() {
                Some(share) if (0.0..=1.0).contains(&share) => Ok(()),
                _ => Err(format!("`{name}` must be a number from 0 to 1")),
            },
            Kind::Flag if value.is_boolean() => Ok(()),
            Kind::Flag => Err(format!("`{name}` must be true or false")),
            Kind::OneOf(values) => {
                let given = value.as_str().map(letters);
                let known = values.iter().find(|v| Some(letters(v)) == given);
                let known = known
                    .ok_or_else(|| format!("`{name}` must be one of {}", values.join(", ")))?;
                *value = Value::from(*known);
                Ok(())
            }
            Kind::Words => {
                if let Some(text) = value.as_str() {
                    *value = text.split(',').collect();
                }
                match value.as_array() {
                    Some(words) if words.iter().all(Value::is_string) => Ok(()),
                    _ => Err(format!(
                        "`{name}` must be a string with commas, for instance \"one,two\", or an \
                         array of strings"
                    )),
                }
            }
            Kind::Texts => match value.as_array() {
                Some(texts) if texts.iter().all(Value::is_string) => Ok(()),
                _ => Err(format!(
                    "`{name}` must be an array of strings, for instance [\"one\", \"two\"]"
                )),
            },
            Kind::Whole { min, max } => {
                // Some clients write every number as a double.
                if let Some(float) = value.as_f64()
                    && value.is_f64()
                    && float.fract() == 0.0
                    && (0.0..=9_007_199_254_740_992.0).contains(&float)
                {
                    *value = Value::from(float as u64);
                }
                match value.as_u64() {
                    Some(number) if (min..=max).contains(&number) => Ok(()),
                    _ if max == u64::MAX => {
                        Err(format!("`{name}` must be a whole number from {min}"))
                    }
                    _ => Err(format!(
                        "`{name}` must be a whole number from {min} to {max}"
                    )),
                }
            }
        }
    }
}

/// What two spellings of one name have in common.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[Param] = &[
        Param {
            name: "topic",
            kind: Kind::Text,
            required: true,
            about: "what it is about",
        },
        Param {
            name: "importance",
            kind: Kind::OneOf(&["low", "high", "so_so"]),
            required: false,
            about: "",
        },
        Param {
            name: "labels",
            kind: Kind::Words,
            required: false,
            about: "",
        },
        Param {
            name: "keywords",
            kind: Kind::Texts,
            required: false,
            about: "",
        },
        Param {
            name: "limit",
            kind: Kind::Whole { min: 1, max: 50 },
            required: false,
            about: "",
        },
    ];

    fn complaint(given: Value) -> String {
        let Value::Object(given) = given else {
            panic!("an object")
        };
        Args::check(PARAMS, given).err().unwrap_or_default()
    }

    #[test]
    fn a_complaint_names_the_fix() {
        for (given, expected) in [
            (json!({"topic": "t"}), ""),
            (json!({"topic": "t", "importance": null, "limit": 5.0}), ""),
            (
                json!({"topic": "t", "importance": "high", "keywords": ["a"], "limit": 50}),
                "",
            ),
            (json!({}), "missing argument `topic`: what it is about"),
            (
                json!({"topic": null}),
                "missing argument `topic`: what it is about",
            ),
            (json!({"topic": 7}), "`topic` must be a string"),
            (
                json!({"topic": "t", "importance": "higher"}),
                "`importance` must be one of low, high, so_so",
            ),
            (
                json!({"topic": "t", "importance": 1}),
                "`importance` must be one of low, high, so_so",
            ),
            (
                json!({"topic": "t", "labels": ["a", 1]}),
                "`labels` must be a string with commas, for instance \"one,two\", or an array of \
                 strings",
            ),
            (
                json!({"topic": "t", "keywords": "a,b"}),
                "`keywords` must be an array of strings, for instance [\"one\", \"two\"]",
            ),
            (
                json!({"topic": "t", "keywords": [1]}),
                "`keywords` must be an array of strings, for instance [\"one\", \"two\"]",
            ),
            (
                json!({"topic": "t", "limit": 51}),
                "`limit` must be a whole number from 1 to 50",
            ),
            (
                json!({"topic": "t", "limit": 2.5}),
                "`limit` must be a whole number from 1 to 50",
            ),
            (
                json!({"topic": "t", "limit": "5"}),
                "`limit` must be a whole number from 1 to 50",
            ),
            (
                json!({"topic": "t", "color": "red"}),
                "unknown argument `color`: give only topic, importance, labels, keywords, limit",
            ),
        ] {
            assert_eq!(complaint(given.clone()), expected, "{given}");
        }
    }

    #[test]
    fn names_and_words_are_taken_however_they_are_spelled() {
        for spelled in ["so_so", "so-so", "soSo", "So So"] {
            let Value::Object(given) = json!({"topic": "t", "importance": spelled}) else {
                panic!("an object")
            };
            let mut args = Args::check(PARAMS, given).expect(spelled);
            assert_eq!(args.text("importance").as_deref(), Some("so_so"));
        }
        for labels in [json!("a:b, c,,"), json!(["a:b", " c", ""])] {
            let Value::Object(given) = json!({"topic": "t", "labels": labels}) else {
                panic!("an object")
            };
            let mut args = Args::check(PARAMS, given).expect("labels");
            assert_eq!(args.words("labels"), ["a:b", "c"]);
        }
    }
}
