//! Families of events, as they are drawn.

use icm_log::Kind;

/// A family of kinds that a page shows in one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Changes of memories.
    Memory,
    /// Memories that were shown.
    Recall,
    /// Changes of memoirs and concepts.
    Graph,
    /// Starts and ends of sessions, transcripts.
    Session,
    /// Feedback, alerts, and what the log notes of itself.
    Other,
}

/// Every family, in the order in which it is stacked.
pub(crate) const FAMILIES: [Family; 5] = [
    Family::Memory,
    Family::Recall,
    Family::Graph,
    Family::Session,
    Family::Other,
];

impl Family {
    pub(crate) fn of(kind: Kind) -> Family {
        match kind.family() {
            "memory" if kind == Kind::MEMORY_RECALLED => Family::Recall,
            "memory" => Family::Memory,
            "memoir" | "concept" => Family::Graph,
            "transcript" | "session" => Family::Session,
            _ => Family::Other,
        }
    }

    /// Returns the family of a kind by its name; `Other` for an unknown name.
    pub(crate) fn named(kind: &str) -> Family {
        Kind::parse(kind).map_or(Family::Other, Family::of)
    }

    /// Returns its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Memory => "Memories",
            Family::Recall => "Recalls",
            Family::Graph => "Graph",
            Family::Session => "Sessions",
            Family::Other => "Other",
        }
    }

    /// Returns the class that gives its colour.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Family::Memory => "of-memory",
            Family::Recall => "of-recall",
            Family::Graph => "of-graph",
            Family::Session => "of-session",
            Family::Other => "of-other",
        }
    }
}
