//! The weight of a memory as of a position, computed on demand.

use std::sync::Arc;

use icm_log::{Log, Position};

use super::Views;
use crate::error::Result;
use crate::fold::{EntityId, Schedule, Tick, Version, day_of};

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
        let mut days: Vec<u32> = match self.recall_times(&ids, position)? {
            Some(times) => times.iter().map(|(_, ms)| day_of(*ms)).collect(),
            None => {
                let times = self.recall_times_in_force(log, &ids, position)?;
                times.into_iter().map(|time| day_of(time.ms())).collect()
            }
        };
        days.sort_unstable();
        Ok(days)
    }
}
