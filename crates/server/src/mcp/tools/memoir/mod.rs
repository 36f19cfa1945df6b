//! The tools of memoirs, and their common parameters and lines.

pub(super) mod add_concept;
pub(super) mod create;
pub(super) mod describe;
pub(super) mod diff;
pub(super) mod export;
pub(super) mod forget;
pub(super) mod inspect;
pub(super) mod link;
pub(super) mod list;
pub(super) mod refine;
pub(super) mod search;
pub(super) mod search_all;
pub(super) mod show;

use serde_json::{Value, json};

use super::paging::{name_cursor, name_of};
use super::{
    ALLOW_SECRET, AS_OF, Call, FLOOR, Hints, Kind, Param, Reply, Tool, clean_value, count, dated,
    short,
};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::found_by::{fit, found_by, nothing_fits};
use icm_api::{Action, Concept, ConceptHit, ConceptRequest, ConceptSearchRequest, GraphReceipt};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

const ADDS: Hints = Hints {
    read_only: false,
    destructive: false,
    idempotent: false,
};

const READS: Hints = Hints {
    read_only: true,
    destructive: false,
    idempotent: true,
};

const MEMOIR: Param = Param {
    name: "memoir",
    kind: Kind::Text,
    required: true,
    about: "name of the memoir",
};

const CONCEPT: Param = Param {
    name: "name",
    kind: Kind::Text,
    required: true,
    about: "the concept's name",
};

/// The definition of a concept.
const fn definition(required: bool) -> Param {
    Param {
        name: "definition",
        kind: Kind::Text,
        required,
        about: "what it means, in full",
    }
}

const LABELS: Param = Param {
    name: "labels",
    kind: Kind::Words,
    required: false,
    about: "ns:value,ns:value",
};

const SOURCES: Param = Param {
    name: "sources",
    kind: Kind::Texts,
    required: false,
    about: "ids of memories it is taken from",
};

/// Takes the request of the tools that add and refine a concept.
fn defined(args: &mut Args) -> ConceptRequest {
    ConceptRequest {
        memoir: args.required_text("memoir"),
        name: args.required_text("name"),
        definition: args.text("definition"),
        labels: args.texts("labels").unwrap_or_default(),
        confidence: None,
        sources: args.texts("sources").unwrap_or_default(),
        allow_secret: args.flag("allow_secret"),
    }
}

/// Returns the reply of a tool that changes a memoir.
fn receipt(call: &Call<'_>, receipt: &GraphReceipt) -> Reply {
    let done = match receipt.action {
        Action::Stored => "added",
        other => other.word(),
    };
    let memoir = clean_line(&receipt.memoir);
    let mut text = match (&receipt.name, call.options.compact) {
        (_, true) => format!("ok:{}", receipt.id),
        (Some(name), false) => {
            let name = clean_line(name);
            let to = match (&receipt.relation, &receipt.to) {
                (Some(relation), Some(to)) => format!(" {relation} \"{}\"", clean_line(to)),
                _ => String::new(),
            };
            format!("{done} \"{name}\"{to} in memoir \"{memoir}\"")
        }
        (None, false) => format!("{done} memoir \"{memoir}\""),
    };
    if !call.options.compact {
        if let Some(revision) = receipt.revision {
            text.push_str(&format!(", revision {revision}"));
        }
        text.push_str(&format!(
            " (event {}, @{})",
            short(&receipt.event),
            receipt.position
        ));
    }
    for warning in &receipt.warnings {
        text.push_str(&format!("\nwarning: {warning}"));
    }
    Reply::new(text, structured(receipt))
}

/// Returns an answer as JSON, its texts cleaned.
fn structured<T: serde::Serialize>(answer: &T) -> Value {
    let mut value = serde_json::to_value(answer).unwrap_or_default();
    clean_value(&mut value);
    value
}

