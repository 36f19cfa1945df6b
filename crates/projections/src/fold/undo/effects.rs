//! Effects of undone and late events on rows, accesses, links and ticks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::Facts;
use icm_log::{Event, EventId, Position, SubjectId};

use super::difference::difference;
use super::past::Past;
use crate::error::Result;
use crate::fold::apply::{Folder, Pending};
use crate::fold::base::Base;
use crate::fold::canonical::{Held, fold_all};
use crate::fold::decay::Tick;
use crate::fold::keep::Keep;
use crate::fold::links::Link;
use crate::fold::memory;
use crate::fold::overlay::Overlay;
use crate::fold::record::{EntityId, Version};
use crate::fold::texts::Owned;
use crate::fold::undos::{InChain, Undo, Undos};

/// The changes after events are undone or come late.
#[derive(Default)]
pub(super) struct Effects {
    pub(super) rows: BTreeMap<EntityId, (Option<Version>, Version)>,
    /// By id: the number of recalls in force that showed it, and the time of the last one.
    pub(super) accesses: BTreeMap<SubjectId, (u64, u64)>,
    /// The shown id, the recall, and `true` if the recall counts from now on.
    pub(super) digests: Vec<(SubjectId, EventId, bool)>,
    /// Links whose state changes: they hold from now on, or no longer.
    pub(super) links: Vec<Link>,
    /// Ticks whose state changes.
    pub(super) ticks: Vec<Tick>,
}

/// The events that come into force or out of it, by the things that they change.
#[derive(Default)]
struct Toggled {
    memories: BTreeSet<EntityId>,
    recalls: Vec<(SubjectId, EventId, bool)>,
    /// The events that added links.
    links: BTreeSet<EventId>,
    /// The positions of ticks.
    ticks: BTreeSet<Position>,
    /// The events so far: two ranges may name one event.
    seen: BTreeSet<EventId>,
}

/// Events of memories that are folded again at a time: 100,000, all held in memory. A larger value takes more memory.
const REFOLD_EVENTS: usize = 100_000;

impl Folder<Overlay> {
    pub(super) fn effects(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        before: &Undos,
        after: &Undos,
        pending: &Pending,
    ) -> Result<Effects> {
        let mut toggled = self.toggled(base, past, before, after)?;
        toggled.memories.extend(&pending.late);
        let mut effects = Effects::default();
        self.refold(base, past, &toggled.memories, after, &mut |entity, row| {
            let newest = self.kept.newest(base, entity)?.map(Cow::into_owned);
            let same = newest.as_ref().is_some_and(|newest| {
                let kept = |row: &Version| (row.length_seen, row.hidden, row.id, row.id_stamp);
                difference(newest, &row) == 0
                    && kept(newest) == kept(&row)
                    && newest.heads() == row.heads()
            });
            if !same {
                effects.rows.insert(entity, (newest, row));
            }
            Ok(())
        })?;
        let shown = toggled.recalls.iter().map(|(id, ..)| *id);
        let shown: BTreeSet<_> = shown.chain(pending.recount.iter().copied()).collect();
        for id in shown {
            let counted = self.accesses_in_force(base, past, id, after)?;
            effects.accesses.insert(id, counted);
        }
        effects.digests = toggled.recalls;
        for added in &toggled.links {
            if let Some(link) = self.kept.link_of(base, *added)?
                && link.holds() != link.counts(after)
            {
                effects.links.push(link);
            }
        }
        for position in toggled.ticks {
            effects.ticks.extend(self.kept.tick_at(base, position)?);
        }
        Ok(effects)
    }

