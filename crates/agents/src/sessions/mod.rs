//! The sessions of a store, with times, places and counts of their events.

mod seen;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use icm_api::error::{Result, ServiceError};
use icm_log::Cursor;
use icm_service::Service;
use serde::{Deserialize, Serialize};

pub use seen::Sessions;
pub use tree::Tree;

/// Digits of the id that stand for a session without a name.
const ID_SHOWN: usize = 8;

/// A session, summed up from the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id in the log, 32 hexadecimal digits.
    pub id: String,
    /// Its name; `None` if no event tells it.
    pub name: Option<String>,
    /// Id of the parent session.
    pub parent: Option<String>,
    /// The client program, or else the actor.
    pub client: Option<String>,
    /// The kind of sub-agent, if the session has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The project of the session.
    pub project: Option<String>,
    /// The working folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub folder: Option<String>,
    /// Time of its first event, RFC 3339.
    pub first_at: String,
    /// Time of its newest event, RFC 3339.
    pub last_at: String,
    /// The reason of its end; `None` if a start is newer.
    pub ended: Option<String>,
    /// Number of its `session.started` events: starts, resumes, clearings and compactions.
    pub starts: u64,
    /// Number of its events.
    pub events: u64,
    /// Number of memories that it stored.
    pub stored: u64,
    /// Number of its other changes.
    pub changed: u64,
    /// Number of its recalls.
    pub recalls: u64,
    /// Number of memories that it was shown unasked.
    pub injected: u64,
    /// Tokens of everything that it was shown, estimated.
    pub tokens: u64,
    /// Ids of the sessions with this one as their parent.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub children: Vec<String>,
}

impl Session {
    /// Returns its name, or the beginning of its id if no event tells the name: `3f2a91c0… (no name)`. Commands take the
    /// beginning.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}… (no name)", self.id.get(..ID_SHOWN).unwrap_or(&self.id)),
        }
    }

    /// Returns its client, with the kind of sub-agent: `codex (review)`.
    pub fn client_and_agent(&self) -> String {
        let client = self.client.as_deref().unwrap_or_default();
        match &self.agent {
            Some(agent) => format!("{client} ({agent})"),
            None => client.to_owned(),
        }
    }

    /// Returns its state as a word.
    pub fn state(&self) -> &'static str {
        match self.ended {
            Some(_) => "ended",
            None => "open",
        }
    }

    /// Returns its work and what it was shown, in words: `2 stored, 1 recall, 120 tokens`. Nothing that is 0 is named.
    pub fn work(&self) -> String {
        let noun = |n: u64, one, many| if n == 1 { one } else { many };
        let parts = [
            (self.stored, "stored"),
            (self.changed, "changed"),
            (self.injected, "shown"),
            (self.recalls, noun(self.recalls, "recall", "recalls")),
            (self.tokens, noun(self.tokens, "token", "tokens")),
        ];
        let parts = parts.iter().filter(|(n, _)| *n > 0);
        let parts: Vec<String> = parts.map(|(n, what)| format!("{n} {what}")).collect();
        parts.join(", ")
    }
}

/// A selection of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionsRequest {
    /// One session with all below it: its name, its id, or a prefix of the id.
    pub session: Option<String>,
    /// Only sessions of this project.
    pub project: Option<String>,
    /// Only events since this time.
    pub since: Option<String>,
    /// Only events up to this time or position, as `--until` takes them.
    pub until: Option<String>,
    /// Most sessions, the newest ones.
    pub limit: Option<usize>,
}

/// Returns the sessions of a store, the most recently active first. With `since` only newer events count; name, client
/// and project are those that all events tell. Reads the heads of the whole log.
///
/// # Errors
/// As [`selected`] and [`Service::event_range`], and if the log cannot be read.
pub fn sessions(service: &Service, request: &SessionsRequest) -> Result<Vec<Session>> {
    let log = service.log_handle();
    log.refresh()?;
    let range = service.event_range(request.since.as_deref(), request.until.as_deref())?;
    let mut sessions = Sessions::default();
    log.scan(&Cursor::START, &mut |event| {
        if range.ends_before(event.position) {
            return ControlFlow::Break(());
        }
        if range.has_not_ended(event) {
            sessions.take(event, range.has_begun(event));
        }
        ControlFlow::Continue(())
    })?;
    selected(service, sessions.list(), request)
}

/// Returns those of all sessions that a request selects by session, project and limit.
///
/// # Errors
/// `NotFound` for a session that no event names, and as [`Service::session_meant`].
pub fn selected(
    service: &Service,
    mut sessions: Vec<Session>,
    request: &SessionsRequest,
) -> Result<Vec<Session>> {
    if let Some(asked) = &request.session {
        let id = service.session_meant(asked)?.to_string();
        let chosen = with_children(&sessions, &id);
        if chosen.is_empty() {
            return Err(ServiceError::nothing(
                format!("no event is of the session `{asked}`"),
                "`icm sessions` lists the sessions",
            ));
        }
        sessions.retain(|session| chosen.contains(&session.id));
    }
    if request.project.is_some() {
        sessions.retain(|session| session.project == request.project);
    }
    sessions.truncate(request.limit.unwrap_or(usize::MAX));
    Ok(sessions)
}

/// Returns the ids of a session and of those below it; none for a session that is not there.
fn with_children(sessions: &[Session], id: &str) -> BTreeSet<String> {
    let children = |session: &'_ Session| (session.id.clone(), session.children.clone());
    let known: BTreeMap<String, Vec<String>> = sessions.iter().map(children).collect();
    let mut ids = BTreeSet::new();
    let mut next = vec![id.to_owned()];
    while let Some(id) = next.pop() {
        if let Some(children) = known.get(&id)
            && ids.insert(id)
        {
            next.extend(children.iter().cloned());
        }
    }
    ids
}

#[cfg(test)]
mod tests;
