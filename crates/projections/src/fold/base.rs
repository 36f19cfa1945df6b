//! The base: the state that is already folded, below an [`Overlay`](super::Overlay).

use icm_log::{EventId, Name, OriginId, Position, Seq, SubjectId};
use serde::{Deserialize, Serialize};

use super::decay::Tick;
use super::links::Link;
use super::record::{EntityId, Stamp, Version};
use super::undos::{InChain, Undo};
use crate::error::Result;

/// The folded state that an [`Overlay`](super::Overlay) lies on.
pub trait Base {
    /// Returns the newest version of a memory.
    fn newest(&self, entity: EntityId) -> Result<Option<Version>>;
    /// Returns the memory that was stored under a name.
    fn named(&self, name: Name) -> Result<Option<EntityId>>;
    /// Returns the memory that was moved to a name by the earliest such event, with that event's stamp.
    fn moved(&self, name: Name) -> Result<Option<(Stamp, EntityId)>>;
    /// Returns the memory that an id stands for, if it has another id.
    fn alias(&self, id: SubjectId) -> Result<Option<EntityId>>;
    /// Returns the other ids of a memory, each with the position since which it is known.
    fn aliases(&self, entity: EntityId) -> Result<Vec<(SubjectId, Position)>>;
    /// Returns every undo.
    fn undos(&self) -> Result<Vec<Undo>>;
    /// Returns the ranges of other chains that were imported.
    fn imported(&self) -> Result<Vec<Learned>>;
    /// Returns the positions of the events that name an id as their subject, and perhaps of some others.
    fn touched(&self, id: SubjectId) -> Result<Vec<Position>>;
    /// Returns the positions of the recalls that showed an id, in force or not, ascending.
    fn accessed(&self, id: SubjectId) -> Result<Vec<Position>>;
    /// Returns every link from or to an id that there ever was, in the order of positions.
    fn links(&self, id: SubjectId) -> Result<Vec<Link>>;
    /// Returns the link that an event added.
    fn link_of(&self, event: EventId) -> Result<Option<Link>>;
    /// Returns the events that remove a link which is not learned yet.
    fn unlinks(&self, link: EventId) -> Result<Vec<InChain>>;
    /// Returns the tick of decay at a position.
    fn tick(&self, position: Position) -> Result<Option<Tick>>;
}

/// The base of an empty state.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBase;

impl Base for NoBase {
    fn newest(&self, _: EntityId) -> Result<Option<Version>> {
        Ok(None)
    }
    fn named(&self, _: Name) -> Result<Option<EntityId>> {
        Ok(None)
    }
    fn moved(&self, _: Name) -> Result<Option<(Stamp, EntityId)>> {
        Ok(None)
    }
    fn aliases(&self, _: EntityId) -> Result<Vec<(SubjectId, Position)>> {
        Ok(Vec::new())
    }
    fn imported(&self) -> Result<Vec<Learned>> {
        Ok(Vec::new())
    }
    fn link_of(&self, _: EventId) -> Result<Option<Link>> {
        Ok(None)
    }
    fn unlinks(&self, _: EventId) -> Result<Vec<InChain>> {
        Ok(Vec::new())
    }
    fn tick(&self, _: Position) -> Result<Option<Tick>> {
        Ok(None)
    }
    fn alias(&self, _: SubjectId) -> Result<Option<EntityId>> {
        Ok(None)
    }
    fn undos(&self) -> Result<Vec<Undo>> {
        Ok(Vec::new())
    }
    fn touched(&self, _: EntityId) -> Result<Vec<Position>> {
        Ok(Vec::new())
    }
    fn accessed(&self, _: EntityId) -> Result<Vec<Position>> {
        Ok(Vec::new())
    }
    fn links(&self, _: EntityId) -> Result<Vec<Link>> {
        Ok(Vec::new())
    }
}

/// A recall that showed a memory, or an undo that changed the number of such recalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Position of the recall.
    pub position: Position,
    /// Time of the recall, in milliseconds since the epoch. For an undo, the time of the last recall that still counts,
    /// or 0 without one.
    pub at_ms: u64,
    /// For an undo, the number of recalls that count after it; `None` for a recall.
    pub counted: Option<u64>,
}

/// A range of another chain that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first event.
    pub from_seq: Seq,
    /// Seq of the last event.
    pub to_seq: Seq,
    /// Position of the first event.
    pub first: Position,
}

/// The command that used an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The first event of the command.
    pub event: EventId,
    /// The position of that event.
    pub position: Position,
    /// The subject of the command.
    pub subject: SubjectId,
    /// The kind of the event.
    pub kind: u16,
    /// Digest of the command; `None` if the payload is withheld.
    pub digest: Option<String>,
}
