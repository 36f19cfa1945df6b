//! Asks the service. Looking is no access of an agent: no recall of the view is recorded.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use icm_api::error::{Result, ServiceError};
use icm_api::{
    Basis, Caller, ListRequest, LogEntry, LogRequest, Memory, RecallHit, RecallRequest,
    TopicsRequest, Version,
};
use icm_service::{Service, shown_difference};

use crate::ask::{Answer, Ask, AtWork, Counts, Events, Found, Known, Today, Wanted};
use crate::clock::{Clock, ms_of};
use crate::text;
use crate::timeline::{Family, Instant};

/// Recalls of a memory that its page shows. Raised, the page of a memory that hooks show often is slower.
const RECALLS: usize = 50;

/// Versions whose words are compared. Raised, the page of a memory with many updates is slower.
const VERSIONS: usize = 50;

/// Linked memories whose first line is shown. Raised, the page of a memory with many links is slower.
const LINKED: usize = 40;

/// Most events that the numbers of a day are counted from. Raised, a busy day is counted for longer.
const COUNTED: usize = 20_000;

/// Events of another time in a row after which the day is taken to begin. Imported events have times of their own.
const OLDER: usize = 200;

/// A session counts as at work for this time after its newest event. Raised, sessions that were left open stay listed.
const AT_WORK_MS: u64 = 3_600_000;

/// Results of a search. A recall has no more.
const RESULTS: usize = 1000;

/// Answers one ask.
///
/// # Errors
/// As the queries of the service.
pub(crate) fn answer(service: &Service, caller: &Caller, ask: Ask) -> Result<Answer> {
    Ok(match ask {
        Ask::Now { at, limit } => {
            let basis = service.basis(at.as_deref())?;
            let found = events(service, LogRequest::default(), limit, &basis)?;
            Answer::Now(basis, found.entries)
        }
        Ask::Memories { of, at } => memories(service, caller, of, at)?,
        Ask::Topics { at } => Answer::Topics(service.topic_tree(&TopicsRequest {
            at,
            ..TopicsRequest::default()
        })?),
        Ask::Log { filter, limit, at } => {
            let basis = service.basis(at.as_deref())?;
            let found = events(service, *filter, limit, &basis)?;
            Answer::Log(basis, found)
        }
        Ask::Memory { id, at } => {
            let basis = service.basis(at.as_deref())?;
            let known = known(service, &id, at.as_deref())?;
            Answer::Memory(basis, Box::new(known))
        }
        Ask::Event { position } => {
            Answer::Event(Box::new(service.log_show(&format!("@{position}"))?))
        }
        Ask::Undo { request } => Answer::Undo(Box::new(service.undo(caller, &request)?)),
        Ask::Moment { at } => Answer::Moment(service.basis(at.as_deref())?),
        Ask::Step { from, on } => Answer::Moment(step(service, from, on)?),
    })
}

/// Returns the moment before an event, or after it; the moment of the event itself if there is none. Doubles its steps
/// while they stay in one command, such as an import of thousands of events.
fn step(service: &Service, from: u64, on: bool) -> Result<Basis> {
    let at = |position: u64| service.basis(Some(&format!("@{position}")));
    if on {
        return at((from + 1).min(service.newest_position()?));
    }
    // The newest position of an earlier moment is at or above `before`, and below `same`.
    let (mut before, mut same, mut back) = (from.saturating_sub(1), from, 1);
    while before > 0 && at(before)?.position >= from {
        same = before;
        back *= 2;
        before = before.saturating_sub(back);
    }
    while before + 1 < same {
        let middle = before + (same - before) / 2;
        match at(middle)?.position < from {
            true => before = middle,
            false => same = middle,
        }
    }
    at(if before == 0 { from } else { before })
}

fn events(service: &Service, filter: LogRequest, limit: usize, basis: &Basis) -> Result<Events> {
    let request = LogRequest {
        limit: Some(limit + 1),
        cursor: Some(basis.position + 1),
        ..filter
    };
    let mut entries = Vec::new();
    service.log(&request, &mut |entry| {
        entries.push(entry);
        true
    })?;
    let more = entries.len() > limit;
    entries.truncate(limit);
    Ok(Events { entries, more })
}

