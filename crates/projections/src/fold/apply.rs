//! Applying events, one after the other, on top of what is already folded.

use std::collections::BTreeMap;

use icm_log::facts::Facts;
use icm_log::{ActorId, Event, EventId, Name, Position, RequestKey, SubjectId, payload};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::memory;
use super::record::{EntityId, Version};
use super::state_hash::{StateHash, StateSum};
use crate::error::Result;

/// What is folded already, and the [`Overlay`] lies on.
pub trait Base {
    /// The newest version of a memory.
    fn newest(&self, entity: EntityId) -> Result<Option<Version>>;
    /// The memory that has a name.
    fn named(&self, name: Name) -> Result<Option<EntityId>>;
    /// The memory that an id stands for, when that is not the id itself.
    fn alias(&self, id: SubjectId) -> Result<Option<EntityId>>;
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
    fn alias(&self, _: SubjectId) -> Result<Option<EntityId>> {
        Ok(None)
    }
}

/// A recall that showed a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Position of the recall.
    pub position: Position,
    /// Its time, milliseconds since the epoch.
    pub at_ms: u64,
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
    /// Tombstones.
    pub forgotten: u64,
    /// The ordinal that the next living version gets.
    pub next_ordinal: u64,
    /// Time of the first event, milliseconds since the epoch.
    pub first_ms: Option<u64>,
    /// Time of the newest event, milliseconds since the epoch.
    pub last_ms: Option<u64>,
    /// Ids that stand for another one.
    pub aliases: u64,
    /// Names of the actors.
    pub actors: BTreeMap<ActorId, String>,
    /// A critical kind that this version does not know was met: what is folded may be wrong.
    pub newer: Option<String>,
    /// Sum over the living rows.
    pub sum: StateSum,
}

impl Tally {
    /// The state hash.
    pub fn state_hash(&self) -> StateHash {
        self.sum.hash(self.memories)
    }
}

/// The end of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// Its memory.
    pub entity: EntityId,
    /// First position it no longer holds at.
    pub at: Position,
}

/// How the living memories of a topic changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TopicChange {
    /// More (or fewer) living memories.
    pub memories: i64,
    /// Newest change, milliseconds since the epoch.
    pub changed_ms: u64,
}

/// What was folded on top of a base and is not part of it yet.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// New versions, oldest first.
    pub versions: FxHashMap<EntityId, Vec<Version>>,
    /// New accesses, oldest first.
    pub accesses: FxHashMap<EntityId, Vec<Access>>,
    /// New names.
    pub names: FxHashMap<Name, EntityId>,
    /// Ids that stand for another one.
    pub aliases: FxHashMap<SubjectId, EntityId>,
    /// New idempotency keys.
    pub requests: FxHashMap<RequestKey, Request>,
    /// Topics, and how many more living memories they have.
    pub topics: FxHashMap<String, TopicChange>,
    /// Memories that are or were in a topic, as far as that is new.
    pub members: Vec<(String, EntityId)>,
    /// Ordinals that no longer hold.
    pub closed: FxHashMap<u64, Closed>,
    /// Ordinals given, with their memory and first position; ascending.
    pub opened: Vec<(u64, EntityId, Position)>,
}

/// What applying an event did to the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// This memory has a new version.
    pub entity: Option<EntityId>,
}

/// Folds events on top of a base.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    /// The numbers after the newest event.
    pub tally: Tally,
    /// What is new.
    pub overlay: Overlay,
}

impl Folder {
    /// Goes on from a state with these numbers.
    pub fn new(tally: Tally) -> Folder {
        Folder {
            tally,
            overlay: Overlay::default(),
        }
    }

    /// The newest version of a memory.
    pub fn newest(&self, base: &dyn Base, entity: EntityId) -> Result<Option<Version>> {
        match self
            .overlay
            .versions
            .get(&entity)
            .and_then(|versions| versions.last())
        {
            Some(version) => Ok(Some(version.clone())),
            None => base.newest(entity),
        }
    }

