//! The weight of a memory as of a position, computed on demand.

use std::collections::BTreeSet;
use std::sync::Arc;

use icm_log::facts::Facts;
use icm_log::{Log, Position, SubjectId};

use super::Views;
use crate::error::Result;
use crate::fold::{EntityId, InChain, Schedule, Tick, Version, day_of};

impl Views {
    /// Returns the weight of a version at `position`, in parts per million. Costs nothing without ticks. With ticks,
    /// reads the recalls that showed the memory, and the log if some of them were undone.
    pub fn weight_at(
        &self,
        log: &Log,
        entity: EntityId,
        version: &Version,
        position: Position,
    ) -> Result<u32> {
        if self.tally().ticks == 0 {
            return Ok(version.weight_ppm);
        }
        let schedule = self.schedule_at(position)?;
        self.weight_by(&schedule, log, entity, version, position)
    }

    /// As [`Views::weight_at`], with the [schedule](Views::schedule_at) of that position: for many versions at several
    /// positions.
    pub fn weight_by(
        &self,
        schedule: &Schedule,
        log: &Log,
        entity: EntityId,
        version: &Version,
        position: Position,
    ) -> Result<u32> {
        let (created, importance) = (day_of(version.created_ms), version.importance);
        if !schedule.reaches(created, importance) {
            return Ok(version.weight_ppm);
        }
        let recalls = self.recall_days(log, entity, position)?;
        Ok(schedule.weight_ppm(created, importance, &recalls))
    }

    /// Returns the ticks in force at `position` that have an effect.
    pub fn schedule_at(&self, position: Position) -> Result<Arc<Schedule>> {
        let tally = self.tally();
        if tally.ticks == 0 {
            return Ok(Arc::default());
        }
        // The ticks in force at an earlier position never change.
        if position < tally.position {
            return Ok(Arc::new(Schedule::of(self.ticks_in_force(position)?)));
        }
        if let Some(schedule) = self.tail.schedule.get() {
            return Ok(Arc::clone(schedule));
        }
        let now = Arc::new(Schedule::of(self.ticks_in_force(tally.position)?));
        Ok(Arc::clone(self.tail.schedule.get_or_init(|| now)))
    }

    /// Returns the ticks in force now for days after this one: those of a clock that was wrong.
    pub fn ticks_after(&self, day: u32) -> Result<Vec<Tick>> {
        if self.tally().ticks == 0 {
            return Ok(Vec::new());
        }
        let ticks = self.ticks_in_force(self.tally().position)?;
        Ok(ticks.filter(|tick| tick.as_of_day > day).cloned().collect())
    }

    fn ticks_in_force(&self, position: Position) -> Result<impl Iterator<Item = &Tick>> {
        let newer = &self.tail.folder.kept.ticks;
        let older: &[Tick] = match self.files.base.tally.ticks {
            0 => &[],
            _ => self.table()?.ticks()?,
        };
        let older = older
            .iter()
            .filter(|tick| !newer.contains_key(&tick.position));
        let all = older.chain(newer.values());
        Ok(all.filter(move |tick| tick.held.holds(position)))
    }

    /// Returns the UTC days of the recalls in force at `position` that showed a memory, ascending.
    fn recall_days(&self, log: &Log, entity: EntityId, position: Position) -> Result<Vec<u32>> {
        let ids = self.ids_at(entity, position)?;
        let mut times = Vec::new();
        for id in &ids {
            if !self.recall_times(*id, position, &mut times)? {
                return self.recall_days_in_force(log, &ids, position);
            }
        }
        // A recall that showed several ids of the memory showed it once.
        times.sort_unstable();
        times.dedup_by_key(|(position, _)| *position);
        let mut days: Vec<u32> = times.iter().map(|(_, ms)| day_of(*ms)).collect();
        days.sort_unstable();
        Ok(days)
    }

    /// Adds position and time of the recalls up to `position` that showed an id. Returns `false` if an undo affects
    /// which of them count.
    fn recall_times(
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

    /// Returns the same days, read from the log.
    fn recall_days_in_force(
        &self,
        log: &Log,
        ids: &[SubjectId],
        position: Position,
    ) -> Result<Vec<u32>> {
        let mut positions = BTreeSet::new();
        for id in ids {
            positions.extend(self.positions_of(*id, position, usize::MAX)?);
        }
        let positions: Vec<Position> = positions.into_iter().collect();
        let undos = self.undos()?.as_of(position);
        let mut days = Vec::new();
        self.events_at(log, &positions, &mut |event| {
            let Ok(Facts::Recalled(facts)) = Facts::of(&event.head) else {
                return;
            };
            if undos.is_undone(&InChain::of(event)) {
                return;
            }
            if facts.results.iter().any(|shown| ids.contains(&shown.id)) {
                days.push(day_of(event.head.time().ms()));
            }
        })?;
        days.sort_unstable();
        Ok(days)
    }
}
