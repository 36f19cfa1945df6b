//! States of a memory, each with the word for it.

use super::memory::Memory;

/// A state of a memory that a reader is told of. A memory can be in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryState {
    /// No event that stored it is in force.
    Undone,
    /// A summary stands for it.
    Consolidated,
    /// It was forgotten, and no summary stands for it.
    Forgotten,
    /// The condition under which it expires came true.
    Expired,
    /// It is a fact that is not valid yet.
    Planned,
    /// Every session that wakes up sees it.
    Pinned,
    /// A text of it was taken out or is damaged.
    Withheld,
    /// Machines gave different values to a field.
    InConflict,
}

impl MemoryState {
    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            MemoryState::Undone => "undone",
            MemoryState::Consolidated => "consolidated",
            MemoryState::Forgotten => "forgotten",
            MemoryState::Expired => "expired",
            MemoryState::Planned => "planned",
            MemoryState::Pinned => "pinned",
            MemoryState::Withheld => "withheld",
            MemoryState::InConflict => "in conflict",
        }
    }
}

impl Memory {
    /// Returns the states of the memory; none for an ordinary living one. States that end its life come first.
    pub fn states(&self) -> Vec<MemoryState> {
        let is_consolidated = self.consolidated_into.is_some();
        let all = [
            (self.undone, MemoryState::Undone),
            (is_consolidated, MemoryState::Consolidated),
            (self.forgotten && !is_consolidated, MemoryState::Forgotten),
            (self.expired, MemoryState::Expired),
            (self.planned_from.is_some(), MemoryState::Planned),
            (self.pinned_until.is_some(), MemoryState::Pinned),
            (!self.withheld.is_empty(), MemoryState::Withheld),
            (!self.conflicts.is_empty(), MemoryState::InConflict),
        ];
        let held = all.into_iter().filter(|(is, _)| *is);
        held.map(|(_, state)| state).collect()
    }

    /// Returns the state that ended the memory's life; `None` while it lives, also if it is hidden.
    pub fn end(&self) -> Option<MemoryState> {
        let ends = |state: &MemoryState| {
            matches!(
                state,
                MemoryState::Undone | MemoryState::Consolidated | MemoryState::Forgotten
            )
        };
        self.states().into_iter().find(ends)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn memory(more: Value) -> Memory {
        let mut fields = json!({
            "id": "01M", "key": null, "topic": "decisions", "content": "a text", "importance": "medium",
            "weight": 1.0, "keywords": [], "scope": "global", "trust": "user", "source": {},
            "created_at": "", "updated_at": "", "occurred_at": null, "last_accessed": null,
            "access_count": 0, "forgotten": false,
        });
        for (name, value) in more.as_object().expect("an object") {
            fields[name] = value.clone();
        }
        serde_json::from_value(fields).expect("a memory")
    }

    #[test]
    fn states_are_told_in_words() {
        for (more, words, end) in [
            (json!({}), "", None),
            (json!({ "forgotten": true }), "forgotten", Some("forgotten")),
            (
                json!({ "forgotten": true, "consolidated_into": "01N" }),
                "consolidated",
                Some("consolidated"),
            ),
            (
                json!({ "forgotten": true, "undone": true, "withheld": ["content"] }),
                "undone, forgotten, withheld",
                Some("undone"),
            ),
            (
                json!({ "expired": true, "planned_from": "2027-01-15T08:00:00Z" }),
                "expired, planned",
                None,
            ),
            (
                json!({ "pinned_until": "unpinned", "conflicts": ["topic"] }),
                "pinned, in conflict",
                None,
            ),
        ] {
            let memory = memory(more);
            let states = memory.states();
            let told: Vec<&str> = states.iter().map(|state| state.word()).collect();
            assert_eq!(told.join(", "), words);
            assert_eq!(memory.end().map(MemoryState::word), end, "{words}");
        }
    }
}
