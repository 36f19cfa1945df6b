//! The parts of a consolidation of many memories. Its summary covers the parts as it covers memories; answers show
//! memories alone.

use icm_log::facts::Facts;
use icm_log::{CommandId, Kind, Position, SubjectId};
use icm_projections::Views;

use crate::command::NEWEST;
use crate::service::Service;
use crate::snapshot::QueryResult;

impl Service {
    /// Returns the summary of a part, which the same command stored. For any other id, returns its own memory.
    pub(crate) fn summary_of(
        &self,
        views: &Views,
        id: SubjectId,
        command: CommandId,
    ) -> QueryResult<SubjectId> {
        let entity = views.resolve(id)?;
        let versions = views.versions(entity, NEWEST)?;
        let mut covered = versions.iter().filter(|version| {
            version.kind() == Kind::MEMORY_CONSOLIDATED && version.is_forgotten()
        });
        let Some(covered) = covered.next() else {
            return Ok(entity);
        };
        let (by, _) = self.consolidation_at(views, covered.from, command)?;
        Ok(views.resolve(by.unwrap_or(entity))?)
    }

    /// Returns the memories that a consolidation covers, with those of its parts in place of the parts, by id.
    pub(crate) fn without_parts(
        &self,
        views: &Views,
        covers: Vec<SubjectId>,
        command: CommandId,
    ) -> QueryResult<Vec<SubjectId>> {
        let mut memories = Vec::with_capacity(covers.len());
        for id in covers {
            let first = views
                .versions(views.resolve(id)?, NEWEST)?
                .into_iter()
                .next();
            let stored = first.filter(|first| first.kind() == Kind::MEMORY_CONSOLIDATED);
            let (part, covers) = match stored {
                Some(stored) => self.consolidation_at(views, stored.from, command)?,
                None => (None, Vec::new()),
            };
            match part {
                Some(_) => memories.extend(covers),
                None => memories.push(id),
            }
        }
        memories.sort_unstable();
        Ok(memories)
    }

    /// Returns the consolidation of a command at a position: its summary, and the ids that it covers.
    fn consolidation_at(
        &self,
        views: &Views,
        position: Position,
        command: CommandId,
    ) -> QueryResult<(Option<SubjectId>, Vec<SubjectId>)> {
        let mut found = (None, Vec::new());
        views.events_at(&self.log, &[position], &mut |event| {
            if event.head.command() == command
                && let Ok(Facts::Consolidated(facts)) = Facts::of(&event.head)
            {
                let covers = facts.covers.iter().map(|covered| covered.id);
                found = (Some(event.head.subject()), covers.collect());
            }
        })?;
        Ok(found)
    }
}
