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

/// Returns the schemas of a kind's facts and payload.
fn parts(name: &str) -> Option<(Value, Value)> {
    Some(match name {
        "memory.stored" => (
            schema_of::<facts::MemoryStored>(),
            schema_of::<payload::MemoryStored>(),
        ),
        "memory.consolidated" => (
            schema_of::<facts::MemoryConsolidated>(),
            schema_of::<payload::MemoryStored>(),
        ),
        "memory.decayed" => (schema_of::<facts::MemoryDecayed>(), schema_of::<NoFacts>()),
        "memory.pruned" => (schema_of::<facts::MemoryPruned>(), schema_of::<NoFacts>()),
        "memory.updated" => (
            schema_of::<facts::MemoryUpdated>(),
            schema_of::<payload::MemoryUpdated>(),
        ),
        "memory.recalled" => (
            schema_of::<facts::MemoryRecalled>(),
            schema_of::<payload::MemoryRecalled>(),
        ),
        "memory.pinned" => (
            schema_of::<facts::MemoryPinned>(),
            schema_of::<payload::MemoryForgotten>(),
        ),
        "memory.unpinned" => (
            schema_of::<NoFacts>(),
            schema_of::<payload::MemoryForgotten>(),
        ),
        "memory.expired" => (schema_of::<facts::MemoryExpired>(), schema_of::<NoFacts>()),
        "session.started" => (
            schema_of::<facts::SessionStarted>(),
            schema_of::<payload::SessionStarted>(),
        ),
        "session.ended" => (schema_of::<facts::SessionEnded>(), schema_of::<NoFacts>()),
        "alert.set" => (
            schema_of::<facts::AlertSet>(),
            schema_of::<payload::AlertSet>(),
        ),
        "alert.delivered" => (schema_of::<NoFacts>(), schema_of::<NoFacts>()),
        "feedback.recorded" => (
            schema_of::<facts::FeedbackRecorded>(),
            schema_of::<payload::FeedbackRecorded>(),
        ),
        "feedback.applied" => (
            schema_of::<facts::FeedbackApplied>(),
            schema_of::<payload::MemoryForgotten>(),
        ),
        "memory.linked" | "concept.linked" => (
            schema_of::<facts::MemoryLinked>(),
            schema_of::<payload::MemoryLinked>(),
        ),
        "memory.unlinked" | "concept.unlinked" => (
            schema_of::<NoFacts>(),
            schema_of::<payload::MemoryForgotten>(),
        ),
        "memory.forgotten" | "memory.revived" | "memoir.forgotten" | "memoir.revived"
        | "concept.forgotten" | "concept.revived" => (
            schema_of::<facts::Alive>(),
            schema_of::<payload::MemoryForgotten>(),
        ),
        "memoir.created" => (
            schema_of::<facts::MemoirCreated>(),
            schema_of::<payload::MemoirCreated>(),
        ),
        "memoir.described" => (
            schema_of::<facts::MemoirDescribed>(),
            schema_of::<payload::MemoirDescribed>(),
        ),
        "concept.added" => (
            schema_of::<facts::ConceptAdded>(),
            schema_of::<payload::ConceptAdded>(),
        ),
        "concept.refined" => (
            schema_of::<facts::ConceptRefined>(),
            schema_of::<payload::ConceptRefined>(),
        ),
        "concept.labelled" => (
            schema_of::<facts::ConceptLabelled>(),
            schema_of::<payload::ConceptLabelled>(),
        ),
        "concept.unlabelled" => (
            schema_of::<facts::ConceptUnlabelled>(),
            schema_of::<payload::MemoryForgotten>(),
        ),
        "log.origin_started" => (
            schema_of::<facts::LogOriginStarted>(),
            schema_of::<payload::LogOriginStarted>(),
        ),
        "log.actor_named" => (
            schema_of::<NoFacts>(),
            schema_of::<payload::LogActorNamed>(),
        ),
        "log.imported" => (schema_of::<facts::LogImported>(), schema_of::<NoFacts>()),
        "log.redacted" => (
            schema_of::<facts::LogRedacted>(),
            schema_of::<payload::LogRedacted>(),
        ),
        "log.repaired" => (
            schema_of::<facts::LogRepaired>(),
            schema_of::<payload::LogRepaired>(),
        ),
        "log.undone" => (
            schema_of::<facts::LogUndone>(),
            schema_of::<payload::LogUndone>(),
        ),
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
