//! Opens and ends the row versions of an event.

use std::borrow::Cow;

use icm_log::facts::MemoryStored;
use icm_log::{Event, EventId};

use super::{Applied, Folder};
use crate::error::Result;
use crate::fold::base::Base;
use crate::fold::keep::{Ended, Keep, Row};
use crate::fold::memory::{self, Seen};
use crate::fold::record::{EntityId, Family};
use crate::fold::state_hash::row_digest;
use crate::fold::tally::Tally;

/// The kind of an event's effect on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Stores a memory that has no event yet.
    New,
    /// Stores a memory that may exist already.
    Store,
    /// Changes a memory.
    Change,
}

/// The memory that a `stored` belongs to, and the row that the event makes without earlier ones.
pub(super) struct StorePlace<K: Keep> {
    pub(super) entity: EntityId,
    step: Step,
    first: Row<K>,
}

impl<K: Keep> Folder<K> {
    /// Returns the memory that a `stored` is about: memories stored under one name are one memory.
    pub(super) fn place(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        stored: &MemoryStored,
    ) -> Result<StorePlace<K>> {
        let first = memory::first(&mut self.texts, event, stored);
        let (id, name) = (event.head.subject(), first.name);
        // The writer gives a memory without a name an id that is used nowhere else.
        let new = event.own && name.is_zero();
        let mut entity = id;
        if !new {
            let by_id = self.resolve(base, id)?;
            let known = self.named(base, name)?;
            entity = known.unwrap_or(by_id);
            if entity != by_id {
                self.unify(base, entity, by_id, event)?;
            }
            if known.is_none() && !name.is_zero() {
                self.kept.name(name, entity);
            }
        }
        let step = if new { Step::New } else { Step::Store };
        Ok(StorePlace {
            entity,
            step,
            first,
        })
    }

    pub(super) fn stored(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        stored: MemoryStored,
        place: StorePlace<K>,
        in_force: bool,
    ) -> Result<Applied> {
        let (entity, step, first) = (place.entity, place.step, place.first);
        self.step(base, entity, event, step, |_, before| {
            Some(memory::stored(
                event,
                &stored,
                first,
                before,
                Seen::All,
                in_force,
            ))
        })
    }

    /// Makes one memory of two that were stored under one name.
    fn unify(
        &mut self,
        base: &dyn Base,
        entity: EntityId,
        other: EntityId,
        event: &Event<'_>,
    ) -> Result<()> {
        let ids = self.ids_of(base, other)?;
        for id in ids {
            if self.kept.is_touched(base, id)? {
                self.pending.late.insert(entity);
            }
            self.kept.set_alias(id, entity, event.position);
        }
        self.tally.aliases += 1;
        if self.pending.late.remove(&other) {
            self.pending.late.insert(entity);
        }
        let Some(row) = self.kept.newest(base, other)?.map(Cow::into_owned) else {
            return Ok(());
        };
        self.pending.late.insert(entity);
        self.end_row(&row);
        let gone = Row::<K> {
            hidden: true,
            ..memory::follow(event, &row)
        };
        self.push(other, Some(Ended::of(&row)), gone);
        Ok(())
    }

    /// Returns `true` if an event has seen all events of a memory. Its step on the newest row then gives the same row
    /// as all events together.
    fn is_next(
        &self,
        base: &dyn Base,
        entity: EntityId,
        event: &Event<'_>,
        step: Step,
        before: Option<&Row<K>>,
    ) -> Result<bool> {
        let Some(before) = before else {
            // Events from before the memory was stored are kept as waiting.
            let awaited = step == Step::Store && self.tally.waiting > 0;
            return Ok(!awaited || !self.kept.is_touched(base, entity)?);
        };
        let names = |head: &EventId| {
            event.head.refs().any(|named| named == *head) || self.batch.contains(head)
        };
        Ok(before.heads().iter().all(names))
    }

    /// Adds the next version of a memory, if the event makes one.
    pub(super) fn step(
        &mut self,
        base: &dyn Base,
        entity: EntityId,
        event: &Event<'_>,
        step: Step,
        make: impl FnOnce(&mut K::Texts, Option<&Row<K>>) -> Option<Row<K>>,
    ) -> Result<Applied> {
        if self.pending.late.contains(&entity) {
            self.waits(entity, event);
            return Ok(Applied::default());
        }
        let before = match step {
            Step::New => None,
            _ => self.kept.newest(base, entity)?,
        };
        if !self.is_next(base, entity, event, step, before.as_deref())? {
            self.pending.late.insert(entity);
            self.waits(entity, event);
            return Ok(Applied::default());
        }
        let version = make(&mut self.texts, before.as_deref());
        let Some(version) = version else {
            // The event may make a version later: after the `stored` of the memory, or after an undo.
            self.waits(entity, event);
            return Ok(Applied::default());
        };
        let ended = before.map(|before| {
            Self::end(&mut self.tally, &self.texts, &before);
            Ended::of(&before)
        });
        Ok(self.push(entity, ended, version))
    }

    fn waits(&mut self, entity: EntityId, event: &Event<'_>) {
        self.tally.waiting += 1;
        self.kept.waits(entity, event.position);
    }

    pub(in crate::fold) fn end_row(&mut self, before: &Row<K>) {
        Self::end(&mut self.tally, &self.texts, before);
    }

    /// Subtracts a version from the tally.
    fn end(tally: &mut Tally, texts: &K::Texts, before: &Row<K>) {
        if before.is_alive() {
            *tally.living_mut(before.family()) -= 1;
            if before.family() == Family::Memory {
                tally.by_importance[usize::from(before.importance.code() - 1)] -= 1;
            }
            if !K::SUMS_AT_END {
                tally.sum.remove(row_digest(texts, before));
            }
        } else if is_forgotten_memory::<K>(before) {
            tally.forgotten -= 1;
        }
    }

    /// Opens a version: adds it to the tally and the kept rows.
    pub(in crate::fold) fn push(
        &mut self,
        entity: EntityId,
        before: Option<Ended<K>>,
        mut version: Row<K>,
    ) -> Applied {
        if version.is_alive() {
            version.ordinal = Some(self.tally.next_ordinal);
            self.tally.next_ordinal += 1;
            *self.tally.living_mut(version.family()) += 1;
            if version.family() == Family::Memory {
                self.tally.by_importance[usize::from(version.importance.code() - 1)] += 1;
            }
            if !K::SUMS_AT_END {
                self.tally.sum.add(row_digest(&self.texts, &version));
            }
        } else if is_forgotten_memory::<K>(&version) {
            self.tally.forgotten += 1;
        }
        self.kept.put(&mut self.texts, entity, before, version);
        Applied {
            entity: Some(entity),
        }
    }
}

/// Returns `true` if a row counts as a forgotten memory.
fn is_forgotten_memory<K: Keep>(row: &Row<K>) -> bool {
    row.is_forgotten() && row.family() == Family::Memory && !row.is_part()
}
