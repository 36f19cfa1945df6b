//! Folds the whole log for a comparison: only the newest rows, without history, packed to save memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use icm_log::facts::Facts;
use icm_log::{Cursor, Event, EventId, Kind, Log, Name, Position, RequestKey, SubjectId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::apply::Folder;
use super::base::{Access, Base, Learned, NoBase, Request};
use super::branches::{Named, Places};
use super::canonical::{Held, fold_all};
use super::decay::Tick;
use super::keep::{Ended, Keep, Row};
use super::links::Link;
use super::memory::facts_of;
use super::packed::{pack, unpack};
use super::record::{EntityId, Stamp};
use super::state_hash::row_digest;
use super::tally::Tally;
use super::texts::{Arena, Texts};
use super::undo::hold;
use super::undos::{InChain, Undo, Undone, Undos};
use crate::error::Result;

/// Events between two reports of progress: 10,000. A larger value reports less often.
const PROGRESS_EVENTS: u64 = 10_000;
/// Bytes of records of late memories that are folded at a time: 64 MiB. A larger value takes more memory and fewer
/// passes.
const LATE_LEN: usize = 64 * 1_024 * 1_024;
/// Fewest replaced rows at which rows are compacted, if they also outnumber the others: 10,000. A larger value takes
/// more memory.
const REPLACED_MIN: usize = 10_000;

/// Folds the whole log from nothing, without history, and returns the tally at its end. `progress` gets the number of
/// folded events now and then.
pub fn fold_afresh(log: &Log, progress: &mut dyn FnMut(u64)) -> Result<Tally> {
    let mut undos = Vec::new();
    let mut folder = Folder::<Newest>::default();
    let (mut places, mut walked) = (Places::default(), FxHashMap::default());
    scan(log, &mut |event| {
        places.note(&mut walked, event);
        if event.head.kind() == Kind::LOG_UNDONE
            && let Facts::Undone(facts) = facts_of(event)
        {
            undos.push(Undo::of(event, &facts));
        }
        // With an undo in the log, only its end tells which events count.
        if undos.is_empty() {
            folder.apply_as(&NoBase, event, true)?;
            folder.report(progress);
        }
        Ok(())
    })?;
    let mut undone = Undone::default();
    if !undos.is_empty() {
        for (origin, (from, to)) in walked {
            places.add(origin, from, to);
        }
        tell_branches(log, &places, &mut undos)?;
        let mut all = Undos::default();
        all.extend(undos);
        undone = all.undone();
        folder = Folder::default();
        scan(log, &mut |event| {
            let in_force = !undone.holds(&InChain::of(event));
            folder.apply_as(&NoBase, event, in_force)?;
            folder.report(progress);
            Ok(())
        })?;
    }
    folder.fold_late(log, &undone)?;
    Ok(folder.sum_up())
}

/// Records for each undo which events stand on other branches than the named ones.
fn tell_branches(log: &Log, places: &Places, undos: &mut [Undo]) -> Result<()> {
    let all = undos.iter().enumerate();
    let all = all.flat_map(|(at, undo)| undo.facts().map(move |range| (at, range)));
    let mut branched: Vec<_> = all
        .filter(|(_, range)| places.branch_in(range))
        .map(|(at, range)| (at, range, Named::default()))
        .collect();
    if branched.is_empty() {
        return Ok(());
    }
    scan(log, &mut |event| {
        let (origin, seq) = (event.head.origin(), event.head.seq());
        for (_, range, named) in &mut branched {
            if range.holds(origin, seq) {
                named.add(event);
            }
        }
        Ok(())
    })?;
    let mut beside: BTreeMap<usize, Vec<EventId>> = BTreeMap::new();
    for (at, range, named) in branched {
        beside.entry(at).or_default().extend(named.beside(&range));
    }
    for (at, beside) in beside {
        undos[at].is_beside(beside);
    }
    Ok(())
}

fn scan(log: &Log, each: &mut dyn FnMut(&Event<'_>) -> Result<()>) -> Result<()> {
    let mut result = Ok(());
    log.scan(&Cursor::START, &mut |event| {
        result = each(event);
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    result
}

/// The newest row of each memory, and the state that a fold needs beside the rows.
#[derive(Default)]
struct Newest {
    rows: PackedRows,
    places: FxHashMap<EntityId, usize>,
    replaced: usize,
    names: FxHashMap<Name, EntityId>,
    aliases: FxHashMap<SubjectId, EntityId>,
    ids: FxHashMap<EntityId, Vec<SubjectId>>,
    /// Ids under which events waited.
    waiting: FxHashSet<SubjectId>,
    /// The links that hold, by the event that added them. No other link can be removed later.
    links: FxHashMap<EventId, Link>,
    /// Links that were removed before they were learned.
    unlinked: FxHashSet<EventId>,
}

impl Keep for Newest {
    type Texts = Arena;
    const SUMS_AT_END: bool = true;

    fn newest<'a>(&'a self, _: &dyn Base, entity: EntityId) -> Result<Option<Cow<'a, Row<Self>>>> {
        let place = self.places.get(&entity);
        Ok(place.map(|place| Cow::Owned(unpack(self.rows.get(*place), true))))
    }

    fn named(&self, name: Name) -> Option<EntityId> {
        self.names.get(&name).copied()
    }

    fn alias(&self, id: SubjectId) -> Option<EntityId> {
        self.aliases.get(&id).copied()
    }

    fn put(
        &mut self,
        texts: &mut Arena,
        entity: EntityId,
        before: Option<Ended<Self>>,
        version: Row<Self>,
    ) {
        let place = self.rows.push(&version);
        let older = self.places.insert(entity, place);
        // A row that replaces none is added beside the present rows.
        if let (Some(older), Some(_)) = (older, before) {
            self.rows.drop_row(older);
            self.replaced += 1;
            if self.replaced > REPLACED_MIN.max(self.places.len()) {
                self.compact(texts);
            }
        }
    }

    fn name(&mut self, name: Name, entity: EntityId) {
        self.names.entry(name).or_insert(entity);
    }

    fn moved(&mut self, _: Name, _: Stamp, _: EntityId) {}

    fn set_alias(&mut self, id: SubjectId, entity: EntityId, _: Position) {
        self.aliases.insert(id, entity);
        self.ids.entry(entity).or_default().push(id);
    }

    fn aliases(&self, _: &dyn Base, entity: EntityId) -> Result<Vec<(SubjectId, Position)>> {
        let ids = self.ids.get(&entity).into_iter().flatten();
        Ok(ids.map(|id| (*id, Position(0))).collect())
    }

    fn is_touched(&self, _: &dyn Base, id: SubjectId) -> Result<bool> {
        Ok(self.places.contains_key(&id) || self.waiting.contains(&id))
    }

    fn waits(&mut self, id: SubjectId, _: Position) {
        self.waiting.insert(id);
    }

    fn access(&mut self, _: SubjectId, _: Access) {}

    fn link(&mut self, link: Link) {
        match link.holds() {
            true => self.links.insert(link.event, link),
            false => self.links.remove(&link.event),
        };
    }

    /// A fold without history never reads links.
    fn links(&self, _: &dyn Base, _: SubjectId) -> Result<Vec<Link>> {
        Ok(Vec::new())
    }

    fn link_of(&self, _: &dyn Base, event: EventId) -> Result<Option<Link>> {
        Ok(self.links.get(&event).cloned())
    }

    fn unlinks_later(&mut self, link: EventId, _: InChain, in_force: bool) {
        if in_force {
            self.unlinked.insert(link);
        }
    }

    fn unlinks(&self, _: &dyn Base, link: EventId) -> Result<Vec<InChain>> {
        let unlinked = self.unlinked.contains(&link);
        Ok(Vec::from_iter(unlinked.then_some(InChain::NOWHERE)))
    }

    /// Ticks are part of the sum; a fold without history never reads them.
    fn tick(&mut self, _: Tick) {}

    fn planned(&mut self, _: SubjectId) {}

    fn imported(&mut self, _: Learned) {}

    fn request(&mut self, _: RequestKey, _: impl FnOnce() -> Request) {}
}

impl Newest {
    /// Copies the rows that still count, so that many changes of few memories do not fill the memory.
    fn compact(&mut self, texts: &mut Arena) {
        let (mut rows, mut kept) = (PackedRows::default(), Arena::default());
        let mut moved = FxHashMap::default();
        self.rows.each(|place, bytes| {
            let mut row = unpack(bytes, true);
            let words = row.keywords.iter_mut().map(|keyword| &mut keyword.text);
            for text in words {
                *text = text.map(|text| kept.keep(texts.get(&text)));
            }
            for text in row.texts_mut() {
                *text = text.map(|text| kept.keep(texts.get(&text)));
            }
            moved.insert(place, rows.push(&row));
        });
        for place in self.places.values_mut() {
            *place = moved[place];
        }
        self.rows = rows;
        self.replaced = 0;
        *texts = kept;
    }
}

/// Packed rows, one after the other, each with its length in front.
#[derive(Default)]
struct PackedRows {
    bytes: Vec<u8>,
}

const LEN_LEN: usize = 4;
/// Bit in a length that marks a dropped row.
const DROPPED: u32 = 1 << 31;

impl PackedRows {
    fn push(&mut self, row: &Row<Newest>) -> usize {
        let place = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LEN_LEN]);
        pack(row, &mut self.bytes);
        let len = (self.bytes.len() - place - LEN_LEN) as u32;
        self.bytes[place..place + LEN_LEN].copy_from_slice(&len.to_le_bytes());
        place
    }

    fn len_at(&self, place: usize) -> u32 {
        let (len, _) = self.bytes[place..]
            .split_first_chunk()
            .expect("a row starts here");
        u32::from_le_bytes(*len)
    }

    fn get(&self, place: usize) -> &[u8] {
        let len = (self.len_at(place) & !DROPPED) as usize;
        &self.bytes[place + LEN_LEN..][..len]
    }

    fn drop_row(&mut self, place: usize) {
        let len = self.len_at(place) | DROPPED;
        self.bytes[place..place + LEN_LEN].copy_from_slice(&len.to_le_bytes());
    }

    /// Gives the rows that were not dropped to `take`, with their places.
    fn each(&self, mut take: impl FnMut(usize, &[u8])) {
        let mut place = 0;
        while place < self.bytes.len() {
            let row = self.get(place);
            if self.len_at(place) & DROPPED == 0 {
                take(place, row);
            }
            place += LEN_LEN + row.len();
        }
    }
}

