//! Sessions and tokens, from the heads of the log.

use std::collections::{BTreeMap, HashMap};

use icm_log::facts::{Facts, MemoryRecalled};
use icm_log::{ActorId, Event, Kind, SessionId, payload};

use super::shown_by;

/// Milliseconds of a stretch of time by which tokens are counted: a quarter of an hour. Days of every time zone begin at
/// one. Raised, a day of some zones would begin within one.
const QUARTER_MS: u64 = 15 * 60 * 1_000;

/// The sessions of the log.
#[derive(Default)]
pub(crate) struct Sessions {
    known: HashMap<SessionId, SessionSeen>,
    actors: HashMap<ActorId, String>,
}

/// A session, as the heads of its events tell it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionSeen {
    /// Its name, if an event tells it.
    pub(crate) name: Option<String>,
    /// The client program, if an event names it.
    pub(crate) client: Option<String>,
    /// The kind of sub-agent, if the session has one.
    pub(crate) agent: Option<String>,
    pub(crate) project: Option<String>,
    actor: Option<ActorId>,
    /// Time of its newest event.
    pub(crate) last_ms: u64,
    /// `true` after its end, until it starts again.
    pub(crate) is_ended: bool,
    pub(crate) events: u64,
    /// Memories that it stored.
    pub(crate) stored: u64,
    /// Recalls and injections.
    pub(crate) shown: u64,
    /// Tokens of everything that it was shown.
    pub(crate) tokens: u64,
}

impl Sessions {
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let head = &event.head;
        if head.kind() == Kind::LOG_ACTOR_NAMED {
            let named = event.body.payload();
            let named =
                named.and_then(|bytes| payload::decode::<payload::LogActorNamed<'_>>(bytes).ok());
            if let Some(named) = named {
                let actor = ActorId(head.subject().0);
                self.actors.insert(actor, named.name.to_owned());
            }
        }
        if head.session().is_zero() {
            return;
        }
        let session = self.known.entry(head.session()).or_default();
        session.events += 1;
        session.last_ms = session.last_ms.max(head.time().ms());
        session.actor.get_or_insert(head.actor());
        match head.kind() {
            Kind::SESSION_STARTED => session.start(event),
            Kind::SESSION_ENDED => session.is_ended = true,
            Kind::MEMORY_STORED => session.stored += 1,
            _ => {}
        }
    }

    pub(super) fn shown(&mut self, session: SessionId, facts: &MemoryRecalled) {
        if let (Some(session), Some((_, tokens))) = (self.known.get_mut(&session), shown_by(facts))
        {
            session.shown += 1;
            session.tokens += tokens;
        }
    }

    /// Returns the name of a session, if an event tells it.
    pub(crate) fn name(&self, id: SessionId) -> Option<&str> {
        self.known.get(&id)?.name.as_deref()
    }

    /// Returns the sessions that have an event since `since_ms` and did not end, the most recently active first.
    pub(crate) fn at_work(&self, since_ms: u64) -> Vec<(SessionId, SessionSeen)> {
        let is_at_work = |session: &SessionSeen| !session.is_ended && session.last_ms >= since_ms;
        let mut found: Vec<_> = (self.known.iter())
            .filter(|(_, session)| is_at_work(session))
            .map(|(id, session)| (*id, self.with_client(session)))
            .collect();
        found.sort_by(|(a_id, a), (b_id, b)| (b.last_ms, a_id).cmp(&(a.last_ms, b_id)));
        found
    }

    /// Returns a session with the name of its actor for a client that no event names.
    fn with_client(&self, session: &SessionSeen) -> SessionSeen {
        let actor = session.actor.and_then(|actor| self.actors.get(&actor));
        let actor = actor.map(|name| name.strip_prefix("agent:").unwrap_or(name).to_owned());
        let mut session = session.clone();
        session.client = session.client.or(actor);
        session
    }
}

impl SessionSeen {
    fn start(&mut self, event: &Event<'_>) {
        self.is_ended = false;
        let told = event.body.payload();
        let told =
            told.and_then(|bytes| payload::decode::<payload::SessionStarted<'_>>(bytes).ok());
        let Some(told) = told else { return };
        self.name = Some(told.session.to_owned());
        let newer = |held: &mut Option<String>, told: Option<&str>| {
            if let Some(told) = told {
                *held = Some(told.to_owned());
            }
        };
        newer(&mut self.client, told.client);
        newer(&mut self.project, told.project);
        newer(&mut self.agent, told.agent);
        if let Ok(Facts::SessionStarted(facts)) = Facts::of(&event.head)
            && self.client.is_none()
        {
            let name = facts.client.name().filter(|name| !name.is_empty());
            self.client = name.map(str::to_owned);
        }
    }
}

/// Tokens that agents were shown, by time.
#[derive(Default)]
pub(crate) struct Tokens(BTreeMap<u64, Shown>);

/// Recalls and injections, with their memories and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) times: u64,
    pub(crate) memories: u64,
    pub(crate) tokens: u64,
}

impl Tokens {
    pub(super) fn take(&mut self, ms: u64, facts: &MemoryRecalled) {
        if let Some((memories, tokens)) = shown_by(facts) {
            let sum = self.0.entry(ms / QUARTER_MS).or_default();
            sum.times += 1;
            sum.memories += memories;
            sum.tokens += tokens;
        }
    }

    /// Returns the sums since a time, which begins a quarter of an hour.
    pub(crate) fn since(&self, ms: u64) -> Shown {
        let mut sum = Shown::default();
        for (_, shown) in self.0.range(ms / QUARTER_MS..) {
            sum.times += shown.times;
            sum.memories += shown.memories;
            sum.tokens += shown.tokens;
        }
        sum
    }
}
