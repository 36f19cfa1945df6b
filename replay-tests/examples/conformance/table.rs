//! The table of the fixtures, read from `fixtures.json`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rmcp::model::{JsonObject, Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The table, which is compiled into the program.
pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(include_str!("fixtures.json")).expect("fixtures.json fits its types")
});

const ABOUT: &str = "A fixture of the conformance suite";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) tools: Vec<Fixture>,
    pub(crate) resources: Vec<Named>,
    pub(crate) templates: Vec<Template>,
    pub(crate) prompts: Vec<Fixture>,
}

/// A tool or a prompt.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Fixture {
    pub(crate) name: String,
    /// For a tool; without it the tool takes no arguments.
    input_schema: Option<JsonObject>,
    /// For a prompt; all arguments are required.
    #[serde(default)]
    arguments: Vec<String>,
    /// The capability that a client must have declared.
    pub(crate) requires: Option<String>,
    /// Progress sent to the client while it waits.
    #[serde(default)]
    pub(crate) progress: Vec<u32>,
    /// Questions to the client before the result, one round after another.
    #[serde(default)]
    pub(crate) rounds: Vec<BTreeMap<String, Asked>>,
    /// `true` if the number of the round is sent to the client, and must come back unchanged.
    #[serde(default)]
    pub(crate) sealed: bool,
    result: Value,
}

/// A question to the client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) about: String,
    /// For a form: its fields and their schemas.
    #[serde(default)]
    pub(crate) wants: JsonObject,
}

/// A resource.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) uri: String,
    mime_type: String,
    contents: JsonObject,
}

/// Resources with one `{id}` in their URIs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Template {
    uri_template: String,
    mime_type: String,
    contents: JsonObject,
}

impl Table {
    pub(crate) fn tool(&self, name: &str) -> Option<&Fixture> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<&Fixture> {
        self.prompts.iter().find(|prompt| prompt.name == name)
    }

    /// Returns the result of reading a resource.
    pub(crate) fn read<T: DeserializeOwned>(&self, uri: &str) -> Option<T> {
        let mut read = self.resources.iter().map(|named| named.read(uri));
        let from_templates = || {
            self.templates
                .iter()
                .find_map(|template| template.read(uri))
        };
        let contents = read.find_map(|read| read).or_else(from_templates)?;
        Some(complete(json!({ "contents": [contents] })))
    }
}

impl Fixture {
    pub(crate) fn tool(&self) -> Tool {
        let schema = self.input_schema.clone().unwrap_or_else(|| {
            let any = json!({"type": "object", "properties": {}});
            any.as_object().expect("an object").clone()
        });
        Tool::new(self.name.clone(), ABOUT, schema)
    }

    pub(crate) fn prompt(&self) -> Prompt {
        let argument = |name: &String| {
            let about = "A string that appears in the result";
            PromptArgument::new(name)
                .with_description(about)
                .with_required(true)
        };
        let arguments = self.arguments.iter().map(argument).collect();
        Prompt::new(&self.name, Some(ABOUT), Some(arguments))
    }

    /// Returns the result, with arguments in the places that name them.
    pub(crate) fn result<T: DeserializeOwned>(&self, arguments: Option<&JsonObject>) -> T {
        let mut result = self.result.clone();
        for (name, given) in arguments.into_iter().flatten() {
            if let Some(given) = given.as_str() {
                fill(&mut result, name, given);
            }
        }
        complete(result)
    }
}

impl Named {
    pub(crate) fn resource(&self) -> Resource {
        Resource::new(&self.uri, &self.uri)
            .with_description(ABOUT)
            .with_mime_type(&self.mime_type)
    }

    fn read(&self, uri: &str) -> Option<Value> {
        (self.uri == uri).then(|| contents(uri, &self.mime_type, &self.contents))
    }
}

impl Template {
    pub(crate) fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(&self.uri_template, &self.uri_template)
            .with_description(ABOUT)
            .with_mime_type(&self.mime_type)
    }

    fn read(&self, uri: &str) -> Option<Value> {
        let (before, after) = self.uri_template.split_once("{id}")?;
        let id = uri.strip_prefix(before)?.strip_suffix(after)?;
        let mut read = contents(uri, &self.mime_type, &self.contents);
        fill(&mut read, "id", id);
        Some(read)
    }
}

fn contents(uri: &str, mime_type: &str, contents: &JsonObject) -> Value {
    let mut contents = contents.clone();
    contents.insert("uri".into(), uri.into());
    contents.insert("mimeType".into(), mime_type.into());
    contents.into()
}

/// Replaces `{name}` by `given` in every text.
fn fill(value: &mut Value, name: &str, given: &str) {
    match value {
        Value::String(text) => *text = text.replace(&format!("{{{name}}}"), given),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, name, given)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| fill(field, name, given)),
        _ => {}
    }
}

/// Returns a result as its type, marked as complete.
fn complete<T: DeserializeOwned>(mut result: Value) -> T {
    result["resultType"] = "complete".into();
    serde_json::from_value(result).expect("fixtures.json holds results")
}
