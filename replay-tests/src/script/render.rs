//! Renders answers as text: aliases instead of ids, nothing that differs from run to run.

use std::collections::BTreeMap;
use std::fmt::Write;

use icm_api::error::ServiceError;
use icm_api::{
    DecayAction, DecayReceipt, Direction, LogEntry, Memory, RecallAnswer, Receipt, TopicSummary,
    UndoAction, UndoAnswer, VerifyReport, Version,
};

use super::command::{importance_name, trust_name};
use icm_api::{Importance, Trust};

/// The aliases of ids.
#[derive(Debug, Default, Clone)]
pub(super) struct Aliases {
    by_alias: BTreeMap<String, String>,
    by_id: BTreeMap<String, String>,
}

impl Aliases {
    /// Adds an alias. If an id has several, the first one is printed.
    pub(super) fn add(&mut self, alias: &str, id: &str) {
        self.by_alias.insert(alias.to_owned(), id.to_owned());
        self.by_id
            .entry(id.to_owned())
            .or_insert_with(|| alias.to_owned());
    }

    /// Returns the id behind an alias; without one returns the alias itself, so that scripts can name missing memories.
    pub(super) fn id(&self, alias: &str) -> String {
        self.by_alias
            .get(alias)
            .cloned()
            .unwrap_or_else(|| alias.to_owned())
    }

    pub(super) fn alias(&self, id: &str) -> String {
        self.by_id
            .get(id)
            .cloned()
            .unwrap_or_else(|| "$?".to_owned())
    }

    /// Returns `text` with every known id replaced.
    fn hide(&self, text: &str) -> String {
        self.by_id
            .iter()
            .fold(text.to_owned(), |text, (id, alias)| text.replace(id, alias))
    }
}

pub(super) fn receipt(aliases: &Aliases, receipt: &Receipt) -> String {
    let mut line = format!(
        "{} {} @{}",
        aliases.alias(&receipt.id),
        receipt.action.word(),
        receipt.position
    );
    if let Some(similar) = &receipt.similar {
        let _ = write!(
            line,
            " near {} {:.2}",
            aliases.alias(&similar.id),
            similar.score
        );
    }
    line.push('\n');
    line
}

pub(super) fn undone(aliases: &Aliases, answer: &UndoAnswer) -> String {
    let mut text = format!(
        "undone {} @{}\n",
        answer.events,
        answer.position.unwrap_or(0)
    );
    for change in &answer.changes {
        let action = match change.action {
            UndoAction::Gone => "gone",
            UndoAction::Back => "back",
            UndoAction::Changed => "changed",
        };
        let fields = change.fields.join(",");
        let _ = write!(text, "  {action} {} {fields}", aliases.alias(&change.id));
        if change.later_changes > 0 {
            let _ = write!(text, " (+{} later)", change.later_changes);
        }
        text = text.trim_end().to_owned();
        text.push('\n');
        for link in &change.links {
            let sign = if link.action == UndoAction::Back {
                '+'
            } else {
                '-'
            };
            let to = aliases.alias(&link.to);
            let _ = writeln!(text, "    {sign} {}→{to}", link.relation);
        }
    }
    text
}

pub(super) fn error(aliases: &Aliases, error: &ServiceError) -> String {
    format!("error: {}\n", aliases.hide(&error.to_string()))
}

/// Renders a tick.
pub(super) fn decayed(receipt: &DecayReceipt) -> String {
    let DecayReceipt {
        day,
        rate,
        memories,
        ..
    } = receipt;
    match receipt.action {
        DecayAction::Unchanged => "unchanged\n".to_owned(),
        DecayAction::Decayed => format!("decayed to {day}: {memories} at {rate}\n"),
    }
}

/// Renders a memory as one line; fields with default values are left out.
pub(super) fn memory(aliases: &Aliases, memory: &Memory) -> String {
    let mut line = format!("{} {}", aliases.alias(&memory.id), memory.topic);
    // Writing to a string cannot fail.
    let _ = match &memory.content {
        Some(content) => write!(line, " {content:?}"),
        None => write!(line, " (withheld)"),
    };
    if memory.importance != Importance::Medium {
        let _ = write!(line, " {}", importance_name(memory.importance));
    }
    if !memory.keywords.is_empty() {
        let _ = write!(line, " [{}]", memory.keywords.join(","));
    }
    if let Some(key) = &memory.key {
        let _ = write!(line, " key={key}");
    }
    if memory.scope != "global" {
        let _ = write!(line, " in {}", memory.scope);
    }
    if memory.trust != Trust::User {
        let _ = write!(line, " by {}", trust_name(memory.trust));
    }
    if memory.access_count != 0 {
        let _ = write!(line, " recalled {}", memory.access_count);
    }
    if memory.weight != 1.0 {
        let _ = write!(line, " weight {:.6}", memory.weight);
    }
    if memory.pinned_until.is_some() {
        line.push_str(" pinned");
    }
    if let Some(expires) = &memory.expires {
        let _ = write!(line, " expires {expires}");
    }
    if memory.expired {
        line.push_str(" expired");
    }
    if memory.forgotten {
        line.push_str(" forgotten");
    }
    for related in &memory.related {
        let arrow = match related.direction {
            Direction::Out => "→",
            Direction::In => "←",
        };
        let _ = write!(
            line,
            " {}{arrow}{}",
            related.relation,
            aliases.alias(&related.id)
        );
    }
    line.push('\n');
    line
}

pub(super) fn answer(aliases: &Aliases, answer: &RecallAnswer) -> String {
    let mut text = format!(
        "{} found @{}\n",
        answer.results.len(),
        answer.basis.position
    );
    for hit in &answer.results {
        text.push_str("  ");
        text.push_str(&memory(aliases, &hit.memory));
    }
    text
}

pub(super) fn version(aliases: &Aliases, version: &Version) -> String {
    let until = version
        .until
        .map_or("now".to_owned(), |until| format!("@{until}"));
    let changed = version.changed.join(",");
    let row = memory(aliases, &version.memory);
    format!(
        "@{}..{until} {} ({changed}) {row}",
        version.position, version.kind
    )
}

pub(super) fn topic(topic: &TopicSummary) -> String {
    format!("{} {}\n", topic.topic, topic.memories)
}

pub(super) fn event(aliases: &Aliases, entry: &LogEntry) -> String {
    let mut line = format!("@{} {}", entry.position, entry.kind);
    if let Some(subject) = &entry.subject
        && entry.kind.starts_with("memory.")
    {
        let _ = write!(line, " {}", aliases.alias(subject));
    }
    if entry.body != "present" {
        let _ = write!(line, " {}", entry.body);
    }
    line.push('\n');
    line
}

pub(super) fn report(report: &VerifyReport) -> String {
    let word = if report.ok { "ok" } else { "NOT OK" };
    let mut text = format!("{word}: {} events, @{}\n", report.events, report.positions);
    for finding in &report.findings {
        let _ = writeln!(
            text,
            "  {} {}: {}",
            finding.severity, finding.code, finding.message
        );
    }
    text
}
