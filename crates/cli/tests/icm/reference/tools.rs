//! The page of the tools: the list that clients get, the toolsets, and the paths over HTTP.

use std::fmt::Write as _;

use icm_server::mcp::{McpOptions, Offer, tool_list};
use serde_json::{Map, Value};

use crate::checked_in::check;

const HEAD: &str = "\
# MCP tools

<!-- Made by the tests of `icm-cli` from the tools of the server. `ICM_UPDATE_SNAPSHOTS=1` writes it anew. -->

`icm serve` offers the tools of the toolset `default`. [Choose the tools](../agents.md#choose-the-tools) says how to offer
others. The descriptions here are those that a model reads.

- A number, a flag or a list may come as text. An empty argument counts as left out.
- The column *HTTP* has the [path for scripts](../http.md) that does the same.
- `icm serve --read-only` offers only the tools that read.
- `icm serve --help` lists the toolsets.

";

/// The description of the plain paths, as a server gives it. The test `the_document_is_as_before` compares the two.
const DOCUMENT: &str = include_str!("../../frozen/openapi.json");

/// Returns the tools of a choice, as clients get them.
fn tools(offer: Offer) -> Vec<Value> {
    let options = McpOptions {
        offer,
        ..McpOptions::default()
    };
    match tool_list(options) {
        Value::Array(tools) => tools,
        other => panic!("not a list: {other}"),
    }
}

/// Returns the names of the toolsets that hold a tool, without `all`.
fn toolsets(tool: &Value) -> Vec<String> {
    let holds = |set: &str| {
        let offer = Offer::of(&[set.to_owned()], &[], &[]).unwrap();
        tools(offer).iter().any(|it| it["name"] == tool["name"])
    };
    let sets = Offer::sets().map(|(set, _)| set);
    let sets = sets.filter(|set| *set != "all" && holds(set));
    sets.map(|set| format!("`{set}`")).collect()
}

/// Returns the path over HTTP that does the same as the tool of this name.
fn path_of<'d>(name: &str, paths: &'d Map<String, Value>) -> Option<&'d str> {
    let mut paths = paths.keys().map(String::as_str);
    paths.find(|path| name.ends_with(&path.replace('/', "_")))
}

/// Returns the kind of an argument in words.
fn kind(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().filter_map(Value::as_str);
        let values: Vec<String> = values.map(|value| format!("`{value}`")).collect();
        return values.join(", ");
    }
    let kind = match schema["type"].as_str() {
        Some("string") => "text",
        Some("array") => "list of texts",
        Some("boolean") => "true or false",
        Some("integer") => "whole number",
        Some("number") => "number",
        other => panic!("no word for {other:?}"),
    };
    kind.to_owned()
}

/// Returns the table of a tool's arguments, the required ones first.
fn arguments(input: &Value) -> String {
    let required = input["required"].as_array();
    let required = required.map(Vec::as_slice).unwrap_or_default();
    let arguments = input["properties"].as_object().unwrap().iter();
    let mut arguments: Vec<_> = arguments
        .map(|(name, schema)| (!required.iter().any(|it| it == name), name, schema))
        .collect();
    if arguments.is_empty() {
        return "The tool takes no arguments.\n".to_owned();
    }
    arguments.sort_by_key(|(is_optional, ..)| *is_optional);
    let mut table = "| argument | kind | required | about |\n|---|---|---|---|\n".to_owned();
    for (is_optional, name, schema) in arguments {
        let (kind, about) = (kind(schema), schema["description"].as_str().unwrap());
        let required = if is_optional { "no" } else { "yes" };
        let _ = writeln!(table, "| `{name}` | {kind} | {required} | {about} |");
    }
    table
}

fn page() -> String {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let mut paths = document["paths"].as_object().unwrap().clone();
    // The other paths tell of the server itself.
    paths.retain(|_, methods| methods.get("post").is_some());
    let (mut page, mut parts, mut with_path) = (HEAD.to_owned(), String::new(), 0);
    page.push_str("| tool | what | default | HTTP |\n|---|---|---|---|\n");
    for tool in tools(Offer::ALL) {
        let text = |field: &str| tool[field].as_str().unwrap();
        let (name, title, about) = (text("name"), text("title"), text("description"));
        let sets = toolsets(&tool);
        let default = match sets.iter().any(|set| set == "`default`") {
            true => "yes",
            false => "no",
        };
        let path = path_of(name, &paths).map(|path| format!("`{path}`"));
        with_path += usize::from(path.is_some());
        let path = path.unwrap_or_default();
        let _ = writeln!(
            page,
            "| [`{name}`](#{name}) | {title} | {default} | {path} |"
        );
        let reads = match tool["annotations"]["readOnlyHint"] == true {
            true => "The tool only reads",
            false => "The tool can change the store",
        };
        let (sets, arguments) = (sets.join(", "), arguments(&tool["inputSchema"]));
        let _ = write!(
            parts,
            "\n## {name}\n\n{about}\n\n{reads}. Toolsets: {sets}, `all`.\n\n{arguments}"
        );
    }
    assert_eq!(with_path, paths.len(), "a path of no tool: {paths:?}");
    page + &parts + &of_other_memories()
}

/// Returns the part about the tools under names of other memories.
fn of_other_memories() -> String {
    let mut part = "\n## Tools under names of other memories\n\n\
        [Coming from another memory](../agents.md#coming-from-another-memory) says when to offer them.\n\n\
        | toolset | tool | what | arguments |\n|---|---|---|---|\n"
        .to_owned();
    let (own, mut others) = (tools(Offer::ALL), 0);
    for (set, _) in Offer::sets() {
        let offer = Offer::of(&[set.to_owned()], &[], &[]).unwrap();
        for tool in tools(offer) {
            if own.iter().any(|it| it["name"] == tool["name"]) {
                continue;
            }
            let (name, title) = (
                tool["name"].as_str().unwrap(),
                tool["title"].as_str().unwrap(),
            );
            let arguments = tool["inputSchema"]["properties"]
                .as_object()
                .unwrap()
                .keys();
            let arguments: Vec<String> = arguments.map(|name| format!("`{name}`")).collect();
            let arguments = arguments.join(", ");
            let _ = writeln!(part, "| `{set}` | `{name}` | {title} | {arguments} |");
            others += 1;
        }
    }
    assert!(others >= 13, "only {others} tools of other memories");
    part
}

#[test]
fn the_page_of_tools_is_as_checked_in() {
    check("reference/tools.md", |_| page());
}
