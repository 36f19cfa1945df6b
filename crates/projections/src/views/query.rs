//! Queries of the views: the files as of a position, with the tail on top.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::LogUndone;
use icm_log::{ActorId, Event, EventId, Log, Name, Position, RequestKey, SubjectId};

use super::Views;
use super::past::LogPast;
use crate::error::Result;
use crate::fold::{
    Base, Change, EntityId, Family, InChain, Keep, Learned, Link, MEMOIRS, Past, Request, Stamp,
    Tick, Undo, Undos, Version,
};
use crate::table::TopicCount;

/// The range of all ids.
pub const ALL_IDS: (SubjectId, SubjectId) = (SubjectId([0; 16]), SubjectId([0xff; 16]));

impl Views {
    /// Returns the version of a memory that held at `position`.
    pub fn version_at(&self, entity: EntityId, position: Position) -> Result<Option<Version>> {
        match self.in_tail(entity, position) {
            Some(version) => Ok(Some(version.clone())),
            None => self.table()?.version_at(entity, position),
        }
    }

    fn in_tail(&self, entity: EntityId, position: Position) -> Option<&Version> {
        let versions = self.tail.folder.kept.versions.get(&entity)?;
        versions
            .iter()
            .rev()
            .find(|version| version.from <= position)
            .map(|version| &**version)
    }

    /// Returns every version of a memory up to `position`, oldest first.
    pub fn versions(&self, entity: EntityId, position: Position) -> Result<Vec<Version>> {
        let mut versions = self.table()?.versions(entity, position)?;
        if let Some(newer) = self.tail.folder.kept.versions.get(&entity) {
            versions.extend(
                newer
                    .iter()
                    .filter(|version| version.from <= position)
                    .map(|version| Version::clone(version)),
            );
        }
        Ok(versions)
    }

    /// Returns the number of recalls up to `position` that showed a memory, and the time of the last one (milliseconds
    /// since the epoch). Reads the log if a recall showed several ids of the memory.
    pub fn accesses_at(
        &self,
        log: &Log,
        entity: EntityId,
        position: Position,
    ) -> Result<(u64, Option<u64>)> {
        let (mut count, mut last) = (0, 0);
        let ids = self.ids_at(entity, position)?;
        for id in ids.iter().copied() {
            let (mut here, last_here) = self.table()?.accesses_at(id, position)?;
            let mut last_here = last_here.unwrap_or(0);
            let newer = self.tail.folder.kept.accesses.get(&id);
            for access in newer.into_iter().flatten() {
                if access.position > position {
                    continue;
                }
                match access.counted {
                    Some(counted) => (here, last_here) = (counted, access.at_ms),
                    None => (here, last_here) = (here + 1, last_here.max(access.at_ms)),
                }
            }
            count += here;
            last = last_here.max(last);
        }
        if ids.len() > 1 && count > 1 {
            count -= self.shown_again(log, &ids, position)?;
        }
        Ok((count, Some(last).filter(|ms| *ms != 0)))
    }

    /// Returns by how many the shown ids exceed the recalls that count: a recall that names several ids of a memory
    /// shows it once.
    fn shown_again(&self, log: &Log, ids: &[SubjectId], position: Position) -> Result<u64> {
        let mut shown: BTreeMap<Position, u64> = BTreeMap::new();
        for id in ids {
            let mut positions = self.positions_of(*id, position, usize::MAX)?;
            positions.dedup();
            for position in positions {
                *shown.entry(position).or_default() += 1;
            }
        }
        shown.retain(|_, ids| *ids > 1);
        if shown.is_empty() {
            return Ok(0);
        }
        let undos = self.undos()?.as_of(position);
        let positions: Vec<Position> = shown.keys().copied().collect();
        let mut again = 0;
        self.events_at(log, &positions, &mut |event| {
            if !undos.is_undone(&InChain::of(event)) {
                again += shown[&event.position] - 1;
            }
        })?;
        Ok(again)
    }

