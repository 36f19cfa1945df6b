//! The state beside the events: counts, sessions at work, tokens of today, due alerts.

use icm_agents::sessions::Session;
use icm_api::error::Result;
use icm_api::{Alert, AlertsRequest, Stats};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;
use crate::heads::Shown;
use crate::show;

/// Milliseconds without an event after which a session does not count as at work: half an hour. Raised, sessions that
/// hang are shown for longer; lowered, one whose agent thinks is left out.
const AT_WORK_MS: u64 = 30 * 60 * 1_000;
/// Most sessions that are listed. Raised, the page is longer.
const SESSIONS: usize = 8;
/// Most alerts that are listed. Raised, the page is longer.
const ALERTS: usize = 5;
/// Most events of a log whose memories of an earlier moment are counted before the page is sent. The count passes later
/// versions of memories, too. Raised, a step to an earlier moment takes longer.
const COUNTED_AT_ONCE: u64 = 20_000;
/// Characters of an alert. Raised, an alert takes more lines.
const ALERT_CHARS: usize = 200;

/// Returns the state, or what a browser replaces by it: an earlier moment of a large store takes a second to count.
pub(super) fn state_or_later(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    if ask.at.is_none() || explorer.service.newest_position()? <= COUNTED_AT_ONCE {
        return state(explorer, ask);
    }
    let counted = ask.link("/now/state", &[]);
    Ok(html! {
        div #state.now-state hx-get=(counted) hx-trigger="load" hx-swap="outerHTML" {
            section aria-label="Numbers" {
                ul.counters {
                    li { p { strong { (show::number(ask.basis.position)) } " " span { "events" } } }
                    li.quiet { "Memories are being counted …" noscript { " This needs script; " code { "icm stats --at" } " counts, too." } }
                }
            }
        }
    })
}

/// Returns the state at the moment of the page.
pub(super) fn state(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    let stats = explorer.service.stats(ask.at.as_deref())?;
    let is_live = ask.at.is_none();
    let (since_ms, midnight_ms) = (work_since_ms(explorer, ask), midnight_ms(explorer, ask));
    let until = ask.at.as_ref().map(|_| ask.basis.position);
    let log = explorer.service.log_handle();
    let sessions = (explorer.heads).until(log, until, |seen| seen.sessions.at_work(since_ms))?;
    let position = ask.basis.position;
    let that_day =
        (explorer.heads).with(log, |seen| seen.tally.shown_since(midnight_ms, position))?;
    let alerts = match is_live {
        true => alerts(explorer)?,
        false => Vec::new(),
    };
    Ok(html! {
        div #state.now-state hx-get=[is_live.then_some("/now/state")] hx-swap=[is_live.then_some("outerHTML")]
            hx-trigger=[is_live.then_some("rows throttle:5s, rows delay:2s")] {
            (counts(ask, &stats, that_day))
            (at_work(explorer, ask, &sessions))
            @if !alerts.is_empty() { (due(explorer, ask, &alerts)) }
        }
    })
}

/// Returns the numbers, and what agents were shown on the day of the moment up to it.
fn counts(ask: &Ask, stats: &Stats, that_day: Shown) -> Markup {
    let card = |value: u64, name: &str, href: Option<String>, more: String| {
        html! {
            li {
                @match href {
                    Some(href) => { a href=(href) { strong { (show::number(value)) } " " span { (name) } } },
                    None => { p { strong { (show::number(value)) } " " span { (name) } } },
                }
                @if !more.is_empty() { span.quiet { (more) } }
            }
        }
    };
    let link = |path: &str| Some(ask.link(path, &[]));
    let mut gone = Vec::new();
    if stats.forgotten > 0 {
        gone.push(format!("{} forgotten", show::number(stats.forgotten)));
    }
    if stats.expired > 0 {
        gone.push(format!("{} expired", show::number(stats.expired)));
    }
    html! {
        section aria-label="Numbers" {
            ul.counters {
                (card(stats.memories, "memories", link("/memories"), gone.join(", ")))
                (card(stats.topics, "topics", link("/topics"), String::new()))
                (card(stats.concepts, "concepts", link("/graph"), match stats.memoirs {
                    0 => String::new(),
                    memoirs => format!("in {}", show::count(memoirs, "memoir", "memoirs")),
                }))
                (card(stats.events, "events", link("/log"), String::new()))
                @let answers = show::count(that_day.times, "answer", "answers");
                @let memories = show::count(that_day.memories, "memory", "memories");
                @let day = match ask.at { Some(_) => "that day", None => "today" };
                (card(that_day.tokens, &format!("tokens shown {day}"), link("/numbers"), format!("{answers}, {memories}")))
            }
        }
    }
}

