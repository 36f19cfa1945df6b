//! The page of the kinds of events: the registry of kinds, and the schemas of the Rust types.

use std::fmt::Write as _;

use icm_log::kind::{KINDS, Status};
use serde_json::Value;

use crate::checked_in::check;

const HEAD: &str = "\
# Events

<!-- Made by the tests of `icm-cli` from the kinds of events and their types. `ICM_UPDATE_SNAPSHOTS=1` writes it anew. -->

Every change of a store, and every recall that is recorded, is an event. An event has facts and a payload. The facts say
what happened; the payload has the texts, which a redaction takes out.

- `icm log show EVENT --json` prints an event, with codes of the facts as words, if they have names. `facts.fields` is then
  a list of names, and a memory's id in the facts is printed as `icm get` prints it.
- For `memory.unlinked` and `concept.unlinked` it adds `facts.other` and `facts.relation`: of the links that were taken away.
- `icm log --kind KIND` lists the events of a kind.
- In a path, `[]` stands for each item of a list. Hex text has hexadecimal digits. Numbers of kinds are hexadecimal, too.
- icm opens a store read-only if it does not know a kind that is marked as critical.
- [The bytes of a store](../../../../schemas/envelope.md) describes facts and payloads byte by byte.
";

/// Returns the type of a field in words.
fn kind(schema: &Value) -> String {
    // The other choice is null: the field may be absent.
    if let Some(choices) = schema["anyOf"].as_array() {
        return kind(&choices[0]);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let choices = choices.iter().filter_map(|it| it["const"].as_str());
        let choices: Vec<String> = choices.map(|choice| format!("`{choice}`")).collect();
        return choices.join(", ");
    }
    let first = match &schema["type"] {
        Value::Array(kinds) => &kinds[0],
        kind => kind,
    };
    let word = match first.as_str() {
        Some("string") if schema["pattern"].is_string() => "hex text",
        Some("string") => "text",
        Some("integer") => "whole number",
        Some("boolean") => "true or false",
        Some("object") => "object",
        Some("array") => return format!("list of {}s", kind(&schema["items"])),
        other => panic!("no word for {other:?}"),
    };
    word.to_owned()
}

/// Appends the rows of the fields below `path`.
fn rows(path: &str, schema: &Value, table: &mut String) {
    let required = schema["required"].as_array();
    let required = required.map(Vec::as_slice).unwrap_or_default();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let optional = match required.iter().any(|it| it == name) {
            true => "",
            false => ", optional",
        };
        let about = field["description"].as_str().unwrap_or_default();
        let about = about.replace('\n', " ").replace('|', "\\|");
        let kind = kind(field);
        let _ = writeln!(table, "| `{path}.{name}` | {kind}{optional} | {about} |");
        rows(&format!("{path}.{name}"), field, table);
        rows(&format!("{path}.{name}[]"), &field["items"], table);
    }
}

fn page() -> String {
    let mut schemas = icm_log::schema::all().into_iter();
    let mut page = HEAD.to_owned();
    let mut reserved = String::new();
    for kind in KINDS {
        let (name, version, about) = (kind.name, kind.version, kind.about);
        let code = format!("{:04x}", kind.kind.0);
        if kind.status == Status::Reserved {
            let _ = writeln!(reserved, "| `{name}` | 0x{code} | {about} |");
            continue;
        }
        let (file, schema) = schemas.next().unwrap();
        assert_eq!(file, format!("{name}.v{version}.schema.json"));
        let critical = match kind.kind.is_critical() {
            true => ", critical",
            false => "",
        };
        let _ = write!(
            page,
            "\n## {name}\n\n{about}\n\nNumber 0x{code}{critical}, version {version}; [schema](../../../../schemas/{file}).\n\n"
        );
        let mut table = String::new();
        for part in ["facts", "payload"] {
            rows(part, &schema["properties"][part], &mut table);
        }
        match table.is_empty() {
            true => page.push_str("The event has no fields.\n"),
            false => page.push_str("| field | type | meaning |\n|---|---|---|\n"),
        }
        page.push_str(&table);
    }
    page.push_str(
        "\n## Reserved\n\nThe numbers of these kinds are taken, and nothing writes them yet.\n\n",
    );
    page + "| kind | number | what |\n|---|---|---|\n" + &reserved
}

#[test]
fn the_page_of_events_is_as_checked_in() {
    check("reference/events.md", |_| page());
}
