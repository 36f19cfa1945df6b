//! Tests of the list of tools.
//!
//! `ICM_UPDATE_SNAPSHOTS=1` rewrites `tests/snapshots/tools.json` after a wanted change.

use std::path::Path;

use icm_server::mcp::{McpOptions, Offer, tool_list};
use serde_json::{Map, Value};

use crate::client::{EVERYTHING, READ_ONLY};

pub(crate) fn tools() -> Vec<Value> {
    match tool_list(EVERYTHING) {
        Value::Array(tools) => tools,
        other => panic!("not a list: {other}"),
    }
}

/// Returns the options of a server with one toolset.
pub(crate) fn of_set(set: &str) -> McpOptions {
    McpOptions {
        offer: Offer::of(&[set.to_owned()], &[], &[]).expect("a set"),
        ..EVERYTHING
    }
}

/// The toolsets under names of other memories.
const FRONTS: [&str; 3] = ["mii", "sediment", "spec"];

/// Returns the tools under names of icm, then those of other memories.
fn every() -> Vec<Value> {
    let mut every = tools();
    for set in FRONTS {
        match tool_list(of_set(set)) {
            Value::Array(tools) => every.extend(tools),
            other => panic!("not a list: {other}"),
        }
    }
    every
}

/// Calls `each` with the key and value of every member of every object in `value`.
pub(crate) fn walk(value: &Value, each: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                each(key, value);
                walk(value, each);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, each)),
        _ => {}
    }
}

#[test]
fn schemas_keep_to_what_every_client_understands() {
    let mut members = 0;
    for tool in every() {
        let name = tool["name"].as_str().expect("a name");
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            walk(schema, &mut |key, value| {
                members += 1;
                for refused in [
                    "$schema",
                    "$ref",
                    "$defs",
                    "definitions",
                    "format",
                    "anyOf",
                    "oneOf",
                    "allOf",
                ] {
                    assert_ne!(key, refused, "{name}");
                }
                if key == "type" {
                    assert!(value.is_string(), "{name}: a union of types {value}");
                    assert_ne!(value, "null", "{name}");
                }
                if key == "enum" {
                    let values = value.as_array().expect("an enum is a list");
                    assert!(values.iter().all(Value::is_string), "{name}: {value}");
                }
            });
        }
        let input = &tool["inputSchema"];
        assert_eq!(input["type"], "object", "{name}");
        // Unknown arguments are refused without announcing it: google-genai loads no tool with this keyword.
        assert!(input.get("additionalProperties").is_none(), "{name}");
        let properties = input["properties"].as_object().expect("properties");
        // An undo chooses events in as many ways as the command line.
        let most = match name {
            "icm_undo" => 9,
            // The parts of a memory, its time, its scope; the parts of a correction, its memory, its scope.
            "icm_memory_store" => 9,
            "icm_feedback_record" => 8,
            // The filters of a search, four of them for keywords, its floor, and its cursor.
            "icm_memory_recall" => 13,
            "icm_memory_list" => 10,
            "icm_memory_recall_context" => 8,
            // For one, the bounds of the walk and the page; for the others, the floor, and the page.
            "icm_memoir_inspect" | "icm_memoir_search" | "icm_feedback_search" => 7,
            // Tags to have and tags to lack, each under the names of mii-memory.
            "memory_get" => 7,
            _ => 6,
        };
        assert!(properties.len() <= most, "{name}");
        for (property, schema) in properties {
            assert!(schema["type"].is_string(), "{name} {property}");
            let about = schema["description"].as_str().expect("a description");
            assert!(
                (3..=80).contains(&about.len()),
                "{name} {property}: {about}"
            );
        }
        let required = input["required"].as_array().map_or(0, Vec::len);
        // A concept is named within its memoir, a link by both of its ends; a correction and a fact are made of three texts.
        let most = match name {
            "icm_memoir_link" => 4,
            "icm_memoir_add_concept"
            | "icm_memoir_refine"
            | "icm_memory_link"
            | "icm_fact_set"
            | "icm_feedback_record" => 3,
            _ => 2,
        };
        assert!(required <= most, "{name}");
        if !tool["outputSchema"].is_null() {
            assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        }
    }
    assert!(members > 100, "only {members} members were looked at");
}