    /// Returns the positions of the newest `most` recalls up to `position` that showed a memory, newest first.
    pub fn access_positions(
        &self,
        entity: EntityId,
        position: Position,
        most: usize,
    ) -> Result<Vec<Position>> {
        let mut positions = Vec::new();
        for id in self.ids_at(entity, position)? {
            positions.extend(self.positions_of(id, position, most)?);
        }
        positions.sort_unstable_by_key(|position| std::cmp::Reverse(*position));
        positions.dedup();
        positions.truncate(most);
        Ok(positions)
    }

    /// Returns the positions of the newest `most` recalls up to `position` that showed an id, newest first.
    pub(super) fn positions_of(
        &self,
        id: SubjectId,
        position: Position,
        most: usize,
    ) -> Result<Vec<Position>> {
        let newer = self.tail.folder.kept.accesses.get(&id);
        let mut positions: Vec<Position> = newer
            .into_iter()
            .flatten()
            .rev()
            .filter(|access| access.counted.is_none())
            .map(|access| access.position)
            .filter(|found| *found <= position)
            .take(most)
            .collect();
        let missing = most - positions.len();
        positions.extend(self.table()?.access_positions(id, position, missing)?);
        Ok(positions)
    }

    /// Returns the ids of a memory that were known at `position`, the one that keys it first.
    pub(super) fn ids_at(&self, entity: EntityId, position: Position) -> Result<Vec<SubjectId>> {
        let mut ids = vec![entity];
        if self.tally().aliases > 0 {
            let aliases = self.tail.folder.kept.aliases(self, entity)?;
            let known = aliases.into_iter().filter(|(_, since)| *since <= position);
            ids.extend(known.map(|(id, _)| id));
        }
        Ok(ids)
    }

    /// Calls `each` with every memory whose id lies in the inclusive range and its version at `position`, in the order
    /// of ids, until `each` returns `false`. Tombstones are included.
    pub fn each_at(
        &self,
        ids: (EntityId, EntityId),
        position: Position,
        descending: bool,
        each: &mut dyn FnMut(EntityId, &Version) -> Result<bool>,
    ) -> Result<()> {
        let each = &mut |entity, version: &Version| match version.family() {
            Family::Memory => each(entity, version),
            Family::Memoir | Family::Concept | Family::Feedback => Ok(true),
        };
        let overlay = &self.tail.folder.kept;
        let newer: BTreeMap<EntityId, &Version> = overlay
            .versions
            .keys()
            .filter(|entity| ids.0 <= **entity && **entity <= ids.1)
            .filter_map(|entity| Some((*entity, self.in_tail(*entity, position)?)))
            .collect();
        let mut waiting: Vec<_> = newer
            .iter()
            .map(|(entity, version)| (*entity, *version))
            .collect();
        // Taken from the end: the next one in the direction of the walk is last.
        if !descending {
            waiting.reverse();
        }
        let mut more = true;
        self.table()?
            .each_at(ids, position, descending, &mut |entity, version| {
                while let Some((first, newer)) = waiting.last().copied() {
                    let comes_before = if descending {
                        first > entity
                    } else {
                        first < entity
                    };
                    if !comes_before {
                        break;
                    }
                    waiting.pop();
                    more = each(first, newer)?;
                    if !more {
                        return Ok(false);
                    }
                }
                match waiting.last() {
                    Some((first, newer)) if *first == entity => {
                        let newer = *newer;
                        waiting.pop();
                        more = each(entity, newer)?;
                    }
                    _ => more = each(entity, &version)?,
                }
                Ok(more)
            })?;
        while more && let Some((entity, version)) = waiting.pop() {
            more = each(entity, version)?;
        }
        Ok(())
    }

    /// Returns the memories that are or were in `topic` (or below it if `topic` ends with `/`), in the order of ids.
    pub fn members(&self, topic: &str) -> Result<Vec<EntityId>> {
        let mut members: BTreeSet<EntityId> = self.table()?.members(topic)?.into_iter().collect();
        let overlay = &self.tail.folder.kept;
        let fits = |name: &str| topic_fits(topic, name);
        members.extend(
            overlay
                .members
                .iter()
                .filter(|(name, _)| fits(name))
                .map(|(_, id)| *id),
        );
        Ok(members.into_iter().collect())
    }

