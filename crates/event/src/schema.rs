//! JSON Schemas of the facts and payloads of every kind that this version knows, made from the Rust types. The files in
//! `schemas/` must be equal; a test compares.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::kind::{KINDS, Status};
use crate::{facts, payload};

#[derive(JsonSchema)]
#[schemars(title = "none")]
struct NoFacts {}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    SchemaGenerator::new(settings)
        .into_root_schema_for::<T>()
        .to_value()
}

/// Returns the schemas of facts and payload of these types.
fn pair<F: JsonSchema, P: JsonSchema>() -> (Value, Value) {
    (schema_of::<F>(), schema_of::<P>())
}

/// Returns the schemas of a kind's facts and payload.
fn parts(name: &str) -> Option<(Value, Value)> {
    Some(match name {
        "memory.stored" => pair::<facts::MemoryStored, payload::MemoryStored>(),
        "memory.consolidated" => pair::<facts::MemoryConsolidated, payload::MemoryStored>(),
        "memory.decayed" => pair::<facts::MemoryDecayed, NoFacts>(),
        "memory.pruned" => pair::<facts::MemoryPruned, NoFacts>(),
        "memory.updated" => pair::<facts::MemoryUpdated, payload::MemoryUpdated>(),
        "memory.recalled" => pair::<facts::MemoryRecalled, payload::MemoryRecalled>(),
        "memory.pinned" => pair::<facts::MemoryPinned, payload::MemoryForgotten>(),
        "memory.unpinned" => pair::<NoFacts, payload::MemoryForgotten>(),
        "memory.expired" => pair::<facts::MemoryExpired, NoFacts>(),
        "session.started" => pair::<facts::SessionStarted, payload::SessionStarted>(),
        "session.ended" => pair::<facts::SessionEnded, NoFacts>(),
        "alert.set" => pair::<facts::AlertSet, payload::AlertSet>(),
        "alert.delivered" => pair::<NoFacts, NoFacts>(),
        "feedback.recorded" => pair::<facts::FeedbackRecorded, payload::FeedbackRecorded>(),
        "feedback.applied" => pair::<facts::FeedbackApplied, payload::FeedbackApplied>(),
        "memory.linked" | "concept.linked" => pair::<facts::MemoryLinked, payload::MemoryLinked>(),
        "memory.unlinked" | "concept.unlinked" => pair::<NoFacts, payload::MemoryForgotten>(),
        "memory.forgotten" | "memory.revived" | "memoir.forgotten" | "memoir.revived"
        | "concept.forgotten" | "concept.revived" => {
            pair::<facts::Alive, payload::MemoryForgotten>()
        }
        "memoir.created" => pair::<facts::MemoirCreated, payload::MemoirCreated>(),
        "memoir.described" => pair::<facts::MemoirDescribed, payload::MemoirDescribed>(),
        "concept.added" => pair::<facts::ConceptAdded, payload::ConceptAdded>(),
        "concept.refined" => pair::<facts::ConceptRefined, payload::ConceptRefined>(),
        "concept.labelled" => pair::<facts::ConceptLabelled, payload::ConceptLabelled>(),
        "concept.unlabelled" => pair::<facts::ConceptUnlabelled, payload::MemoryForgotten>(),
        "log.origin_started" => pair::<facts::LogOriginStarted, payload::LogOriginStarted>(),
        "log.actor_named" => pair::<NoFacts, payload::LogActorNamed>(),
        "log.imported" => pair::<facts::LogImported, NoFacts>(),
        "log.redacted" => pair::<facts::LogRedacted, payload::LogRedacted>(),
        "log.repaired" => pair::<facts::LogRepaired, payload::LogRepaired>(),
        "log.undone" => pair::<facts::LogUndone, payload::LogUndone>(),
        _ => return None,
    })
}

/// Returns file name and contents of every schema. Reserved kinds have none.
pub fn all() -> Vec<(String, Value)> {
    KINDS
        .iter()
        .filter(|row| row.status != Status::Reserved)
        .map(|row| {
            let (facts, payload) = parts(row.name).expect("every kind that is known has a schema");
            let schema = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": format!("icm:{}.v{}", row.name, row.version),
                "title": row.name,
                "description": "An event as `icm log show --json` prints it; the bytes are in envelope.md",
                "type": "object",
                "properties": { "facts": facts, "payload": payload },
                "required": ["facts", "payload"],
            });
            (format!("{}.v{}.schema.json", row.name, row.version), schema)
        })
        .collect()
}
