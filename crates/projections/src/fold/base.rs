//! The base: the state that was folded before, below an [`Overlay`](super::Overlay).

use icm_log::{EventId, Name, OriginId, Position, Seq, SubjectId};
use serde::{Deserialize, Serialize};

use super::decay::Tick;
use super::links::Link;
use super::record::{EntityId, Stamp, Version};
use super::undos::{InChain, Undo};
use crate::error::Result;

/// What is folded already, and an [`Overlay`](super::Overlay) lies on.
pub trait Base {
    /// The newest version of a memory.
    fn newest(&self, entity: EntityId) -> Result<Option<Version>>;
    /// The memory that was stored under a name.
    fn named(&self, name: Name) -> Result<Option<EntityId>>;
    /// The memory that was moved to a name by the earliest event that moved one there.
    fn moved(&self, name: Name) -> Result<Option<(Stamp, EntityId)>>;
    /// The memory that an id stands for, when that is not the id itself.
    fn alias(&self, id: SubjectId) -> Result<Option<EntityId>>;
    /// The other ids of a memory, and since when they are known to be.
    fn aliases(&self, entity: EntityId) -> Result<Vec<(SubjectId, Position)>>;
    /// Every undo.
    fn undos(&self) -> Result<Vec<Undo>>;
    /// Ranges of other chains that were imported.
    fn imported(&self) -> Result<Vec<Learned>>;
    /// Positions of the events that name an id as what they are about, and perhaps of some others.
    fn touched(&self, id: SubjectId) -> Result<Vec<Position>>;
    /// Positions of the recalls that showed an id, in force or not, ascending.
    fn accessed(&self, id: SubjectId) -> Result<Vec<Position>>;
    /// Every link from or to an id that there ever was, in the order of positions.
    fn links(&self, id: SubjectId) -> Result<Vec<Link>>;
    /// The link that an event added.
    fn link_of(&self, event: EventId) -> Result<Option<Link>>;
    /// The events that take a link away which is not there yet.
    fn unlinks(&self, link: EventId) -> Result<Vec<InChain>>;
    /// The tick of decay at a position.
    fn tick(&self, position: Position) -> Result<Option<Tick>>;
}

/// Nothing is folded yet.
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

/// A recall that showed a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Position of the recall.
    pub position: Position,
    /// Its time, milliseconds since the epoch; of an undo, that of the last recall that still
    /// counts, and 0 when none does.
    pub at_ms: u64,
    /// An undo, after which so many recalls count; `None` for a recall.
    pub counted: Option<u64>,
}

/// A range of another chain that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first event.
    pub from_seq: Seq,
    /// Seq of the last one.
    pub to_seq: Seq,
    /// Position of the first one.
    pub first: Position,
}

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The first event of the command.
    pub event: EventId,
    /// Its position.
    pub position: Position,
    /// What it was about.
    pub subject: SubjectId,
    /// Kind of the event.
    pub kind: u16,
    /// Digest of the command; `None` when the payload is withheld.
    pub digest: Option<String>,
}
