//! The sessions of a store, with times, places and counts of their events.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use icm_api::error::{Result, ServiceError};
use icm_api::{LogEntry, LogRequest};
use icm_log::hash;
use icm_service::Service;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Returns the session without its counts.
    fn without_counts(self) -> Session {
        Session {
            name: self.name,
            parent: self.parent,
            client: self.client,
            agent: self.agent,
            project: self.project,
            folder: self.folder,
            ..Session::default()
        }
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

/// Returns the sessions of a store, the most recently active first. Reads the whole log.
///
/// # Errors
/// `NotFound` for a session that no event names, and as [`Service::log`].
pub fn sessions(service: &Service, request: &SessionsRequest) -> Result<Vec<Session>> {
    let mut known: BTreeMap<String, Session> = BTreeMap::new();
    // Names, clients and parents are in the start events, which may be older than `since`.
    let mut named: BTreeMap<String, Session> = BTreeMap::new();
    if request.since.is_some() {
        let starts = LogRequest {
            kind: Some("session.started".to_owned()),
            until: request.until.clone(),
            oldest_first: true,
            ..LogRequest::default()
        };
        service.log(&starts, &mut |entry| {
            if let Some(id) = entry.session.clone() {
                take(named.entry(id).or_default(), &entry);
            }
            true
        })?;
    }
    let log = LogRequest {
        oldest_first: true,
        since: request.since.clone(),
        until: request.until.clone(),
        ..LogRequest::default()
    };
    service.log(&log, &mut |entry| {
        if let Some(id) = entry.session.clone() {
            let session = known.entry(id.clone()).or_insert_with(|| Session {
                id: id.clone(),
                first_at: entry.at.clone(),
                ..named
                    .remove(&id)
                    .map(Session::without_counts)
                    .unwrap_or_default()
            });
            take(session, &entry);
        }
        true
    })?;
    let pairs: Vec<_> = known
        .values()
        .filter_map(|session| Some((session.parent.clone()?, session.id.clone())))
        .collect();
    for (parent, child) in pairs {
        if let Some(parent) = known.get_mut(&parent) {
            parent.children.push(child);
        }
    }
    let chosen = match &request.session {
        Some(asked) => {
            let id = service.session_meant(asked)?.to_string();
            if !known.contains_key(&id) {
                return Err(ServiceError::nothing(
                    format!("no event is of the session `{asked}`"),
                    "`icm sessions` lists the sessions",
                ));
            }
            Some(with_children(&known, &id))
        }
        None => None,
    };
    let mut sessions: Vec<Session> = known
        .into_values()
        .filter(|session| chosen.as_ref().is_none_or(|ids| ids.contains(&session.id)))
        .filter(|session| request.project.is_none() || session.project == request.project)
        .collect();
    sessions.sort_by_key(|session| Reverse(moment(&session.last_at)));
    sessions.truncate(request.limit.unwrap_or(usize::MAX));
    Ok(sessions)
}

/// Returns the moment of a time of RFC 3339. As texts, `…:46Z` comes after `…:46.015Z`.
fn moment(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

fn with_children(known: &BTreeMap<String, Session>, id: &str) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut next = vec![id.to_owned()];
    while let Some(id) = next.pop() {
        if let Some(session) = known.get(&id)
            && ids.insert(id)
        {
            next.extend(session.children.iter().cloned());
        }
    }
    ids
}

fn take(session: &mut Session, entry: &LogEntry) {
    session.last_at.clone_from(&entry.at);
    session.events += 1;
    let text = |name: &str| {
        entry
            .payload
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    match &*entry.kind {
        "session.started" => {
            session.starts += 1;
            session.ended = None;
            session.name = text("session").or(session.name.take());
            session.client = text("client").or(session.client.take());
            session.project = text("project").or(session.project.take());
            session.folder = text("folder").or(session.folder.take());
            session.agent = text("agent").or(session.agent.take());
            let parent = entry.facts.get("parent").and_then(Value::as_str);
            session.parent = parent.map(str::to_owned).or(session.parent.take());
        }
        "session.ended" => {
            let reason = entry.facts.get("reason").and_then(Value::as_str);
            session.ended = Some(reason.unwrap_or("unknown").to_owned());
        }
        "memory.recalled" => {
            let shown = Shown::of(entry);
            session.tokens += shown.tokens;
            match shown.is_unasked() {
                true => session.injected += shown.ids.len() as u64,
                false => session.recalls += 1,
            }
        }
        "memory.stored" => session.stored += 1,
        kind if kind.starts_with("memory.")
            || kind.starts_with("memo")
            || kind.starts_with("concept.")
            || kind.starts_with("feedback.") =>
        {
            session.changed += 1;
        }
        _ => {}
    }
    if session.client.is_none() {
        let agent = entry.actor.strip_prefix("agent:");
        session.client = Some(agent.unwrap_or(&entry.actor).to_owned());
    }
    if session.name.is_none() {
        // A stored memory names the session that stored it, and an alert the session that it is for.
        let source = entry.payload.get("source");
        let of = |name: &str| source?.get(name)?.as_str().map(str::to_owned);
        session.name = (of("session").or_else(|| text("session")))
            .filter(|name| hash::session_id(name).to_string() == session.id);
        session.project = session.project.take().or_else(|| of("project"));
    }
}

/// The results, front and tokens of a `memory.recalled` event.
pub(crate) struct Shown {
    pub(crate) ids: Vec<String>,
    pub(crate) front: Option<String>,
    pub(crate) tokens: u64,
}

impl Shown {
    pub(crate) fn of(entry: &LogEntry) -> Shown {
        let results = entry.facts.get("results").and_then(Value::as_array);
        let results = results.into_iter().flatten();
        let ids = results.filter_map(|result| result.get("id")?.as_str().map(str::to_owned));
        let shown = entry.facts.get("shown");
        let front = shown.and_then(|shown| shown.get("front")?.as_str().map(str::to_owned));
        let tokens = shown.and_then(|shown| shown.get("tokens")?.as_u64());
        Shown {
            ids: ids.collect(),
            front,
            tokens: tokens.unwrap_or(0),
        }
    }

    pub(crate) fn is_unasked(&self) -> bool {
        matches!(self.front.as_deref(), Some("hook" | "wake-up"))
    }
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_with_and_without_fractions_are_in_order() {
        let (whole, later) = ("2026-11-27T11:38:46Z", "2026-11-27T11:38:46.015Z");
        assert!(whole > later && moment(whole) < moment(later));
        assert_eq!(moment("yesterday"), None);
    }
}
