//! The authors of a memory.

use icm_log::facts::fields;
use icm_log::{ActorId, Position};
use icm_projections::Views;
use icm_projections::fold::{Stamp, Version};

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::when::rfc3339;
use icm_api::{Author, Authors};

impl Service {
    /// Returns who wrote the shown text of a row, and who made the row. The trust of an earlier writer says nothing about a
    /// later text: unless it was set again since, the trust is that of the text's actor. Reads the row's versions.
    pub(crate) fn authors(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
    ) -> QueryResult<Option<Authors>> {
        let Some(wrote) = shown_writer(version, fields::CONTENT) else {
            return Ok(None);
        };
        let versions = views.versions(views.resolve(version.id)?, position)?;
        let mut by_version = versions.iter();
        let known = by_version.find(|version| version.stamp.event == wrote.event);
        let actor = match known {
            Some(version) => Some(version.actor),
            None => self.actor_of(views, version, wrote)?,
        };
        let (Some(actor), Some(first)) = (actor, versions.first()) else {
            return Ok(None);
        };
        let named = |actor| self.actor_name(views, actor);
        let name = named(actor);
        let is_trusted_since = shown_writer(version, fields::TRUST) >= Some(wrote);
        let trust = Author::trust_of(&name).filter(|_| !is_trusted_since);
        let made = Author {
            actor: named(version.author),
            trust: first.trust.into(),
            at: rfc3339(version.id_stamp.time.ms()),
        };
        Ok(Some(Authors {
            text: Author {
                trust: trust.unwrap_or(version.trust.into()),
                at: rfc3339(wrote.time.ms()),
                actor: name,
            },
            first: Some(made).filter(|_| version.author != actor),
        }))
    }

    /// Returns the actor of an event about a row that made no version.
    fn actor_of(
        &self,
        views: &Views,
        version: &Version,
        wrote: Stamp,
    ) -> QueryResult<Option<ActorId>> {
        let touched = views.touched(views.resolve(version.id)?)?;
        let mut actor = None;
        views.events_at(&self.log, &touched, &mut |event| {
            if event.id == wrote.event {
                actor = Some(event.head.actor());
            }
        })?;
        Ok(actor)
    }
}

/// Returns the stamp of the event that gave the shown value of a field.
fn shown_writer(version: &Version, field: u32) -> Option<Stamp> {
    let writers = version.writers.iter();
    let of_field = writers.filter(|writer| writer.fields & field != 0);
    of_field.map(|writer| writer.stamp).max()
}

#[cfg(test)]
mod tests;
