//! Parameters of a tool: one list makes both the JSON schema and the check of the arguments.
//!
//! The schemas keep to what every client and model provider understands: no `$schema`, `$ref`,
//! `format`, `additionalProperties` or unions with null. Bounds also stand in the descriptions, as some
//! clients take them out of the schemas.
//!
//! Arguments are read as the schema means them: a number, a flag or a list may come as text, and an
//! optional argument may be left out, be null, or be an empty text or list.

use serde_json::{Map, Value, json};

/// One argument of a tool.
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// For the model: what to give. The schema adds the bounds of numbers.
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
    /// A whole number, both bounds inclusive. One out of bounds is refused.
    Whole { min: u64, max: u64 },
    /// How much of something, both bounds inclusive. One out of bounds is brought to the nearer bound, and
    /// the answer says so.
    Limit { min: u64, max: u64 },
    /// A number from 0 to 1.
    Share,
}

/// Arguments that clients add for themselves to the calls of every tool: Gemini CLI, Antigravity and Windsurf
/// (the next three), Cline, n8n. A tool without such a parameter leaves them out unread.
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

/// Returns whether a client, not the model, wrote an argument of this name. No tool has names with an underscore in
/// front, which clients use for their own (`_meta`, `_sessionID`).
fn is_added_by_a_client(name: &str) -> bool {
    name.starts_with('_') || ADDED_BY_CLIENTS.contains(&name)
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

/// What stands for an argument whose text held half of a surrogate pair: no kind of argument, so the
/// check below refuses it, and says why.
pub(crate) fn half_a_character() -> Value {
    json!({HALF: true})
}

const HALF: &str = "half of a surrogate pair";

/// Arguments that fit their parameters.
#[derive(Default)]
pub(crate) struct Args {
    given: Map<String, Value>,
    /// A line for each argument that was read as another one than was given.
    notes: Vec<String>,
}

impl Args {
    /// Checks `given`; the error is one line that says what to change.
    pub(crate) fn check(params: &[Param], mut given: Map<String, Value>) -> Result<Args, String> {
        given.retain(|_, value| !value.is_null());
        let known = |name: &str| params.iter().any(|param| param.name == name);
        given.retain(|name, _| known(name) || !is_added_by_a_client(name));
        if let Some(name) = given.keys().find(|name| !known(name)) {
            let name = &name[..name.floor_char_boundary(64)];
            return Err(match params {
                [] => format!("unknown argument `{name}`: this tool takes none"),
                _ => {
                    let names: Vec<_> = params.iter().map(|p| p.name).collect();
                    format!("unknown argument `{name}`: give only {}", names.join(", "))
                }
            });
        }
        let mut notes = Vec::new();
        for param in params {
            let empty = |value: &Value| !param.required && param.is_empty(value);
            if given.get(param.name).is_some_and(empty) {
                given.remove(param.name);
            }
            match given.get_mut(param.name) {
                Some(value) => notes.extend(param.read(value)?),
                None if param.required => {
                    let Param { name, about, .. } = param;
                    return Err(format!("missing argument `{name}`: {about}"));
                }
                None => {}
            }
        }
        Ok(Args { given, notes })
    }

    /// Returns the lines that say which arguments were read as others than were given, and takes them out.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// A text, taken out.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.given.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// A required text, taken out.
    pub(crate) fn required_text(&mut self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// Texts, taken out: trimmed, without empty ones.
    pub(crate) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        match self.given.remove(name) {
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

    /// Whether it was said.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.given
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// A whole number.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.given.get(name).and_then(Value::as_u64)
    }

    /// A number from 0 to 1.
    pub(crate) fn share(&self, name: &str) -> Option<f64> {
        self.given.get(name).and_then(Value::as_f64)
    }

    /// One of the values of an enum, as the service's type.
    pub(crate) fn one_of<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.given
            .remove(name)
            .and_then(|value| serde_json::from_value(value).ok())
    }
}

impl Param {
    /// Returns what the schema says of it: with the bounds, where it has some.
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

    /// Returns whether a value stands for an argument that was left out: an empty text, a list of nothing else, and
    /// the word `null` where no text is meant.
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

    /// Brings a value to the form that the schema means. Returns a line to tell where it now says something else.
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

/// Returns the text that a value means: itself, or a number or flag as it is written.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns the number that a value means, also written as text.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        value => value.as_f64(),
    }
}

/// Returns the whole number that a value means, also written as text or as a double (`5.0`).
fn whole_of(value: &Value) -> Option<i128> {
    let exact = match value {
        Value::String(text) => text.trim().parse::<i128>().ok(),
        value => {
            let unsigned = value.as_u64().map(i128::from);
            unsigned.or_else(|| value.as_i64().map(i128::from))
        }
    };
    // The cast ends at the bounds of the type, which are beyond those of every parameter.
    let whole = |number: f64| (number.fract() == 0.0).then_some(number as i128);
    exact.or_else(|| number_of(value).and_then(whole))
}

