//! Applies events, one after the other, on top of the state that is already folded.

mod links;
mod rows;
mod ticks;

use std::collections::BTreeSet;

use icm_log::facts::{Covered, Facts, LogImported, MemoryRecalled, fields};
use icm_log::{ActorId, Event, EventId, Name, Position, SubjectId, payload};
use serde::Deserialize;

use super::base::{Access, Base, Learned, Request};
use super::expiry;
use super::keep::Keep;
use super::memory::{self, Seen, stamp_of};
use super::overlay::Overlay;
use super::record::EntityId;
use super::state_hash::access_digest;
use super::tally::Tally;
use super::undos::{InChain, Undo, Undone};
use crate::error::Result;

use rows::Step;

/// The effect of an event on the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// The memory that has a new version.
    pub entity: Option<EntityId>,
}

/// Folds events on top of a base.
#[derive(Debug, Clone, Default)]
pub struct Folder<K: Keep = Overlay> {
    /// The tally after the newest event.
    pub tally: Tally,
    /// The rows that are kept.
    pub kept: K,
    pub(in crate::fold) texts: K::Texts,
    pub(in crate::fold) pending: Pending,
    /// The events so far of the newest event's batch.
    batch: Vec<EventId>,
}

/// The part of an import that is worked out at its end. Positions inside an import are never shown, so no reader sees
/// the state before its end.
#[derive(Debug, Clone, Default)]
pub(in crate::fold) struct Pending {
    /// Memories to fold again from all their events: an event came that had not seen the others.
    pub(in crate::fold) late: BTreeSet<EntityId>,
    /// New undos.
    pub(in crate::fold) undos: Vec<Undo>,
    /// `true` if the import has events at places that an undo names.
    pub(in crate::fold) learns: bool,
    /// Ids shown by recalls that were undone before they were learned.
    pub(in crate::fold) recount: BTreeSet<SubjectId>,
    /// The undone events as of before the import.
    pub(in crate::fold) undone: Option<Undone>,
}

impl Pending {
    pub(in crate::fold) fn is_empty(&self) -> bool {
        self.late.is_empty() && self.undos.is_empty() && self.recount.is_empty() && !self.learns
    }
}

impl Folder {
    /// Returns a folder that goes on from a state with this tally.
    pub fn new(tally: Tally) -> Folder {
        Folder {
            tally,
            ..Folder::default()
        }
    }

    /// Takes out the folded rows, with a copy of the tally, to be made a part of the base. The pending rest of an
    /// import stays.
    pub(crate) fn hand_over(&mut self) -> Folder {
        Folder {
            tally: self.tally.clone(),
            kept: std::mem::take(&mut self.kept),
            ..Folder::default()
        }
    }
}

impl<K: Keep> Folder<K> {
    /// Returns the memory that an id stands for.
    pub fn resolve(&self, base: &dyn Base, id: SubjectId) -> Result<EntityId> {
        if self.tally.aliases == 0 {
            return Ok(id);
        }
        match self.kept.alias(id) {
            Some(entity) => Ok(entity),
            None => Ok(base.alias(id)?.unwrap_or(id)),
        }
    }