    /// Returns the events that are in force under `after` or `before`, but not under both.
    fn toggled(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        before: &Undos,
        after: &Undos,
    ) -> Result<Toggled> {
        let mut toggled = Toggled::default();
        let mut failed = None;
        let changed = |(undo, was): &(&Undo, Option<&Undo>)| match was {
            None => undo.effective,
            Some(was) if was.effective && undo.effective => was.beside != undo.beside,
            Some(was) => was.effective != undo.effective,
        };
        // New undos come after the others.
        let was = before.0.iter().map(Some).chain(std::iter::repeat(None));
        for (undo, _) in after.0.iter().zip(was).filter(changed) {
            for range in undo.facts() {
                self.each_of(base, past, &range, &mut |event| {
                    let at = InChain::of(event);
                    let counts = !after.is_undone(&at);
                    if counts != before.is_undone(&at) || !toggled.seen.insert(event.id) {
                        return;
                    }
                    match memory::facts_of(event) {
                        Facts::Linked(_) => _ = toggled.links.insert(event.id),
                        Facts::Unlinked => toggled.links.extend(event.head.refs()),
                        Facts::Decayed(_) => _ = toggled.ticks.insert(event.position),
                        Facts::Recalled(facts) if facts.is_asked() => {
                            let shown = facts.results.iter();
                            let shown = shown.map(|shown| (shown.id, event.id, counts));
                            toggled.recalls.extend(shown);
                        }
                        facts => match self.parts(base, event, facts) {
                            Ok(parts) => {
                                let touched = parts.into_iter().map(|(entity, _)| entity);
                                toggled.memories.extend(touched);
                            }
                            Err(error) => failed = Some(error),
                        },
                    }
                })?;
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(toggled),
        }
    }

    /// Folds these memories again from the events in force, and gives their rows to `take`.
    fn refold(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        entities: &BTreeSet<EntityId>,
        undos: &Undos,
        take: &mut dyn FnMut(EntityId, Version) -> Result<()>,
    ) -> Result<()> {
        let undone = undos.undone();
        let mut entities = entities.iter().copied().peekable();
        while entities.peek().is_some() {
            let mut positions = Vec::new();
            let mut held: BTreeMap<EntityId, Vec<Held>> = BTreeMap::new();
            while let Some(entity) = entities.next_if(|_| positions.len() < REFOLD_EVENTS) {
                positions.extend(self.touched(base, entity)?);
                held.insert(entity, Vec::new());
            }
            positions.sort_unstable();
            positions.dedup();
            let mut failed = None;
            past.events_at(&positions, &mut |event| match self.parts(
                base,
                event,
                memory::facts_of(event),
            ) {
                Ok(parts) => {
                    let in_force = !undone.holds(&InChain::of(event));
                    hold(&mut held, event, parts, in_force);
                }
                Err(error) => failed = Some(error),
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
            for (entity, held) in held {
                if let Some(row) = fold_all(&mut Owned, &held) {
                    take(entity, row)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the number of recalls in force that showed an id, and the time of the last one.
    fn accesses_in_force(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        id: SubjectId,
        undos: &Undos,
    ) -> Result<(u64, u64)> {
        let mut positions = base.accessed(id)?;
        let new = self.kept.accesses.get(&id).into_iter().flatten();
        positions.extend(
            new.filter(|access| access.counted.is_none())
                .map(|a| a.position),
        );
        positions.dedup();
        let undone = undos.undone();
        let (mut count, mut last_ms) = (0, 0);
        past.events_at(&positions, &mut |event| {
            let Facts::Recalled(facts) = memory::facts_of(event) else {
                return;
            };
            if undone.holds(&InChain::of(event)) {
                return;
            }
            for _ in facts.results.iter().filter(|shown| shown.id == id) {
                count += 1;
                last_ms = event.head.time().ms().max(last_ms);
            }
        })?;
        Ok((count, last_ms))
    }
}

impl<K: Keep> Folder<K> {
    /// Returns the memories whose rows an event affects, with the facts about each.
    pub(in crate::fold) fn parts(
        &self,
        base: &dyn Base,
        event: &Event<'_>,
        facts: Facts,
    ) -> Result<Vec<(EntityId, Facts)>> {
        let subject = || self.resolve(base, event.head.subject());
        match facts {
            Facts::Stored(_) | Facts::Updated(_) | Facts::Forgotten(_) | Facts::Revived(_) => {
                Ok(vec![(subject()?, facts)])
            }
            Facts::Consolidated(facts) => {
                let mut parts = vec![(subject()?, Facts::Stored(facts.stored))];
                parts.extend(self.covered(base, &facts.covers)?);
                Ok(parts)
            }
            Facts::Pruned(facts) => self.covered(base, &facts.covers),
            _ => Ok(Vec::new()),
        }
    }
}

/// Holds an event for each of the memories in `held` that it affects.
pub(in crate::fold) fn hold(
    held: &mut BTreeMap<EntityId, Vec<Held>>,
    event: &Event<'_>,
    parts: Vec<(EntityId, Facts)>,
    in_force: bool,
) {
    let mut by_memory: BTreeMap<EntityId, Vec<Facts>> = BTreeMap::new();
    for (entity, facts) in parts {
        if held.contains_key(&entity) {
            by_memory.entry(entity).or_default().push(facts);
        }
    }
    if by_memory.is_empty() {
        return;
    }
    let event = Held::of(event, in_force);
    for (entity, parts) in by_memory {
        held.entry(entity).or_default().push(event.saying(parts));
    }
}
