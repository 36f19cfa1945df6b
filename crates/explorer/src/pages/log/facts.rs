//! Facts and payload of an event for people: lists of names and values, with links where a value names something.

use icm_api::when::rfc3339_signed;
use icm_guard::sanitize::{clean_line, escape_json};
use icm_log::kind::family_of;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::links::place;
use crate::Explorer;
use crate::ask::Ask;
use crate::show::{event_id, full_time, line, memory_id, session, start, text, topic};

/// Most items of a list that are shown; the raw form has them all.
const ITEMS: usize = 50;
/// Levels of lists within lists that are shown. Raised, a deeper one is shown as a list, too.
const DEPTH: usize = 5;
/// Characters of a text that stand in a line.
const LINE_CHARS: usize = 90;
/// Most bytes of the raw form: 256 KiB. Raised, the page of a large event is larger.
const RAW_LEN_MAX: usize = 256 * 1024;

/// The event that values belong to.
pub(super) struct Of<'a> {
    pub(super) explorer: &'a Explorer,
    pub(super) ask: &'a Ask,
    pub(super) kind: &'a str,
    pub(super) position: u64,
}

impl Of<'_> {
    /// Returns the facts or the payload of the event.
    pub(super) fn values(&self, values: &Value) -> Markup {
        html! {
            @match values {
                Value::Object(fields) if fields.values().any(is_given) => (self.fields(fields, 0)),
                Value::Object(_) | Value::Null => { p.quiet { "None." } }
                other => { p { (self.value("", other, 0)) } }
            }
        }
    }

    fn fields(&self, fields: &Map<String, Value>, depth: usize) -> Markup {
        html! {
            dl.log-fields {
                @for (name, value) in fields.iter().filter(|(_, value)| is_given(value)) {
                    div {
                        dt { (label(name)) }
                        dd { (self.value(name, value, depth)) }
                    }
                }
            }
        }
    }

    fn value(&self, name: &str, value: &Value, depth: usize) -> Markup {
        if depth > DEPTH {
            return html! { span.quiet { "see the raw form" } };
        }
        html! {
            @match value {
                Value::Null => { span.quiet { "none" } }
                Value::Bool(true) => "yes",
                Value::Bool(false) => "no",
                Value::Number(given) => (self.number(name, given)),
                Value::String(given) => (self.text(name, given)),
                Value::Object(fields) => (self.fields(fields, depth + 1)),
                Value::Array(items) => (self.items(name, items, depth + 1)),
            }
        }
    }

    fn number(&self, name: &str, given: &serde_json::Number) -> Markup {
        html! {
            @match (given.as_i64(), given.as_f64()) {
                // Zero is "none", and the largest number "without end".
                (Some(ms), _) if name.ends_with("_ms") && ms > 0 => (full_time(self.explorer, &rfc3339_signed(ms))),
                (Some(position), _) if name.ends_with("position") && position > 0 => (place(self.ask, position.unsigned_abs())),
                (_, Some(ppm)) if name.ends_with("_ppm") => (format!("{:.4}", ppm / 1e6).trim_end_matches('0').trim_end_matches('.')),
                _ => (given),
            }
        }
    }

    fn text(&self, name: &str, given: &str) -> Markup {
        let is_hex = |len| given.len() == len && given.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_ulid = given.len() == 26 && given.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let of_memory =
            family_of(self.kind) == "memory" || name == "memory" || self.kind == "log.redacted";
        html! {
            @match name {
                _ if is_hex(64) && given.bytes().all(|byte| byte == b'0') => { span.quiet { "none" } }
                _ if is_hex(64) && name != "commitment" => (event_id(self.ask, given)),
                "parent" if is_hex(32) => (session(self.ask, given, None)),
                "session" if !given.is_empty() => (session(self.ask, given, None)),
                "id" | "other" | "memory" | "subjects" if is_ulid && of_memory => (memory_id(self.ask, given)),
                "id" | "other" | "memoir" | "feedback" if is_ulid => {
                    a.id href=(self.ask.link("/log", &[("id", given)])) { code { (given) } }
                }
                "origin" if is_hex(32) => {
                    a href={ (self.ask.link("/machines", &[])) "#origin-" (given) } { code { (given) } }
                }
                "topic" if !given.is_empty() => (topic(self.ask, given)),
                _ if given.is_empty() => { span.quiet { "empty" } }
                _ if given.len() > LINE_CHARS || given.contains('\n') => { div.log-excerpt tabindex="0" { (text(given)) } },
                _ => (line(given)),
            }
        }
    }

    fn items(&self, name: &str, items: &[Value], depth: usize) -> Markup {
        let shown = &items[..items.len().min(ITEMS)];
        let is_row = |item: &Value| matches!(item, Value::Object(_));
        html! {
            @if !shown.is_empty() && shown.iter().all(is_row) {
                (self.table(name, shown, depth))
            } @else {
                ul.log-values { @for item in shown { li { (self.value(name, item, depth)) } } }
            }
            @if items.len() > shown.len() {
                p.quiet { "… and " (items.len() - shown.len()) " more, in the raw form" }
            }
        }
    }

    fn table(&self, name: &str, items: &[Value], depth: usize) -> Markup {
        let rows: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
        let mut columns: Vec<&str> = Vec::new();
        for column in rows.iter().flat_map(|row| row.keys()) {
            if !columns.contains(&&**column) && columns.len() < ITEMS {
                columns.push(column);
            }
        }
        html! {
            div.wide {
                table {
                    caption.unseen { (label(name)) }
                    thead { tr { @for column in &columns { th scope="col" { (label(column)) } } } }
                    tbody {
                        @for row in rows {
                            tr {
                                @for column in &columns {
                                    td { @if let Some(value) = row.get(*column) { (self.value(column, value, depth)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the raw form, folded.
    pub(super) fn raw(&self, name: &str, value: &Value) -> Markup {
        let json = serde_json::to_string_pretty(value).unwrap_or_default();
        let json = escape_json(&json);
        let shown = &json[..json.floor_char_boundary(RAW_LEN_MAX)];
        html! {
            details.log-raw {
                summary { "Raw " (name) }
                pre.text tabindex="0" { (shown) }
                @if shown.len() < json.len() {
                    p.quiet { "Cut. " code { "icm log show @" (self.position) " --json" } " has all of it." }
                }
            }
        }
    }
}

fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_given),
        _ => true,
    }
}

/// Returns the name of a field in words. Units that the value shows are left out.
fn label(name: &str) -> Markup {
    let words = name.strip_suffix("_ms").or(name.strip_suffix("_ppm"));
    let words = clean_line(words.unwrap_or(name)).replace('_', " ");
    start(&words, 64)
}