    /// Returns every id of a memory, the one that keys it first.
    pub fn ids_of(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<SubjectId>> {
        let mut ids = vec![entity];
        if self.tally.aliases > 0 {
            let aliases = self.kept.aliases(base, entity)?;
            ids.extend(aliases.into_iter().map(|(id, _)| id));
        }
        Ok(ids)
    }

    /// Returns the memory that was stored under a name.
    pub(in crate::fold) fn named(&self, base: &dyn Base, name: Name) -> Result<Option<EntityId>> {
        if name.is_zero() {
            return Ok(None);
        }
        let named = match self.kept.named(name) {
            Some(entity) => Some(entity),
            None => base.named(name)?,
        };
        named.map(|entity| self.resolve(base, entity)).transpose()
    }

    /// Returns `true` if an event was undone before the import that is being folded.
    pub(in crate::fold) fn is_undone(&self, event: &InChain) -> bool {
        let undone = self.pending.undone.as_ref();
        undone.is_some_and(|undone| undone.holds(event))
    }

    /// Applies the next event of the walk; `in_force` is `false` if the event is undone. Events at or before the newest
    /// folded position are skipped, so that applying twice is applying once.
    pub(in crate::fold) fn apply_as(
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
        self.tally.first_ms = Some(self.tally.first_ms.map_or(ms, |first| first.min(ms)));
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
        if event.head.batch_index() == 0 {
            self.batch.clear();
        }
        let applied = self.apply_facts(base, event, in_force);
        if event.head.batch_count() > 1 {
            self.batch.push(event.id);
        }
        applied
    }

    fn apply_facts(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        in_force: bool,
    ) -> Result<Applied> {
        let facts = memory::facts_of(event);
        self.tally.conditions += u64::from(expiry::sets_one(&facts));
        if expiry::is_plan(event, &facts) {
            self.tally.planned += 1;
            self.kept.planned(event.head.subject());
        }
        match facts {
            Facts::Stored(stored) => {
                let place = self.place(base, event, &stored)?;
                self.stored(base, event, stored, place, in_force)
            }
            Facts::Consolidated(facts) => {
                let place = self.place(base, event, &facts.stored)?;
                let covered = self.covered(base, &facts.covers)?;
                self.meet_twice([place.entity], &covered);
                let applied = self.stored(base, event, facts.stored, place, in_force)?;
                self.cover(base, event, covered, in_force)?;
                Ok(applied)
            }
            Facts::Pruned(facts) => {
                let covered = self.covered(base, &facts.covers)?;
                self.meet_twice([], &covered);
                self.cover(base, event, covered, in_force)?;
                Ok(Applied::default())
            }
            Facts::Decayed(facts) => self.decayed(event, &facts, in_force),
            facts @ (Facts::Updated(_) | Facts::Forgotten(_) | Facts::Revived(_)) => {
                let entity = self.resolve(base, event.head.subject())?;
                if let Facts::Updated(updated) = &facts
                    && updated.fields & (fields::TOPIC | fields::SCOPE | fields::KEY) != 0
                    && !updated.name.is_zero()
                {
                    self.kept.moved(updated.name, stamp_of(event), entity);
                }
                self.step(base, entity, event, Step::Change, |texts, before| {
                    memory::next(texts, event, &facts, before, Seen::All, in_force)
                })
            }
            Facts::Linked(facts) => self.linked(base, event, &facts, in_force),
            Facts::Unlinked => self.unlinked(base, event, in_force),
            Facts::Recalled(facts) => self.recalled(event, &facts, in_force),
            Facts::Imported(facts) => self.imported(event, &facts),
            Facts::ActorNamed => self.actor_named(event),
            Facts::Undone(_) => {
                // Its effect is worked out by `apply_next`, which can read past events.
                self.tally.undos += 1;
                Ok(Applied::default())
            }
            // `facts_of` turns these facts into other ones.
            Facts::MemoirCreated(_)
            | Facts::MemoirDescribed(_)
            | Facts::ConceptAdded(_)
            | Facts::ConceptRefined(_)
            | Facts::ConceptLabelled(_)
            | Facts::ConceptUnlabelled(_)
            | Facts::FeedbackRecorded(_)
            | Facts::FeedbackApplied(_)
            | Facts::Pinned(_)
            | Facts::Expired(_)
            | Facts::Unpinned => Ok(Applied::default()),
            Facts::AlertSet(facts) => {
                self.tally.alerts.set(event, &facts);
                Ok(Applied::default())
            }
            Facts::AlertDelivered => {
                event
                    .head
                    .refs()
                    .for_each(|alert| self.tally.alerts.deliver(alert));
                Ok(Applied::default())
            }
            // A redacted payload is absent when its event is read.
            Facts::Redacted(_)
            | Facts::Repaired(_)
            | Facts::OriginStarted(_)
            | Facts::SessionStarted(_)
            | Facts::SessionEnded(_)
            | Facts::Opaque => Ok(Applied::default()),
        }
    }

    fn recalled(
        &mut self,
        event: &Event<'_>,
        facts: &MemoryRecalled,
        in_force: bool,
    ) -> Result<Applied> {
        self.tally.recalls += 1;
        if !facts.is_asked() {
            return Ok(Applied::default());
        }
        let access = Access {
            position: event.position,
            at_ms: event.head.time().ms(),
            counted: None,
        };
        for shown in &facts.results {
            self.kept.access(shown.id, access);
            match in_force {
                true => self.tally.sum.add(access_digest(shown.id, event.id)),
                false => _ = self.pending.recount.insert(shown.id),
            }
        }
        Ok(Applied::default())
    }

    fn imported(&mut self, event: &Event<'_>, facts: &LogImported) -> Result<Applied> {
        if event.own {
            self.tally.imports += 1;
            // An undo may name events that were not learned yet. Events learned later are beside its branch, or were
            // lost.
            let named = |undone: &Undone| facts.ranges.iter().any(|it| undone.names(it));
            let learns = self.tally.undos > 0;
            self.pending.learns = learns && self.pending.undone.as_ref().is_none_or(named);
            let mut first = event.position.0.saturating_sub(facts.count());
            for range in &facts.ranges {
                self.kept.imported(Learned {
                    origin: range.origin,
                    from_seq: range.from_seq,
                    to_seq: range.to_seq,
                    first: Position(first),
                });
                first += range.count();
            }
        }
        Ok(Applied::default())
    }

    fn actor_named(&mut self, event: &Event<'_>) -> Result<Applied> {
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

    /// Returns the memories that an event forgets beside its own effect, with the facts about each.
    pub(in crate::fold) fn covered(
        &self,
        base: &dyn Base,
        covers: &[Covered],
    ) -> Result<Vec<(EntityId, Facts)>> {
        let mut covered = Vec::with_capacity(covers.len());
        for cover in covers {
            if let Some(facts) = memory::covering(cover) {
                covered.push((self.resolve(base, cover.id)?, facts));
            }
        }
        Ok(covered)
    }

    /// Marks a memory as late if an event names it under two ids. The memory then gets one step for both.
    fn meet_twice<const N: usize>(&mut self, others: [EntityId; N], covered: &[(EntityId, Facts)]) {
        let mut met = BTreeSet::from(others);
        for (entity, _) in covered {
            if !met.insert(*entity) {
                self.pending.late.insert(*entity);
            }
        }
    }

    fn cover(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        covered: Vec<(EntityId, Facts)>,
        in_force: bool,
    ) -> Result<()> {
        for (entity, facts) in covered {
            self.step(base, entity, event, Step::Change, |texts, before| {
                memory::next(texts, event, &facts, before, Seen::All, in_force)
            })?;
        }
        Ok(())
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
}