fn at_work(explorer: &Explorer, ask: &Ask, sessions: &[Session]) -> Markup {
    html! {
        section aria-labelledby="at-work" {
            h2 #at-work { "Sessions at work" }
            @if sessions.is_empty() {
                p.quiet { "No session was active in the " @if ask.at.is_some() { "half hour before" } @else { "last half hour" } "." }
            } @else {
                ul.at-work {
                    @for session in sessions.iter().take(SESSIONS) { (one(explorer, ask, session)) }
                }
                @if sessions.len() > SESSIONS {
                    p { a href=(ask.link("/sessions", &[])) { "All " (show::number(sessions.len() as u64)) " sessions at work" } }
                }
            }
        }
    }
}

fn one(explorer: &Explorer, ask: &Ask, session: &Session) -> Markup {
    html! {
        li data-row {
            p {
                (show::session(ask, &session.id, session.name.as_deref()))
                (show::time(explorer, ask, &session.last_at))
            }
            p.quiet {
                (show::start(&session.client_and_agent(), 80))
                @if let Some(project) = &session.project { " on " (show::start(project, 40)) }
            }
            p.quiet { (session.work()) }
        }
    }
}

fn due(explorer: &Explorer, ask: &Ask, alerts: &[Alert]) -> Markup {
    html! {
        section aria-labelledby="alerts" {
            h2 #alerts { "Reminders that wait" }
            ul.alerts {
                @for alert in alerts.iter().take(ALERTS) {
                    li data-row {
                        a href=(show::event_path(ask, alert.position)) { (show::start(&alert.text, ALERT_CHARS)) }
                        p.quiet {
                            @if let Some(due) = &alert.due_at { "from " (show::full_time(explorer, due)) " " }
                            @if !alert.due { "(not due) " }
                            "set by " (show::actor(ask, &alert.actor))
                        }
                    }
                }
            }
            @if alerts.len() > ALERTS {
                p.quiet { "and " (show::number((alerts.len() - ALERTS) as u64)) " more" }
            }
            p { a href={ (ask.link("/sessions", &[])) "#alerts" } { "All reminders" } }
        }
    }
}

/// Returns the reminders that no session has seen, those that are due first.
fn alerts(explorer: &Explorer) -> Result<Vec<Alert>> {
    let request = AlertsRequest {
        all: true,
        read_only: true,
        ..AlertsRequest::default()
    };
    let (answer, _) = explorer.service.alerts(&explorer.caller, &request)?;
    let mut alerts = answer.alerts;
    alerts.sort_by_key(|alert| !alert.due);
    Ok(alerts)
}

/// Returns the time since which a session with an event counts as at work.
fn work_since_ms(explorer: &Explorer, ask: &Ask) -> u64 {
    ms_of(ask.time(explorer)).saturating_sub(AT_WORK_MS)
}

/// Returns the first moment of the page's day in the user's zone.
fn midnight_ms(explorer: &Explorer, ask: &Ask) -> u64 {
    let time = ask.time(explorer);
    let start = time.to_zoned(explorer.service.zone()).start_of_day();
    ms_of(start.map_or(time, |start| start.timestamp()))
}

fn ms_of(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or(0)
}