    /// Returns every topic that has a living memory, by name.
    pub fn topics(&self) -> Result<Vec<TopicCount>> {
        let mut topics = self.topics_ever()?;
        topics.retain(|topic| topic.memories > 0);
        Ok(topics)
    }

    /// Returns `true` if a memory is or ever was in exactly this topic.
    pub fn knows_topic(&self, topic: &str) -> Result<bool> {
        let (count, changed_ms) = self.listed(topic)?;
        Ok((count, changed_ms) != (0, 0))
    }

    /// Returns every topic that has or ever had a memory, by name.
    pub fn topics_ever(&self) -> Result<Vec<TopicCount>> {
        let mut topics = self.table()?.topics()?;
        let filed = topics.len();
        for (topic, change) in &self.tail.folder.kept.topics {
            let at = topics[..filed].binary_search_by(|filed| filed.topic.cmp(topic));
            let at = at.unwrap_or_else(|_| {
                topics.push(TopicCount {
                    topic: topic.clone(),
                    memories: 0,
                    changed_ms: 0,
                });
                topics.len() - 1
            });
            let count = &mut topics[at];
            count.memories = count.memories.saturating_add_signed(change.memories);
            count.changed_ms = count.changed_ms.max(change.changed_ms);
        }
        topics.retain(|topic| !topic.topic.starts_with(MEMOIRS));
        topics.sort_by(|a, b| a.topic.cmp(&b.topic));
        Ok(topics)
    }

    /// Returns the number of living memoirs, of living feedback, or of a memoir's living concepts, and the time of their
    /// last change. `list` is [`MEMOIRS`], [`FEEDBACK`](crate::fold::FEEDBACK) or from
    /// [`concepts_of`](crate::fold::concepts_of), by one of the memoir's ids.
    pub fn listed(&self, list: &str) -> Result<(u64, u64)> {
        let (mut count, mut changed_ms) = self.table()?.topic(list)?;
        if let Some(change) = self.tail.folder.kept.topics.get(list) {
            count = count.saturating_add_signed(change.memories);
            changed_ms = changed_ms.max(change.changed_ms);
        }
        Ok((count, changed_ms))
    }

    /// Returns the number of living memories in exactly this topic, and in exactly this scope if one is given. The
    /// concepts of a memoir of that name count, too. The text view answers, which is always open, so it costs a walk of
    /// a posting list and no table.
    pub fn living_in(&self, topic: &str, scope: Option<&str>) -> Result<u64> {
        super::guarded("text", || {
            Ok(self.files.text.living_in(&self.tail.text, topic, scope)?)
        })
    }

    /// Returns the rarest words of a text that memories hold, as written, rarest first, at most `most`.
    pub fn rare_words(&self, text: &str, most: usize) -> Result<Vec<String>> {
        super::guarded("text", || {
            Ok(self.files.text.rare_words(&self.tail.text, text, most)?)
        })
    }

    /// Returns the name of an actor, if it has one.
    pub fn actor(&self, actor: ActorId) -> Option<&str> {
        self.tally().actors.get(&actor).map(String::as_str)
    }

    /// Returns the command that used an idempotency key.
    pub fn request(&self, key: RequestKey) -> Result<Option<Request>> {
        match self.table()?.request(key)? {
            Some(request) => Ok(Some(request)),
            None => Ok(self.tail.folder.kept.requests.get(&key).cloned()),
        }
    }

    /// Returns the memory that a name leads to: the memory stored under it, else the one moved to it.
    pub fn named(&self, name: Name) -> Result<Option<EntityId>> {
        self.tail.folder.found(self, name)
    }

    /// Returns every undo.
    pub fn undos(&self) -> Result<Undos> {
        self.tail.folder.undos(self)
    }

    /// Returns the changes that these undos would make.
    pub fn what_if_undone(&self, log: &Log, undos: &[LogUndone]) -> Result<Vec<Change>> {
        let past = self.past(log);
        self.tail.folder.what_if(self, &past, undos)
    }

    /// Returns the positions of the events about a memory, ascending.
    pub fn touched(&self, entity: EntityId) -> Result<Vec<Position>> {
        self.tail.folder.touched(self, entity)
    }

