//! The weights of living memories as of now: from row facts, and from the table for memories that recalls slow down in
//! fading.

use icm_log::facts::Importance;
use icm_projections::fold::day_of;
use icm_projections::{Row, Views};
use rustc_hash::FxHashMap;

use crate::service::Service;
use crate::snapshot::QueryResult;

/// The full weight, in parts per million.
pub(super) const FULL_PPM: u32 = 1_000_000;

impl Service {
    /// Returns `true` if every living memory has its full weight.
    pub(super) fn all_weigh_full(&self, views: &Views) -> QueryResult<bool> {
        let schedule = views.schedule_at(views.tally().position)?;
        Ok(schedule.last_day().is_none())
    }

    /// Calls `each` with the row facts of every living memory and its weight in parts per million. Reads the table only
    /// for memories that recalls showed.
    pub(crate) fn each_weighed(
        &self,
        views: &Views,
        each: &mut dyn FnMut(&Row, u32),
    ) -> QueryResult<()> {
        let position = views.tally().position;
        let schedule = views.schedule_at(position)?;
        if self.all_weigh_full(views)? {
            return views.each_living(&mut |row| {
                each(row, FULL_PPM);
                Ok(())
            });
        }
        let shown = views.shown_by_recalls()?;
        let mut weights: FxHashMap<(u32, Importance), u32> = FxHashMap::default();
        views.each_living(&mut |row| {
            let (day, importance) = (day_of(row.created_ms), row.facts.importance);
            let weight = *weights
                .entry((day, importance))
                .or_insert_with(|| schedule.weight_ppm(day, importance, &[]));
            let weight = match shown.contains(&row.entity) && schedule.reaches(day, importance) {
                true => match views.version_at(row.entity, position)? {
                    Some(version) => {
                        views.weight_by(&schedule, &self.log, row.entity, &version, position)?
                    }
                    None => weight,
                },
                false => weight,
            };
            each(row, weight);
            Ok(())
        })
    }
}
