//! The tools: one table, from which everything else is made.
//!
//! Names, descriptions and schemas are constants. Stored text never gets into them, so a memory
//! cannot change what a client believes a tool to be.

mod conflicts;
mod consolidate;
mod decay;
mod diff;
mod embed_all;
mod forget;
mod forget_topic;
mod health;
mod link;
mod list_topics;
pub(crate) mod log;
mod memoir;
mod prune;
mod recall;
mod recall_context;
mod stats;
mod store;
mod undo;
mod update;

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use serde_json::{Value, json};

use super::schema::{self, Args, Kind, Param};
use super::{McpOptions, server};
use crate::api::{Action, Basis, Caller, Crowded, Progress, Receipt, Similar};
use crate::error::ServiceError;
use crate::sanitize::{clean, clean_line};
use crate::service::Service;

/// Every tool, in the order of their names.
pub(super) static TOOLS: [&Tool; 30] = [
    &conflicts::TOOL,
    &diff::TOOL,
    &log::TOOL,
    &memoir::add_concept::TOOL,
    &memoir::create::TOOL,
    &memoir::describe::TOOL,
    &memoir::export::TOOL,
    &memoir::forget::TOOL,
    &memoir::inspect::TOOL,
    &memoir::link::TOOL,
    &memoir::list::TOOL,
    &memoir::refine::TOOL,
    &memoir::search::TOOL,
    &memoir::search_all::TOOL,
    &memoir::show::TOOL,
    &consolidate::TOOL,
    &decay::TOOL,
    &embed_all::TOOL,
    &forget::TOOL,
    &forget_topic::TOOL,
    &health::TOOL,
    &link::TOOL,
    &list_topics::TOOL,
    &prune::TOOL,
    &recall::TOOL,
    &recall_context::TOOL,
    &stats::TOOL,
    &store::TOOL,
    &update::TOOL,
    &undo::TOOL,
];

/// One tool.
pub(crate) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// At most 300 characters: what it does, when to call it, what it is not for.
    pub(super) description: &'static str,
    pub(super) hints: Hints,
    /// Something is left to do once the answer is out: views to bring up to date, a recall to record.
    pub(super) leaves_work: bool,
    pub(crate) params: &'static [Param],
    /// The schema of the structured content, where clients gain from knowing it.
    pub(super) output: Option<fn() -> Value>,
    pub(crate) run: fn(&Call<'_>, Args) -> Result<Reply, ServiceError>,
}

/// What a client may tell its user about a tool. None of them reaches beyond the store.
pub(crate) struct Hints {
    pub(super) read_only: bool,
    pub(super) destructive: bool,
    pub(super) idempotent: bool,
}

/// One call: what a tool may use.
pub(crate) struct Call<'a> {
    pub(crate) service: &'a Service,
    pub(crate) caller: &'a Caller,
    pub(crate) options: McpOptions,
    /// Told how long work goes on, and asked whether it is still wanted.
    pub(crate) progress: &'a dyn Progress,
}

/// What a tool answers: the same twice, for the model to read and for a program.
pub(crate) struct Reply {
    pub(super) text: String,
    pub(crate) structured: Value,
}

impl Reply {
    /// Says first that there may be more than this.
    pub(super) fn tell_damage(&mut self, damage: &str) {
        let damage = clean_line(damage);
        self.text = format!(
            "note: {damage}; what is not found may lie behind the damage: whoever keeps the store should run `icm doctor`\n{}",
            self.text
        );
        if let Value::Object(structured) = &mut self.structured {
            structured.insert("damage".to_owned(), damage.into());
        }
    }
}

impl Tool {
    /// The tool of this name.
    pub(super) fn named(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name).copied()
    }

    /// As it stands in `tools/list`.
    pub(super) fn definition(&self) -> rmcp::model::Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.hints.read_only)
            .destructive(self.hints.destructive)
            .idempotent(self.hints.idempotent)
            .open_world(false);
        let input = schema::input_schema(self.params);
        let tool = rmcp::model::Tool::new(self.name, self.description, input)
            .with_title(self.title)
            .with_annotations(hints);
        match self.output.map(|schema| schema()) {
            Some(Value::Object(schema)) => tool.with_raw_output_schema(Arc::new(schema)),
            _ => tool,
        }
    }
}

const ALLOW_SECRET: Param = Param {
    name: "allow_secret",
    kind: Kind::Flag,
    required: false,
    about: "store a secret too, if the user insists",
};

const SCOPE_TO_STORE: Param = Param {
    name: "scope",
    kind: Kind::Text,
    required: false,
    about: "global (default), project, session or project:ID",
};

