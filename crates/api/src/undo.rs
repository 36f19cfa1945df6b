//! Undo: request and answer.

use serde::{Deserialize, Serialize};

use super::feedback::Feedback;
use super::graph::Concept;
use super::memory::Memory;

/// A request to undo events: the named ones, or those that match all other filters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UndoRequest {
    /// Event ids (prefixes) and positions, whose whole commands are undone; or one range, `@12..@20`.
    pub events: Vec<String>,
    /// Undo only the named events, not their whole commands.
    pub only: bool,
    /// The newest commands that changed something, this many; recalls do not count.
    pub last: Option<usize>,
    /// Session id.
    pub session: Option<String>,
    /// Actor name.
    pub actor: Option<String>,
    /// Memories that are or were in this topic; `a/` for `a` and everything below it.
    pub topic: Option<String>,
    /// This memoir, by name or id, with all concepts and links that are or were in it.
    pub memoir: Option<String>,
    /// Not before this time.
    pub since: Option<String>,
    /// Also undo every later change of the same memories.
    pub cascade: bool,
    /// The reason; it stays in the log.
    pub reason: Option<String>,
    /// Only return what would change.
    pub dry_run: bool,
    /// The plan of an accepted preview; nothing is done if the plan has changed.
    pub plan: Option<String>,
}

/// An undo that was done, or its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoAnswer {
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// The event of the undo (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// The selection, as typed on a command line.
    pub selector: String,
    /// Name of this plan: pass it as `plan` to do exactly this.
    pub plan: String,
    /// Number of events that are undone.
    pub events: u64,
    /// Number of selected events that were undone before.
    pub already_undone: u64,
    /// The commands of these events, oldest first; the newest 100.
    pub commands: Vec<UndoneCommand>,
    /// Number of all these commands.
    pub commands_total: u64,
    /// Selected events that cannot be undone.
    pub skipped: Vec<SkippedEvent>,
    /// Memories, memoirs and concepts that look different after the undo.
    pub changes: Vec<UndoChange>,
    /// Alerts that wait no longer, or again, and those that were shown before the undo.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<UndoAlert>,
    /// Values of facts that change, by valid time. `changes` has the other fields of their memories, and the facts that go or
    /// come back.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub facts: Vec<UndoFact>,
    /// Later changes of the same memories, oldest first; the oldest 100. Empty with `cascade`, which undoes them, too.
    pub later: Vec<LaterChange>,
    /// Number of all later changes.
    pub later_total: u64,
}

impl UndoAnswer {
    /// Returns the number of later changes whose memory is gone, and of those that still count.
    pub fn later_gone_and_staying(&self) -> (u64, u64) {
        let hidden = self.changes.iter().filter(|change| change.after.is_none());
        let gone: u64 = hidden.map(|change| change.later_changes).sum();
        (gone, self.later_total.saturating_sub(gone))
    }

    /// Returns the noun for the rows of the later changes.
    pub fn later_of(&self) -> &'static str {
        let graph = self.later.iter().filter(|it| is_of_graph(&it.kind)).count();
        match (graph, self.later.len()) {
            (0, _) => "memories",
            (some, all) if some == all => "memoirs and concepts",
            _ => "memories and concepts",
        }
    }

    /// Returns the outcome in words: `2 memories gone, 1 back`.
    pub fn outcome(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        for of in [
            RowKind::Memory,
            RowKind::Memoir,
            RowKind::Concept,
            RowKind::Feedback,
        ] {
            let (one, many) = of.nouns();
            let mut named = false;
            for (action, word) in [
                (UndoAction::Gone, "gone"),
                (UndoAction::Back, "back"),
                (UndoAction::Changed, "changed"),
            ] {
                let changes = self.changes.iter();
                let changes = changes.filter(|change| change.of == of && change.action == action);
                match changes.count() {
                    0 => continue,
                    n if named => said.push(format!("{n} {word}")),
                    1 => said.push(format!("1 {one} {word}")),
                    n => said.push(format!("{n} {many} {word}")),
                }
                named = true;
            }
        }
        said.extend(self.outcome_for_alerts());
        match self.facts.len() {
            0 => {}
            1 => said.push("1 value of a fact changed".to_owned()),
            n => said.push(format!("{n} values of facts changed")),
        }
        match said.is_empty() {
            true if self.commands.iter().any(|it| it.kind == "memory.decayed") => {
                "weights are as if they had not faded".to_owned()
            }
            true if self.commands.iter().any(|it| is_of_graph(&it.kind)) => {
                "no memoir looks different after it".to_owned()
            }
            true => "no memory looks different after it".to_owned(),
            false => said.join(", "),
        }
    }

    /// Returns the outcome for alerts: `1 alert gone`, `2 alerts back`, `1 alert was shown before`.
    fn outcome_for_alerts(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (action, shown, [one, many]) in [
            (UndoAction::Gone, false, ["alert gone", "alerts gone"]),
            (UndoAction::Back, false, ["alert back", "alerts back"]),
            (
                UndoAction::Gone,
                true,
                ["alert was shown before", "alerts were shown before"],
            ),
        ] {
            let alerts = self.alerts.iter();
            let alerts = alerts.filter(|it| it.action == action && it.shown == shown);
            match alerts.count() {
                0 => {}
                1 => said.push(format!("1 {one}")),
                n => said.push(format!("{n} {many}")),
            }
        }
        said
    }
}

/// The effect of an undo on an alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoAlert {
    /// The event that set it, 64 hexadecimal digits.
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// `gone` if the alert waits no longer, `back` if it waits again.
    pub action: UndoAction,
    /// `true` if the alert was shown before the undo, which therefore changes nothing for it.
    pub shown: bool,
    /// Its text; `null` if it was redacted.
    pub text: Option<String>,
}

