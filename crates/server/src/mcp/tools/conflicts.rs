//! The tool `icm_conflicts`: lists fields that have several values.

use serde_json::{Value, json};

use super::{AS_OF, Call, Hints, Reply, TOPIC, Tool, clean_value, count, dated, short};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{Conflict, ConflictValue, ConflictsRequest};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Conflicts in one reply. Raised, each text gets less room.
const CONFLICTS_MAX: usize = 20;

pub(super) static TOOL: Tool = Tool {
    name: "icm_conflicts",
    title: "Conflicts",
    description: "List fields for which machines wrote different values without knowing of each other. Call it after a sync or import.[ To settle one, {icm_memory_update} that field with the value that holds, even the shown one.] Not for memories that contradict each other[: use {icm_memory_health}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "machines disagree, merge, sync",
    leaves_work: false,
    params: &[TOPIC, AS_OF],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let as_of = args.text("as_of");
    let conflicts = call.service.conflicts(&ConflictsRequest {
        topic: args.text("topic"),
        limit: Some(CONFLICTS_MAX),
        at: as_of.clone(),
    })?;
    let cap = call.room_bytes() / 2 / conflicts.conflicts.len().max(1);
    let mut frame = Frame::new();
    for conflict in &conflicts.conflicts {
        let head = format!("{} {}: ", conflict.id, conflict.field);
        frame.item(&head, &said(call, conflict), "", cap);
    }
    let total = count(conflicts.total, "conflict", "conflicts");
    let shown = conflicts.conflicts.len() as u64;
    let mut text = match shown {
        0 => "no conflicts".to_owned(),
        _ => format!("{total}\n{}", frame.finish()),
    };
    if shown < conflicts.total {
        text.push_str(&format!("\n{shown} of {total} shown"));
    }
    let mut structured = json!(conflicts);
    clean_value(&mut structured);
    // The memory and its history have the long texts whole.
    cut_texts(&mut structured, cap);
    Ok(Reply::new(
        dated(text, &conflicts.basis, as_of.is_some()),
        structured,
    ))
}

fn said(call: &Call<'_>, conflict: &Conflict) -> String {
    let zone = call.service.zone();
    let value = |it: &ConflictValue| {
        let value = conflict.told(it, &zone);
        let actor = clean_line(&it.actor);
        format!("{value} ({}, {actor}, event {})", it.at, short(&it.event))
    };
    let others: Vec<String> = conflict.others.iter().map(value).collect();
    let name = conflict.name.as_deref().map(clean_line);
    let name = name.map_or(String::new(), |name| format!("/{name}"));
    let others_are = match conflict.is_about_forgetting() {
        true => "written meanwhile",
        false => "other",
    };
    format!(
        "[{}{name}] shown {} | {others_are} {}",
        clean_line(&conflict.topic),
        value(&conflict.shown),
        others.join(" | ")
    )
}

fn cut_texts(value: &mut Value, cap: usize) {
    match value {
        Value::String(text) if text.len() > cap => {
            text.truncate(text.floor_char_boundary(cap));
            text.push('…');
        }
        Value::Array(items) => items.iter_mut().for_each(|it| cut_texts(it, cap)),
        Value::Object(fields) => fields.values_mut().for_each(|it| cut_texts(it, cap)),
        _ => {}
    }
}