    /// Returns the link that an event added, in force or not.
    pub fn link_by(&self, event: EventId) -> Result<Option<Link>> {
        self.tail.folder.kept.link_of(self, event)
    }

    /// Returns the links from or to a memory that held at `position`, oldest first. The caller checks whether the other
    /// end is visible.
    pub fn links_at(&self, entity: EntityId, position: Position) -> Result<Vec<Link>> {
        let mut links = self.tail.folder.links(self, entity)?;
        links.retain(|link| link.held_at(position));
        Ok(links)
    }

    /// Gives the events at these positions, which ascend, to `take`.
    pub fn events_at(
        &self,
        log: &Log,
        positions: &[Position],
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<()> {
        self.past(log).events_at(positions, take)
    }

    fn past<'a>(&'a self, log: &'a Log) -> LogPast<'a> {
        LogPast {
            log,
            older: &self.files.waypoints,
            newer: &self.tail.waypoints,
        }
    }

    /// Returns every id of a memory.
    pub fn ids_of(&self, entity: EntityId) -> Result<Vec<SubjectId>> {
        self.tail.folder.ids_of(self, entity)
    }

    /// Returns the ids in an inclusive range that stand for another one, with the memories.
    pub fn aliases_in(&self, ids: (SubjectId, SubjectId)) -> Result<Vec<(SubjectId, EntityId)>> {
        if self.tally().aliases == 0 {
            return Ok(Vec::new());
        }
        let mut aliases = self.table()?.aliases_in(ids)?;
        let newer = self.tail.folder.kept.aliases.iter();
        let newer = newer.filter(|(id, _)| ids.0 <= **id && **id <= ids.1);
        aliases.extend(newer.map(|(id, entity)| (*id, *entity)));
        for (id, entity) in &mut aliases {
            *entity = self.resolve(*id)?;
        }
        aliases.sort_unstable();
        aliases.dedup();
        Ok(aliases)
    }

    /// Returns the memory that an id stands for.
    pub fn resolve(&self, id: SubjectId) -> Result<EntityId> {
        self.tail.folder.resolve(self, id)
    }
}

/// Returns `true` if a topic is `asked`, or lies below it if `asked` ends with `/`.
pub fn topic_fits(asked: &str, topic: &str) -> bool {
    match asked.strip_suffix('/') {
        None => topic == asked,
        Some(above) => topic == above || topic.starts_with(asked),
    }
}

/// The files alone, as the base of the tail.
impl Base for Views {
    fn newest(&self, entity: EntityId) -> Result<Option<Version>> {
        self.table()?.newest(entity)
    }

    fn named(&self, name: Name) -> Result<Option<EntityId>> {
        Base::named(self.table()?, name)
    }

    fn moved(&self, name: Name) -> Result<Option<(Stamp, EntityId)>> {
        self.table()?.moved(name)
    }

    fn alias(&self, id: SubjectId) -> Result<Option<EntityId>> {
        self.table()?.alias(id)
    }

    fn aliases(&self, entity: EntityId) -> Result<Vec<(SubjectId, Position)>> {
        Base::aliases(self.table()?, entity)
    }

    fn imported(&self) -> Result<Vec<Learned>> {
        self.table()?.imported()
    }

    fn link_of(&self, event: EventId) -> Result<Option<Link>> {
        self.table()?.link_of(event)
    }

    fn unlinks(&self, link: EventId) -> Result<Vec<InChain>> {
        self.table()?.unlinks(link)
    }

    fn tick(&self, position: Position) -> Result<Option<Tick>> {
        self.table()?.tick(position)
    }

    fn undos(&self) -> Result<Vec<Undo>> {
        self.table()?.undos()
    }

    fn touched(&self, id: SubjectId) -> Result<Vec<Position>> {
        self.table()?.touched(id)
    }

    fn accessed(&self, id: SubjectId) -> Result<Vec<Position>> {
        self.table()?.accessed(id)
    }

    fn links(&self, id: SubjectId) -> Result<Vec<Link>> {
        self.table()?.links(id)
    }
}
