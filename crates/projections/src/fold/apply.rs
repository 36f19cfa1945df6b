//! Applying events, one after the other, on top of what is already folded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use icm_log::facts::{Facts, MemoryStored, fields};
use icm_log::{ActorId, Event, EventId, Name, Position, RequestKey, SubjectId, payload};
use serde::{Deserialize, Serialize};

use super::links::Link;
use super::memory;
use super::overlay::Overlay;
use super::record::{EntityId, Version};
use super::state_hash::{StateHash, StateSum, access_digest, row_digest};
use super::texts::Texts;
use super::undo::Undo;
use crate::error::Result;

/// What is folded already, and an [`Overlay`] lies on.
pub trait Base {
    /// The newest version of a memory.
    fn newest(&self, entity: EntityId) -> Result<Option<Version>>;
    /// The memory that has a name.
    fn named(&self, name: Name) -> Result<Option<EntityId>>;
    /// The memory that an id stands for, when that is not the id itself.
    fn alias(&self, id: SubjectId) -> Result<Option<EntityId>>;
    /// Every undo.
    fn undos(&self) -> Result<Vec<Undo>>;
    /// Positions of the events about a memory, and perhaps of some undos.
    fn touched(&self, entity: EntityId) -> Result<Vec<Position>>;
    /// Positions of the recalls that showed a memory, in force or not, ascending.
    fn accessed(&self, entity: EntityId) -> Result<Vec<Position>>;
    /// Every link from or to a memory that there ever was, in the order of positions.
    fn links(&self, entity: EntityId) -> Result<Vec<Link>>;
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
    /// Undos, in force or not.
    pub undos: u64,
    /// Links that were ever added, in force or not.
    pub links: u64,
    /// Names of the actors.
    pub actors: BTreeMap<ActorId, String>,
    /// A critical kind that this version does not know was met: what is folded may be wrong.
    pub newer: Option<String>,
    /// Sum over the living rows.
    pub sum: StateSum,
}

impl Tally {
    /// Whether another fold of the same events came to the same state. One that knows from the
    /// start what is undone gives fewer ordinals.
    pub fn agrees(&self, other: &Tally) -> bool {
        let mut other = other.clone();
        if self.undos > 0 {
            other.next_ordinal = self.next_ordinal;
        }
        *self == other
    }

    /// The state hash.
    pub fn state_hash(&self) -> StateHash {
        self.sum.hash(self.memories)
    }
}

/// What applying an event did to the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// This memory has a new version.
    pub entity: Option<EntityId>,
}

/// Where a fold finds the rows that are there and puts the new ones: everything that is new in an
/// [`Overlay`], or the newest rows alone.
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
    /// The memory that has a name, as far as it is new.
    fn named(&self, name: Name) -> Option<EntityId>;
    /// The memory that an id stands for, as far as that is new.
    fn alias(&self, id: SubjectId) -> Option<EntityId>;
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
    /// From now on `id` stands for a memory; whether that is new.
    fn set_alias(&mut self, id: SubjectId, entity: EntityId) -> bool;
    /// An event about a memory made no version of it.
    fn waits(&mut self, entity: EntityId, position: Position);
    /// A recall showed a memory.
    fn access(&mut self, entity: EntityId, access: Access);
    /// A link, under both of its ends, which it may have had already.
    fn link(&mut self, from: EntityId, to: EntityId, link: Link);
    /// Every link from or to a memory that there ever was, in the order of positions.
    fn links(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<Link>>;
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
}

impl<K: Keep> Ended<K> {
    pub(super) fn of(version: &Row<K>) -> Self {
        Ended {
            alive: version.is_alive(),
            ordinal: version.ordinal,
            topic: version.topic.clone(),
        }
    }
}

/// Folds events on top of a base.
#[derive(Debug, Clone, Default)]
pub struct Folder<K: Keep = Overlay> {
    /// The numbers after the newest event.
    pub tally: Tally,
    /// What is kept of the rows.
    pub kept: K,
    pub(super) texts: K::Texts,
}

impl Folder {
    /// Goes on from a state with these numbers.
    pub fn new(tally: Tally) -> Folder {
        Folder {
            tally,
            ..Folder::default()
        }
    }
}

impl<K: Keep> Folder<K> {
    /// The memory that an id stands for.
    pub fn resolve(&self, base: &dyn Base, id: SubjectId) -> Result<EntityId> {
        if self.tally.aliases == 0 {
            return Ok(id);
        }
        match self.kept.alias(id) {
            Some(entity) => Ok(entity),
            None => Ok(base.alias(id)?.unwrap_or(id)),
        }
    }

    /// The memory that has a name.
    pub fn named(&self, base: &dyn Base, name: Name) -> Result<Option<EntityId>> {
        if name.is_zero() {
            return Ok(None);
        }
        match self.kept.named(name) {
            Some(entity) => Ok(Some(entity)),
            None => base.named(name),
        }
    }

    /// Applies the next event of the walk. Events at or before the newest one are passed over, so
    /// that applying twice is applying once.
    pub fn apply(&mut self, base: &dyn Base, event: &Event<'_>) -> Result<Applied> {
        self.apply_as(base, event, true)
    }

