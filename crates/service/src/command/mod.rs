//! Commands: from what a caller asks to events in the log.
//!
//! A command takes the lock, sees what others appended, decides, appends and gives the lock up; so
//! what it names as observed is what there is.

mod author;
pub(crate) mod batch;
mod change;
mod choice;
pub(crate) mod secrets;
#[cfg(test)]
mod tests;
pub(crate) mod transaction;
mod validated;

use std::time::Duration;

use icm_log::env::random_16;
use icm_log::{
    Appended, CommandId, Durability, Kind, NewEvent, Position, Refusal, RequestKey, Rewritten,
};
use icm_projections::Views;
use icm_projections::fold::{Source, Version};
use serde::Serialize;

use crate::command::secrets::Guard;
use crate::service::{Service, locked};
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::limits::{REQUEST_ID_LEN_MAX, SOURCE_LEN_MAX};
use icm_api::{Action, Caller, Receipt, StoreRequest, UpdateRequest};

pub(crate) use author::Author;
pub(crate) use batch::{Command, actor_of, check_caller};
pub(crate) use change::{Change, next_length, turned};
pub(crate) use choice::{Choice, settled, still_forgotten};
pub(crate) use validated::{Scope, ValidatedStore};

/// How long a record of a recall waits for the lock.
const RECORD_WAIT: Duration = Duration::from_millis(50);

