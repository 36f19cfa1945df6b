//! The storage of the rows that a fold makes.

use std::borrow::Cow;

use icm_log::{EventId, Name, Position, RequestKey, SubjectId};

use super::base::{Access, Base, Learned, Request};
use super::decay::Tick;
use super::links::Link;
use super::record::{EntityId, GraphRow, Stamp, Version};
use super::texts::Texts;
use super::undos::InChain;
use crate::error::Result;

/// The storage in which a fold finds the present rows and puts the new ones: an [`Overlay`](super::Overlay) with
/// everything new, or the newest rows alone.
pub trait Keep: Default {
    /// The storage of the rows' texts.
    type Texts: Texts;
    /// `true` if rows are added to the sum of the state at the end of the fold, `false` if with each change.
    const SUMS_AT_END: bool;

    /// Returns the newest version of a memory.
    fn newest<'a>(
        &'a self,
        base: &dyn Base,
        entity: EntityId,
    ) -> Result<Option<Cow<'a, Row<Self>>>>;
    /// Returns the memory that was stored under a name, if the name is new.
    fn named(&self, name: Name) -> Option<EntityId>;
    /// Returns the memory that an id stands for, if that is new.
    fn alias(&self, id: SubjectId) -> Option<EntityId>;
    /// Returns the other ids of a memory, each with the position since which it is known.
    fn aliases(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<(SubjectId, Position)>>;
    /// Returns `true` if there are events that name an id as their subject.
    fn is_touched(&self, base: &dyn Base, id: SubjectId) -> Result<bool>;
    /// Adds a version; `before` is the version that it replaces.
    fn put(
        &mut self,
        texts: &mut Self::Texts,
        entity: EntityId,
        before: Option<Ended<Self>>,
        version: Row<Self>,
    );
    /// Gives a name to a memory, unless the name is taken.
    fn name(&mut self, name: Name, entity: EntityId);
    /// Records that a memory was moved to a name.
    fn moved(&mut self, name: Name, stamp: Stamp, entity: EntityId);
    /// Records that `id` stands for a memory from `since` on.
    fn set_alias(&mut self, id: SubjectId, entity: EntityId, since: Position);
    /// Records an event that names an id as its subject and made no version.
    fn waits(&mut self, id: SubjectId, position: Position);
    /// Adds a recall that showed an id.
    fn access(&mut self, id: SubjectId, access: Access);
    /// Adds or replaces a link, under both of its ends.
    fn link(&mut self, link: Link);
    /// Returns every link from or to an id that there ever was, in the order of positions.
    fn links(&self, base: &dyn Base, id: SubjectId) -> Result<Vec<Link>>;
    /// Returns the link that an event added.
    fn link_of(&self, base: &dyn Base, event: EventId) -> Result<Option<Link>>;
    /// Records an event that removes a link which is not learned yet.
    fn unlinks_later(&mut self, link: EventId, by: InChain, in_force: bool);
    /// Returns the events that removed a link before it was learned.
    fn unlinks(&self, base: &dyn Base, link: EventId) -> Result<Vec<InChain>>;
    /// Adds or replaces a tick of decay.
    fn tick(&mut self, tick: Tick);
    /// Records that an event describes a memory, by one of its ids, in the event's future.
    fn planned(&mut self, id: SubjectId);
    /// Adds an imported range.
    fn imported(&mut self, learned: Learned);
    /// Records the use of an idempotency key, unless there was an earlier one.
    fn request(&mut self, key: RequestKey, make: impl FnOnce() -> Request);
}

/// A row version, with its texts as `K` stores them.
pub type Row<K> = Version<<<K as Keep>::Texts as Texts>::Text>;

/// The facts about a version that its replacement still needs.
pub struct Ended<K: Keep> {
    /// `true` if the version was no tombstone.
    pub alive: bool,
    /// The ordinal of the version.
    pub ordinal: Option<u64>,
    /// The topic of the version.
    pub topic: Option<<K::Texts as Texts>::Text>,
    /// The graph fields of a memoir or a concept.
    pub graph: Option<GraphRow>,
    /// `true` for feedback.
    pub is_feedback: bool,
}

impl<K: Keep> Ended<K> {
    pub(super) fn of(version: &Row<K>) -> Self {
        Ended {
            alive: version.is_alive(),
            ordinal: version.ordinal,
            topic: version.topic.clone(),
            graph: version.graph,
            is_feedback: version.feedback.is_some(),
        }
    }
}