impl Folder<Newest> {
    fn report(&self, progress: &mut dyn FnMut(u64)) {
        if self.tally.events.is_multiple_of(PROGRESS_EVENTS) {
            progress(self.tally.events);
        }
    }

    /// Folds the late memories from all their events, in portions of [`LATE_LEN`] bytes of records.
    fn fold_late(&mut self, log: &Log, undone: &Undone) -> Result<()> {
        if self.pending.late.is_empty() {
            return Ok(());
        }
        let mut sizes: BTreeMap<EntityId, usize> =
            self.pending.late.iter().map(|late| (*late, 0)).collect();
        scan(log, &mut |event| {
            let parts = self.parts(&NoBase, event, facts_of(event))?;
            // An event is held once for all memories that it is about.
            let share = event.place.len / parts.len().max(1);
            for (entity, _) in parts {
                if let Some(size) = sizes.get_mut(&entity) {
                    *size += share;
                }
            }
            Ok(())
        })?;
        let mut late = sizes.into_iter().peekable();
        while late.peek().is_some() {
            let mut held: BTreeMap<EntityId, Vec<Held>> = BTreeMap::new();
            let mut len = 0;
            while let Some((entity, size)) = late.next_if(|_| len < LATE_LEN) {
                len += size;
                held.insert(entity, Vec::new());
            }
            scan(log, &mut |event| {
                let parts = self.parts(&NoBase, event, facts_of(event))?;
                let in_force = !undone.holds(&InChain::of(event));
                hold(&mut held, event, parts, in_force);
                Ok(())
            })?;
            for (entity, held) in held {
                if let Some(row) = fold_all(&mut self.texts, &held) {
                    let before = self.kept.newest(&NoBase, entity)?.map(Cow::into_owned);
                    if let Some(before) = &before {
                        self.end_row(before);
                    }
                    self.push(entity, before.as_ref().map(Ended::of), row);
                }
            }
        }
        Ok(())
    }

