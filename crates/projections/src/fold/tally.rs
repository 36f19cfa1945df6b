//! The numbers of a state.

use std::collections::BTreeMap;

use icm_log::facts::Importance;
use icm_log::{ActorId, EventId, Position};
use serde::{Deserialize, Serialize};

use super::record::Family;
use super::state_hash::{StateHash, StateSum};

/// The numbers of a state, carried from event to event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Position of the newest event folded.
    pub position: Position,
    /// That event; zero before the first.
    pub event: Option<EventId>,
    /// Events folded.
    pub events: u64,
    /// Living memories.
    pub memories: u64,
    /// Forgotten memories.
    pub forgotten: u64,
    /// Living memoirs.
    pub memoirs: u64,
    /// Living concepts, whether their memoir lives or not.
    pub concepts: u64,
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
    /// Imports.
    pub imports: u64,
    /// Events that wait for the memory that they are about, or waited.
    pub waiting: u64,
    /// Links between memories that were ever added, in force or not.
    pub links: u64,
    /// The same of concepts.
    pub concept_links: u64,
    /// Ticks of decay, in force or not.
    pub ticks: u64,
    /// Living memories by importance, low to critical.
    pub(super) by_importance: [u64; 4],
    /// Recalls that were recorded, in force or not.
    pub recalls: u64,
    /// Names of the actors.
    pub actors: BTreeMap<ActorId, String>,
    /// A critical kind that this version does not know was met: what is folded may be wrong.
    pub newer: Option<String>,
    /// Sum over the living rows.
    pub sum: StateSum,
}

impl Tally {
    /// Whether another fold of the same events came to the same state. One that knows from the
    /// start what is undone, and what comes late, gives other ordinals.
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
        }
    }

    /// Living memories of an importance.
    pub fn living(&self, importance: Importance) -> u64 {
        self.by_importance[usize::from(importance.code() - 1)]
    }

    /// The state hash.
    pub fn state_hash(&self) -> StateHash {
        self.sum.hash(self.memories + self.memoirs + self.concepts)
    }
}
