//! A command under the lock, and the batches that it appends.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use icm_log::bundle::Bundle;
use icm_log::env::random_16;
use icm_log::learn::Learned;
use icm_log::{
    Appended, BATCH_EVENTS_MAX, BATCH_LEN_MAX, Batch, CommandId, Kind, NewEvent, RequestKey,
    SessionId, SubjectId, Writer, actor_named, hash,
};
use icm_projections::Views;

use super::author::Author;
use crate::service::Service;
use icm_api::Caller;
use icm_api::error::Result;
use icm_api::limits;
use icm_api::limits::{ACTOR_LEN_MAX, SOURCE_LEN_MAX};

/// Bytes from which on an event names thousands of memories: texts are shorter.
const WIDE_EVENT_LEN: usize = 256 * 1_024;
/// Events above which a batch counts as wide.
const WIDE_EVENTS: usize = 10_000;

/// A command that holds the lock and has seen every event before it.
pub(crate) struct Command<'a> {
    pub(crate) service: &'a Service,
    pub(super) writer: Writer<'a>,
    id: CommandId,
    caller: &'a Caller,
    pub(super) request: RequestKey,
    /// `true` once this command named its actor.
    named: bool,
    /// `true` once this command appended its events: it must not decide a second time.
    pub(super) appended: bool,
}

impl<'a> Command<'a> {
    /// Returns a command that has appended nothing yet. Without an `id` it gets its own; several transactions may share
    /// one.
    pub(super) fn new(
        service: &'a Service,
        writer: Writer<'a>,
        caller: &'a Caller,
        id: Option<CommandId>,
        request: RequestKey,
    ) -> Command<'a> {
        Command {
            service,
            writer,
            id: id.unwrap_or_else(|| CommandId(random_16(&*service.ground.env))),
            caller,
            request,
            named: false,
            appended: false,
        }
    }

    /// Appends a batch. If the log does not know the actor yet, an event that names it goes first.
    pub(crate) fn append(&mut self, views: &Views, events: Vec<NewEvent>) -> Result<Vec<Appended>> {
        let name = actor_of(self.caller);
        let session = session_of(self.caller);
        let actor = self.writer.actor(name);
        if !self.writer.starts_origin() && views.actor(actor).is_none() && !self.named {
            let naming = Batch {
                command: self.id,
                actor: name,
                session,
                request: RequestKey::ZERO,
                events: vec![actor_named(actor, name)],
            };
            self.writer.append(&naming)?;
            self.named = true;
        }
        let batch = Batch {
            command: self.id,
            actor: name,
            session,
            request: self.request,
            events,
        };
        let events = &batch.events;
        let is_wide = |event: &NewEvent| event.record_len() > WIDE_EVENT_LEN;
        if events.len() > WIDE_EVENTS || events.iter().any(is_wide) {
            self.service.wrote_wide.store(true, Ordering::Relaxed);
        }
        if events.iter().any(|event| event.kind == Kind::LOG_UNDONE) {
            self.service.wrote_undo.store(true, Ordering::Relaxed);
        }
        let appended = self.writer.append(&batch)?;
        self.appended = true;
        self.request = RequestKey::ZERO;
        Ok(appended)
    }

    /// Appends the events in as few batches as have room for them. Each batch is in the log whole or not at all,
    /// whatever happens meanwhile.
    pub(crate) fn append_all(
        &mut self,
        views: &Views,
        events: impl IntoIterator<Item = NewEvent>,
    ) -> Result<Vec<Appended>> {
        let mut appended = Vec::new();
        for batch in batches(events) {
            appended.extend(self.append(views, batch)?);
        }
        Ok(appended)
    }

    /// Returns the author of the events of this command.
    pub(crate) fn author(&self) -> Author {
        Author {
            session: session_of(self.caller),
            actor: self.writer.actor(actor_of(self.caller)),
        }
    }

    /// See [`Writer::begin_redaction`].
    pub(crate) fn begin_redaction(&self, request: RequestKey) -> Result<()> {
        Ok(self.writer.begin_redaction(Some(request))?)
    }

    /// See [`Writer::remove_torn`].
    pub(crate) fn remove_torn(&mut self, files: &[PathBuf]) -> Result<()> {
        Ok(self.writer.remove_torn(files)?)
    }

    /// See [`Writer::learn`].
    pub(crate) fn learn(&mut self, bundle: &Bundle) -> Result<Learned> {
        Ok(self.writer.learn(bundle)?)
    }

    pub(crate) fn new_id(&self) -> SubjectId {
        self.service.new_ids.next(&*self.service.ground.env)
    }
}

/// Divides events into batches, each as large as a batch may be.
fn batches(events: impl IntoIterator<Item = NewEvent>) -> impl Iterator<Item = Vec<NewEvent>> {
    let mut events = events.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut batch = vec![events.next()?];
        let mut len = batch[0].record_len();
        while batch.len() < BATCH_EVENTS_MAX
            && let Some(event) = events.next_if(|event| len + event.record_len() <= BATCH_LEN_MAX)
        {
            len += event.record_len();
            batch.push(event);
        }
        Some(batch)
    })
}

pub(crate) fn check_caller(caller: &Caller) -> Result<()> {
    limits::visible_label("the actor", &caller.actor, ACTOR_LEN_MAX)?;
    let session = caller.session.as_deref().unwrap_or_default();
    limits::visible_label("the session", session, SOURCE_LEN_MAX)
}

fn session_of(caller: &Caller) -> SessionId {
    let session = caller.session.as_deref();
    session.map_or(SessionId::ZERO, hash::session_id)
}

pub(crate) fn actor_of(caller: &Caller) -> &str {
    if caller.actor.is_empty() {
        "user"
    } else {
        &caller.actor
    }
}

#[cfg(test)]
mod tests {
    use icm_log::EventId;

    use super::*;

    #[test]
    fn batches_are_as_large_as_they_may_be() {
        let event = |payload_len: usize| NewEvent {
            kind: Kind::MEMORY_FORGOTTEN,
            subject: SubjectId::ZERO,
            refs: vec![EventId::ZERO],
            facts: vec![0; 4],
            payload: vec![0; payload_len],
        };
        let lens = |events: Vec<NewEvent>| -> Vec<usize> {
            batches(events).map(|batch| batch.len()).collect()
        };
        assert_eq!(lens(Vec::new()), [0; 0]);
        assert_eq!(lens(vec![event(1); 20_000]), [16_384, 3_616]);
        // 32 events are 32 MiB, not counting what a record has beside its payload.
        assert_eq!(lens(vec![event(1_024 * 1_024); 40]), [31, 9]);
    }
}
