//! Links between memories: an add-wins set of the events that added them.
//!
//! A link holds while its `memory.linked` is in force and no `memory.unlinked` in force names it.
//! Whether its ends are there to be seen is asked when it is shown, so it is no part of the link. One that says
//! `similar_to` of a memory and itself is a confirmation: the memory was stored once more, by whoever wrote it.

use icm_log::facts::{MemoryLinked, Relation};
use icm_log::{ActorId, Event, EventId, OriginId, Position, Seq, SessionId, SubjectId, payload};
use serde::{Deserialize, Serialize};

use super::stretches::Stretches;
use super::undos::{InChain, Undos};

/// A link, with all that became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The event that added it.
    pub event: EventId,
    /// Its position.
    pub position: Position,
    /// Its author.
    pub origin: OriginId,
    /// Its place in the author's chain.
    pub seq: Seq,
    /// Who wrote it.
    pub actor: ActorId,
    /// In which session; zero for none.
    pub session: SessionId,
    /// The memory that it goes out from, as the event names it.
    pub from: SubjectId,
    /// The memory that it goes to, as the event names it.
    pub to: SubjectId,
    /// How the one relates to the other.
    pub relation: Relation,
    /// The relation in words, where there is no code for it.
    pub words: Option<String>,
    /// How alike the texts are, where that was said.
    pub score_ppm: Option<u32>,
    /// Events that take it away, in force or not.
    pub removed_by: Vec<InChain>,
    /// Where it held.
    pub held: Stretches,
}

impl Link {
    pub(super) fn of(event: &Event<'_>, facts: &MemoryLinked, removed_by: Vec<InChain>) -> Link {
        let bytes = event.body.payload();
        let payload =
            bytes.and_then(|bytes| payload::decode::<payload::MemoryLinked<'_>>(bytes).ok());
        let payload = payload.unwrap_or_default();
        let in_words = facts.relation == Relation::IN_WORDS;
        Link {
            event: event.id,
            position: event.position,
            origin: event.head.origin(),
            seq: event.head.seq(),
            actor: event.head.actor(),
            session: event.head.session(),
            from: event.head.subject(),
            to: facts.other,
            relation: facts.relation,
            words: payload.relation.filter(|_| in_words).map(str::to_owned),
            score_ppm: payload.score_ppm,
            removed_by,
            held: Stretches::default(),
        }
    }

    fn in_chain(&self) -> InChain {
        InChain {
            origin: self.origin,
            seq: self.seq,
            event: self.event,
        }
    }

    /// Whether it holds now.
    pub fn holds(&self) -> bool {
        self.held.is_open()
    }

    /// Whether it held at a position.
    pub fn held_at(&self, position: Position) -> bool {
        self.held.holds(position)
    }

    /// Whether it is in force when these are the undos.
    pub(super) fn counts(&self, undos: &Undos) -> bool {
        let mut removed = self.removed_by.iter();
        !undos.is_undone(&self.in_chain()) && removed.all(|removed| undos.is_undone(removed))
    }
}