/// Returns what a value says of a flag, also in words.
fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        },
        value => match value.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
    }
}

/// Returns the list in a text: in JSON, or between brackets as Python and people write it (`['a', 'b']`, `[a, b]`).
fn list_in(text: &str) -> Option<Value> {
    let list = text.trim();
    let inner = list.strip_prefix('[')?.strip_suffix(']')?;
    match serde_json::from_str(list) {
        Ok(list) => Some(list),
        Err(_) => Some(words_in(inner).into()),
    }
}

/// Returns the words with commas between them, each without the quotes around it.
fn words_in(text: &str) -> Vec<String> {
    let words = text.split([',', '，', '、']).map(|word| {
        let word = word.trim();
        let quoted = ['"', '\''].iter().find_map(|quote| {
            let word = word.strip_prefix(*quote)?;
            word.strip_suffix(*quote)
        });
        quoted.unwrap_or(word).to_owned()
    });
    words.collect()
}

/// Returns the list of texts that a value means: a list, a list in a text, or words with commas between them.
/// Empty ones are left out.
fn texts_of(value: &Value) -> Option<Value> {
    let texts: Option<Vec<String>> = match value {
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            items.map(text_of).collect()
        }
        Value::String(text) => match list_in(text) {
            Some(list) => return texts_of(&list),
            // Half a list is a list that was cut.
            None if text.trim_start().starts_with('[') => None,
            None => Some(words_in(text)),
        },
        Value::Number(_) | Value::Bool(_) => text_of(value).map(|text| vec![text]),
        _ => None,
    };
    let texts = texts?.into_iter().map(|text| text.trim().to_owned());
    Some(texts.filter(|text| !text.is_empty()).collect())
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
            kind: Kind::Limit { min: 1, max: 50 },
            required: false,
            about: "default 10",
        },
        Param {
            name: "cursor",
            kind: Kind::Whole {
                min: 1,
                max: u64::MAX,
            },
            required: false,
            about: "where it goes on",
        },
        Param {
            name: "all",
            kind: Kind::Flag,
            required: false,
            about: "",
        },
        Param {
            name: "share",
            kind: Kind::Share,
            required: false,
            about: "how much",
        },
    ];

    fn checked(given: Value) -> Result<Args, String> {
        let Value::Object(given) = given else {
            panic!("an object")
        };
        Args::check(PARAMS, given)
    }

    #[test]
    fn a_complaint_names_the_fix() {
        let list = |name: &str| {
            format!("`{name}` must be a list of strings, for instance [\"one\", \"two\"]")
        };
        for (given, expected) in [
            (json!({}), "missing argument `topic`: what it is about".to_owned()),
            (
                json!({"topic": null}),
                "missing argument `topic`: what it is about".to_owned(),
            ),
            (json!({"topic": ["t"]}), "`topic` must be a string".to_owned()),
            (
                json!({"topic": "t", "importance": "higher"}),
                "`importance` must be one of low, high, so_so".to_owned(),
            ),
            (
                json!({"topic": "t", "importance": 1}),
                "`importance` must be one of low, high, so_so".to_owned(),
            ),
            (json!({"topic": "t", "labels": ["a", {}]}), list("labels")),
            (json!({"topic": "t", "keywords": {"a": 1}}), list("keywords")),
            (json!({"topic": "t", "keywords": "[\"a\", \"b"}), list("keywords")),
            (
                json!({"topic": "t", "cursor": 0}),
                "`cursor` must be a whole number from 1".to_owned(),
            ),
            (
                json!({"topic": "t", "limit": 2.5}),
                "`limit` must be a whole number from 1 to 50".to_owned(),
            ),
            (
                json!({"topic": "t", "limit": "many"}),
                "`limit` must be a whole number from 1 to 50".to_owned(),
            ),
            (
                json!({"topic": "t", "all": "perhaps"}),
                "`all` must be true or false".to_owned(),
            ),
            (
                json!({"topic": "t", "share": "1.5"}),
                "`share` must be a number from 0 to 1".to_owned(),
            ),
            (
                json!({"topic": "t", "color": "red"}),
                "unknown argument `color`: give only topic, importance, labels, keywords, limit, cursor, all, share"
                    .to_owned(),
            ),
        ] {
            let complaint = checked(given.clone()).err().unwrap_or_default();
            assert_eq!(complaint, expected, "{given}");
        }
    }

    #[test]
    fn arguments_are_read_as_the_schema_means_them() {
        for (name, given, read) in [
            ("topic", json!(2026), json!("2026")),
            ("topic", json!(true), json!("true")),
            ("importance", json!("HIGH"), json!("high")),
            ("importance", json!("soSo"), json!("so_so")),
            ("importance", json!("So So"), json!("so_so")),
            ("labels", json!("a:b, c,,"), json!(["a:b", "c"])),
            ("labels", json!("[\"a:b\", \"c\"]"), json!(["a:b", "c"])),
            ("labels", json!(["a:b", " c", ""]), json!(["a:b", "c"])),
            ("keywords", json!("a, b"), json!(["a", "b"])),
            ("keywords", json!("[\"a\",\"b\"]"), json!(["a", "b"])),
            ("keywords", json!(["a", 7, null]), json!(["a", "7"])),
            ("keywords", json!("['a', 'b']"), json!(["a", "b"])),
            ("keywords", json!("[a, b]"), json!(["a", "b"])),
            ("keywords", json!("\"a\",\"b\""), json!(["a", "b"])),
            ("labels", json!("['kind:queue']"), json!(["kind:queue"])),
            (
                "keywords",
                json!("黄蜂，昆虫、虫"),
                json!(["黄蜂", "昆虫", "虫"]),
            ),
            ("keywords", json!("it's"), json!(["it's"])),
            ("limit", json!("3"), json!(3)),
            ("limit", json!(" 5.0 "), json!(5)),
            ("limit", json!(5.0), json!(5)),
            ("cursor", json!("18446744073709551615"), json!(u64::MAX)),
            ("all", json!("false"), json!(false)),
            ("all", json!("True"), json!(true)),
            ("all", json!(1), json!(true)),
            ("share", json!("0.5"), json!(0.5)),
            ("share", json!(1), json!(1.0)),
        ] {
            let mut arguments = json!({"topic": "t"});
            arguments[name] = given.clone();
            let mut args = checked(arguments).expect(name);
            assert_eq!(args.given[name], read, "{name}: {given}");
            assert_eq!(args.take_notes(), [""; 0], "{name}: {given}");
        }
    }

    #[test]
    fn what_is_empty_counts_as_left_out() {
        for (name, empty) in [
            ("importance", json!("")),
            ("importance", json!("null")),
            ("labels", json!(" ")),
            ("labels", json!("[]")),
            ("keywords", json!([])),
            ("keywords", json!(["", null])),
            ("limit", json!("")),
            ("cursor", json!("null")),
            ("all", json!("  ")),
            ("share", Value::Null),
        ] {
            let mut arguments = json!({"topic": "t"});
            arguments[name] = empty.clone();
            let args = checked(arguments).expect(name);
            let left: Vec<_> = args.given.keys().collect();
            assert_eq!(left, ["topic"], "{name}: {empty}");
        }
        // A tool says itself what a required text must be.
        assert_eq!(
            checked(json!({"topic": ""})).expect("text").given["topic"],
            ""
        );
    }

    #[test]
    fn a_limit_out_of_bounds_is_brought_to_the_nearest_and_said() {
        for (given, used, shown) in [
            (json!(500), 50, "500"),
            (json!(0), 1, "0"),
            (json!(-3), 1, "-3"),
            (json!("51"), 50, "51"),
            (json!(u64::MAX), 50, "18446744073709551615"),
        ] {
            let mut args = checked(json!({"topic": "t", "limit": given})).expect("a limit");
            assert_eq!(args.whole("limit"), Some(used));
            let note = format!("`limit` is from 1 to 50: {used} was used, not {shown}");
            assert_eq!(args.take_notes(), [note]);
        }
        let mut args = checked(json!({"topic": "t", "limit": 1e300})).expect("a limit");
        assert_eq!(
            (args.whole("limit"), args.take_notes().len()),
            (Some(50), 1)
        );
    }

    #[test]
    fn arguments_that_clients_add_are_left_out_unread() {
        for name in ADDED_BY_CLIENTS.into_iter().chain(["_meta", "_sessionID"]) {
            let mut arguments = json!({"topic": "t"});
            arguments[name] = json!({"anything": [true]});
            let args = checked(arguments).expect(name);
            assert_eq!(args.given.len(), 1, "{name}");
        }
        // A tool that has such a parameter reads it.
        let params = [Param {
            name: "sessionId",
            kind: Kind::Text,
            required: false,
            about: "",
        }];
        let given = Map::from_iter([("sessionId".to_owned(), json!("s"))]);
        let mut args = Args::check(&params, given).expect("its own parameter");
        assert_eq!(args.text("sessionId").as_deref(), Some("s"));
    }

    #[test]
    fn bounds_stand_in_the_descriptions() {
        let schema = Value::from(input_schema(PARAMS));
        let about = |name: &str| schema["properties"][name]["description"].clone();
        assert_eq!(about("limit"), "default 10; 1 to 50");
        assert_eq!(about("share"), "how much; 0 to 1");
        assert_eq!(about("cursor"), "where it goes on");
    }
}
