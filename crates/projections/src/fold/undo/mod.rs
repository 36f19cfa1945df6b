//! Applies undos, and events that were learned late, to the rows.
//!
//! A row is the fold of the events in force about its memory. So undoing an event is a fold without it, and undoing the
//! undo is a fold with it. A memory with late events is also folded from all its events (see
//! [`canonical`](super::canonical)). Rows that were shown stay in history: the change is a new version at the position
//! of the undo or of the import.

mod difference;
mod effects;
mod past;

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::{Facts, LogUndone};
use icm_log::{Event, EventId, Kind, Name, Position};

use super::apply::{Applied, Folder, Pending};
use super::base::{Access, Base};
use super::keep::{Ended, Keep};
use super::links::Link;
use super::memory::{self, stamp_of};
use super::overlay::Overlay;
use super::record::{EntityId, Version};
use super::state_hash::access_digest;
use super::undos::{InChain, Undo, Undos};
use crate::error::Result;

pub use difference::difference;
pub(super) use effects::hold;
pub use past::Past;

/// The effect of an undo on a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The memory.
    pub entity: EntityId,
    /// The row before; hidden or absent if the memory had no visible row.
    pub before: Version,
    /// The row after.
    pub after: Version,
    /// Outgoing links that change, in their state before: a link that [holds](Link::holds) is removed, another one is
    /// added.
    pub links: Vec<Link>,
}

impl Folder<Overlay> {
    /// Returns every undo so far.
    pub fn undos(&self, base: &dyn Base) -> Result<Undos> {
        if self.tally.undos == 0 {
            return Ok(Undos::default());
        }
        let mut all: BTreeMap<Position, Undo> = base
            .undos()?
            .into_iter()
            .map(|undo| (undo.position, undo))
            .collect();
        all.extend(self.kept.undos.clone());
        Ok(Undos::new(all))
    }

    /// Returns the memory that a name leads to: the memory stored under it, else the one moved to it.
    pub fn found(&self, base: &dyn Base, name: Name) -> Result<Option<EntityId>> {
        if name.is_zero() {
            return Ok(None);
        }
        if let Some(entity) = self.named(base, name)? {
            return Ok(Some(entity));
        }
        let moved = [base.moved(name)?, self.kept.moved.get(&name).copied()];
        let earliest = moved.into_iter().flatten().min();
        earliest
            .map(|(_, entity)| self.resolve(base, entity))
            .transpose()
    }

    /// Applies the next event of the walk.
    ///
    /// An event of an import is applied at once if it has seen all events of its memory so far. The rest is worked out
    /// at the import event itself, because all events of the import count as learned at that moment.
    pub fn apply_next(
        &mut self,
        base: &dyn Base,
        past: &dyn Past,
        event: &Event<'_>,
    ) -> Result<Applied> {
        if event.position <= self.tally.position {
            return Ok(Applied::default());
        }
        let mut in_force = true;
        if !event.own && self.tally.undos > 0 {
            if self.pending.undone.is_none() {
                self.pending.undone = Some(self.undos(base)?.undone());
            }
            in_force = !self.is_undone(&InChain::of(event));
        }
        let applied = self.apply_as(base, event, in_force)?;
        if event.head.kind() == Kind::LOG_UNDONE
            && let Facts::Undone(facts) = memory::facts_of(event)
        {
            self.pending.undos.push(Undo::of(event, &facts));
        }
        if event.own && !self.pending.is_empty() {
            self.settle(base, past, event)?;
        }
        Ok(applied)
    }

