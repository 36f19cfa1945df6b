//! One event: head, facts, payload.

use icm_api::{EventDetail, LogEntry};
use serde_json::Value;

use super::{Page, Scene, facts, kind_look};
use crate::row::{Look, Row, Target, paragraph};
use crate::text::number;

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, detail: &EventDetail) -> Page {
    let entry = &detail.entry;
    let mut rows = Vec::new();
    if let Some(subject) = &entry.subject {
        let row = Row::new()
            .with("about     ", Look::Dim)
            .with(subject, Look::Name);
        // Concepts and memoirs have no page.
        rows.push(match entry.kind.starts_with("memory.") {
            true => row.to(Target::Memory(subject.clone())),
            false => row,
        });
    }
    if let Some(session) = &entry.session {
        rows.push(
            Row::new()
                .with("session   ", Look::Dim)
                .with(&scene.session(session), Look::Name)
                .to(Target::Session(session.clone())),
        );
    }
    rows.extend(body(scene, entry));
    rows.push(Row::new());
    rows.push(Row::heading("Head"));
    let (index, batch) = detail.batch;
    let pairs = [
        ("id", entry.event.clone()),
        ("origin", entry.origin.clone()),
        ("seq", number(entry.seq)),
        ("command", entry.command.clone()),
        ("batch", format!("{} of {batch}", index + 1)),
        ("previous", detail.prev.clone()),
        ("commitment", detail.commitment.clone()),
        (
            "segment",
            format!("{} at {}", detail.segment, number(detail.offset_bytes)),
        ),
        (
            "bytes",
            format!(
                "{} head, {} payload",
                number(detail.head_len_bytes),
                number(detail.payload_len_bytes)
            ),
        ),
    ];
    for (name, value) in pairs {
        rows.extend(pair(scene, name, &value));
    }
    for (at, observed) in detail.refs.iter().enumerate() {
        let name = if at == 0 { "observed" } else { "" };
        rows.extend(pair(scene, name, observed));
    }
    Page {
        head: head(scene, entry),
        rows,
    }
}

fn pair(scene: &Scene<'_>, name: &str, value: &str) -> Vec<Row> {
    let lines = paragraph(value, scene.columns.saturating_sub(12), "", Look::Plain);
    let first = std::iter::once(name).chain(std::iter::repeat(""));
    let rows = lines.into_iter().zip(first).map(|(line, name)| {
        let mut row = Row::new().column(name, 10, Look::Dim);
        row.spans.extend(line.spans);
        row
    });
    rows.collect()
}

/// Returns kind, time and author.
pub(super) fn head(scene: &Scene<'_>, entry: &LogEntry) -> Vec<Row> {
    let first = Row::new()
        .with(&format!("@{}  ", entry.position), Look::Bold)
        .with(&entry.kind, kind_look(&entry.kind))
        .plain("  ")
        .rest(
            &format!(
                "{} ({})",
                scene.clock.local(&entry.at),
                scene.clock.ago(&entry.at)
            ),
            scene.columns,
            Look::Dim,
        );
    let mut rows = vec![first];
    rows.extend(facts(
        scene.columns,
        &[
            ("by", entry.actor.clone()),
            (
                "session",
                entry
                    .session
                    .as_deref()
                    .map(|id| scene.session(id))
                    .unwrap_or_default(),
            ),
        ],
    ));
    rows
}

/// Returns summary, facts and payload.
pub(super) fn body(scene: &Scene<'_>, entry: &LogEntry) -> Vec<Row> {
    let mut rows = Vec::new();
    if !entry.summary.is_empty() {
        rows.extend(paragraph(&entry.summary, scene.columns, "", Look::Plain));
        rows.push(Row::new());
    }
    rows.push(Row::heading("Payload"));
    match &*entry.body {
        "present" => rows.extend(values(scene, &entry.payload)),
        state => rows.push(Row::new().with(&format!("({state})"), Look::Warn)),
    }
    rows.push(Row::new());
    rows.push(Row::heading("Facts"));
    rows.extend(values(scene, &entry.facts));
    rows
}

/// Returns the fields of an object, each with its value; texts as they are, other values as JSON.
fn values(scene: &Scene<'_>, value: &Value) -> Vec<Row> {
    let Value::Object(fields) = value else {
        return paragraph(&value.to_string(), scene.columns, "", Look::Plain);
    };
    let mut rows = Vec::new();
    for (name, value) in fields {
        let shown = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            Value::Object(_) | Value::Array(_) => {
                // A short list stays on its line.
                let line = value.to_string();
                match line.len() < scene.columns.saturating_sub(12) {
                    true => line,
                    false => serde_json::to_string_pretty(value).unwrap_or(line),
                }
            }
            other => other.to_string(),
        };
        match name.len() <= 10 && !shown.contains('\n') {
            true => rows.extend(pair(scene, name, &shown)),
            false => {
                rows.push(Row::new().with(name, Look::Dim));
                rows.extend(paragraph(&shown, scene.columns, "  ", Look::Plain));
            }
        }
    }
    rows
}
