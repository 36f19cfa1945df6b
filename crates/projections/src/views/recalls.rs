//! The recalls that showed a memory.

use std::collections::BTreeSet;

use icm_log::facts::Facts;
use icm_log::{Event, EventId, Log, Position, SubjectId, Time};

use super::Views;
use crate::error::Result;
use crate::fold::{EntityId, InChain};

impl Views {
    /// Returns the number of recalls in force at `position` that showed a memory since `event` of the time `since`: those
    /// with a later time, and those whose refs name the event. The second kind may have an earlier time, if the clock of an
    /// author who knew the event was set back. Is exact only below `most`: only then the log is read for recalls that are
    /// not later, or if an undo affects which recalls count.
    pub fn recalls_since(
        &self,
        log: &Log,
        (entity, position): (EntityId, Position),
        (since, event): (Time, EventId),
        most: u64,
    ) -> Result<u64> {
        let ids = self.ids_at(entity, position)?;
        let mut counted = 0;
        let mut count = |recall: &Event<'_>| {
            let is_later = recall.head.time() > since;
            let counts = is_later || recall.head.refs().any(|named| named == event);
            counted += u64::from(counts);
        };
        let Some(times) = self.recall_times(&ids, position)? else {
            self.each_recall_in_force(log, &ids, position, &mut count)?;
            return Ok(counted);
        };
        let (later, others): (Vec<_>, Vec<_>) =
            (times.into_iter()).partition(|(_, ms)| *ms > since.ms());
        let later = later.len() as u64;
        if later < most {
            let others: Vec<Position> = others.into_iter().map(|(position, _)| position).collect();
            self.events_at(log, &others, &mut count)?;
        }
        Ok(later + counted)
    }

    /// Returns position and time, in milliseconds since the epoch, of the recalls up to `position` that showed one of the
    /// ids of a memory, by position. Returns `None` if an undo affects which of them count.
    pub(super) fn recall_times(
        &self,
        ids: &[SubjectId],
        position: Position,
    ) -> Result<Option<Vec<(Position, u64)>>> {
        let mut times = Vec::new();
        for id in ids {
            if !self.add_recall_times(*id, position, &mut times)? {
                return Ok(None);
            }
        }
        // A recall that showed several ids of the memory showed it once.
        times.sort_unstable();
        times.dedup_by_key(|(position, _)| *position);
        Ok(Some(times))
    }

    /// Adds position and time of the recalls up to `position` that showed an id. Returns `false` if an undo affects
    /// which of them count.
    fn add_recall_times(
        &self,
        id: SubjectId,
        position: Position,
        times: &mut Vec<(Position, u64)>,
    ) -> Result<bool> {
        let mut take = |at, ms| times.push((at, ms));
        if self.files.base.tally.events > 0
            && !self.table()?.access_times(id, position, &mut take)?
        {
            return Ok(false);
        }
        let newer = self.tail.folder.kept.accesses.get(&id);
        for access in newer.into_iter().flatten() {
            if access.position > position {
                continue;
            }
            if access.counted.is_some() {
                return Ok(false);
            }
            take(access.position, access.at_ms);
        }
        Ok(true)
    }

    /// Returns the times of the recalls in force at `position` that showed one of these ids, read from the log.
    pub(super) fn recall_times_in_force(
        &self,
        log: &Log,
        ids: &[SubjectId],
        position: Position,
    ) -> Result<Vec<Time>> {
        let mut times = Vec::new();
        let mut take = |event: &Event<'_>| times.push(event.head.time());
        self.each_recall_in_force(log, ids, position, &mut take)?;
        Ok(times)
    }

    /// Reads the recalls in force at `position` that showed one of these ids from the log.
    fn each_recall_in_force(
        &self,
        log: &Log,
        ids: &[SubjectId],
        position: Position,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<()> {
        let mut positions = BTreeSet::new();
        for id in ids {
            positions.extend(self.positions_of(*id, position, usize::MAX)?);
        }
        let positions: Vec<Position> = positions.into_iter().collect();
        let undos = self.undos()?.as_of(position);
        self.events_at(log, &positions, &mut |event| {
            let Ok(Facts::Recalled(facts)) = Facts::of(&event.head) else {
                return;
            };
            if undos.is_undone(&InChain::of(event)) {
                return;
            }
            if facts.results.iter().any(|shown| ids.contains(&shown.id)) {
                take(event);
            }
        })
    }
}
