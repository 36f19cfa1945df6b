//! Links between memories: an add-wins set of the events that added them.
//!
//! A link holds while its `memory.linked` is in force and no `memory.unlinked` in force names it. The link does not
//! record whether its ends are visible; that is looked up when the link is shown. A link with relation `similar_to`
//! from a memory to itself is a confirmation: its author stored the memory once more. A `feedback.applied` is such a
//! link, too, with the relation `USEFUL` or `WRONG`: a mark.

use icm_log::facts::{MemoryLinked, Relation};
use icm_log::{ActorId, Event, EventId, OriginId, Position, Seq, SessionId, SubjectId, payload};
use serde::{Deserialize, Serialize};

use super::stretches::Stretches;
use super::undos::{InChain, Undos};

/// A link, with the positions at which it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The event that added the link.
    pub event: EventId,
    /// The position of that event.
    pub position: Position,
    /// The author's origin.
    pub origin: OriginId,
    /// The event's place in the author's chain.
    pub seq: Seq,
    /// The actor who wrote the link.
    pub actor: ActorId,
    /// The session of the actor; zero for none.
    pub session: SessionId,
    /// The memory that the link starts from, as the event names it.
    pub from: SubjectId,
    /// The memory that the link leads to, as the event names it.
    pub to: SubjectId,
    /// The relation of the first memory to the second.
    pub relation: Relation,
    /// The relation in words, if it has no code.
    pub words: Option<String>,
    /// The similarity of the two texts, if the event states it.
    pub score_ppm: Option<u32>,
    /// Events that remove the link, in force or not.
    pub removed_by: Vec<InChain>,
    /// The positions at which the link held.
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

    /// Returns `true` if the link says that the memory was useful or wrong.
    pub fn is_mark(&self) -> bool {
        self.from == self.to && matches!(self.relation, Relation::USEFUL | Relation::WRONG)
    }

    /// Returns `true` if the link holds now.
    pub fn holds(&self) -> bool {
        self.held.is_open()
    }

    /// Returns `true` if the link held at a position.
    pub fn held_at(&self, position: Position) -> bool {
        self.held.holds(position)
    }

    /// Returns `true` if the link is in force under these undos.
    pub(super) fn counts(&self, undos: &Undos) -> bool {
        let mut removed = self.removed_by.iter();
        !undos.is_undone(&self.in_chain()) && removed.all(|removed| undos.is_undone(removed))
    }
}
