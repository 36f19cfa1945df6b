//! Reminders (alerts): for whom each is, when it is due, and to which session it was shown.

use icm_api::error::Result;
use icm_api::when::rfc3339;
use icm_api::{Alert, AlertsAnswer, AlertsRequest};
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;
use crate::heads::{AlertSeen, Seen};
use crate::pages::log::place;
use crate::show::{
    self, Tone, actor, badge, count, full_time, line, number, start, text, time, withheld,
};

/// Reminders that are listed, and with "show more".
const LISTED: usize = 20;
const LISTED_MAX: usize = 200;
/// Characters of a reminder in the list. Raised, a row takes more lines.
const TEXT_CHARS: usize = 240;

/// A reminder with the names of those that it concerns.
struct Row {
    alert: AlertSeen,
    actor: Option<String>,
    /// Names of the sessions that it is for, and that it was shown to.
    of: Option<String>,
    shown_to: Option<String>,
}

/// Returns all reminders up to the moment of the page, the newest first.
pub(super) fn section(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    let limit = ask.number("alerts")?.unwrap_or(LISTED).min(LISTED_MAX);
    let log = explorer.service.log_handle();
    let (rows, total) = (explorer.heads).with(log, |seen| {
        let mut all = seen.alerts.until(ask.basis.position);
        let rows: Vec<Row> = (all.by_ref().take(limit))
            .map(|alert| named(seen, alert))
            .collect();
        let total = rows.len() + all.count();
        (rows, total)
    })?;
    let waiting = match rows.iter().any(|row| row.alert.shown.is_none()) {
        true => waiting(explorer, ask, None)?.alerts,
        false => Vec::new(),
    };
    Ok(html! {
        section aria-labelledby="alerts" {
            h2 #alerts { "Reminders" @if total > 0 { " " span.quiet { (number(total as u64)) } } }
            @if rows.is_empty() {
                p.quiet { "None was set. An agent or you set one: " code { "icm alert set --due 'in 2h' 'Look at the deployment'" } }
            } @else {
                (table(explorer, ask, &rows, &waiting))
                @if rows.len() < total {
                    p {
                        (count((total - rows.len()) as u64, "older reminder", "older reminders")) ". "
                        @if limit < LISTED_MAX {
                            a href={ (ask.link_with(&[("alerts", &LISTED_MAX.to_string())])) "#alerts" } { "Show up to " (LISTED_MAX) }
                        }
                    }
                }
            }
        }
    })
}

fn named(seen: &Seen, alert: AlertSeen) -> Row {
    let name = |id| seen.sessions.name(id).map(str::to_owned);
    Row {
        actor: seen.sessions.actor(alert.actor).map(str::to_owned),
        of: alert.session.and_then(name),
        shown_to: alert.shown.and_then(|shown| name(shown.session)),
        alert,
    }
}

fn table(explorer: &Explorer, ask: &Ask, rows: &[Row], waiting: &[Alert]) -> Markup {
    html! {
        div.wide {
            table.log-rows.reminders {
                caption.unseen { "Reminders, the newest first" }
                thead {
                    tr {
                        th scope="col" { "Set" }
                        th scope="col" { "Reminder" }
                        th scope="col" { "For" }
                        th scope="col" { "State" }
                    }
                }
                tbody { @for row in rows { (one(explorer, ask, row, waiting)) } }
            }
        }
    }
}

fn one(explorer: &Explorer, ask: &Ask, row: &Row, waiting: &[Alert]) -> Markup {
    let alert = &row.alert;
    html! {
        tr.item data-row {
            th.log-place scope="row" { (place(ask, alert.position)) }
            td.log-summary {
                @match &alert.text {
                    Some(text) => (start(text, TEXT_CHARS)),
                    None => (withheld()),
                }
                p.quiet {
                    "set by " (actor(ask, row.actor.as_deref().unwrap_or_default())) ", "
                    (time(explorer, ask, &rfc3339(alert.set_ms)))
                }
            }
            td.log-who {
                @match (&alert.session, &alert.project) {
                    (Some(id), _) => {
                        "session "
                        @match (&row.of, &alert.session_name) {
                            // Its page is found by the name alone until an event is of the session.
                            (None, Some(name)) => (show::session(ask, name, None)),
                            (name, _) => (show::session(ask, &id.to_string(), name.as_deref())),
                        }
                    }
                    (None, Some(project)) => { "project " (line(project)) }
                    (None, None) => { "a project" }
                }
            }
            td.log-summary { (state(explorer, ask, row, waiting)) }
        }
    }
}

fn state(explorer: &Explorer, ask: &Ask, row: &Row, waiting: &[Alert]) -> Markup {
    let alert = &row.alert;
    let pending = (waiting.iter()).find(|waiting| waiting.position == alert.position);
    html! {
        @if let Some(shown) = alert.shown {
            (badge(Tone::Plain, "shown")) " "
            @if !shown.session.is_zero() { "to " (show::session(ask, &shown.session.to_string(), row.shown_to.as_deref())) " " }
            (time(explorer, ask, &rfc3339(shown.ms))) " " (place(ask, shown.position))
        } @else if alert.text.is_some() && pending.is_none() {
            (badge(Tone::Warn, "taken back"))
        } @else if pending.is_some_and(|pending| pending.due) {
            (badge(Tone::Warn, "due"))
            @match alert.session {
                Some(_) => " waits for its session",
                None => " waits for the next session that asks",
            }
        } @else if let Some(due) = alert.due_ms {
            (badge(Tone::Good, "waits")) " until " (full_time(explorer, &rfc3339(due)))
        } @else {
            (badge(Tone::Good, "waits"))
        }
    }
}

/// Returns the reminders that wait: all, or those of one session.
fn waiting(explorer: &Explorer, ask: &Ask, session: Option<&str>) -> Result<AlertsAnswer> {
    let request = AlertsRequest {
        session: session.map(str::to_owned),
        at: ask.at.clone(),
        all: session.is_none(),
        read_only: true,
        own: session.is_some(),
        ..AlertsRequest::default()
    };
    let (answer, _) = explorer.service.alerts(&explorer.caller, &request)?;
    Ok(answer)
}

/// Returns the reminders that wait for a session.
pub(super) fn of_session(explorer: &Explorer, ask: &Ask, id: &str) -> Result<Markup> {
    let answer = waiting(explorer, ask, Some(id))?;
    let (due, later) = (answer.left_out as u64, answer.not_due as u64);
    Ok(html! {
        @if !answer.alerts.is_empty() || later > 0 {
            section aria-labelledby="alerts" {
                h2 #alerts { "Reminders that wait for it" }
                ul.log-cards {
                    @for alert in &answer.alerts {
                        li.card {
                            (text(&alert.text))
                            p.quiet { (place(ask, alert.position)) ", set by " (line(&alert.actor)) ", " (time(explorer, ask, &alert.set_at)) }
                        }
                    }
                }
                @if due > 0 { p.quiet { (count(due, "more reminder is", "more reminders are")) " due, but not listed here." } }
                @if later > 0 { p.quiet { (count(later, "reminder is", "reminders are")) " for later." } }
            }
        }
    })
}
