//! The rows that a fold makes, and how it holds them.

use std::borrow::Cow;

use icm_log::{EventId, Name, Position, RequestKey, SubjectId};

use super::base::{Access, Base, Learned, Request};
use super::decay::Tick;
use super::links::Link;
use super::record::{EntityId, GraphRow, Stamp, Version};
use super::texts::Texts;
use super::undos::InChain;
use crate::error::Result;

/// Where a fold finds the rows that are there and puts the new ones: everything that is new in an
/// [`Overlay`](super::Overlay), or the newest rows alone.
pub trait Keep: Default {
    /// How the text of the rows is held.
    type Texts: Texts;
    /// Rows are added to the sum of the state once, when all is folded, and not as they change.
    const SUMS_AT_END: bool;

    /// The newest version of a memory.
    fn newest<'a>(
        &'a self,
        base: &dyn Base,
        entity: EntityId,
    ) -> Result<Option<Cow<'a, Row<Self>>>>;
    /// The memory that was stored under a name, as far as that is new.
    fn named(&self, name: Name) -> Option<EntityId>;
    /// The memory that an id stands for, as far as that is new.
    fn alias(&self, id: SubjectId) -> Option<EntityId>;
    /// The other ids of a memory, and since when they are known to be.
    fn aliases(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<(SubjectId, Position)>>;
    /// Whether there are events that name an id as what they are about.
    fn is_touched(&self, base: &dyn Base, id: SubjectId) -> Result<bool>;
    /// Takes a new version, with what it follows.
    fn put(
        &mut self,
        texts: &mut Self::Texts,
        entity: EntityId,
        before: Option<Ended<Self>>,
        version: Row<Self>,
    );
    /// Gives a name to a memory, unless it is given.
    fn name(&mut self, name: Name, entity: EntityId);
    /// A memory was moved to a name.
    fn moved(&mut self, name: Name, stamp: Stamp, entity: EntityId);
    /// From `since` on `id` stands for a memory.
    fn set_alias(&mut self, id: SubjectId, entity: EntityId, since: Position);
    /// An event that names an id as what it is about made no version.
    fn waits(&mut self, id: SubjectId, position: Position);
    /// A recall showed an id.
    fn access(&mut self, id: SubjectId, access: Access);
    /// A link, under both of its ends, which it may have had already.
    fn link(&mut self, link: Link);
    /// Every link from or to an id that there ever was, in the order of positions.
    fn links(&self, base: &dyn Base, id: SubjectId) -> Result<Vec<Link>>;
    /// The link that an event added.
    fn link_of(&self, base: &dyn Base, event: EventId) -> Result<Option<Link>>;
    /// An event takes a link away which is not there yet.
    fn unlinks_later(&mut self, link: EventId, by: InChain, in_force: bool);
    /// The events that took a link away before it was there.
    fn unlinks(&self, base: &dyn Base, link: EventId) -> Result<Vec<InChain>>;
    /// A tick of decay, which it may have had already.
    fn tick(&mut self, tick: Tick);
    /// A range was imported.
    fn imported(&mut self, learned: Learned);
    /// An idempotency key was used, unless it was before.
    fn request(&mut self, key: RequestKey, make: impl FnOnce() -> Request);
}

/// A version as `K` keeps it.
pub type Row<K> = Version<<<K as Keep>::Texts as Texts>::Text>;

/// What is left to know of a version when the next one takes its place.
pub struct Ended<K: Keep> {
    /// Whether it was no tombstone.
    pub alive: bool,
    /// Its ordinal.
    pub ordinal: Option<u64>,
    /// Its topic.
    pub topic: Option<<K::Texts as Texts>::Text>,
    /// Of a memoir or a concept.
    pub graph: Option<GraphRow>,
}

impl<K: Keep> Ended<K> {
    pub(super) fn of(version: &Row<K>) -> Self {
        Ended {
            alive: version.is_alive(),
            ordinal: version.ordinal,
            topic: version.topic.clone(),
            graph: version.graph,
        }
    }
}
