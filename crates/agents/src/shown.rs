//! Injections: memories and alerts that agents were shown unasked. Also counts the tokens of everything that they were
//! shown.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use icm_api::error::Result;
use icm_api::{Caller, LogEntry, LogRequest, tokens};
use icm_log::facts::SessionCause;
use icm_service::Service;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One injection, by a hook or a wake-up pack, or the delivery of alerts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// Position of its record.
    pub position: u64,
    /// Event id of its record.
    pub event: String,
    /// RFC 3339.
    pub at: String,
    /// `hook`, `wake-up` or `alerts`.
    pub front: String,
    /// Name of the actor that was shown it.
    pub actor: String,
    /// The session's id, if it has one.
    pub session: Option<String>,
    /// The words of the prompt that were searched for; `None` without any.
    pub words: Option<String>,
    /// Tokens of the injection, estimated.
    pub tokens: u64,
    /// The memories, best first.
    pub memories: Vec<InjectedMemory>,
    /// The alerts of a delivery.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub alerts: Vec<InjectedAlert>,
}

/// An alert that was shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InjectedAlert {
    /// The event that set it (64 hex digits).
    pub event: String,
    /// Its text; `None` if the text was taken out or this store has none.
    pub text: Option<String>,
}

/// A memory that was injected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InjectedMemory {
    /// The memory, a ULID.
    pub id: String,
    /// Fit: confidence that the memory fits the prompt, 0 to 1; `None` in a wake-up pack.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fit: Option<f64>,
}

/// Calls `each` for every selected injection of the log until `each` returns `false`. Returns the number of calls.
///
/// # Errors
/// As [`Service::log`].
pub fn injections(
    service: &Service,
    request: &LogRequest,
    each: &mut dyn FnMut(Injection) -> bool,
) -> Result<u64> {
    let most = request.limit.unwrap_or(usize::MAX) as u64;
    let oldest_first = request.oldest_first;
    let mut deliveries = deliveries(service, request)?.into_iter().peekable();
    let request = LogRequest {
        kind: Some("memory.recalled".to_owned()),
        limit: None,
        ..request.clone()
    };
    let mut given = 0;
    let mut give = |injection: Injection| {
        given += 1;
        each(injection) && given < most
    };
    let mut wants_more = most > 0;
    service.log(&request, &mut |entry| {
        let is_before = |other: &Injection| match oldest_first {
            true => other.position < entry.position,
            false => other.position > entry.position,
        };
        while wants_more && let Some(delivery) = deliveries.next_if(is_before) {
            wants_more = give(delivery);
        }
        if wants_more && let Some(injection) = injection(&entry) {
            wants_more = give(injection);
        }
        wants_more
    })?;
    for delivery in deliveries {
        if !wants_more {
            break;
        }
        wants_more = give(delivery);
    }
    Ok(given)
}

/// Returns the selected deliveries of alerts, with the texts of the alerts.
fn deliveries(service: &Service, request: &LogRequest) -> Result<Vec<Injection>> {
    let request = LogRequest {
        kind: Some("alert.delivered".to_owned()),
        ..request.clone()
    };
    let mut entries = Vec::new();
    service.log(&request, &mut |entry| {
        entries.push(entry);
        true
    })?;
    let delivery = |entry: LogEntry| {
        let refs = service.log_show(&entry.event)?.refs;
        let alerts = refs.into_iter().map(|event| {
            // An alert that another machine set may be unknown here.
            let set = service.log_show(&event).ok();
            let text =
                set.and_then(|set| Some(set.entry.payload.get("text")?.as_str()?.to_owned()));
            InjectedAlert { event, text }
        });
        let alerts: Vec<InjectedAlert> = alerts.collect();
        let texts = alerts.iter().filter_map(|alert| alert.text.as_deref());
        Ok(Injection {
            position: entry.position,
            event: entry.event,
            at: entry.at,
            front: "alerts".to_owned(),
            actor: entry.actor,
            session: entry.session,
            words: None,
            tokens: texts.map(|text| tokens::estimate(text) as u64).sum(),
            memories: Vec::new(),
            alerts,
        })
    };
    entries.into_iter().map(delivery).collect()
}

fn injection(entry: &LogEntry) -> Option<Injection> {
    let shown = Shown::of(entry);
    // A wake-up pack without memories leaves a record, too.
    if !shown.is_unasked() || shown.ids.is_empty() {
        return None;
    }
    let fits = entry.payload.get("fits_ppm").and_then(Value::as_array);
    let mut fits = fits.into_iter().flatten().map(Value::as_f64);
    let memories = shown.ids.iter().map(|id| InjectedMemory {
        id: id.clone(),
        fit: fits.next().flatten().map(|ppm| ppm / 1e6),
    });
    let words = entry.payload.get("query").and_then(Value::as_str);
    Some(Injection {
        position: entry.position,
        event: entry.event.clone(),
        at: entry.at.clone(),
        actor: entry.actor.clone(),
        session: entry.session.clone(),
        words: words.filter(|words| !words.is_empty()).map(str::to_owned),
        tokens: shown.tokens,
        memories: memories.collect(),
        alerts: Vec::new(),
        front: shown.front?,
    })
}

