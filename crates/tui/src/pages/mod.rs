//! One file a page: the answer of the store as rows.

pub(crate) mod event;
pub(crate) mod help;
pub(crate) mod log;
pub(crate) mod memories;
pub(crate) mod memory;
pub(crate) mod now;
pub(crate) mod time;
pub(crate) mod topics;
pub(crate) mod undo;

use std::collections::BTreeMap;

use icm_api::{Importance, LogEntry};
use icm_log::kind::verb_of;

use crate::clock::Clock;
use crate::row::{Look, Row, Target};
use crate::text;

/// The circumstances that a page is made for.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) clock: &'a Clock,
    /// Names of sessions, by id.
    pub(crate) names: &'a BTreeMap<String, String>,
    /// `true` if the moment that is shown is now.
    pub(crate) is_now: bool,
    /// Columns of the page.
    pub(crate) columns: usize,
    /// `true` if colours are used. Without them, signs stand for colours that mean something.
    pub(crate) paints: bool,
}

impl Scene<'_> {
    /// Returns the name of a session, or the beginning of its id.
    fn session(&self, id: &str) -> String {
        let short = || id.chars().take(8).collect();
        self.names.get(id).cloned().unwrap_or_else(short)
    }
}

/// A page as rows.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Rows that stay at the top.
    pub(crate) head: Vec<Row>,
    /// Rows that can be moved through.
    pub(crate) rows: Vec<Row>,
}

/// Returns an event as a row of a list.
fn event_row(scene: &Scene<'_>, entry: &LogEntry) -> Row {
    let columns = scene.columns;
    let [kind, actor] = match columns {
        ..50 => [9, 0],
        50..70 => [16, 0],
        70..110 => [16, 11],
        _ => [18, 20],
    };
    let name = match columns {
        // The family is left out where there is no room for it.
        ..50 => verb_of(&entry.kind),
        _ => &entry.kind,
    };
    let summary = match (&*entry.summary, &*entry.body) {
        (_, "withheld") => "(withheld)",
        (_, "damaged") => "(damaged)",
        ("", _) => entry.subject.as_deref().unwrap_or_default(),
        (summary, _) => summary,
    };
    Row::new()
        .right(
            &format!("@{}", entry.position),
            7.min(columns / 6),
            Look::Dim,
        )
        .right(&scene.clock.age(&entry.at), 4, Look::Dim)
        .column(name, kind, kind_look(&entry.kind))
        .column(actor_name(&entry.actor), actor, Look::Dim)
        .rest(summary, columns, Look::Plain)
        .to(Target::Event(entry.position))
}

/// Returns an actor's name for a list, where most are agents.
fn actor_name(actor: &str) -> &str {
    actor.strip_prefix("agent:").unwrap_or(actor)
}

fn kind_look(kind: &str) -> Look {
    match verb_of(kind) {
        "stored" | "revived" | "created" | "added" => Look::Good,
        "forgotten" | "pruned" | "deleted" | "removed" | "unlinked" => Look::Warn,
        "redacted" => Look::Bad,
        "recalled" | "decayed" | "started" | "ended" => Look::Dim,
        _ => Look::Name,
    }
}

/// Returns the sign of an importance, one column wide: `‼` for critical, `!` for high, `·` for low.
fn sign(importance: Importance) -> (&'static str, Look) {
    match importance {
        Importance::Critical => ("‼", Look::Bad),
        Importance::High => ("!", Look::Warn),
        Importance::Medium => (" ", Look::Plain),
        Importance::Low => ("·", Look::Dim),
    }
}

/// Adds `name value` to a line of facts, unless the value is empty.
fn fact(row: Row, name: &str, value: &str) -> Row {
    if value.is_empty() {
        return row;
    }
    let row = match row.spans.is_empty() {
        true => row,
        false => row.with("  ", Look::Plain),
    };
    match name {
        "" => row.plain(&text::one_line(value)),
        _ => row
            .with(&format!("{name} "), Look::Dim)
            .plain(&text::one_line(value)),
    }
}

/// Returns facts as lines that are as full as they can be.
fn facts(columns: usize, pairs: &[(&str, String)]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = Row::new();
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        let longer = fact(row.clone(), name, value);
        if longer.width() <= columns || row.spans.is_empty() {
            row = longer;
        } else {
            rows.push(std::mem::replace(&mut row, fact(Row::new(), name, value)));
        }
    }
    rows.push(row);
    rows
}

/// Returns a message for a page without rows.
fn empty(columns: usize, lines: &[&str]) -> Vec<Row> {
    let mut rows = vec![Row::new()];
    for line in lines {
        rows.extend(crate::row::paragraph(line, columns, "  ", Look::Dim));
    }
    rows
}
