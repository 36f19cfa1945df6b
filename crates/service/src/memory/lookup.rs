//! Look-ups of the memory that a command names, in the state that the command needs.

use icm_log::Kind;
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;

impl Service {
    /// Returns `NotFound` if the store is empty. Asking for a memory does not make a store.
    pub(crate) fn refuse_unknown(&self, id: &str) -> Result<()> {
        match self.is_empty()? {
            false => Ok(()),
            true => Err(ServiceError::NotFound {
                what: "memory",
                id: id.to_owned(),
                nearest: Vec::new(),
            }),
        }
    }

    pub(crate) fn newest(&self, views: &Views, id: &str) -> QueryResult<Version> {
        let entity = self.find_memory(views, id)?;
        let version = views.version_at(entity, views.tally().position)?;
        version.ok_or_else(|| ServiceError::Internal("a memory without a version".into()).into())
    }

    pub(crate) fn living(&self, views: &Views, id: &str) -> QueryResult<Version> {
        let version = self.newest(views, id)?;
        if version.is_alive() {
            return Ok(version);
        }
        if version.hidden {
            return Err(hidden_error(&version).into());
        }
        let id = id_text(version.id);
        if let Some(summary) = self.consolidated_into(views, &version)? {
            let event = version.stamp.event.to_string();
            return Err(ServiceError::nothing(
                format!("memory {id} was consolidated into {summary}"),
                format!(
                    "change the summary, or bring this one back first: `icm revive {id}`; all of \
                     them come back with `icm undo {}`",
                    &event[..12]
                ),
            )
            .into());
        }
        Err(ServiceError::nothing(
            format!("memory {id} is forgotten"),
            format!("bring it back first: `icm revive {id}`"),
        )
        .into())
    }
}

/// Returns the newest versions of the memories in a topic, living or not.
pub(crate) fn newest_of_topic(views: &Views, topic: &str) -> QueryResult<Vec<Version>> {
    let newest = views.tally().position;
    let mut versions = Vec::new();
    for entity in views.members(topic)? {
        if let Some(version) = views.version_at(entity, newest)?
            && !version.is_part()
            && version
                .topic
                .as_deref()
                .is_some_and(|name| icm_projections::topic_fits(topic, name))
        {
            versions.push(version);
        }
    }
    Ok(versions)
}

/// Returns the error for a memory that an undo hides.
pub(crate) fn hidden_error(version: &Version) -> ServiceError {
    let (id, event) = (id_text(version.id), version.stamp.event.to_string());
    let hint = match version.kind() {
        Kind::LOG_UNDONE => format!("bring it back with `icm undo {}`", &event[..12]),
        _ => "`icm log --kind log.undone` lists what was undone".to_owned(),
    };
    ServiceError::nothing(format!("memory {id} was undone"), hint)
}
