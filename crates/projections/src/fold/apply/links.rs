//! Applies events that add, remove, undo or restore links.

use icm_log::facts::{MemoryLinked, Relation};
use icm_log::{Event, Kind, Position};

use super::{Applied, Folder};
use crate::error::Result;
use crate::fold::base::Base;
use crate::fold::keep::Keep;
use crate::fold::links::Link;
use crate::fold::record::EntityId;
use crate::fold::state_hash::link_digest;
use crate::fold::undos::InChain;

impl<K: Keep> Folder<K> {
    /// Returns every link from or to a memory that there ever was, in the order of positions.
    pub fn links(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<Link>> {
        if self.tally.links + self.tally.concept_links == 0 {
            return Ok(Vec::new());
        }
        let mut links = Vec::new();
        for id in self.ids_of(base, entity)? {
            links.extend(self.kept.links(base, id)?);
        }
        links.sort_by_key(|link: &Link| link.position);
        // A link between two ids of the memory stands under both ids.
        links.dedup_by_key(|link| link.position);
        Ok(links)
    }

    /// Adds the link of an event. Links are kept under the ids that their events name. The memories behind the ids are
    /// looked up when a link is shown: two ids may turn out late to be one memory.
    pub(super) fn linked(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        facts: &MemoryLinked,
        in_force: bool,
    ) -> Result<Applied> {
        let from = event.head.subject();
        self.kept.waits(from, event.position);
        let counts = match event.head.kind() {
            Kind::FEEDBACK_APPLIED => true,
            kind => kind == Kind::MEMORY_LINKED && facts.relation == Relation::SIMILAR_TO,
        };
        if from == facts.other && !counts {
            return Ok(Applied::default());
        }
        match event.head.kind() {
            Kind::CONCEPT_LINKED => self.tally.concept_links += 1,
            _ => self.tally.links += 1,
        }
        let removed_by = match event.own {
            // No earlier event could name a link of this machine.
            true => Vec::new(),
            false => self.kept.unlinks(base, event.id)?,
        };
        let mut removed = removed_by.iter();
        let holds = in_force && removed.all(|removed| self.is_undone(removed));
        let link = Link::of(event, facts, removed_by);
        self.turn_link(link, false, holds, event.position);
        Ok(Applied::default())
    }

    pub(super) fn unlinked(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        in_force: bool,
    ) -> Result<Applied> {
        self.kept.waits(event.head.subject(), event.position);
        let by = InChain::of(event);
        for named in event.head.refs() {
            let Some(mut link) = self.kept.link_of(base, named)? else {
                self.kept.unlinks_later(named, by, in_force);
                continue;
            };
            link.removed_by.push(by);
            let held = link.holds();
            self.turn_link(link, held, held && !in_force, event.position);
        }
        Ok(Applied::default())
    }

    /// Keeps a link, and records that it holds or not from a position on. `held` is its state before.
    pub(in crate::fold) fn turn_link(
        &mut self,
        mut link: Link,
        held: bool,
        holds: bool,
        position: Position,
    ) {
        if held != holds {
            link.held.turn(holds, position);
            match holds {
                true => self.tally.sum.add(link_digest(&link)),
                false => self.tally.sum.remove(link_digest(&link)),
            }
        }
        self.kept.link(link);
    }
}
