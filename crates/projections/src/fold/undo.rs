//! Undo: which events are in force, and what their undoing makes of the rows.
//!
//! An event is effective when no effective undo names it. A row is the fold of the effective events
//! about it in the order of positions, so undoing an event is folding without it, and undoing the
//! undo is folding with it again. Rows that were shown stay in history: what an undo changes is a
//! new version at its own position.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::{Facts, LogUndone, UndoneRange};
use icm_log::{Event, EventId, Kind, OriginId, Position, Seq, SubjectId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::apply::{Access, Applied, Base, Ended, Folder, Keep};
use super::links::Link;
use super::memory::{self, stamp_of};
use super::overlay::Overlay;
use super::record::{EntityId, Version, changed};
use super::state_hash::access_digest;
use super::texts::Owned;
use crate::error::Result;

/// Reads events that were folded already.
pub trait Past {
    /// Hands out the events at these positions, which ascend.
    fn events_at(&self, positions: &[Position], take: &mut dyn FnMut(&Event<'_>)) -> Result<()>;
    /// Hands out the events of a range, as far as they are held, ascending.
    fn events_in(&self, range: &UndoneRange, take: &mut dyn FnMut(&Event<'_>)) -> Result<()>;
}

/// An undo that was folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Its position.
    pub position: Position,
    /// The event.
    pub event: EventId,
    /// Its author.
    pub origin: OriginId,
    /// Its place in the author's chain.
    pub seq: Seq,
    /// What it names: origin, first and last seq, id of the last.
    pub ranges: Vec<(OriginId, Seq, Seq, EventId)>,
    /// Whether it is in force.
    pub effective: bool,
}

impl Undo {
    fn of(event: &Event<'_>, facts: &LogUndone) -> Undo {
        let (origin, seq) = (event.head.origin(), event.head.seq());
        let ranges = facts.ranges.iter().filter_map(|range| {
            // Nothing is undone before it is there.
            let to_seq = match range.origin == origin {
                true => range.to_seq.min(Seq(seq.0 - 1)),
                false => range.to_seq,
            };
            (range.from_seq <= to_seq).then_some((range.origin, range.from_seq, to_seq, range.head))
        });
        Undo {
            position: event.position,
            event: event.id,
            origin,
            seq,
            ranges: ranges.collect(),
            effective: true,
        }
    }

    fn holds(&self, origin: OriginId, seq: Seq) -> bool {
        let holds = |range: &(OriginId, Seq, Seq, EventId)| {
            range.0 == origin && range.1 <= seq && seq <= range.2
        };
        self.ranges.iter().any(holds)
    }
}

/// Every undo, by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undos(Vec<Undo>);

impl Undos {
    pub(crate) fn new(all: BTreeMap<Position, Undo>) -> Undos {
        Undos(all.into_values().collect())
    }

    /// Takes the next one in and says anew which are in force.
    pub(super) fn push(&mut self, event: &Event<'_>, facts: &LogUndone) {
        self.0.push(Undo::of(event, facts));
        self.settle();
    }

    /// The same with an undo that is not written yet.
    fn with(&self, ranges: &[UndoneRange]) -> Undos {
        let mut with = self.clone();
        with.0.push(Undo {
            position: Position(u64::MAX),
            event: EventId::ZERO,
            origin: OriginId::ZERO,
            seq: Seq(0),
            ranges: ranges
                .iter()
                .map(|range| (range.origin, range.from_seq, range.to_seq, range.head))
                .collect(),
            effective: true,
        });
        with.settle();
        with
    }

    /// Only a later undo can name one, so the newest is in force and tells of those before it.
    fn settle(&mut self) {
        for at in (0..self.0.len()).rev() {
            let (before, later) = self.0.split_at_mut(at + 1);
            let undo = &mut before[at];
            undo.effective = !later
                .iter()
                .any(|later| later.effective && later.holds(undo.origin, undo.seq));
        }
    }

    /// Whether an event is undone.
    pub fn is_undone(&self, origin: OriginId, seq: Seq) -> bool {
        self.in_force(origin, seq).next().is_some()
    }

    /// The undos in force that name an event, oldest first.
    pub fn in_force(&self, origin: OriginId, seq: Seq) -> impl Iterator<Item = &Undo> {
        let undos = self.0.iter();
        undos.filter(move |undo| undo.effective && undo.holds(origin, seq))
    }

    /// The undo that an event is.
    pub fn get(&self, event: EventId) -> Option<&Undo> {
        self.0.iter().find(|undo| undo.event == event)
    }

    /// Events that are undone, by chain: sorted ranges that do not meet.
    pub(super) fn undone(&self) -> Undone {
        let mut ranges: FxHashMap<OriginId, Vec<(Seq, Seq)>> = FxHashMap::default();
        for undo in self.0.iter().filter(|undo| undo.effective) {
            for (origin, from, to, _) in &undo.ranges {
                ranges.entry(*origin).or_default().push((*from, *to));
            }
        }
        for ranges in ranges.values_mut() {
            ranges.sort_unstable();
            ranges.dedup_by(|next, kept| {
                let meets = next.0 <= kept.1;
                if meets {
                    kept.1 = kept.1.max(next.1);
                }
                meets
            });
        }
        Undone(ranges)
    }
}

/// Events that are undone, to be asked about often.
pub(super) struct Undone(FxHashMap<OriginId, Vec<(Seq, Seq)>>);

impl Undone {
    pub(super) fn holds(&self, origin: OriginId, seq: Seq) -> bool {
        let Some(ranges) = self.0.get(&origin) else {
            return false;
        };
        let after = ranges.partition_point(|range| range.0 <= seq);
        after > 0 && seq <= ranges[after - 1].1
    }
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
    /// It has other links after it.
    pub links: bool,
}

/// Rows and accesses that an undo changes.
#[derive(Default)]
struct Effects {
    rows: BTreeMap<EntityId, (Version, Version)>,
    /// By memory: how often recalls that are in force showed it, and when last.
    accesses: BTreeMap<EntityId, (u64, u64)>,
    /// Shown memory, recall, and whether it counts from now on.
    digests: Vec<(SubjectId, EventId, bool)>,
    /// Links that hold from now on or do not, which is the other way round than before.
    links: Vec<(EntityId, Link)>,
}

/// Events whose being in force changes, by what they touch.
#[derive(Default)]
struct Toggled {
    memories: BTreeSet<EntityId>,
    recalls: Vec<(SubjectId, EventId, bool)>,
    /// By the memory that they go out from: events that added links.
    links: BTreeMap<EntityId, Vec<EventId>>,
    /// Two ranges may name one event.
    seen: BTreeSet<EventId>,
}

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

    /// Applies the next event of the walk, which may be an undo.
    pub fn apply_next(
        &mut self,
        base: &dyn Base,
        past: &dyn Past,
        event: &Event<'_>,
    ) -> Result<Applied> {
        if event.head.kind() != Kind::LOG_UNDONE || event.position <= self.tally.position {
            return self.apply(base, event);
        }
        let applied = self.apply(base, event)?;
        if let Facts::Undone(facts) = memory::facts_of(event) {
            self.undo(base, past, event, &facts)?;
        }
        Ok(applied)
    }

    /// What undoing these events would make of the rows.
    pub fn what_if(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        ranges: &[UndoneRange],
    ) -> Result<Vec<Change>> {
        let before = self.undos(base)?;
        let after = before.with(ranges);
        let effects = self.effects(base, past, &before, &after)?;
        let rows = effects.rows.into_iter();
        let mut changes: BTreeMap<EntityId, Change> = rows
            .map(|(entity, (before, after))| {
                let change = Change {
                    entity,
                    before,
                    after,
                    links: false,
                };
                (entity, change)
            })
            .collect();
        for (entity, _) in effects.links {
            if let Some(change) = changes.get_mut(&entity) {
                change.links = true;
            } else if let Some(row) = self.kept.newest(base, entity)? {
                let row = row.into_owned();
                let change = Change {
                    entity,
                    before: row.clone(),
                    after: row,
                    links: true,
                };
                changes.insert(entity, change);
            }
        }
        Ok(changes.into_values().collect())
    }

    fn undo(
        &mut self,
        base: &dyn Base,
        past: &dyn Past,
        event: &Event<'_>,
        facts: &LogUndone,
    ) -> Result<()> {
        let before = self.undos(base)?;
        let mut after = before.clone();
        after.push(event, facts);
        let effects = self.effects(base, past, &before, &after)?;
        for (entity, (was, mut version)) in effects.rows {
            version.from = event.position;
            version.stamp = stamp_of(event);
            version.kind = event.head.kind().0;
            version.actor = event.head.actor();
            version.changed = difference(&was, &version);
            version.ordinal = None;
            let newest = self.kept.newest(base, entity)?;
            let ended = newest.map(|newest| Ended::of(&newest));
            self.end_row(&was);
            self.push(entity, ended, version);
        }
        for (memory, recall, counts) in effects.digests {
            let digest = access_digest(memory, recall);
            match counts {
                true => self.tally.sum.add(digest),
                false => self.tally.sum.remove(digest),
            }
        }
        for (entity, (count, last_ms)) in effects.accesses {
            let access = Access {
                position: event.position,
                at_ms: last_ms,
                counted: Some(count),
            };
            self.kept.access(entity, access);
        }
        for (_, link) in effects.links {
            let held = link.holds();
            self.turn_link(base, link, held, !held, event.position)?;
        }
        for (was, is) in before.0.iter().map(Some).chain([None]).zip(&after.0) {
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
    ) -> Result<Effects> {
        let toggled = self.toggled(base, past, before, after)?;
        let mut effects = Effects::default();
        for (entity, after) in self.refold(base, past, &toggled.memories, after)? {
            let Some(newest) = self.kept.newest(base, entity)? else {
                continue;
            };
            if difference(&newest, &after) != 0 || newest.length_seen != after.length_seen {
                effects.rows.insert(entity, (newest.into_owned(), after));
            }
        }
        let mut shown = BTreeSet::new();
        for (memory, ..) in &toggled.recalls {
            shown.insert(self.resolve(base, *memory)?);
        }
        for entity in shown {
            let counted = self.accesses_in_force(base, past, entity, after)?;
            effects.accesses.insert(entity, counted);
        }
        effects.digests = toggled.recalls;
        for (entity, named) in &toggled.links {
            let links = self.links_from(base, *entity, named)?.into_iter();
            let turned = links.filter(|link| link.holds() != link.counts(after));
            effects.links.extend(turned.map(|link| (*entity, link)));
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
        let was = |undo: &Undo| before.get(undo.event).is_some_and(|undo| undo.effective);
        for undo in after.0.iter().filter(|undo| was(undo) != undo.effective) {
            for (origin, from_seq, to_seq, head) in &undo.ranges {
                let range = UndoneRange {
                    origin: *origin,
                    from_seq: *from_seq,
                    to_seq: *to_seq,
                    head: *head,
                };
                past.events_in(&range, &mut |event| {
                    let (origin, seq) = (event.head.origin(), event.head.seq());
                    let counts = !after.is_undone(origin, seq);
                    if counts != before.is_undone(origin, seq) || !toggled.seen.insert(event.id) {
                        return;
                    }
                    let facts = memory::facts_of(event);
                    let added: Vec<EventId> = match &facts {
                        Facts::Linked(_) => vec![event.id],
                        Facts::Unlinked => event.head.refs().collect(),
                        _ => Vec::new(),
                    };
                    if !added.is_empty() {
                        match self.resolve(base, event.head.subject()) {
                            Ok(from) => toggled.links.entry(from).or_default().extend(added),
                            Err(error) => failed = Some(error),
                        }
                    }
                    match facts {
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

    /// The memories whose rows an event has a say in, and what it says of each.
    fn parts(
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
                for covered in facts.covers {
                    if let Some(facts) = memory::covering(&covered) {
                        parts.push((self.resolve(base, covered.id)?, facts));
                    }
                }
                Ok(parts)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Positions of the events about a memory, ascending.
    pub fn touched(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<Position>> {
        let mut positions = base.touched(entity)?;
        let versions = self.kept.versions.get(&entity).into_iter().flatten();
        positions.extend(versions.map(|version| version.from));
        positions.extend(self.kept.waiting.get(&entity).into_iter().flatten());
        positions.sort_unstable();
        positions.dedup();
        Ok(positions)
    }

    /// The rows of these memories as the events in force make them.
    fn refold(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        entities: &BTreeSet<EntityId>,
        undos: &Undos,
    ) -> Result<BTreeMap<EntityId, Version>> {
        let mut positions = Vec::new();
        for entity in entities {
            positions.extend(self.touched(base, *entity)?);
        }
        positions.sort_unstable();
        positions.dedup();
        let undone = undos.undone();
        let mut rows: BTreeMap<EntityId, Version> = BTreeMap::new();
        let mut failed = None;
        past.events_at(&positions, &mut |event| {
            let parts = self.parts(base, event, memory::facts_of(event));
            let in_force = !undone.holds(event.head.origin(), event.head.seq());
            match parts {
                Ok(mut parts) => {
                    parts.retain(|(entity, _)| entities.contains(entity));
                    for (entity, facts) in parts {
                        let before = rows.get(&entity);
                        if let Some(row) = memory::next(&mut Owned, event, &facts, before, in_force)
                        {
                            rows.insert(entity, row);
                        }
                    }
                }
                Err(error) => failed = Some(error),
            }
        })?;
        match failed {
            Some(error) => Err(error),
            None => Ok(rows),
        }
    }

    /// How often recalls in force showed a memory, and when the last one did.
    fn accesses_in_force(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        entity: EntityId,
        undos: &Undos,
    ) -> Result<(u64, u64)> {
        let mut positions = base.accessed(entity)?;
        let new = self.kept.accesses.get(&entity).into_iter().flatten();
        positions.extend(
            new.filter(|access| access.counted.is_none())
                .map(|a| a.position),
        );
        positions.dedup();
        let undone = undos.undone();
        let mut failed = None;
        let (mut count, mut last_ms) = (0, 0);
        past.events_at(&positions, &mut |event| {
            let Facts::Recalled(facts) = memory::facts_of(event) else {
                return;
            };
            if undone.holds(event.head.origin(), event.head.seq()) {
                return;
            }
            for shown in &facts.results {
                match self.resolve(base, shown.id) {
                    Ok(id) if id == entity => {
                        count += 1;
                        last_ms = event.head.time().ms();
                    }
                    Ok(_) => {}
                    Err(error) => failed = Some(error),
                }
            }
        })?;
        match failed {
            Some(error) => Err(error),
            None => Ok((count, last_ms)),
        }
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
                    before.weight_ppm,
                ) != (
                    after.id,
                    after.created_ms,
                    after.updated_ms,
                    after.weight_ppm,
                ),
        ),
    ]
    .iter()
    .filter(|(_, differs)| *differs)
    .fold(withheld, |all, (bit, _)| all | bit)
}