    /// As `apply`, of an event that is in force or undone.
    pub(super) fn apply_as(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        in_force: bool,
    ) -> Result<Applied> {
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
            Facts::Stored(stored) => self.stored(base, event, stored, in_force),
            Facts::Consolidated(facts) => {
                let applied = self.stored(base, event, facts.stored, in_force)?;
                for covered in facts.covers {
                    if let Some(facts) = memory::covering(&covered) {
                        let entity = self.resolve(base, covered.id)?;
                        self.step(base, entity, event, false, |texts, before| {
                            memory::next(texts, event, &facts, before, in_force)
                        })?;
                    }
                }
                Ok(applied)
            }
            facts @ (Facts::Updated(_) | Facts::Forgotten(_) | Facts::Revived(_)) => {
                let entity = self.resolve(base, event.head.subject())?;
                if let Facts::Updated(updated) = &facts
                    && updated.fields & (fields::TOPIC | fields::SCOPE | fields::KEY) != 0
                    && !updated.name.is_zero()
                    && self.named(base, updated.name)?.is_none()
                {
                    self.kept.name(updated.name, entity);
                }
                self.step(base, entity, event, false, |texts, before| {
                    memory::next(texts, event, &facts, before, in_force)
                })
            }
            Facts::Linked(facts) => self.linked(base, event, &facts, in_force),
            Facts::Unlinked => self.unlinked(base, event, in_force),
            Facts::Recalled(_) if !in_force => Ok(Applied::default()),
            Facts::Recalled(facts) => {
                let access = Access {
                    position: event.position,
                    at_ms: ms,
                    counted: None,
                };
                for shown in &facts.results {
                    let entity = self.resolve(base, shown.id)?;
                    self.kept.access(entity, access);
                    self.tally.sum.add(access_digest(shown.id, event.id));
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
            Facts::Undone(_) => {
                // What it changes is worked out by who can read the past.
                self.tally.undos += 1;
                Ok(Applied::default())
            }
            // Bodies that it takes out are not there when they are read.
            Facts::Redacted(_)
            | Facts::Repaired(_)
            | Facts::OriginStarted(_)
            | Facts::Imported(_)
            | Facts::Opaque => Ok(Applied::default()),
        }
    }

    fn note_request(&mut self, event: &Event<'_>) {
        let key = event.head.request();
        if key.is_zero() {
            return;
        }
        self.kept.request(key, || {
            #[derive(Deserialize)]
            struct Digest {
                #[serde(default)]
                request_digest: Option<String>,
            }
            let payload = event
                .body
                .payload()
                .and_then(|bytes| payload::decode::<Digest>(bytes).ok());
            Request {
                event: event.id,
                position: event.position,
                subject: event.head.subject(),
                kind: event.head.kind().0,
                digest: payload.and_then(|payload| payload.request_digest),
            }
        });
    }

    fn stored(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        stored: MemoryStored,
        in_force: bool,
    ) -> Result<Applied> {
        let first = memory::first(&mut self.texts, event, &stored);
        let (id, name) = (event.head.subject(), first.name);
        // The writer gave a memory without a name an id that nothing else has.
        let new = event.own && name.is_zero();
        let mut entity = id;
        if !new {
            let known = self.named(base, name)?;
            entity = known.unwrap_or(self.resolve(base, id)?);
            if entity != id && self.kept.set_alias(id, entity) {
                self.tally.aliases += 1;
            }
            if known.is_none() && !name.is_zero() {
                self.kept.name(name, entity);
            }
        }
        self.step(base, entity, event, new, |_, before| {
            Some(memory::stored(event, &stored, first, before, in_force))
        })
    }

    /// The next version of a memory, if the event makes one. `new`: there is no other.
    fn step(
        &mut self,
        base: &dyn Base,
        entity: EntityId,
        event: &Event<'_>,
        new: bool,
        make: impl FnOnce(&mut K::Texts, Option<&Row<K>>) -> Option<Row<K>>,
    ) -> Result<Applied> {
        let before = match new {
            true => None,
            false => self.kept.newest(base, entity)?,
        };
        let version = make(&mut self.texts, before.as_deref());
        let Some(version) = version else {
            // It may have one later: when the `stored` comes, or an undo.
            self.kept.waits(entity, event.position);
            return Ok(Applied::default());
        };
        let ended = before.map(|before| {
            Self::end(&mut self.tally, &self.texts, &before);
            Ended::of(&before)
        });
        Ok(self.push(entity, ended, version))
    }

    pub(super) fn end_row(&mut self, before: &Row<K>) {
        Self::end(&mut self.tally, &self.texts, before);
    }

    /// Takes a version out of the numbers.
    fn end(tally: &mut Tally, texts: &K::Texts, before: &Row<K>) {
        if before.is_alive() {
            tally.memories -= 1;
            if !K::SUMS_AT_END {
                tally.sum.remove(row_digest(texts, before));
            }
        } else if before.is_forgotten() {
            tally.forgotten -= 1;
        }
    }

    /// Opens a version.
    pub(super) fn push(
        &mut self,
        entity: EntityId,
        before: Option<Ended<K>>,
        mut version: Row<K>,
    ) -> Applied {
        if version.is_alive() {
            version.ordinal = Some(self.tally.next_ordinal);
            self.tally.next_ordinal += 1;
            self.tally.memories += 1;
            if !K::SUMS_AT_END {
                self.tally.sum.add(row_digest(&self.texts, &version));
            }
        } else if version.is_forgotten() {
            self.tally.forgotten += 1;
        }
        self.kept.put(&mut self.texts, entity, before, version);
        Applied {
            entity: Some(entity),
        }
    }
}
