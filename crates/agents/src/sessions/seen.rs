//! Sessions, from the heads of events.
//!
//! Of most events the head and its facts are enough. A payload is read where it names a session or an actor only, so a
//! walk through a large log takes a fraction of a second.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use icm_api::when::rfc3339;
use icm_log::facts::{Facts, SessionEnd};
use icm_log::{ActorId, Event, Kind, SessionId, hash, payload};
use serde::Deserialize;

use super::Session;

/// The sessions of the events that were taken, in the order of the log.
#[derive(Default)]
pub struct Sessions {
    known: BTreeMap<SessionId, Seen>,
    actors: HashMap<ActorId, String>,
}

/// A session, as its events tell it.
#[derive(Default)]
struct Seen {
    name: Option<String>,
    parent: Option<SessionId>,
    client: Option<String>,
    agent: Option<String>,
    project: Option<String>,
    folder: Option<String>,
    /// The actor of its first event.
    actor: Option<ActorId>,
    ended: Option<SessionEnd>,
    counted: Counted,
}

/// The events of a session that count.
#[derive(Default)]
struct Counted {
    first_ms: u64,
    last_ms: u64,
    events: u64,
    starts: u64,
    stored: u64,
    changed: u64,
    recalls: u64,
    injected: u64,
    tokens: u64,
}

/// The names in a payload, of the session that wrote the event.
#[derive(Deserialize)]
struct Told<'a> {
    /// A stored memory names the session that stored it.
    #[serde(borrow, default)]
    source: payload::SourceText<'a>,
    /// An alert names the session that it is for.
    #[serde(borrow, default)]
    session: Option<&'a str>,
}

impl Sessions {
    /// Takes the next event of the log. An event that does not count still tells the name and the client of its session.
    pub fn take(&mut self, event: &Event<'_>, counts: bool) {
        let head = &event.head;
        if head.kind() == Kind::LOG_ACTOR_NAMED
            && let Some(named) = told::<payload::LogActorNamed<'_>>(event)
        {
            let actor = ActorId(head.subject().0);
            self.actors.insert(actor, named.name.to_owned());
        }
        if head.session().is_zero() {
            return;
        }
        let session = self.known.entry(head.session()).or_default();
        session.name_by(event);
        if counts {
            session.counted.take(event);
        }
    }

    /// Returns the name of a session, if an event tells it.
    pub fn name(&self, id: SessionId) -> Option<&str> {
        self.known.get(&id)?.name.as_deref()
    }

    /// Returns the client that a session last named, if it named one.
    pub fn client(&self, id: SessionId) -> Option<&str> {
        self.known.get(&id)?.client.as_deref()
    }

    /// Returns the name of an actor, if an event tells it.
    pub fn actor(&self, id: ActorId) -> Option<&str> {
        self.actors.get(&id).map(String::as_str)
    }

    /// Returns the sessions with an event that counts, the most recently active first.
    pub fn list(&self) -> Vec<Session> {
        self.with_last_since(0)
    }

    /// Returns the sessions that did not end and have an event since `ms`, the most recently active first.
    pub fn at_work(&self, ms: u64) -> Vec<Session> {
        let mut found = self.with_last_since(ms);
        found.retain(|session| session.ended.is_none());
        found
    }