    /// The memory that an id stands for.
    pub fn resolve(&self, base: &dyn Base, id: SubjectId) -> Result<EntityId> {
        if let Some(entity) = self.overlay.aliases.get(&id) {
            return Ok(*entity);
        }
        if self.tally.aliases == 0 {
            return Ok(id);
        }
        Ok(base.alias(id)?.unwrap_or(id))
    }

    /// The memory that has a name.
    pub fn named(&self, base: &dyn Base, name: Name) -> Result<Option<EntityId>> {
        if name.is_zero() {
            return Ok(None);
        }
        match self.overlay.names.get(&name) {
            Some(entity) => Ok(Some(*entity)),
            None => base.named(name),
        }
    }

    /// Applies the next event of the walk. Events at or before the newest one are passed over, so
    /// that applying twice is applying once.
    pub fn apply(&mut self, base: &dyn Base, event: &Event<'_>) -> Result<Applied> {
        if event.position <= self.tally.position {
            return Ok(Applied::default());
        }
        let ms = event.head.time().ms();
        self.tally.position = event.position;
        self.tally.event = Some(event.id);
        self.tally.events += 1;
        self.tally.first_ms.get_or_insert(ms);
        self.tally.last_ms = Some(self.tally.last_ms.map_or(ms, |last| last.max(ms)));
        let (kind, version) = (event.head.kind(), event.head.kind_version());
        if memory::needs_newer(kind, version) && self.tally.newer.is_none() {
            self.tally.newer = Some(format!(
                "event @{} is a {} (version {version})",
                event.position,
                kind.name()
            ));
        }
        self.note_request(event);
        match memory::facts_of(event) {
            Facts::Stored(facts) => {
                let first = memory::first(event, &facts);
                let id = event.head.subject();
                if event.own && first.name.is_zero() {
                    // The writer gave it an id that nothing else has.
                    return self.push(id, None, first);
                }
                let known = self.named(base, first.name)?;
                let entity = known.unwrap_or(self.resolve(base, id)?);
                let Some(before) = self.newest(base, entity)? else {
                    return self.push(entity, None, first);
                };
                if entity != id && self.overlay.aliases.insert(id, entity).is_none() {
                    self.tally.aliases += 1;
                }
                let version = memory::stored_again(event, &facts, &before);
                self.push(entity, Some(before), version)
            }
            Facts::Updated(facts) => self.change(base, event, |before| {
                Some(memory::updated(event, &facts, before))
            }),
            Facts::Forgotten(facts) | Facts::Revived(facts) => {
                self.change(base, event, |before| memory::alive(event, &facts, before))
            }
            Facts::Recalled(facts) => {
                for shown in &facts.results {
                    let entity = self.resolve(base, shown.id)?;
                    let access = Access {
                        position: event.position,
                        at_ms: ms,
                    };
                    self.overlay
                        .accesses
                        .entry(entity)
                        .or_default()
                        .push(access);
                    self.tally.sum.add_access(shown.id, event.id);
                }
                Ok(Applied::default())
            }
            Facts::ActorNamed => {
                let payload = event
                    .body
                    .payload()
                    .and_then(|bytes| payload::decode::<payload::LogActorNamed<'_>>(bytes).ok());
                if let Some(payload) = payload {
                    let actor = ActorId(event.head.subject().0);
                    self.tally.actors.insert(actor, payload.name.to_owned());
                }
                Ok(Applied::default())
            }
            Facts::OriginStarted(_) | Facts::Imported(_) | Facts::Opaque => Ok(Applied::default()),
        }
    }

    fn note_request(&mut self, event: &Event<'_>) {
        let key = event.head.request();
        if key.is_zero() || self.overlay.requests.contains_key(&key) {
            return;
        }
        #[derive(Deserialize)]
        struct Digest {
            #[serde(default)]
            request_digest: Option<String>,
        }
        let payload = event
            .body
            .payload()
            .and_then(|bytes| payload::decode::<Digest>(bytes).ok());
        let request = Request {
            event: event.id,
            position: event.position,
            subject: event.head.subject(),
            kind: event.head.kind().0,
            digest: payload.and_then(|payload| payload.request_digest),
        };
        self.overlay.requests.insert(key, request);
    }

    fn change(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        make: impl FnOnce(&Version) -> Option<Version>,
    ) -> Result<Applied> {
        let entity = self.resolve(base, event.head.subject())?;
        // A change of a memory whose `stored` is not here waits for it.
        let Some(before) = self.newest(base, entity)? else {
            return Ok(Applied::default());
        };
        match make(&before) {
            Some(version) => self.push(entity, Some(before), version),
            None => Ok(Applied::default()),
        }
    }

    /// Closes the version before and opens the new one.
    fn push(
        &mut self,
        entity: EntityId,
        before: Option<Version>,
        mut version: Version,
    ) -> Result<Applied> {
        let changed_ms = version.stamp.time.ms();
        let was = before.as_ref().map(Version::is_alive);
        if let Some(before) = &before {
            self.tally.sum.remove(before);
            if let Some(ordinal) = before.ordinal {
                self.overlay.closed.insert(
                    ordinal,
                    Closed {
                        entity,
                        at: version.from,
                    },
                );
            }
        }
        match was {
            Some(true) => self.tally.memories -= 1,
            Some(false) => self.tally.forgotten -= 1,
            None => {}
        }
        if version.is_alive() {
            version.ordinal = Some(self.tally.next_ordinal);
            self.overlay
                .opened
                .push((self.tally.next_ordinal, entity, version.from));
            self.tally.next_ordinal += 1;
            self.tally.memories += 1;
        } else {
            self.tally.forgotten += 1;
        }
        self.tally.sum.add(&version);
        let topic_before = before.as_ref().and_then(|before| before.topic.as_deref());
        if topic_before != version.topic.as_deref()
            && let Some(topic) = &version.topic
        {
            self.overlay.members.push((topic.clone(), entity));
        }
        if let (Some(topic), Some(true)) = (topic_before, was) {
            self.change_topic(topic, -1, changed_ms);
        }
        if let Some(topic) = version.topic.as_deref() {
            self.change_topic(topic, i64::from(version.is_alive()), changed_ms);
        }
        let name = version.name;
        if !name.is_zero() && before.as_ref().map(|before| before.name) != Some(name) {
            self.overlay.names.entry(name).or_insert(entity);
        }
        self.overlay
            .versions
            .entry(entity)
            .or_default()
            .push(version);
        Ok(Applied {
            entity: Some(entity),
        })
    }

    fn change_topic(&mut self, topic: &str, memories: i64, changed_ms: u64) {
        let change = match self.overlay.topics.get_mut(topic) {
            Some(change) => change,
            None => self.overlay.topics.entry(topic.to_owned()).or_default(),
        };
        change.memories += memories;
        change.changed_ms = change.changed_ms.max(changed_ms);
    }
}

/// Folds the whole log from nothing, keeping no history, and gives the numbers it ends with. Told
/// how many events are folded, now and then.
pub fn fold_afresh(log: &icm_log::Log, progress: &mut dyn FnMut(u64)) -> Result<Tally> {
    use std::ops::ControlFlow;
    let mut folder = Folder::default();
    let mut failed = None;
    log.scan(&icm_log::Cursor::START, &mut |event| {
        if let Err(error) = folder.apply(&NoBase, event) {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        if folder.tally.events.is_multiple_of(10_000) {
            progress(folder.tally.events);
            folder.overlay.shed_history();
        }
        ControlFlow::Continue(())
    })?;
    match failed {
        Some(error) => Err(error),
        None => Ok(folder.tally),
    }
}

impl Overlay {
    /// Drops all that the fold of later events does not ask for.
    fn shed_history(&mut self) {
        for versions in self
            .versions
            .values_mut()
            .filter(|versions| versions.len() > 1)
        {
            versions.drain(..versions.len() - 1);
        }
        self.accesses.clear();
        self.topics.clear();
        self.members.clear();
        self.opened.clear();
        self.closed.clear();
    }
}
