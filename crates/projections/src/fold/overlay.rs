//! The overlay: all new rows of a fold. The views commit them to their files, and answer from them until then.

use std::borrow::Cow;

use icm_log::{EventId, Name, Position, RequestKey, SubjectId};
use icm_text::Map;
use imbl::{OrdMap, Vector};
use std::sync::Arc;

use super::base::{Access, Base, Learned, Request};
use super::decay::Tick;
use super::keep::{Ended, Keep};
use super::links::Link;
use super::record::{EntityId, FEEDBACK, GraphRow, Stamp, Version};
use super::texts::Owned;
use super::undos::{InChain, Undo};
use crate::error::Result;

/// The end of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// The memory of the version.
    pub entity: EntityId,
    /// The first position at which the version no longer holds.
    pub at: Position,
}

/// The change of a topic's living memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TopicChange {
    /// The difference in the number of living memories.
    pub memories: i64,
    /// Time of the newest change, in milliseconds since the epoch.
    pub changed_ms: u64,
}

/// Rows folded on top of a base that are not part of it yet. A clone shares all equal parts.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// New versions, oldest first. A clone shares them.
    pub versions: Map<EntityId, Vec<Arc<Version>>>,
    /// New accesses by the id that was shown, oldest first.
    pub accesses: Map<SubjectId, Vec<Access>>,
    /// New names.
    pub names: Map<Name, EntityId>,
    /// Names that memories were moved to, with the earliest such event.
    pub moved: Map<Name, (Stamp, EntityId)>,
    /// Ids that stand for another one.
    pub aliases: Map<SubjectId, EntityId>,
    /// The aliases of each memory, with the position since which each is known.
    pub ids: Map<EntityId, Vec<(SubjectId, Position)>>,
    /// New idempotency keys.
    pub requests: Map<RequestKey, Request>,
    /// Topics with a change in their living memories.
    pub topics: Map<String, TopicChange>,
    /// Memories that are or were in a topic, if that is new.
    pub members: Vector<(String, EntityId)>,
    /// Events that made no version, by their subject, oldest first.
    pub waiting: Map<SubjectId, Vec<Position>>,
    /// New or changed links by id and position, each under both of its ends.
    pub links: Map<SubjectId, OrdMap<Position, Link>>,
    /// The key of each link in `links`, by the event that added the link.
    pub link_places: Map<EventId, (SubjectId, Position)>,
    /// Events that remove a link, if they came before it.
    pub unlinks: Map<EventId, Vec<InChain>>,
    /// New or changed ticks of decay.
    pub ticks: OrdMap<Position, Tick>,
    /// Imported ranges.
    pub imported: Vector<Learned>,
    /// Undos that are new, or whose force changed.
    pub undos: OrdMap<Position, Undo>,
    /// Ordinals that no longer hold.
    pub closed: Map<u64, Closed>,
    /// New ordinals with their memory and first position, ascending.
    pub opened: Vector<(u64, EntityId, Position)>,
}

impl Keep for Overlay {
    type Texts = Owned;
    const SUMS_AT_END: bool = false;