fn is_of_graph(kind: &str) -> bool {
    kind.starts_with("memoir.") || kind.starts_with("concept.")
}

/// A command that is undone, at least in part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoneCommand {
    /// Position of its first event that is undone.
    pub position: u64,
    /// Id of that event.
    pub event: String,
    /// Its time, RFC 3339.
    pub at: String,
    /// Kind of that event.
    pub kind: String,
    /// Number of its events that are undone.
    pub events: u64,
}

/// An event that cannot be undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkippedEvent {
    /// Event id.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// `true` if it stays because it is redacted, not because of its kind.
    pub redacted: bool,
}

/// A change of the same memory after the undone events; it stays in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaterChange {
    /// Event id.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// The memory (ULID).
    pub id: String,
}

/// The outcome of an undo for a row or a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// It cannot be seen any more.
    Gone,
    /// It can be seen again.
    Back,
    /// It looks different.
    Changed,
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// A memory.
    #[default]
    Memory,
    /// A memoir.
    Memoir,
    /// A concept.
    Concept,
    /// Feedback.
    Feedback,
}

impl RowKind {
    /// Returns the noun for one row and for several.
    pub fn nouns(self) -> (&'static str, &'static str) {
        match self {
            RowKind::Memory => ("memory", "memories"),
            RowKind::Memoir => ("memoir", "memoirs"),
            RowKind::Concept => ("concept", "concepts"),
            RowKind::Feedback => ("feedback", "feedback"),
        }
    }

    fn is_memory(&self) -> bool {
        *self == RowKind::Memory
    }
}

/// The change of a memory, memoir, concept or feedback by an undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoChange {
    /// ULID.
    pub id: String,
    /// Its kind; left out for a memory.
    #[serde(default, skip_serializing_if = "RowKind::is_memory")]
    pub of: RowKind,
    /// Topic of a memory; name of a memoir; memoir and name of a concept; topic of feedback.
    pub topic: String,
    /// The outcome.
    pub action: UndoAction,
    /// Names of the fields that differ, if it is changed.
    pub fields: Vec<String>,
    /// The row before; `null` if it was undone.
    pub before: Option<UndoRow>,
    /// The row after; `null` if no event that stores it is left in force.
    pub after: Option<UndoRow>,
    /// Outgoing links that come or go; for a concept that comes or goes, also incoming links.
    pub links: Vec<UndoLink>,
    /// Number of later changes that stay in force. If `after` is `null`, they are hidden with the row and count again
    /// when it comes back.
    pub later_changes: u64,
}

/// A value of a fact before and after an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoFact {
    /// Id of the memory (ULID).
    pub id: String,
    /// The subject.
    pub subject: String,
    /// The attribute.
    pub attribute: String,
    /// First moment at which the value changes, RFC 3339.
    pub valid_from: String,
    /// End of that time, exclusive; `null` if it has none.
    pub valid_until: Option<String>,
    /// The value before; `null` if there was none.
    pub before: Option<String>,
    /// The value after; `null` if there is none.
    pub after: Option<String>,
}

/// A row before or after an undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UndoRow {
    /// A memory.
    Memory(Box<Memory>),
    /// A concept.
    Concept(Box<Concept>),
    /// A memoir.
    Memoir(Box<MemoirRow>),
    /// Feedback.
    Feedback(Box<Feedback>),
}

impl UndoRow {
    /// Returns the text of the row; `None` if it was taken out or is damaged.
    pub fn text(&self) -> Option<&str> {
        match self {
            UndoRow::Memory(memory) => memory.content.as_deref(),
            UndoRow::Concept(concept) => concept.definition.as_deref(),
            UndoRow::Memoir(memoir) => memoir.description.as_deref(),
            UndoRow::Feedback(feedback) => feedback.correct.as_deref(),
        }
    }
}

/// A memoir without its concepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoirRow {
    /// ULID.
    pub id: String,
    /// Unique in the store.
    pub name: String,
    /// Its subject; `null` if the text was taken out or is damaged.
    pub description: Option<String>,
    /// RFC 3339.
    pub created_at: String,
    /// Last change of the memoir itself, RFC 3339.
    pub updated_at: String,
    /// `true` if it was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub forgotten: bool,
}

/// The change of a link by an undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoLink {
    /// `gone` or `back`.
    pub action: UndoAction,
    /// For instance `supersedes`.
    pub relation: String,
    /// Id of the row at its start (ULID), if that is another row than the listed one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// Id of the memory or concept at its end (ULID).
    pub to: String,
    /// Name of the other concept, for a link between concepts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The event that added it (64 hex digits).
    pub event: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_that_shows_nowhere_speaks_of_what_it_undoes() {
        for (kind, said) in [
            ("memory.updated", "no memory looks different after it"),
            ("concept.labelled", "no memoir looks different after it"),
            ("memory.decayed", "weights are as if they had not faded"),
        ] {
            let answer = UndoAnswer {
                dry_run: true,
                event: None,
                position: None,
                selector: String::new(),
                plan: String::new(),
                events: 1,
                already_undone: 0,
                commands: vec![UndoneCommand {
                    position: 1,
                    event: String::new(),
                    at: String::new(),
                    kind: kind.to_owned(),
                    events: 1,
                }],
                commands_total: 1,
                skipped: Vec::new(),
                changes: Vec::new(),
                alerts: Vec::new(),
                facts: Vec::new(),
                later: Vec::new(),
                later_total: 0,
            };
            assert_eq!(answer.outcome(), said, "{kind}");
        }
    }
}