fn memories(service: &Service, caller: &Caller, of: Wanted, at: Option<String>) -> Result<Answer> {
    let Some(query) = of.query else {
        let basis = service.basis(at.as_deref())?;
        let list = service.list(&ListRequest {
            topic: of.topic,
            limit: Some(of.limit + 1),
            sort: of.sort,
            at,
            ..ListRequest::default()
        });
        let mut list = no_topic_is_empty(list)?;
        let more = list.len() > of.limit;
        list.truncate(of.limit);
        let hits = list.into_iter().map(RecallHit::of).collect();
        return Ok(Answer::Memories(
            basis,
            Found {
                hits,
                more,
                nearest: None,
            },
        ));
    };
    let answer = service.recall(
        caller,
        &RecallRequest {
            topic: of.topic,
            scope: Some("all".to_owned()),
            limit: Some(of.limit.min(RESULTS)),
            at,
            record: false,
            ..RecallRequest::new(query)
        },
    )?;
    Ok(Answer::Memories(
        answer.basis,
        Found {
            more: answer.next.is_some() && of.limit < RESULTS,
            hits: answer.results,
            nearest: answer.nearest.map(|nearest| {
                let content = nearest.content.unwrap_or_else(|| "(withheld)".to_owned());
                (nearest.id, content)
            }),
        },
    ))
}

/// A topic may be chosen that no memory was in at the moment: nothing is there then.
fn no_topic_is_empty(list: Result<Vec<Memory>>) -> Result<Vec<Memory>> {
    match list {
        Err(ServiceError::NotFound { what: "topic", .. }) => Ok(Vec::new()),
        other => other,
    }
}

fn known(service: &Service, id: &str, at: Option<&str>) -> Result<Known> {
    let memory = service.get(id, at)?;
    let history = service.history_at(&memory.id, at)?;
    let why = service.why_at(&memory.id, RECALLS, at)?;
    let others = memory.related.iter().map(|related| &related.id);
    let others = others.chain(&memory.often_together).take(LINKED);
    let mut linked = BTreeMap::new();
    for other in others {
        if let Ok(other) = service.get(other, at) {
            let content = other.content.as_deref().unwrap_or("(withheld)");
            linked.insert(other.id, text::beginning(content, 200));
        }
    }
    Ok(Known {
        versions: with_differences(history),
        memory,
        why,
        linked,
    })
}

/// Compares each version with the shown one before it. The first has no difference.
fn with_differences(history: Vec<Version>) -> Vec<(Version, Vec<icm_api::DiffPiece>)> {
    let skipped = history.len().saturating_sub(VERSIONS);
    let mut before: Option<String> = None;
    let mut versions = Vec::with_capacity(history.len());
    for (at, version) in history.into_iter().enumerate() {
        let content = version.memory.content.as_deref();
        let pieces = match (before.as_deref(), content) {
            (Some(old), Some(new)) if at >= skipped && old != new && !version.is_not_shown() => {
                shown_difference(old, new)
            }
            _ => Vec::new(),
        };
        if !version.is_not_shown() {
            before = content.map(str::to_owned);
        }
        versions.push((version, pieces));
    }
    versions
}

/// Returns the events of the whole log, in order.
///
/// # Errors
/// If the log cannot be read.
pub(crate) fn all_events(service: &Service) -> Result<Vec<Instant>> {
    let mut events = Vec::new();
    // The log has no tip before it was read once.
    service.newest_position()?;
    service.log_handle().scan_back(None, &mut |event| {
        events.push(Instant {
            position: event.position.0,
            ms: event.head.time().ms(),
            family: Family::of(&event.head.kind().name()),
        });
        ControlFlow::Continue(())
    })?;
    events.reverse();
    Ok(events)
}

/// Returns the events behind a position, in order.
///
/// # Errors
/// If the log cannot be read.
pub(crate) fn events_after(service: &Service, position: u64) -> Result<Vec<Instant>> {
    let mut events = Vec::new();
    let request = LogRequest {
        oldest_first: true,
        cursor: Some(position),
        ..LogRequest::default()
    };
    service.log(&request, &mut |entry| {
        events.push(Instant {
            position: entry.position,
            ms: ms_of(&entry.at).unwrap_or(0),
            family: Family::of(&entry.kind),
        });
        true
    })?;
    Ok(events)
}