#[test]
fn every_tool_says_what_it_is_for_and_what_it_may_do() {
    let mut names = Vec::new();
    for tool in every() {
        let name = tool["name"].as_str().expect("a name").to_owned();
        assert!(
            name.len() <= 64 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
            "{name}"
        );
        let description = tool["description"].as_str().expect("a description");
        assert!(
            description.chars().count() <= 300,
            "{name}: {}",
            description.chars().count()
        );
        assert!(
            description.contains("Call it "),
            "{name} does not say when to call it"
        );
        assert!(
            description.contains("Not for "),
            "{name} does not say what it is not for"
        );
        assert!(tool["title"].is_string(), "{name}");
        let hints = &tool["annotations"];
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(hints[hint].is_boolean(), "{name} {hint}");
        }
        assert_eq!(hints["openWorldHint"], false, "{name}");
        assert_eq!(
            hints["destructiveHint"],
            [
                "forget",
                "icm_consolidate",
                "icm_forget",
                "icm_memoir_forget",
                "icm_memory_consolidate",
                "icm_memory_forget",
                "icm_memory_forget_topic",
                "icm_memory_prune",
                "icm_memory_rename_tag",
                "icm_undo"
            ]
            .contains(&&*name),
            "{name}"
        );
        names.push(name);
    }
    names.truncate(tools().len());
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted, "the table is in the order of names");
    assert_eq!(
        names,
        [
            "icm_alert_set",
            "icm_alerts",
            "icm_conflicts",
            "icm_diff",
            "icm_fact_get",
            "icm_fact_set",
            "icm_feedback_record",
            "icm_feedback_search",
            "icm_feedback_stats",
            "icm_log",
            "icm_memoir_add_concept",
            "icm_memoir_create",
            "icm_memoir_describe",
            "icm_memoir_export",
            "icm_memoir_forget",
            "icm_memoir_inspect",
            "icm_memoir_link",
            "icm_memoir_list",
            "icm_memoir_refine",
            "icm_memoir_search",
            "icm_memoir_search_all",
            "icm_memoir_show",
            "icm_memory_consolidate",
            "icm_memory_decay",
            "icm_memory_embed_all",
            "icm_memory_forget",
            "icm_memory_forget_topic",
            "icm_memory_health",
            "icm_memory_link",
            "icm_memory_list",
            "icm_memory_list_topics",
            "icm_memory_prune",
            "icm_memory_recall",
            "icm_memory_recall_context",
            "icm_memory_rename_tag",
            "icm_memory_revive",
            "icm_memory_stats",
            "icm_memory_store",
            "icm_memory_tags",
            "icm_memory_update",
            "icm_undo",
            "icm_wake_up",
        ]
    );
}

#[test]
fn the_list_is_as_checked_in() {
    is_as_checked_in("tools.json", &tool_list(EVERYTHING));
}

#[test]
fn the_lists_of_other_memories_are_as_checked_in() {
    let lists: Map<String, Value> = FRONTS
        .iter()
        .map(|set| ((*set).to_owned(), tool_list(of_set(set))))
        .collect();
    assert_eq!(lists["spec"].as_array().map(Vec::len), Some(6));
    is_as_checked_in("fronts.json", &lists.into());
}

#[track_caller]
fn is_as_checked_in(name: &str, list: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let path = path.join(name);
    let mut now = serde_json::to_string_pretty(list).expect("JSON");
    now.push('\n');
    if std::env::var_os("ICM_UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("create the folder");
        std::fs::write(&path, &now).expect("write the snapshot");
    }
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        before == now,
        "the tools changed; look at the difference after ICM_UPDATE_SNAPSHOTS=1 cargo test"
    );
}

#[test]
fn the_list_stays_within_its_budget() {
    let core = Offer::of(&["core".to_owned()], &[], &[]).expect("a set");
    for (offer, most) in [
        (Offer::default(), 2_500),
        (core, 1_900),
        (Offer::ALL, 9_400),
        (of_set("mii").offer, 2_500),
        (of_set("sediment").offer, 2_500),
        (of_set("spec").offer, 2_500),
    ] {
        let options = McpOptions {
            offer,
            ..EVERYTHING
        };
        let tokens = tool_list(options).to_string().len() / 4;
        assert!(tokens <= most, "{tokens} tokens, not {most}");
    }
}

#[test]
fn read_only_lists_only_tools_that_read() {
    let Value::Array(tools) = tool_list(READ_ONLY) else {
        panic!("a list")
    };
    assert_eq!(tools.len(), 21);
    assert!(
        tools
            .iter()
            .all(|tool| tool["annotations"]["readOnlyHint"] == true)
    );
}