impl Service {
    pub(crate) fn refuse_read_only(&self) -> Result<()> {
        match self.options.read_only {
            true => Err(ServiceError::ReadOnly {
                why: "it was opened read-only".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Appends one batch that may get lost with the machine's power. `read`: what the files were like
    /// that it speaks of; where they were written anew since, as by a redaction, it is dropped.
    pub(crate) fn append_lazily(
        &self,
        caller: &Caller,
        events: Vec<NewEvent>,
        read: &Rewritten,
    ) -> Result<()> {
        Guard::new(&self.secrets, false).caller(caller)?;
        let held = locked(&self.views);
        let Some(views) = held.as_ref() else {
            return Ok(());
        };
        // What a command would be refused for.
        if views.tally().newer.is_some() || views.stopped().is_some() {
            return Ok(());
        }
        let env = &*self.ground.env;
        let writer = self.log.begin(env, RECORD_WAIT)?;
        if self.log.rewritten() != *read || self.log.redaction_pending() {
            return Ok(());
        }
        let id = CommandId(random_16(env));
        let request = RequestKey::ZERO;
        let mut command = Command {
            service: self,
            writer,
            id,
            caller,
            request,
            named: false,
            appended: false,
        };
        command.append(views, events)?;
        Ok(command.writer.commit(Durability::Lazy)?)
    }

    /// Why writes are refused, if they are.
    pub fn refusal(&self) -> Option<Refusal> {
        self.log.refusal()
    }

    pub(crate) fn check_source(&self, caller: &Caller, given: &icm_api::Source) -> Result<Source> {
        let pick = |what: &str, given: &Option<String>, own: &Option<String>| {
            let value = given
                .as_ref()
                .or(own.as_ref())
                .filter(|text| !text.trim().is_empty());
            if let Some(text) = value {
                limits::optional_text(what, text, SOURCE_LEN_MAX)?;
            }
            Ok::<_, ServiceError>(value.cloned())
        };
        Ok(Source {
            agent: pick("the source's agent", &given.agent, &None)?,
            client: pick("the source's client", &given.client, &caller.client)?,
            session: pick("the source's session", &given.session, &caller.session)?,
            project: pick("the source's project", &given.project, &caller.project)?,
            file: pick("the source's file", &given.file, &None)?,
        })
    }

    /// What is wrong with an argument, without a secret that the argument holds.
    pub(crate) fn without_its_secrets(&self, error: ServiceError) -> ServiceError {
        match error {
            ServiceError::Invalid { message, hint } => ServiceError::Invalid {
                message: self.secrets.masked(&message).unwrap_or(message),
                hint,
            },
            other => other,
        }
    }
}

pub(crate) fn receipt(
    before: &Version,
    event: Appended,
    action: Action,
    topic: Option<String>,
) -> Receipt {
    Receipt {
        id: id_text(before.id),
        event: event.event.to_string(),
        position: event.position.0,
        action,
        topic: topic.or_else(|| before.topic.clone()).unwrap_or_default(),
        similar: None,
        warnings: Vec::new(),
        crowded: None,
        confirmed: false,
    }
}

pub(crate) fn unchanged(before: &Version) -> Receipt {
    Receipt {
        id: id_text(before.id),
        event: before.stamp.event.to_string(),
        position: before.from.0,
        action: Action::Unchanged,
        topic: before.topic.clone().unwrap_or_default(),
        similar: None,
        warnings: Vec::new(),
        crowded: None,
        confirmed: false,
    }
}

/// An idempotency key as the caller gave it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestKeyOf<'a>(pub(crate) Option<&'a str>);

/// The receipt of the command that an idempotency key was used for before, if it was.
pub(crate) fn first_receipt(
    command: &Command<'_>,
    views: &Views,
    digest: &Option<String>,
    request_id: RequestKeyOf<'_>,
) -> QueryResult<Option<Receipt>> {
    let RequestKeyOf(Some(request_id)) = request_id else {
        return Ok(None);
    };
    let Some(first) = views.request(command.request)? else {
        return Ok(None);
    };
    if first.digest.is_some() && first.digest != *digest {
        return Err(ServiceError::Conflict {
            request_id: (command.service.secrets.masked(request_id))
                .unwrap_or_else(|| request_id.to_owned()),
        }
        .into());
    }
    let entity = views.resolve(first.subject)?;
    let version = views.version_at(entity, first.position)?;
    let topic = version
        .and_then(|version| version.topic)
        .unwrap_or_default();
    Ok(Some(Receipt {
        id: id_text(first.subject),
        event: first.event.to_string(),
        position: first.position.0,
        action: match Kind(first.kind) {
            Kind::MEMORY_STORED | Kind::MEMORY_CONSOLIDATED => Action::Stored,
            Kind::MEMORY_REVIVED => Action::Revived,
            Kind::MEMORY_FORGOTTEN => Action::Forgotten,
            Kind::MEMORY_LINKED => Action::Unchanged,
            _ => Action::Updated,
        },
        confirmed: Kind(first.kind) == Kind::MEMORY_LINKED,
        topic,
        similar: None,
        warnings: Vec::new(),
        crowded: None,
    }))
}

/// Digest of a command that came with an idempotency key.
pub(crate) fn digest_of<T: Serialize>(
    request_id: &Option<String>,
    shape: &T,
) -> Result<Option<String>> {
    let Some(request_id) = request_id else {
        return Ok(None);
    };
    limits::text("the request id", request_id, REQUEST_ID_LEN_MAX)?;
    let bytes =
        serde_json::to_vec(shape).map_err(|error| ServiceError::Internal(error.to_string()))?;
    Ok(Some(blake3::hash(&bytes).to_hex()[..32].to_owned()))
}

pub(crate) fn request_shape(request: &StoreRequest) -> impl Serialize + '_ {
    (
        (
            "store",
            &request.topic,
            &request.content,
            request.importance,
            &request.keywords,
        ),
        (
            &request.raw_excerpt,
            &request.key,
            &request.occurred_at,
            &request.source,
        ),
        (&request.metadata, &request.scope, request.trust),
    )
}

pub(crate) fn update_shape(request: &UpdateRequest) -> impl Serialize + '_ {
    (
        (
            "update",
            &request.id,
            &request.content,
            request.importance,
            &request.keywords,
        ),
        (&request.topic, &request.scope),
    )
}

/// Where a position lies after everything.
pub(crate) const NEWEST: Position = Position(u64::MAX);