/// Returns the names of the sessions that started behind a position, by id.
///
/// # Errors
/// If the log cannot be read.
pub(crate) fn names_after(service: &Service, position: u64) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    let request = LogRequest {
        kind: Some("session.started".to_owned()),
        oldest_first: true,
        cursor: Some(position),
        ..LogRequest::default()
    };
    service.log(&request, &mut |entry| {
        let name = entry.payload.get("session").and_then(|name| name.as_str());
        if let (Some(id), Some(name)) = (entry.session, name) {
            names.insert(id, name.to_owned());
        }
        true
    })?;
    Ok(names)
}

/// Counts for the page *Now*.
///
/// # Errors
/// As the queries of the service.
pub(crate) fn counts(service: &Service, at: Option<&str>) -> Result<Counts> {
    let stats = service.stats(at)?;
    let moment_ms = match at {
        None => service.now_ms(),
        Some(_) => ms_of(&stats.basis.at).unwrap_or(0),
    };
    let clock = Clock {
        now_ms: service.now_ms(),
        zone: service.zone(),
    };
    let day_ms = clock.start_of_day_ms(moment_ms);
    let work_ms = moment_ms.saturating_sub(AT_WORK_MS);
    let mut today = Today::default();
    let mut sessions: BTreeMap<String, AtWork> = BTreeMap::new();
    let (mut seen, mut older) = (0, 0);
    let request = LogRequest {
        cursor: Some(stats.basis.position + 1),
        ..LogRequest::default()
    };
    service.log(&request, &mut |entry| {
        let ms = ms_of(&entry.at).unwrap_or(0);
        seen += 1;
        match ms < day_ms.min(work_ms) {
            true => older += 1,
            false => older = 0,
        }
        if ms >= day_ms {
            today.add(&entry);
        }
        if ms >= work_ms
            && let Some(id) = &entry.session
        {
            let session = sessions.entry(id.clone());
            session
                .or_insert_with(|| AtWork::of(id, &entry))
                .add(&entry);
        }
        seen < COUNTED && older < OLDER
    })?;
    let mut at_work: Vec<AtWork> = sessions.into_values().filter(|it| !it.ended).collect();
    at_work.sort_by_key(|session| std::cmp::Reverse(ms_of(&session.last_at)));
    Ok(Counts {
        stats,
        today,
        at_work,
    })
}

/// Returns the tokens that a recall showed, and whether it was not asked for.
fn shown(entry: &LogEntry) -> (u64, bool) {
    let shown = entry.facts.get("shown");
    let of = |name: &str| shown.and_then(|shown| shown.get(name));
    let tokens = of("tokens").and_then(|tokens| tokens.as_u64());
    let front = of("front").and_then(|front| front.as_str());
    (
        tokens.unwrap_or(0),
        matches!(front, Some("hook" | "wake-up")),
    )
}

impl Today {
    fn add(&mut self, entry: &LogEntry) {
        match &*entry.kind {
            "memory.stored" => self.stored += 1,
            "memory.recalled" => {
                let (tokens, unasked) = shown(entry);
                self.tokens += tokens;
                match unasked {
                    true => self.unasked += 1,
                    false => self.recalls += 1,
                }
            }
            // Ticks of decay are no change that somebody made.
            "memory.decayed" => {}
            kind if kind.starts_with("memory.") => self.changed += 1,
            _ => {}
        }
    }
}

impl AtWork {
    /// The newest event of a session is read first.
    fn of(id: &str, newest: &LogEntry) -> AtWork {
        AtWork {
            id: id.to_owned(),
            actor: newest.actor.clone(),
            last_at: newest.at.clone(),
            ended: newest.kind == "session.ended",
            stored: 0,
            changed: 0,
            recalls: 0,
            tokens: 0,
        }
    }

    fn add(&mut self, entry: &LogEntry) {
        let mut work = Today::default();
        work.add(entry);
        self.stored += work.stored;
        self.changed += work.changed;
        self.recalls += work.recalls;
        self.tokens += work.tokens;
    }
}
