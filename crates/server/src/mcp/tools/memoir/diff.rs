//! The part of `icm_diff` that is about memoirs.

use serde_json::{Value, json};

use super::clean_value;
use icm_api::{Concept, ConceptLink, GraphChange, GraphDiff, Memoir};
use icm_guard::frame::{Frame, cut};
use icm_guard::sanitize::clean_line;

/// Entries of each list that are shown.
const SHOWN: usize = 10;
/// Bytes of each text that are shown.
const TEXT_BYTES: usize = 200;

/// Returns the changes of the graph on page `page` (from 0), as text and as JSON, and whether there is a next page;
/// `None` if nothing changed.
pub(in crate::mcp::tools) fn graph_diff(
    graph: &GraphDiff,
    page: usize,
) -> Option<(String, Value, bool)> {
    if graph.is_empty() {
        return None;
    }
    let skip = page.saturating_mul(SHOWN);
    let mut frame = Frame::new();
    let mut item = |deed: &str, name: String, text: &str| {
        frame.item(
            &format!("{deed} {}: ", clean_line(&name)),
            text,
            "",
            TEXT_BYTES,
        );
    };
    let memoirs = [
        ("added", &graph.memoirs_added),
        ("forgotten", &graph.memoirs_forgotten),
    ];
    for (deed, list) in memoirs {
        for memoir in list.iter().skip(skip).take(SHOWN) {
            let about = memoir.description.as_deref().unwrap_or("(withheld)");
            item(deed, format!("memoir {}", memoir.name), about);
        }
    }
    for (deed, list) in [("added", &graph.added), ("forgotten", &graph.forgotten)] {
        for concept in list.iter().skip(skip).take(SHOWN) {
            let definition = concept.definition.as_deref().unwrap_or("(withheld)");
            item(
                deed,
                format!("{} / {}", concept.memoir, concept.name),
                definition,
            );
        }
    }
    for change in changes(graph).skip(skip).take(SHOWN) {
        let name = match &change.name {
            Some(name) => format!("{} / {name}", change.memoir),
            None => format!("memoir {}", change.memoir),
        };
        item("changed", name, &change.fields.join(", "));
    }
    for (deed, list) in [("linked", &graph.linked), ("unlinked", &graph.unlinked)] {
        for link in list.iter().skip(skip).take(SHOWN) {
            item(
                deed,
                format!("{} / {}", link.memoir, link.from),
                &format!("{} {}", link.relation, link.to),
            );
        }
    }
    let mut value = json!({
        "memoirs_added": first(&graph.memoirs_added, skip, memoir),
        "memoirs_forgotten": first(&graph.memoirs_forgotten, skip, memoir),
        "added": first(&graph.added, skip, concept),
        "forgotten": first(&graph.forgotten, skip, concept),
        "changed": changes(graph).skip(skip).take(SHOWN).map(|change| json!({
            "memoir": change.memoir,
            "name": change.name,
            "fields": change.fields,
        })).collect::<Vec<_>>(),
        "linked": first(&graph.linked, skip, link),
        "unlinked": first(&graph.unlinked, skip, link),
        "total": graph.count(),
    });
    clean_value(&mut value);
    let mut text = frame.finish();
    let longest = [
        graph.added.len(),
        graph.forgotten.len(),
        graph.linked.len(),
        graph.unlinked.len(),
        changes(graph).count(),
        graph.memoirs_added.len(),
        graph.memoirs_forgotten.len(),
    ];
    let most = longest.into_iter().max().unwrap_or(0);
    if most > SHOWN {
        let all = graph.count();
        text.push_str(&format!(
            "\nat most {SHOWN} of each kind shown, of {all} changes of memoirs"
        ));
    }
    Some((text, value, most > skip.saturating_add(SHOWN)))
}

fn changes(graph: &GraphDiff) -> impl Iterator<Item = &GraphChange> {
    graph.memoirs_changed.iter().chain(&graph.changed)
}

fn first<T>(list: &[T], skip: usize, each: fn(&T) -> Value) -> Vec<Value> {
    list.iter().skip(skip).take(SHOWN).map(each).collect()
}

fn shortened(text: &Option<String>) -> Option<String> {
    let text = text.as_ref();
    text.map(|text| cut(text, TEXT_BYTES).into_owned())
}

fn memoir(memoir: &Memoir) -> Value {
    json!({ "name": memoir.name, "description": shortened(&memoir.description) })
}

fn concept(concept: &Concept) -> Value {
    json!({
        "memoir": concept.memoir,
        "name": concept.name,
        "definition": shortened(&concept.definition),
    })
}

fn link(link: &ConceptLink) -> Value {
    json!({ "memoir": link.memoir, "from": link.from, "relation": link.relation, "to": link.to })
}
