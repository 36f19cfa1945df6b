//! Memories that are often recalled together, counted in the recorded recalls.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::Facts;
use icm_log::{Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::{InChain, Version};

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::ids::id_text;

/// Recalls that have to show two memories before they count as often together. Raised, fewer are named.
const OFTEN: usize = 3;
/// Memories that are named at most.
const NAMED_MAX: usize = 3;

impl Service {
    /// Returns the living memories that the newest `recalls` recalls of a memory showed with it most often, three times
    /// or more.
    ///
    /// A function of the recalls in force as of the position. Reads them from the log. That is cheap enough for one
    /// memory, but not for every result of every recall.
    pub(crate) fn often_together(
        &self,
        views: &Views,
        entity: SubjectId,
        position: Position,
        recalls: usize,
        wanted: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<Vec<String>> {
        let mut positions = views.access_positions(entity, position, recalls)?;
        if positions.len() < OFTEN {
            return Ok(Vec::new());
        }
        positions.reverse();
        let undos = views.undos()?.as_of(position);
        let mut recalls = Vec::with_capacity(positions.len());
        views.events_at(&self.log, &positions, &mut |event| {
            if let Ok(Facts::Recalled(facts)) = Facts::of(&event.head)
                && !undos.is_undone(&InChain::of(event))
            {
                recalls.push(facts.results);
            }
        })?;
        let mut times: BTreeMap<SubjectId, usize> = BTreeMap::new();
        for results in recalls {
            let mut shown = BTreeSet::new();
            for result in results {
                shown.insert(views.resolve(result.id)?);
            }
            shown.remove(&entity);
            for other in shown {
                *times.entry(other).or_default() += 1;
            }
        }
        let mut often: Vec<_> = times
            .into_iter()
            .filter(|(_, times)| *times >= OFTEN)
            .collect();
        often.sort_by_key(|(other, times)| (std::cmp::Reverse(*times), *other));
        let mut named = Vec::new();
        for (other, _) in often {
            let version = views.version_at(other, position)?;
            let version = version.filter(|version| version.is_alive() && wanted(version));
            named.extend(version.map(|version| id_text(version.id)));
            if named.len() == NAMED_MAX {
                break;
            }
        }
        Ok(named)
    }
}
