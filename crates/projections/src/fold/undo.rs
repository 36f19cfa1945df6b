//! What undoing events, and learning of them late, makes of the rows.
//!
//! A row is the fold of the events in force about it, so undoing an event is folding without it, and
//! undoing the undo is folding with it again. A memory that was late is folded from all its events,
//! too (see [`canonical`](super::canonical)). Rows that were shown stay in history: what changes is a
//! new version at the position of the undo, or of the import.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::{Facts, LogUndone, UndoneRange};
use icm_log::{Event, EventId, Kind, Name, Position, SubjectId};

use super::apply::{Applied, Folder, Pending};
use super::base::{Access, Base, Learned};
use super::branches::{Named, Places};
use super::canonical::{Held, fold_all};
use super::decay::Tick;
use super::keep::{Ended, Keep};
use super::links::Link;
use super::memory::{self, stamp_of};
use super::overlay::Overlay;
use super::record::{EntityId, Version, changed};
use super::state_hash::access_digest;
use super::texts::Owned;
use super::undos::{InChain, Undo, Undos};
use crate::error::Result;

/// Reads events that were folded already.
pub trait Past {
    /// Hands out the events at these positions, which ascend.
    fn events_at(&self, positions: &[Position], take: &mut dyn FnMut(&Event<'_>)) -> Result<()>;
    /// Hands out the events of a range, as far as they are of the walked chains, ascending.
    fn events_in(&self, range: &UndoneRange, take: &mut dyn FnMut(&Event<'_>)) -> Result<()>;
}

/// What an undo makes of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The memory.
    pub entity: EntityId,
    /// Its row before; hidden or absent where there is none to show.
    pub before: Version,
    /// Its row after.
    pub after: Version,
    /// Links out from it that come or go, as they are before: one that [holds](Link::holds) goes.
    pub links: Vec<Link>,
}

/// What changes when events are undone or come late.
#[derive(Default)]
struct Effects {
    rows: BTreeMap<EntityId, (Option<Version>, Version)>,
    /// By id: how often recalls that are in force showed it, and when last.
    accesses: BTreeMap<SubjectId, (u64, u64)>,
    /// Shown id, recall, and whether it counts from now on.
    digests: Vec<(SubjectId, EventId, bool)>,
    /// Links that hold from now on or do not, which is the other way round than before.
    links: Vec<Link>,
    /// The same of ticks.
    ticks: Vec<Tick>,
}

/// Events whose being in force changes, by what they touch.
#[derive(Default)]
struct Toggled {
    memories: BTreeSet<EntityId>,
    recalls: Vec<(SubjectId, EventId, bool)>,
    /// Events that added links.
    links: BTreeSet<EventId>,
    /// Where ticks are.
    ticks: BTreeSet<Position>,
    /// Two ranges may name one event.
    seen: BTreeSet<EventId>,
}

/// Memories are folded anew so many events at a time, as all of them are held meanwhile.
const REFOLD_EVENTS: usize = 100_000;

impl Folder<Overlay> {
    /// Every undo so far.
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

    /// The memory that a name leads to: the one stored under it, else the one moved to it.
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
    /// What an import brings is folded event by event as far as each has seen all that there is of
    /// its memory. The rest is worked out when the import itself comes, which is the moment that all
    /// of it was learned at.
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

    /// What these undos would make of the rows.
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

    /// Whether a link that holds, other than these, says the same of the same memories.
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
            // Each confirmation counts.
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

    /// Works out what is pending, as of this event.
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

    fn effects(
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

    /// The events that `after` puts in force or takes out of it, beside those that `before` did.
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
        // Those that are new come after the others.
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
                        Facts::Recalled(facts) => {
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

    fn learned(&self, base: &dyn Base) -> Result<Vec<Learned>> {
        let mut learned = base.imported()?;
        learned.extend(&self.kept.imported);
        Ok(learned)
    }

    /// Says of each undo what is on other branches than what it names, as far as was learned.
    fn tell_branches(&self, base: &dyn Base, past: &dyn Past, undos: &mut [Undo]) -> Result<()> {
        if self.tally.imports == 0 || undos.is_empty() {
            return Ok(());
        }
        let places = Places::imported(self.learned(base)?.iter());
        for undo in undos {
            let mut beside = Vec::new();
            for range in undo.facts() {
                let imported = places.within(&range);
                if imported.is_empty() {
                    continue;
                }
                let mut branches = places.branch_in(&range);
                past.events_in(&range, &mut |event| {
                    let (seq, mut imported) = (event.head.seq(), imported.iter());
                    branches |= imported.any(|(from, to)| *from <= seq && seq <= *to);
                })?;
                if branches {
                    let mut named = Named::default();
                    self.each_of(base, past, &range, &mut |event| {
                        if event.position <= self.tally.position {
                            named.add(event);
                        }
                    })?;
                    beside.extend(named.beside(&range));
                }
            }
            undo.is_beside(beside);
        }
        Ok(())
    }

    /// Hands out the events of a range that were learned so far: those of the walked chains and those
    /// that imports brought.
    fn each_of(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        range: &UndoneRange,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<()> {
        past.events_in(range, take)?;
        if self.tally.imports == 0 {
            return Ok(());
        }
        let mut positions = Vec::new();
        for learned in self
            .learned(base)?
            .iter()
            .filter(|one| one.origin == range.origin)
        {
            let first = range.from_seq.max(learned.from_seq).0;
            let last = range.to_seq.min(learned.to_seq).0;
            let position = |seq: u64| Position(learned.first.0 + (seq - learned.from_seq.0));
            positions.extend((first..=last).map(position));
        }
        positions.sort_unstable();
        past.events_at(&positions, take)
    }

    /// Positions of the events about a memory, ascending.
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

    /// Hands out the rows of these memories as the events in force make them.
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

    /// How often recalls in force showed an id, and when the last one did.
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
    /// The memories whose rows an event has a say in, and what it says of each.
    pub(super) fn parts(
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

/// Keeps an event for each of these memories that it has a say in.
pub(super) fn hold(
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

/// What differs between two rows of a memory, as bits of fields and of [`changed`].
pub fn difference(before: &Version, after: &Version) -> u32 {
    use icm_log::facts::fields;
    if before.hidden && after.hidden {
        return 0;
    }
    let words = |version: &Version| {
        let keywords = version.keywords.iter();
        keywords
            .map(|keyword| (keyword.event, keyword.index))
            .collect::<BTreeSet<_>>()
    };
    let scope = |version: &Version| (version.scope_kind, version.scope.clone());
    let withheld = before.withheld ^ after.withheld;
    [
        (fields::TOPIC, before.topic != after.topic),
        (fields::CONTENT, before.content != after.content),
        (fields::RAW_EXCERPT, before.raw_excerpt != after.raw_excerpt),
        (fields::IMPORTANCE, before.importance != after.importance),
        (fields::SCOPE, scope(before) != scope(after)),
        (fields::KEY, before.key != after.key),
        (fields::SOURCE, before.source != after.source),
        (
            fields::OCCURRED_AT,
            before.occurred_at_ms != after.occurred_at_ms,
        ),
        (fields::METADATA, before.metadata != after.metadata),
        (fields::TRUST, before.trust != after.trust),
        (fields::CONFIDENCE, before.graph != after.graph),
        (changed::KEYWORDS, words(before) != words(after)),
        (
            changed::ALIVE,
            before.is_alive() != after.is_alive() || before.hidden != after.hidden,
        ),
        (
            changed::ROW,
            before.writers != after.writers
                || before.causal_length != after.causal_length
                || (
                    before.id,
                    before.created_ms,
                    before.updated_ms,
                    before.carried,
                    before.weight_ppm,
                ) != (
                    after.id,
                    after.created_ms,
                    after.updated_ms,
                    after.carried,
                    after.weight_ppm,
                ),
        ),
    ]
    .iter()
    .filter(|(_, differs)| *differs)
    .fold(withheld, |all, (bit, _)| all | bit)
}
