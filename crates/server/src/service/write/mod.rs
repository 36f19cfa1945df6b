//! Commands: from what a caller asks to events in the log.
//!
//! A command takes the lock, sees what others appended, decides, appends and gives the lock up; so
//! what it names as observed is what there is.

mod change;
mod checked;
mod command;

use std::sync::atomic::Ordering;
use std::time::Duration;

use icm_log::env::random_16;
use icm_log::facts::ScopeKind;
use icm_log::{
    Appended, CommandId, Durability, Kind, NewEvent, Position, Refusal, RequestKey, Rewritten, hash,
};
use icm_projections::Views;
use icm_projections::fold::{Source, Version};
use serde::Serialize;

use super::undo::hidden_error;
use super::{Ask, Service, locked};
use crate::api::{self, Action, Caller, Crowded, Receipt, StoreRequest, UpdateRequest};
use crate::error::{Result, ServiceError};
use crate::ids::id_text;
use crate::limits::{
    self, CONTENT_LEN_MAX, KEY_LEN_MAX, RAW_EXCERPT_LEN_MAX, REQUEST_ID_LEN_MAX, SOURCE_LEN_MAX,
};
use crate::secrets::Guard;
use crate::when::{self, DayMeans};

pub(super) use change::{Change, next_length, turned};
pub(super) use checked::{Checked, Scope};
pub(super) use command::{Command, actor_of, check_caller};

/// How long a record of a recall waits for the lock.
const RECORD_WAIT: Duration = Duration::from_millis(50);