pub(crate) const IMPORTANCE: Kind = Kind::OneOf(&["low", "medium", "high", "critical"]);

/// Characters of a similar memory that a line shows.
const SIMILAR_SHOWN: usize = 120;

/// The receipt of a changing tool.
fn receipt(call: &Call<'_>, receipt: Receipt) -> Reply {
    let Receipt {
        id,
        event,
        position,
        action,
        topic,
        similar,
        confirmed,
        warnings,
        crowded,
    } = &receipt;
    let done = match action {
        Action::Stored => "stored",
        Action::Updated => "updated",
        Action::Linked => "linked",
        Action::Unlinked => "unlinked",
        Action::Unchanged => "unchanged",
        Action::Forgotten => "forgotten",
        Action::Revived => "revived",
    };
    let mut text = if call.options.compact {
        format!("ok:{id}")
    } else {
        let topic = clean_line(topic);
        format!(
            "{done} {id} in topic \"{topic}\" (event {}, @{position})",
            short(event)
        )
    };
    let mut structured = json!({
        "id": id,
        "event": event,
        "position": position,
        "action": done,
        "topic": clean(topic),
    });
    if let Some(similar) = similar {
        let content = similar.content.as_deref().unwrap_or("(withheld)");
        structured["similar"] =
            json!({ "id": similar.id, "score": similar.score, "content": clean(content) });
        text.push_str(&match call.options.compact {
            true => format!(" similar:{}", similar.id),
            false => similar_line(similar, content, *action),
        });
    }
    if *confirmed {
        structured["confirmed"] = json!(true);
        if !call.options.compact {
            text.push_str("\nsomebody else had stored the same: it counts as confirmed");
        }
    }
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
        text.push_str(&format!("\nwarning: {}", warnings.join("; ")));
    }
    if let Some(Crowded { memories, scope }) = crowded {
        structured["crowded"] = json!(memories);
        let topic = clean_line(topic);
        let of = match scope {
            Some(scope) => {
                structured["crowded_scope"] = json!(clean(scope));
                format!(" of scope \"{}\"", clean_line(scope))
            }
            None => String::new(),
        };
        text.push_str(&match call.options.compact {
            true => format!(" crowded:{memories}"),
            false => {
                let consolidate = "icm_memory_consolidate";
                let way = match server::offered(call.options).any(|it| it.name == consolidate) {
                    true => consolidate,
                    false => "`icm consolidate`",
                };
                format!(
                    "\nhint: topic \"{topic}\" has {memories} memories{of}: {way} puts one summary in \
                     their place"
                )
            }
        });
    }
    Reply { text, structured }
}

/// That a memory says nearly the same, and what can be done about it.
fn similar_line(similar: &Similar, content: &str, action: Action) -> String {
    let id = &similar.id;
    let content = clean_line(content);
    let mut said = content.chars();
    let mut shown: String = said.by_ref().take(SIMILAR_SHOWN).collect();
    if said.next().is_some() {
        shown.push('…');
    }
    let way = match action {
        Action::Updated => "it was updated in place; icm_undo brings the old text back",
        _ => {
            "both are kept and linked; if this one replaces it, update it with icm_memory_update \
             and forget the new one"
        }
    };
    format!(
        "\nsimilar: {id} ({:.2}) says \"{shown}\": {way}",
        similar.score
    )
}

/// The first characters of an event id: enough to name it.
fn short(event: &str) -> &str {
    &event[..event.floor_char_boundary(12)]
}

/// `1 memory`, `2 memories`.
fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The day of an RFC 3339 time.
fn day(time: &str) -> &str {
    &time[..time.floor_char_boundary(10)]
}

/// A basis in words.
fn basis_text(basis: &Basis) -> String {
    let Basis {
        position,
        event,
        at,
    } = basis;
    format!("as of @{position} ({at}, event {})", short(event))
}

/// [`clean`] of a text that is owned already.
fn cleaned(text: String) -> String {
    match clean(&text) {
        Cow::Owned(cleaned) => cleaned,
        Cow::Borrowed(_) => text,
    }
}

/// Cleans every string in `value`.
pub(crate) fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(cleaned) = clean(text) {
                *text = cleaned;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(fields) => fields.values_mut().for_each(clean_value),
        _ => {}
    }
}

const AS_OF: Param = Param {
    name: "as_of",
    kind: Kind::Text,
    required: false,
    about: "a time, 2h ago, or @position",
};

/// What was found, with the moment that it is of where one was asked for.
fn dated(text: String, basis: &Basis, as_of: bool) -> String {
    match as_of {
        true => format!("{}\n{text}", basis_text(basis)),
        false => text,
    }
}
