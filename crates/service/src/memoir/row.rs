//! A memoir or a concept as answers show it, and the fields by which two states of it differ.

use icm_projections::fold::{Family, Version};
use serde_json::{Map, Value};

use super::{concept, shown};
use icm_api::ids::id_text;
use icm_api::when::rfc3339;
use icm_api::{MemoirRow, UndoRow};

/// Returns a memoir or a concept as it stands.
pub(crate) fn graph_row(version: &Version) -> UndoRow {
    match version.family() {
        // A concept keeps the name of its memoir in the field for a memory's topic.
        Family::Concept => UndoRow::Concept(Box::new(concept(version, version))),
        _ => UndoRow::Memoir(Box::new(MemoirRow {
            id: id_text(version.id),
            name: shown(version.topic.as_ref()),
            description: version.content.clone(),
            created_at: rfc3339(version.created_ms),
            updated_at: rfc3339(version.updated_ms),
            forgotten: version.is_forgotten(),
        })),
    }
}

/// Returns the names of the fields of a memoir or a concept that differ.
pub(crate) fn graph_fields(before: &Version, after: &Version) -> Vec<String> {
    let [old, new] = [before, after].map(fields_of);
    let names = FIELDS.into_iter().chain(["revision"]);
    names
        .filter(|name| old.get(*name) != new.get(*name))
        .map(str::to_owned)
        .collect()
}

/// The fields by which two states of a memoir or a concept are compared, as in their JSON.
pub(super) const FIELDS: [&str; 6] = [
    "memoir",
    "name",
    "description",
    "definition",
    "labels",
    "confidence",
];

/// Returns a memoir or a concept as JSON.
pub(super) fn fields_of(version: &Version) -> Map<String, Value> {
    match serde_json::to_value(graph_row(version)) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
