//! Undoing.

use serde::{Deserialize, Serialize};

use super::graph::Concept;
use super::memory::Memory;

/// Asks to undo events: some that are named, or those that fit all of the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UndoRequest {
    /// Event ids (prefixes) and positions; their commands are undone as wholes. Or one range,
    /// `@12..@20`.
    pub events: Vec<String>,
    /// The named events alone, not the commands that they are part of.
    pub only: bool,
    /// The newest so many commands that changed something; recalls do not count.
    pub last: Option<usize>,
    /// Session id.
    pub session: Option<String>,
    /// Actor name.
    pub actor: Option<String>,
    /// Memories that are or were in this topic; with `/` at its end, below it too.
    pub topic: Option<String>,
    /// This memoir, by name or id, with the concepts and links that are or were in it.
    pub memoir: Option<String>,
    /// Not before this time.
    pub since: Option<String>,
    /// Also every later change of the same memories.
    pub cascade: bool,
    /// Why.
    pub reason: Option<String>,
    /// Only say what would change.
    pub dry_run: bool,
    /// The plan of the preview that was agreed to: with another one nothing is done.
    pub plan: Option<String>,
}

/// What an undo did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoAnswer {
    /// Nothing was done yet.
    pub dry_run: bool,
    /// The event that undoes them (the last one of several).
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
    /// What was asked for, as it would be typed.
    pub selector: String,
    /// Names this plan: give it back to do just what was shown.
    pub plan: String,
    /// Events that are undone.
    pub events: u64,
    /// Events that were chosen but are undone already.
    pub already_undone: u64,
    /// The commands that they are of, oldest first; the newest 100.
    pub commands: Vec<UndoneCommand>,
    /// How many commands there are.
    pub commands_total: u64,
    /// Chosen events that cannot be undone.
    pub skipped: Vec<SkippedEvent>,
    /// Memories, memoirs and concepts that look different after it.
    pub changes: Vec<UndoChange>,
    /// Later changes of the same memories, oldest first; the oldest 100. With `cascade` they are
    /// undone, too, and none is left.
    pub later: Vec<LaterChange>,
    /// How many there are.
    pub later_total: u64,
}

impl UndoAnswer {
    /// Later changes whose memory is gone as a whole, and those that go on to count.
    pub fn later_gone_and_staying(&self) -> (u64, u64) {
        let hidden = self.changes.iter().filter(|change| change.after.is_none());
        let gone: u64 = hidden.map(|change| change.later_changes).sum();
        (gone, self.later_total.saturating_sub(gone))
    }

    /// What the later changes are of, in words.
    pub fn later_of(&self) -> &'static str {
        let graph = self.later.iter().filter(|it| is_of_graph(&it.kind)).count();
        match (graph, self.later.len()) {
            (0, _) => "memories",
            (some, all) if some == all => "memoirs and concepts",
            _ => "memories and concepts",
        }
    }

    /// What becomes of memories, in words: `2 memories gone, 1 back`.
    pub fn outcome(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        for of in [RowKind::Memory, RowKind::Memoir, RowKind::Concept] {
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
}

fn is_of_graph(kind: &str) -> bool {
    kind.starts_with("memoir.") || kind.starts_with("concept.")
}

/// A command that is undone, at least in part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoneCommand {
    /// Position of its first event that is undone.
    pub position: u64,
    /// That event.
    pub event: String,
    /// When, RFC 3339.
    pub at: String,
    /// Kind of that event.
    pub kind: String,
    /// Its events that are undone.
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
    /// It stays because it is redacted, not because of its kind.
    pub redacted: bool,
}

/// A change that came after what is undone, of the same memory, and stays in force.
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

/// What becomes of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// It is no longer seen.
    Gone,
    /// It is seen again.
    Back,
    /// It looks different.
    Changed,
}

/// What a row is of.
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
}

impl RowKind {
    /// What one and several are called.
    pub fn nouns(self) -> (&'static str, &'static str) {
        match self {
            RowKind::Memory => ("memory", "memories"),
            RowKind::Memoir => ("memoir", "memoirs"),
            RowKind::Concept => ("concept", "concepts"),
        }
    }

    fn is_memory(&self) -> bool {
        *self == RowKind::Memory
    }
}

/// What an undo makes of a memory, or of a memoir or a concept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoChange {
    /// ULID.
    pub id: String,
    /// What it is; left out for a memory.
    #[serde(default, skip_serializing_if = "RowKind::is_memory")]
    pub of: RowKind,
    /// Its topic; of a memoir its name, of a concept the memoir's and its own.
    pub topic: String,
    /// What becomes of it.
    pub action: UndoAction,
    /// What differs, where it is changed.
    pub fields: Vec<String>,
    /// As it was; `null` when it was undone.
    pub before: Option<UndoRow>,
    /// As it is then; `null` when no event that stores it is left in force.
    pub after: Option<UndoRow>,
    /// Links out from it that come or go; of a concept that goes or comes those to it, too.
    pub links: Vec<UndoLink>,
    /// Later changes of it that stay in force; where `after` is `null` the memory is gone with them,
    /// and they count again when it comes back.
    pub later_changes: u64,
}

/// A row, by what it is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UndoRow {
    /// A memory.
    Memory(Box<Memory>),
    /// A concept.
    Concept(Box<Concept>),
    /// A memoir.
    Memoir(Box<MemoirRow>),
}

impl UndoRow {
    /// What it says; `None` when that was taken out or is damaged.
    pub fn text(&self) -> Option<&str> {
        match self {
            UndoRow::Memory(memory) => memory.content.as_deref(),
            UndoRow::Concept(concept) => concept.definition.as_deref(),
            UndoRow::Memoir(memoir) => memoir.description.as_deref(),
        }
    }
}

/// A memoir alone, without what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoirRow {
    /// ULID.
    pub id: String,
    /// Unique in the store.
    pub name: String,
    /// What it is about; `null` when that was taken out or is damaged.
    pub description: Option<String>,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339, of the memoir itself.
    pub updated_at: String,
    /// It was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub forgotten: bool,
}

/// What an undo makes of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoLink {
    /// `gone` or `back`.
    pub action: UndoAction,
    /// For instance `supersedes`.
    pub relation: String,
    /// What it goes out from (ULID), where that is not the row that it is listed with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
    /// The memory or concept that it goes to (ULID).
    pub to: String,
    /// Of a link between concepts: name of the other one.
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
                later: Vec::new(),
                later_total: 0,
            };
            assert_eq!(answer.outcome(), said, "{kind}");
        }
    }
}