    /// Returns the tally with every living row in its sum.
    fn sum_up(self) -> Tally {
        let Folder {
            mut tally,
            kept,
            texts,
            ..
        } = self;
        kept.rows.each(|_, bytes| {
            let row = unpack(bytes, false);
            if row.is_alive() {
                tally.sum.add(row_digest(&texts, &row));
            }
        });
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::packed::tests::row;

    #[test]
    fn many_changes_of_few_memories_take_little_room() {
        let (one, other, still) = ([1; 16], [2; 16], [3; 16]);
        let [one, other, still] = [one, other, still].map(SubjectId);
        let mut folder = Folder::<Newest>::default();
        let quiet = row(&mut folder.texts);
        folder.kept.put(&mut folder.texts, still, None, quiet);
        for n in 0..25_000_u64 {
            for entity in [one, other] {
                let before = folder.kept.newest(&NoBase, entity).expect("no base");
                let ended = before.as_deref().map(Ended::of);
                let mut row = row(&mut folder.texts);
                row.content = Some(folder.texts.keep(&format!("{n} of {entity}")));
                folder.kept.put(&mut folder.texts, entity, ended, row);
            }
        }
        assert!(folder.kept.replaced <= REPLACED_MIN);
        let mut rows = 0;
        folder.kept.rows.each(|_, _| rows += 1);
        assert_eq!(rows, 3);
        for entity in [one, other] {
            let row = folder.kept.newest(&NoBase, entity).expect("no base");
            let row = row.expect("it is there");
            let text = row.content.map(|text| folder.texts.get(&text).to_owned());
            assert_eq!(text, Some(format!("24999 of {entity}")));
            assert_eq!(row.writers.len(), 1);
        }
        let row = folder.kept.newest(&NoBase, still).expect("no base");
        let row = row.expect("it is there");
        let texts = row
            .texts()
            .map(|text| text.map(|text| folder.texts.get(&text).to_owned()));
        let expected = std::array::from_fn(|n| Some(n.to_string()));
        assert_eq!(texts, expected);
    }
}