/// The memories that the caller's session has seen since its newest start or fresh context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenBySession {
    /// `true` if an event records the start of the session.
    pub is_started: bool,
    /// `true` if the session got a wake-up pack since its newest start or fresh context.
    pub is_woken: bool,
    /// The cause of that start or fresh context.
    pub cause: Option<SessionCause>,
    /// Ids of the memories that the session was shown or stored.
    pub ids: BTreeSet<String>,
}

/// Returns the memories that the caller's session has seen. Reads the log back to the session's newest start, or all of
/// it if no event records a start.
///
/// # Errors
/// As [`Service::log`].
pub fn seen_by_session(service: &Service, caller: &Caller) -> Result<SeenBySession> {
    let mut seen = SeenBySession::default();
    let Some(session) = &caller.session else {
        return Ok(seen);
    };
    let request = LogRequest {
        session: Some(session.clone()),
        ..LogRequest::default()
    };
    service.log(&request, &mut |entry| match &*entry.kind {
        "session.started" => {
            seen.is_started = true;
            let cause = entry.facts.get("cause").and_then(Value::as_str);
            seen.cause = cause.and_then(SessionCause::named);
            false
        }
        "memory.recalled" => {
            let shown = Shown::of(&entry);
            seen.is_woken |= shown.front.as_deref() == Some("wake-up");
            seen.ids.extend(shown.ids);
            true
        }
        "memory.stored" => {
            seen.ids.extend(entry.subject);
            true
        }
        _ => true,
    })?;
    Ok(seen)
}

/// Counts of recalls and injections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Number of recalls and injections.
    pub times: u64,
    /// Number of memories in them.
    pub memories: u64,
    /// Their tokens, estimated.
    pub tokens: u64,
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, more: Tokens) {
        self.times += more.times;
        self.memories += more.memories;
        self.tokens += more.tokens;
    }
}

/// Counts in total and by client, session, front and day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenStats {
    /// All counts together.
    pub total: Tokens,
    /// By client.
    pub by_client: BTreeMap<String, Tokens>,
    /// By session id.
    pub by_session: BTreeMap<String, Tokens>,
    /// By front: `recall`, `context`, `wake-up`, `hook`, or `unsaid` for older events.
    pub by_front: BTreeMap<String, Tokens>,
    /// By day in this machine's time zone, `2026-03-01`.
    pub by_day: BTreeMap<String, Tokens>,
}

/// Counts recalls and injections. Reads the whole log, or its events since `since`.
///
/// # Errors
/// As [`Service::log`].
pub fn token_stats(service: &Service, since: Option<&str>) -> Result<TokenStats> {
    let mut stats = TokenStats::default();
    let mut clients: BTreeMap<String, String> = BTreeMap::new();
    let zone = service.zone();
    let request = LogRequest {
        kind: Some("memory.recalled".to_owned()),
        oldest_first: true,
        since: since.map(str::to_owned),
        ..LogRequest::default()
    };
    // Clients are named in the start events, which may be older than `since`.
    let starts = LogRequest {
        kind: Some("session.started".to_owned()),
        oldest_first: true,
        ..LogRequest::default()
    };
    service.log(&starts, &mut |entry| {
        if let (Some(session), Some(client)) = (
            &entry.session,
            entry.payload.get("client").and_then(Value::as_str),
        ) {
            clients.insert(session.clone(), client.to_owned());
        }
        true
    })?;
    service.log(&request, &mut |entry| {
        let shown = Shown::of(&entry);
        if shown.is_unasked() && shown.ids.is_empty() {
            return true;
        }
        let tokens = Tokens {
            times: 1,
            memories: shown.ids.len() as u64,
            tokens: shown.tokens,
        };
        let client = entry
            .session
            .as_ref()
            .and_then(|session| clients.get(session));
        let actor = entry.actor.strip_prefix("agent:").unwrap_or(&entry.actor);
        let client = client.map_or_else(|| actor.to_owned(), Clone::clone);
        stats.total += tokens;
        *stats.by_client.entry(client).or_default() += tokens;
        if let Some(session) = entry.session {
            *stats.by_session.entry(session).or_default() += tokens;
        }
        let front = shown.front.unwrap_or_else(|| "unsaid".to_owned());
        *stats.by_front.entry(front).or_default() += tokens;
        let day = icm_api::when::day(&entry.at, &zone);
        *stats.by_day.entry(day).or_default() += tokens;
        true
    })?;
    Ok(stats)
}

/// The results, front and tokens of a `memory.recalled` event.
struct Shown {
    ids: Vec<String>,
    front: Option<String>,
    tokens: u64,
}

impl Shown {
    fn of(entry: &LogEntry) -> Shown {
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

    fn is_unasked(&self) -> bool {
        matches!(self.front.as_deref(), Some("hook" | "wake-up"))
    }
}