impl Service {
    pub(super) fn refuse_read_only(&self) -> Result<()> {
        match self.options.read_only {
            true => Err(ServiceError::ReadOnly {
                why: "it was opened read-only".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Takes the lock and runs a command on views that have seen everything; what it appended is
    /// durable when this returns.
    pub(super) fn command<T>(
        &self,
        caller: &Caller,
        id: Option<CommandId>,
        request: RequestKeyOf<'_>,
        run: impl Fn(&mut Command<'_>, &Views) -> std::result::Result<T, Ask>,
    ) -> Result<T> {
        self.refuse_read_only()?;
        check_caller(caller)?;
        Guard::new(&self.secrets, false).caller(caller)?;
        self.refuse_foreign_folder()?;
        let mut held = locked(&self.views);
        let env = &*self.ground.env;
        // What was begun is finished before the lock is taken for this command: it needs it itself.
        self.resume_redaction(&mut held)?;
        let writer = self.log.begin(env, self.options.lock_wait);
        let writer = writer.map_err(|error| self.explained(error))?;
        let id = id.unwrap_or_else(|| CommandId(random_16(env)));
        let request = match request.0 {
            Some(text) => hash::request_key(&writer.secret(), actor_of(caller), text),
            None => RequestKey::ZERO,
        };
        let command = std::cell::RefCell::new(Command {
            service: self,
            writer,
            id,
            caller,
            request,
            named: false,
            appended: false,
        });
        let stale = Views::are_stale_for_commands;
        let answer = self.with_held_views(&mut held, stale, |views| {
            if let Some(newer) = &views.tally().newer {
                return Err(ServiceError::NewerFormat {
                    what: newer.clone(),
                }
                .into());
            }
            if let Some(why) = views.stopped() {
                return Err(ServiceError::Damaged {
                    what: why.to_owned(),
                }
                .into());
            }
            let mut command = command.borrow_mut();
            if command.appended {
                // Views that failed after the append were not asked: they are a bug of ours.
                let why = "a view failed after the command was written".to_owned();
                return Err(ServiceError::Internal(why).into());
            }
            run(&mut command, views)
        })?;
        drop(held);
        let command = command.into_inner();
        let appended = command.appended;
        command.commit()?;
        if appended {
            self.wrote.store(true, Ordering::Relaxed);
        }
        Ok(answer)
    }

    /// Appends one batch that may get lost with the machine's power. `read`: what the files were like
    /// that it speaks of; where they were written anew since, as by a redaction, it is dropped.
    pub(super) fn append_lazily(
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

    fn check_source(&self, caller: &Caller, given: &api::Source) -> Result<Source> {
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

    pub(super) fn check_store(&self, caller: &Caller, request: &StoreRequest) -> Result<Checked> {
        limits::text("the content", &request.content, CONTENT_LEN_MAX)?;
        let raw_excerpt = request.raw_excerpt.clone().filter(|text| !text.is_empty());
        if let Some(text) = &raw_excerpt {
            limits::optional_text("the raw excerpt", text, RAW_EXCERPT_LEN_MAX)?;
        }
        let key = match &request.key {
            Some(key) => Some(limits::name("the key", key, KEY_LEN_MAX)?),
            None => None,
        };
        let now = self.now_ms();
        let occurred_at_ms = match &request.occurred_at {
            Some(text) => Some(
                when::parse_moment(text, now, &self.zone(), DayMeans::Start)
                    .map_err(|error| self.without_its_secrets(error))?,
            ),
            None => None,
        };
        let metadata = match &request.metadata {
            Some(value) => Some(limits::metadata(value)?),
            None => None,
        };
        Ok(Checked {
            topic: limits::topic(&request.topic)?,
            content: request.content.clone(),
            importance: request.importance.map(Into::into),
            keywords: limits::keywords(&request.keywords)?,
            raw_excerpt,
            key,
            occurred_at_ms,
            source: self.check_source(caller, &request.source)?,
            metadata,
            scope: Scope::parse(request.scope.as_deref())?,
            trust: request.trust.into(),
            nth_line: None,
            request_digest: digest_of(&request.request_id, &request_shape(request))?,
        })
    }

    /// What is wrong with an argument, without a secret that the argument holds.
    pub(super) fn without_its_secrets(&self, error: ServiceError) -> ServiceError {
        match error {
            ServiceError::Invalid { message, hint } => ServiceError::Invalid {
                message: self.secrets.masked(&message).unwrap_or(message),
                hint,
            },
            other => other,
        }
    }

    /// Stores a memory; with a key that its topic has already, updates that one.
    pub fn store(&self, caller: &Caller, mut request: StoreRequest) -> Result<Receipt> {
        if let Some(receipt) = self.ask_owner(caller, &mut request) {
            return Ok(receipt);
        }
        let warnings = self.guard_store(&mut request)?;
        let checked = self.check_store(caller, &request)?;
        let request_id = RequestKeyOf(request.request_id.as_deref());
        self.command(caller, None, request_id, |command, views| {
            if let Some(receipt) =
                first_receipt(command, views, &checked.request_digest, request_id)?
            {
                let similar = self.similar_of_first(views, &checked, &receipt)?;
                return Ok(Receipt { similar, ..receipt });
            }
            let receipt = self.store_once(command, views, &checked)?;
            let crowded = self.crowded(views, &checked, &receipt)?;
            Ok(Receipt { crowded, ..receipt })
        })
        .map(|receipt| Receipt {
            warnings,
            ..receipt
        })
    }

    /// That the topic of a new memory has many of its scope with it. `views` have not seen it.
    fn crowded(
        &self,
        views: &Views,
        checked: &Checked,
        receipt: &Receipt,
    ) -> std::result::Result<Option<Crowded>, Ask> {
        if self.hint_over == 0 || receipt.action != Action::Stored {
            return Ok(None);
        }
        let all = views.living_in(&receipt.topic, None)?;
        if all < self.hint_over {
            return Ok(None);
        }
        let scope = checked.scope.to_text();
        let mut here = views.living_in(&receipt.topic, Some(&scope))?;
        let tally = views.tally();
        if checked.scope.kind == ScopeKind::Global && tally.memoirs + tally.concepts > 0 {
            // The concepts of a memoir of that name are counted, too, all global; the table knows how
            // many others there are.
            here -= here.min(all.saturating_sub(views.listed(&receipt.topic)?.0));
        }
        Ok((here >= self.hint_over).then(|| Crowded {
            memories: here + 1,
            scope: (here < all).then_some(scope),
        }))
    }

    /// Sees to the secrets of a store; what is to be told of them.
    pub(super) fn guard_store(&self, request: &mut StoreRequest) -> Result<Vec<String>> {
        let mut guard = Guard::new(&self.secrets, request.allow_secret);
        guard.store(request)?;
        Ok(guard.warnings())
    }

    /// Changes a memory.
    pub fn update(&self, caller: &Caller, mut request: UpdateRequest) -> Result<Receipt> {
        if let Some(receipt) = self.ask_owner(caller, &mut request) {
            return Ok(receipt);
        }
        let mut guard = Guard::new(&self.secrets, request.allow_secret);
        guard.update(&mut request)?;
        let warnings = guard.warnings();
        let change = Change {
            topic: match &request.topic {
                Some(topic) => Some(limits::topic(topic)?),
                None => None,
            },
            content: match &request.content {
                Some(content) => {
                    limits::text("the content", content, CONTENT_LEN_MAX)?;
                    Some(content.clone())
                }
                None => None,
            },
            importance: request.importance.map(Into::into),
            keywords: match &request.keywords {
                Some(words) => Some(limits::keywords(words)?),
                None => None,
            },
            scope: match &request.scope {
                Some(scope) => Some(Scope::parse(Some(scope))?),
                None => None,
            },
            request_digest: digest_of(&request.request_id, &update_shape(&request))?,
            ..Change::default()
        };
        self.refuse_unknown(&request.id)?;
        let request_id = RequestKeyOf(request.request_id.as_deref());
        self.command(caller, None, request_id, |command, views| {
            if let Some(receipt) =
                first_receipt(command, views, &change.request_digest, request_id)?
            {
                return Ok(receipt);
            }
            let before = self.living(views, &request.id)?;
            let name = change.name_after(&before);
            let own = views.resolve(before.id)?;
            if let Some(other) = views.named(name)?.filter(|other| *other != own) {
                let hint = "update that one and forget this one, or keep the topic as it is";
                return Err(ServiceError::invalid_with(
                    format!(
                        "the topic has (or had) another memory with that key, {}",
                        id_text(other)
                    ),
                    format!("{hint}; storing the topic and key anew brings a forgotten one back"),
                )
                .into());
            }
            match change.event(&before) {
                Some(event) => {
                    let topic = change.topic.clone();
                    let appended = command.append(views, vec![event])?;
                    Ok(receipt(&before, appended[0], Action::Updated, topic))
                }
                None => Ok(unchanged(&before)),
            }
        })
        .map(|receipt| Receipt {
            warnings,
            ..receipt
        })
    }

    /// An empty store has no memory, and asking for one does not make it a store.
    pub(super) fn refuse_unknown(&self, id: &str) -> Result<()> {
        match self.is_empty()? {
            false => Ok(()),
            true => Err(ServiceError::NotFound {
                what: "memory",
                id: id.to_owned(),
                nearest: Vec::new(),
            }),
        }
    }

    pub(super) fn newest(&self, views: &Views, id: &str) -> std::result::Result<Version, Ask> {
        let entity = self.find_memory(views, id)?;
        let version = views.version_at(entity, views.tally().position)?;
        version.ok_or_else(|| ServiceError::Internal("a memory without a version".into()).into())
    }

    pub(super) fn living(&self, views: &Views, id: &str) -> std::result::Result<Version, Ask> {
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
pub(super) fn store_in(
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
pub(super) fn stored_event(command: &Command<'_>, checked: &Checked) -> NewEvent {
    checked.stored(command.new_id())
}

/// The event that gives a memory the content and other values of an imported line.
pub(super) fn updated_event(before: &Version, checked: &Checked) -> Option<NewEvent> {
    Change::of_store(checked).event(before)
}

/// The newest versions of the memories that are in a topic, living or not.
pub(super) fn newest_of_topic(
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

pub(super) fn receipt(
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

pub(super) fn unchanged(before: &Version) -> Receipt {
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
pub(super) struct RequestKeyOf<'a>(pub(super) Option<&'a str>);

/// The receipt of the command that an idempotency key was used for before, if it was.
pub(super) fn first_receipt(
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
pub(super) fn digest_of<T: Serialize>(
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

fn request_shape(request: &StoreRequest) -> impl Serialize + '_ {
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

fn update_shape(request: &UpdateRequest) -> impl Serialize + '_ {
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
pub(super) const NEWEST: Position = Position(u64::MAX);
