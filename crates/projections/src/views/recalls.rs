//! The times of the recalls that showed a memory.

use std::collections::BTreeSet;

use icm_log::facts::Facts;
use icm_log::{Log, Position, SubjectId, Time};

use super::Views;
use crate::error::Result;
use crate::fold::{EntityId, InChain};

impl Views {
    /// Returns the number of recalls in force at `position` that showed a memory and whose time is after `since`. Reads the
    /// log for recalls in the millisecond of `since`, and if an undo affects which recalls count.
    pub fn recalls_after(
        &self,
        log: &Log,
        entity: EntityId,
        position: Position,
        since: Time,
    ) -> Result<u64> {
        let ids = self.ids_at(entity, position)?;
        let mut after = 0;
        let Some(times) = self.recall_times(&ids, position)? else {
            let times = self.recall_times_in_force(log, &ids, position)?;
            after += times.iter().filter(|time| **time > since).count();
            return Ok(after as u64);
        };
        let mut close = Vec::new();
        for (position, ms) in times {
            match ms.cmp(&since.ms()) {
                std::cmp::Ordering::Greater => after += 1,
                std::cmp::Ordering::Equal => close.push(position),
                std::cmp::Ordering::Less => {}
            }
        }
        self.events_at(log, &close, &mut |event| {
            after += usize::from(event.head.time() > since);
        })?;
        Ok(after as u64)
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
        let mut positions = BTreeSet::new();
        for id in ids {
            positions.extend(self.positions_of(*id, position, usize::MAX)?);
        }
        let positions: Vec<Position> = positions.into_iter().collect();
        let undos = self.undos()?.as_of(position);
        let mut times = Vec::new();
        self.events_at(log, &positions, &mut |event| {
            let Ok(Facts::Recalled(facts)) = Facts::of(&event.head) else {
                return;
            };
            if undos.is_undone(&InChain::of(event)) {
                return;
            }
            if facts.results.iter().any(|shown| ids.contains(&shown.id)) {
                times.push(event.head.time());
            }
        })?;
        Ok(times)
    }
}
