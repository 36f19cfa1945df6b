//! The tally: the numbers of a folded state.

use std::collections::BTreeMap;

use icm_log::facts::Importance;
use icm_log::{ActorId, EventId, Position};
use serde::{Deserialize, Serialize};

use super::alerts::Alerts;
use super::record::Family;
use super::state_hash::{StateHash, StateSum};

/// The numbers of a state, updated by each event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Position of the newest event folded.
    pub position: Position,
    /// The id of that event; `None` before the first.
    pub event: Option<EventId>,
    /// The number of folded events.
    pub events: u64,
    /// Living memories.
    pub memories: u64,
    /// Forgotten memories.
    pub forgotten: u64,
    /// Living memoirs.
    pub memoirs: u64,
    /// Living concepts, also those of a forgotten memoir.
    pub concepts: u64,
    /// Living feedback.
    pub feedback: u64,
    /// The ordinal that the next living version gets.
    pub next_ordinal: u64,
    /// The earliest time of an event, milliseconds since the epoch.
    pub first_ms: Option<u64>,
    /// The latest time of an event, milliseconds since the epoch.
    pub last_ms: Option<u64>,
    /// Ids that stand for another one.
    pub aliases: u64,
    /// Undos, in force or not.
    pub undos: u64,
    /// The number of imports.
    pub imports: u64,
    /// Events that wait, or waited, for the memory that they are about.
    pub waiting: u64,
    /// Links between memories that were ever added, in force or not.
    pub links: u64,
    /// Links between concepts that were ever added, in force or not.
    pub concept_links: u64,
    /// Ticks of decay, in force or not.
    pub ticks: u64,
    /// Living memories by importance, low to critical.
    pub(super) by_importance: [u64; 4],
    /// Events that set a condition under which a memory expires, in force or not.
    pub conditions: u64,
    /// Events that say of a memory what it describes in their future, in force or not: planned values of facts.
    pub planned: u64,
    /// Recorded recalls, in force or not.
    pub recalls: u64,
    /// Names of the actors.
    pub actors: BTreeMap<ActorId, String>,
    /// The alerts that wait to be shown.
    pub alerts: Alerts,
    /// The first event of a critical kind that this version does not know: the folded state may be wrong.
    pub newer: Option<String>,
    /// The sum of the digests of all living values.
    pub sum: StateSum,
}

impl Tally {
    /// Returns `true` if another fold of the same events came to the same state. A fold that knows from the start which
    /// events are undone or late gives other ordinals, so those are not compared then.
    pub fn agrees(&self, other: &Tally) -> bool {
        let mut other = other.clone();
        if self.undos + self.imports > 0 || self.aliases > 0 {
            other.next_ordinal = self.next_ordinal;
            other.waiting = self.waiting;
        }
        *self == other
    }

    pub(super) fn living_mut(&mut self, family: Family) -> &mut u64 {
        match family {
            Family::Memory => &mut self.memories,
            Family::Memoir => &mut self.memoirs,
            Family::Concept => &mut self.concepts,
            Family::Feedback => &mut self.feedback,
        }
    }

    /// Returns the number of living memories of an importance.
    pub fn living(&self, importance: Importance) -> u64 {
        self.by_importance[usize::from(importance.code() - 1)]
    }

    /// Returns `true` if answers may depend on the moment of their question: a memory may expire, or the value of a fact
    /// may become valid.
    pub fn depends_on_moment(&self) -> bool {
        self.conditions + self.planned > 0
    }

    /// Returns the state hash.
    pub fn state_hash(&self) -> StateHash {
        let rows = self.memories + self.memoirs + self.concepts + self.feedback;
        self.sum.hash(rows)
    }
}