/// Returns the line of a concept: the part before the definition, the definition, the part after.
fn line<'a>(concept: &'a Concept, memoirs: bool, found: &str) -> (String, &'a str, String) {
    let definition = concept.definition.as_deref().unwrap_or("(withheld)");
    let head = match memoirs {
        true => format!(
            "{} / {}: ",
            clean_line(&concept.memoir),
            clean_line(&concept.name)
        ),
        false => format!("{}: ", clean_line(&concept.name)),
    };
    let labels = match concept.labels.is_empty() {
        true => String::new(),
        false => format!(", {}", clean_line(&concept.labels.join(", "))),
    };
    let tail = format!(
        " (revision {}, confidence {:.2}{labels}{found})",
        concept.revision, concept.confidence
    );
    (head, definition, tail)
}

/// Adds concepts as lines to a frame, as many as fit into `room_bytes`. Returns their number.
fn concepts(frame: &mut Frame, list: &[&Concept], memoirs: bool, room_bytes: usize) -> usize {
    let list: Vec<_> = list
        .iter()
        .map(|concept| (*concept, String::new()))
        .collect();
    concepts_found(frame, &list, memoirs, room_bytes)
}

/// Adds concepts as [`concepts`] does, each with a note of the search.
fn concepts_found(
    frame: &mut Frame,
    list: &[(&Concept, String)],
    memoirs: bool,
    room_bytes: usize,
) -> usize {
    let mut bytes = 0;
    for (at, (concept, found)) in list.iter().enumerate() {
        let (head, definition, tail) = line(concept, memoirs, found);
        bytes += head.len() + definition.len() + tail.len();
        if bytes > room_bytes && at > 0 {
            return at;
        }
        frame.item(&head, definition, &tail, room_bytes / 2);
    }
    list.len()
}

/// Adds the line that names the next page.
fn more(text: &mut String, next: Option<&str>) {
    if let Some(next) = next {
        text.push_str(&format!("\nmore: give after = {}", json!(clean_line(next))));
    }
}

/// Returns the name in the argument `after`.
fn named(after: &str) -> Result<String, ServiceError> {
    name_of(after, "after")
}

/// `3 concepts`
fn concept_count(n: u64) -> String {
    count(n, "concept", "concepts")
}

/// The parameters that `search` and `search_all` share: query and label.
const QUERY: Param = Param {
    name: "query",
    kind: Kind::Text,
    required: false,
    about: "a few words; or give a label",
};

const LABEL: Param = Param {
    name: "label",
    kind: Kind::Text,
    required: false,
    about: "ns:value",
};

const LIMIT: Param = Param {
    name: "limit",
    kind: Kind::Limit { min: 1, max: 50 },
    required: false,
    about: "default 10",
};

/// The cursor of a paged tool.
const AFTER: Param = Param {
    name: "after",
    kind: Kind::Text,
    required: false,
    about: "next of the reply before",
};

/// Searches one memoir, or all of them if `memoir` is `None`.
fn search(call: &Call<'_>, args: &mut Args, memoir: Option<String>) -> Result<Reply, ServiceError> {
    let all = memoir.is_none();
    let request = ConceptSearchRequest {
        query: args.text("query").unwrap_or_default(),
        memoir,
        label: args.text("label"),
        limit: args.whole("limit").map(|limit| limit as usize),
        floor: args.share("floor"),
        after: args.text("after"),
        at: args.text("as_of"),
    };
    let by_label = request.query.trim().is_empty();
    let mut found = call.service.concept_search(&request)?;
    let mut frame = Frame::new();
    let about = |hit: &ConceptHit| match by_label {
        true => String::new(),
        false => format!(", {}, {}", found_by(&hit.matched), fit(hit.fit)),
    };
    let hits = found.results.iter();
    let list: Vec<_> = hits.map(|hit| (&hit.concept, about(hit))).collect();
    let shown = concepts_found(&mut frame, &list, all, call.room_bytes());
    let mut text = match (shown, &found.nearest) {
        (0, Some(nearest)) => nothing_fits(&nearest.id, nearest.fit),
        (0, None) => "no concept fits".to_owned(),
        _ => frame.finish(),
    };
    if shown < list.len() {
        found.next = Some(found.after(shown));
    }
    found.results.truncate(shown);
    if let Some(note) = &found.note {
        text.push_str(&format!("\nnote: {note}"));
    }
    more(&mut text, found.next.as_deref());
    Ok(Reply::new(
        dated(text, &found.basis, request.at.is_some()),
        structured(&found),
    ))
}