    fn with_last_since(&self, ms: u64) -> Vec<Session> {
        let is_wanted = |seen: &Seen| seen.counted.events > 0 && seen.counted.last_ms >= ms;
        let mut found: Vec<_> = self.known.iter().filter(|(_, it)| is_wanted(it)).collect();
        found.sort_by_key(|(_, seen)| Reverse(seen.counted.last_ms));
        let mut sessions: Vec<Session> = (found.into_iter())
            .map(|(id, seen)| self.session(*id, seen))
            .collect();
        let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, seen) in self.known.iter().filter(|(_, seen)| is_wanted(seen)) {
            if let Some(parent) = seen.parent {
                let children = children.entry(parent.to_string()).or_default();
                children.push(id.to_string());
            }
        }
        for session in &mut sessions {
            session.children = children.remove(&session.id).unwrap_or_default();
        }
        sessions
    }

    fn session(&self, id: SessionId, seen: &Seen) -> Session {
        let counted = &seen.counted;
        let actor = seen.actor.map(|actor| match self.actor(actor) {
            Some(name) => name.strip_prefix("agent:").unwrap_or(name).to_owned(),
            None => actor.to_string(),
        });
        Session {
            id: id.to_string(),
            name: seen.name.clone(),
            parent: seen.parent.map(|parent| parent.to_string()),
            client: seen.client.clone().or(actor),
            agent: seen.agent.clone(),
            project: seen.project.clone(),
            folder: seen.folder.clone(),
            first_at: rfc3339(counted.first_ms),
            last_at: rfc3339(counted.last_ms),
            ended: (seen.ended).map(|end| end.name().unwrap_or("unknown").to_owned()),
            starts: counted.starts,
            events: counted.events,
            stored: counted.stored,
            changed: counted.changed,
            recalls: counted.recalls,
            injected: counted.injected,
            tokens: counted.tokens,
            children: Vec::new(),
        }
    }
}

impl Seen {
    fn name_by(&mut self, event: &Event<'_>) {
        let head = &event.head;
        self.actor.get_or_insert(head.actor());
        match head.kind() {
            Kind::SESSION_STARTED => self.start(event),
            Kind::SESSION_ENDED => {
                let reason = match Facts::of(head) {
                    Ok(Facts::SessionEnded(facts)) => facts.reason,
                    _ => SessionEnd::UNKNOWN,
                };
                self.ended = Some(reason);
            }
            _ if self.name.is_none() => {
                let Some(told) = told::<Told<'_>>(event) else {
                    return;
                };
                let name = told.source.session.or(told.session);
                self.name = name
                    .filter(|name| hash::session_id(name) == head.session())
                    .map(str::to_owned);
                if self.project.is_none() {
                    self.project = told.source.project.map(str::to_owned);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, event: &Event<'_>) {
        self.ended = None;
        if let Ok(Facts::SessionStarted(facts)) = Facts::of(&event.head)
            && !facts.parent.is_zero()
        {
            self.parent = Some(facts.parent);
        }
        let Some(told) = told::<payload::SessionStarted<'_>>(event) else {
            return;
        };
        let newer = |held: &mut Option<String>, told: Option<&str>| {
            if let Some(told) = told {
                *held = Some(told.to_owned());
            }
        };
        newer(&mut self.name, Some(told.session));
        newer(&mut self.client, told.client);
        newer(&mut self.agent, told.agent);
        newer(&mut self.project, told.project);
        newer(&mut self.folder, told.folder);
    }
}

impl Counted {
    fn take(&mut self, event: &Event<'_>) {
        let head = &event.head;
        let ms = head.time().ms();
        if self.events == 0 {
            self.first_ms = ms;
        }
        self.last_ms = ms;
        self.events += 1;
        match head.kind() {
            Kind::SESSION_STARTED => self.starts += 1,
            Kind::MEMORY_STORED => self.stored += 1,
            Kind::MEMORY_RECALLED => {
                if let Ok(Facts::Recalled(facts)) = Facts::of(head) {
                    self.tokens += facts.shown.map_or(0, |shown| u64::from(shown.tokens));
                    match facts.is_asked() {
                        true => self.recalls += 1,
                        false => self.injected += facts.results.len() as u64,
                    }
                } else {
                    self.recalls += 1;
                }
            }
            kind => self.changed += u64::from(changes_memories(kind)),
        }
    }
}

/// Returns `true` for the kinds of changes to memories, memoirs, concepts and feedback.
fn changes_memories(kind: Kind) -> bool {
    ["memory", "memoir", "concept", "feedback"].contains(&kind.family())
}

/// Returns the payload of an event; `None` if it is withheld, damaged or another one.
fn told<'e, T: Deserialize<'e>>(event: &Event<'e>) -> Option<T> {
    payload::decode(event.body.payload()?).ok()
}
