//! Commands: from what a caller asks to events in the log.
//!
//! A command takes the lock, sees what others appended, decides, appends and gives the lock up; so
//! what it names as observed is what there is.

pub(crate) mod batch;
mod change;
mod choice;
pub(crate) mod secrets;
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
use crate::history::undo::hidden_error;
use crate::service::{Ask, Service, locked};
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::limits::{REQUEST_ID_LEN_MAX, SOURCE_LEN_MAX};
use icm_api::{Action, Caller, Receipt, StoreRequest, UpdateRequest};

pub(crate) use batch::{Command, actor_of, check_caller};
pub(crate) use change::{Change, next_length, turned};
pub(crate) use choice::{Choice, settled, still_forgotten};
pub(crate) use validated::{Checked, Scope};

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

    /// An empty store has no memory, and asking for one does not make it a store.
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

    pub(crate) fn newest(&self, views: &Views, id: &str) -> std::result::Result<Version, Ask> {
        let entity = self.find_memory(views, id)?;
        let version = views.version_at(entity, views.tally().position)?;
        version.ok_or_else(|| ServiceError::Internal("a memory without a version".into()).into())
    }

    pub(crate) fn living(&self, views: &Views, id: &str) -> std::result::Result<Version, Ask> {
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

/// Stores what is checked, on top of what its name may stand for already.
pub(crate) fn store_in(
    command: &mut Command<'_>,
    views: &Views,
    checked: &Checked,
) -> std::result::Result<Receipt, Ask> {
    let newest = views.tally().position;
    let known = match views.named(checked.name())? {
        Some(entity) => views.version_at(entity, newest)?,
        None => None,
    };
    let hidden = known.as_ref().filter(|version| version.hidden);
    let event = hidden.map(|version| checked.stored_over(version));
    let Some(before) = known.filter(|version| !version.hidden) else {
        let event = event.unwrap_or_else(|| checked.stored(command.new_id()));
        let id = event.subject;
        let appended = command.append(views, vec![event])?;
        return Ok(Receipt {
            id: id_text(id),
            event: appended[0].event.to_string(),
            position: appended[0].position.0,
            action: Action::Stored,
            topic: checked.topic.clone(),
            similar: None,
            warnings: Vec::new(),
            crowded: None,
            confirmed: false,
        });
    };
    let change = Change::of_store(checked);
    let mut events: Vec<NewEvent> = change.event(&before).into_iter().collect();
    let action = if before.is_alive() {
        Action::Updated
    } else {
        Action::Stored
    };
    if !before.is_alive() {
        events.push(turned(&before, Kind::MEMORY_REVIVED));
    }
    if events.is_empty() {
        let digest = checked.request_digest.as_deref();
        return command.service.confirmed(command, views, &before, digest);
    }
    let appended = command.append(views, events)?;
    Ok(receipt(&before, appended[0], action, None))
}

/// The event that stores an imported line which is new.
pub(crate) fn stored_event(command: &Command<'_>, checked: &Checked) -> NewEvent {
    checked.stored(command.new_id())
}

/// The event that gives a memory the content and other values of an imported line.
pub(crate) fn updated_event(before: &Version, checked: &Checked) -> Option<NewEvent> {
    Change::of_store(checked).event(before)
}

/// The newest versions of the memories that are in a topic, living or not.
pub(crate) fn newest_of_topic(
    views: &Views,
    topic: &str,
) -> std::result::Result<Vec<Version>, Ask> {
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
) -> std::result::Result<Option<Receipt>, Ask> {
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