    fn newest<'a>(&'a self, base: &dyn Base, entity: EntityId) -> Result<Option<Cow<'a, Version>>> {
        let versions = self.versions.get(&entity);
        match versions.and_then(|versions| versions.last()) {
            Some(version) => Ok(Some(Cow::Borrowed(&**version))),
            None => Ok(base.newest(entity)?.map(Cow::Owned)),
        }
    }

    fn named(&self, name: Name) -> Option<EntityId> {
        self.names.get(&name).copied()
    }

    fn alias(&self, id: SubjectId) -> Option<EntityId> {
        self.aliases.get(&id).copied()
    }

    fn put(
        &mut self,
        _: &mut Owned,
        entity: EntityId,
        before: Option<Ended<Self>>,
        version: Version,
    ) {
        if let Some(ordinal) = before.as_ref().and_then(|before| before.ordinal) {
            let at = version.from;
            self.closed.insert(ordinal, Closed { entity, at });
        }
        if let Some(ordinal) = version.ordinal {
            self.opened.push_back((ordinal, entity, version.from));
        }
        let changed_ms = version.stamp.time.ms();
        let ended = before.as_ref();
        let topic_before = ended.and_then(|ended| {
            let topic = ended.topic.as_deref();
            shelf(ended.graph, ended.is_feedback, topic)
        });
        let topic_before = topic_before.as_deref();
        let is_feedback = version.feedback.is_some();
        let shelf = shelf(version.graph, is_feedback, version.topic.as_deref());
        let shelf = shelf.as_deref();
        if topic_before != shelf
            && let Some(topic) = shelf
        {
            self.members.push_back((topic.to_owned(), entity));
        }
        let was_alive = before.as_ref().is_some_and(|before| before.alive);
        if let (Some(topic), true) = (topic_before, was_alive) {
            self.change_topic(topic, -1, changed_ms);
        }
        if let Some(topic) = shelf {
            self.change_topic(topic, i64::from(version.is_alive()), changed_ms);
        }
        self.versions
            .entry(entity)
            // Most memories have one version.
            .or_insert_with(|| Vec::with_capacity(1))
            .push(Arc::new(version));
    }

    fn name(&mut self, name: Name, entity: EntityId) {
        self.names.entry(name).or_insert(entity);
    }

    fn moved(&mut self, name: Name, stamp: Stamp, entity: EntityId) {
        let earliest = self.moved.entry(name).or_insert((stamp, entity));
        *earliest = (*earliest).min((stamp, entity));
    }

    fn set_alias(&mut self, id: SubjectId, entity: EntityId, since: Position) {
        self.aliases.insert(id, entity);
        self.ids.entry(entity).or_default().push((id, since));
    }

    fn aliases(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<(SubjectId, Position)>> {
        let mut aliases = base.aliases(entity)?;
        aliases.extend(self.ids.get(&entity).into_iter().flatten());
        Ok(aliases)
    }

    fn is_touched(&self, base: &dyn Base, id: SubjectId) -> Result<bool> {
        let here = self.versions.contains_key(&id) || self.waiting.contains_key(&id);
        Ok(here || !base.touched(id)?.is_empty())
    }

    fn waits(&mut self, id: SubjectId, position: Position) {
        self.waiting.entry(id).or_default().push(position);
    }

    fn access(&mut self, id: SubjectId, access: Access) {
        self.accesses.entry(id).or_default().push(access);
    }

    fn link(&mut self, link: Link) {
        let (from, to) = (link.from, link.to);
        if link.is_mark() {
            self.members.push_back((MARKED.to_owned(), from));
        }
        self.link_places.insert(link.event, (from, link.position));
        let mut put = |end, link: Link| {
            let links: &mut OrdMap<_, _> = self.links.entry(end).or_default();
            links.insert(link.position, link);
        };
        put(to, link.clone());
        put(from, link);
    }

    fn links(&self, base: &dyn Base, id: SubjectId) -> Result<Vec<Link>> {
        let mut links = base.links(id)?;
        if let Some(newer) = self.links.get(&id) {
            links.retain(|link| !newer.contains_key(&link.position));
            links.extend(newer.values().cloned());
            links.sort_by_key(|link| link.position);
        }
        Ok(links)
    }

    fn link_of(&self, base: &dyn Base, event: EventId) -> Result<Option<Link>> {
        match self.link_places.get(&event) {
            Some((id, position)) => {
                let links = self.links.get(id);
                Ok(links.and_then(|links| links.get(position)).cloned())
            }
            None => base.link_of(event),
        }
    }

    fn unlinks_later(&mut self, link: EventId, by: InChain, _: bool) {
        self.unlinks.entry(link).or_default().push(by);
    }

    fn unlinks(&self, base: &dyn Base, link: EventId) -> Result<Vec<InChain>> {
        let mut unlinks = base.unlinks(link)?;
        unlinks.extend(self.unlinks.get(&link).into_iter().flatten());
        Ok(unlinks)
    }

    fn tick(&mut self, tick: Tick) {
        self.ticks.insert(tick.position, tick);
    }

    fn planned(&mut self, id: SubjectId) {
        self.members.push_back((PLANNED.to_owned(), id));
    }

    fn imported(&mut self, learned: Learned) {
        self.imported.push_back(learned);
    }

    fn request(&mut self, key: RequestKey, make: impl FnOnce() -> Request) {
        self.requests.entry(key).or_insert_with(make);
    }
}

/// Returns the list that a row is in: a memory's topic, a concept's memoir, or the list of all memoirs or of all
/// feedback. No topic has such a name, because topics hold no control characters.
fn shelf(graph: Option<GraphRow>, is_feedback: bool, topic: Option<&str>) -> Option<Cow<'_, str>> {
    match graph {
        None if is_feedback => Some(Cow::Borrowed(FEEDBACK)),
        None => topic.map(Cow::Borrowed),
        Some(GraphRow { memoir: None, .. }) => Some(Cow::Borrowed(MEMOIRS)),
        Some(GraphRow {
            memoir: Some(memoir),
            ..
        }) => Some(Cow::Owned(concepts_of(memoir))),
    }
}

/// The name of the list of all memoirs.
pub const MEMOIRS: &str = "\u{1}";

/// The name of the list of all memories that were ever called wrong or useful.
pub const MARKED: &str = "\u{1}\u{2}";

/// The name of the list of all memories that an event ever described in its future; see [`Tally::planned`].
///
/// [`Tally::planned`]: super::Tally::planned
pub const PLANNED: &str = "\u{1}\u{3}";

/// Returns the name of the list of a memoir's concepts, by one of the memoir's ids.
pub fn concepts_of(memoir: SubjectId) -> String {
    format!("{MEMOIRS}{memoir}")
}

impl Overlay {
    /// Returns the version of a memory that starts at a position.
    pub(crate) fn version_from(&self, entity: EntityId, from: Position) -> Option<&Version> {
        let versions = self.versions.get(&entity)?;
        let index = versions
            .binary_search_by_key(&from, |version| version.from)
            .ok()?;
        Some(&versions[index])
    }

    /// Puts a version in place of the one of its memory that starts at the same position.
    pub(crate) fn put_instead(&mut self, entity: EntityId, version: Version) {
        let versions = self.versions.entry(entity).or_default();
        let version = Arc::new(version);
        match versions.binary_search_by_key(&version.from, |known| known.from) {
            Ok(index) => versions[index] = version,
            Err(index) => versions.insert(index, version),
        }
    }

    /// Returns the tick at a position.
    pub(super) fn tick_at(&self, base: &dyn Base, position: Position) -> Result<Option<Tick>> {
        match self.ticks.get(&position) {
            Some(tick) => Ok(Some(tick.clone())),
            None => base.tick(position),
        }
    }

    fn change_topic(&mut self, topic: &str, memories: i64, changed_ms: u64) {
        let change = match self.topics.get_mut(topic) {
            Some(change) => change,
            None => self.topics.entry(topic.to_owned()).or_default(),
        };
        change.memories += memories;
        change.changed_ms = change.changed_ms.max(changed_ms);
    }
}