    /// Returns the changes that these undos would make.
    pub fn what_if(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        undos: &[LogUndone],
    ) -> Result<Vec<Change>> {
        let before = self.undos(base)?;
        let mut after = before.clone();
        let mut unwritten: Vec<Undo> = undos.iter().map(Undo::unwritten).collect();
        self.tell_branches(base, past, &mut unwritten)?;
        after.extend(unwritten);
        let effects = self.effects(base, past, &before, &after, &Pending::default())?;
        let rows = effects.rows.into_iter();
        let mut changes: BTreeMap<EntityId, Change> = rows
            .filter_map(|(entity, (before, after))| {
                let change = Change {
                    entity,
                    before: before?,
                    after,
                    links: Vec::new(),
                };
                Some((entity, change))
            })
            .collect();
        let turned: BTreeSet<EventId> = effects.links.iter().map(|link| link.event).collect();
        for link in effects.links {
            if self.is_said_otherwise(base, &link, &turned)? {
                continue;
            }
            let entity = self.resolve(base, link.from)?;
            if let Some(change) = changes.get_mut(&entity) {
                change.links.push(link);
            } else if let Some(row) = self.kept.newest(base, entity)? {
                let row = row.into_owned();
                let change = Change {
                    entity,
                    before: row.clone(),
                    after: row,
                    links: vec![link],
                };
                changes.insert(entity, change);
            }
        }
        Ok(changes.into_values().collect())
    }

    /// Returns `true` if another link that holds, and is not in `but`, states the same about the same memories.
    fn is_said_otherwise(
        &self,
        base: &dyn Base,
        link: &Link,
        but: &BTreeSet<EventId>,
    ) -> Result<bool> {
        let ends = |link: &Link| -> Result<_> {
            Ok((self.resolve(base, link.from)?, self.resolve(base, link.to)?))
        };
        let these = ends(link)?;
        if these.0 == these.1 {
            // Each confirmation counts by itself.
            return Ok(false);
        }
        for other in self.links(base, these.0)? {
            let same = (other.relation, &other.words) == (link.relation, &link.words);
            if same && other.holds() && !but.contains(&other.event) && ends(&other)? == these {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Works out the pending changes, as of this event.
    fn settle(&mut self, base: &dyn Base, past: &dyn Past, event: &Event<'_>) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let before = self.undos(base)?;
        let mut after = before.clone();
        if pending.learns {
            self.tell_branches(base, past, &mut after.0)?;
        }
        self.tell_branches(base, past, &mut pending.undos)?;
        after.extend(std::mem::take(&mut pending.undos));
        if after == before {
            self.pending.undone = pending.undone.take();
        }
        let effects = self.effects(base, past, &before, &after, &pending)?;
        for (entity, (was, mut version)) in effects.rows {
            version.from = event.position;
            version.stamp = stamp_of(event);
            version.kind = event.head.kind().0;
            version.actor = event.head.actor();
            version.changed = match &was {
                Some(was) => difference(was, &version),
                None => memory::given_in(&version),
            };
            version.ordinal = None;
            let ended = was.as_ref().map(Ended::of);
            if let Some(was) = &was {
                self.end_row(was);
            }
            self.push(entity, ended, version);
        }
        for (memory, recall, counts) in effects.digests {
            let digest = access_digest(memory, recall);
            match counts {
                true => self.tally.sum.add(digest),
                false => self.tally.sum.remove(digest),
            }
        }
        for (id, (count, last_ms)) in effects.accesses {
            let access = Access {
                position: event.position,
                at_ms: last_ms,
                counted: Some(count),
            };
            self.kept.access(id, access);
        }
        for link in effects.links {
            let held = link.holds();
            self.turn_link(link, held, !held, event.position);
        }
        for tick in effects.ticks {
            self.turn_tick(tick, event.position);
        }
        for (was, is) in before
            .0
            .iter()
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(&after.0)
        {
            if was != Some(is) {
                self.kept.undos.insert(is.position, is.clone());
            }
        }
        Ok(())
    }

    /// Returns the positions of the events about a memory, ascending.
    pub fn touched(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<Position>> {
        let mut positions = Vec::new();
        for id in self.ids_of(base, entity)? {
            positions.extend(base.touched(id)?);
            let versions = self.kept.versions.get(&id).into_iter().flatten();
            positions.extend(versions.map(|version| version.from));
            positions.extend(self.kept.waiting.get(&id).into_iter().flatten());
        }
        positions.sort_unstable();
        positions.dedup();
        Ok(positions)
    }
}
