//! The page *Sessions*, and the page of one session.

mod alerts;

use icm_agents::sessions::{Session, SessionsRequest, Tree, selected, sessions};
use icm_agents::shown::{Injection, injections};
use icm_api::error::{Result, ServiceError};
use icm_api::{LogEntry, LogRequest};
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

use super::log::{Glimpses, last_part, memories_of, pages, place, rows, session_names};
use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;
use crate::show::{self, Tone, badge, count, empty, line, number, start, start_of, time};

/// Most sessions without a parent on a page; those below them come along.
const ROOTS: usize = 50;
/// Most sessions on a page.
const SESSIONS: usize = 500;
/// Most events of one session on a page.
const EVENTS: usize = 50;
/// Most injections of one session that are shown.
const INJECTIONS: usize = 20;
/// Characters of the name of a session that is not known.
const NAME_CHARS: usize = 120;
/// Depth from which a session is no further indented.
const DEPTH: usize = 6;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let request = SessionsRequest {
        project: ask.get("project").map(str::to_owned),
        since: ask.get("since").map(str::to_owned),
        until: Some(format!("@{}", ask.basis.position)),
        ..SessionsRequest::default()
    };
    let found = match &request.since {
        Some(_) if ask.basis.position > 0 => sessions(&explorer.service, &request)?,
        _ => seen(explorer, ask, &request)?,
    };
    let from: usize = ask.number("from")?.unwrap_or(0);
    let tree = Tree::of(&found);
    let all = tree.roots();
    let roots = &all[from.min(all.len())..all.len().min(from.saturating_add(ROOTS))];
    let is_filtered = request.project.is_some() || request.since.is_some();
    let main = html! {
        (filters(ask))
        @if found.is_empty() && is_filtered {
            (empty("No session fits", &html! { a href=(ask.link("/sessions", &[])) { "Show all sessions" } }))
        } @else if found.is_empty() {
            (empty("No sessions yet", &html! { "Agents leave sessions here: " code { "icm init" } " sets them up." }))
        } @else {
            p.quiet { (count(found.len() as u64, "session", "sessions")) ", the most recently active first." }
            (table(explorer, ask, &tree, roots, "Sessions"))
            @if from > 0 || from.saturating_add(ROOTS) < all.len() {
                nav.log-pages aria-label="Pages of the list" {
                    @if from > 0 { a.button href=(ask.link_with(&[("from", "")])) { "Newest" } }
                    @if from.saturating_add(ROOTS) < all.len() {
                        a.button rel="next" href=(ask.link_with(&[("from", &(from + ROOTS).to_string())])) { "Older →" }
                    }
                }
            }
        }
        (alerts::section(explorer, ask)?)
    };
    Ok(Page::new("Sessions", main))
}

/// Returns the sessions up to the moment of the page. Those of now need no walk through the log.
fn seen(explorer: &Explorer, ask: &Ask, request: &SessionsRequest) -> Result<Vec<Session>> {
    let log = explorer.service.log_handle();
    let until = ask.at.as_ref().map(|_| ask.basis.position);
    let all = (explorer.heads).until(log, until, |seen| seen.sessions.list())?;
    selected(&explorer.service, all, request)
}

fn filters(ask: &Ask) -> Markup {
    html! {
        form.log-filters method="get" action="/sessions" aria-label="Filters" {
            div.row {
                div.field {
                    label for="sessions-project" { "Project" }
                    input #sessions-project name="project" value=[ask.get("project").map(clean_line)] autocomplete="off";
                }
                div.field {
                    label for="sessions-since" { "Active since" }
                    input #sessions-since name="since" value=[ask.get("since").map(clean_line)] placeholder="yesterday" autocomplete="off";
                }
                button type="submit" { "Filter" }
            }
            @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
        }
    }
}

fn table(
    explorer: &Explorer,
    ask: &Ask,
    tree: &Tree<'_>,
    roots: &[&Session],
    caption: &str,
) -> Markup {
    let shown = tree.below(roots, SESSIONS);
    html! {
        div.wide {
            table.log-rows.sessions {
                caption.unseen { (caption) }
                thead {
                    tr {
                        th scope="col" { "Session" }
                        th scope="col" { "Client" }
                        th scope="col" { "Project" }
                        th scope="col" { "Active" }
                        th scope="col" { "State" }
                        th.n scope="col" { "Events" }
                        th.n scope="col" { "Stored" }
                        th.n scope="col" { "Changed" }
                        th.n scope="col" { "Recalls" }
                        th.n scope="col" { "Shown unasked" }
                        th.n scope="col" { "Tokens" }
                    }
                }
                tbody { @for (session, depth) in &shown { (row(explorer, ask, session, *depth)) } }
            }
        }
        @if shown.len() == SESSIONS { p.quiet { "Only the first " (SESSIONS) " sessions of this page are shown." } }
    }
}

fn row(explorer: &Explorer, ask: &Ask, session: &Session, depth: usize) -> Markup {
    let numbers = [
        (session.events, "events"),
        (session.stored, "stored"),
        (session.changed, "changed"),
        (session.recalls, "recalls"),
        (session.injected, "shown unasked"),
        (session.tokens, "tokens"),
    ];
    html! {
        tr.item data-row {
            th scope="row" class={ "depth-" (depth.min(DEPTH)) } {
                @if depth > 0 { span.twig aria-hidden="true" { "└ " } span.unseen { "below the session above: " } }
                (show::session(ask, &session.id, session.name.as_deref()))
            }
            td.log-who { (line(&session.client_and_agent())) }
            td.log-where { @if let Some(project) = &session.project { a href=(ask.link("/sessions", &[("project", project)])) { (start(project, 28)) } } }
            td.log-when { (time(explorer, ask, &session.last_at)) }
            td.log-what { (state(session)) }
            @for (n, unit) in numbers {
                td.n { @if n > 0 { (number(n)) span.unit { " " (unit) } } @else { span.quiet.zero { "–" } } }
            }
        }
    }
}

fn state(session: &Session) -> Markup {
    match &session.ended {
        Some(reason) => html! { span.badge title=(clean_line(reason)) { (session.state()) } },
        None => badge(Tone::Good, session.state()),
    }
}

pub(crate) fn session_page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let given = last_part(ask);
    let request = SessionsRequest {
        session: Some(given.clone()),
        ..SessionsRequest::default()
    };
    let found = match seen(explorer, ask, &request) {
        Err(ServiceError::Nothing { .. }) => return unknown(explorer, ask, &given),
        found => found?,
    };
    let id = explorer.service.session_meant(&given)?.to_string();
    let session = found.iter().find(|session| session.id == id);
    let session = session.ok_or_else(|| {
        ServiceError::nothing(
            "this session has no events",
            "the page Sessions lists the sessions",
        )
    })?;
    let tree = Tree::of(&found);
    let name = session.title();
    let main = html! {
        (about(explorer, ask, session)?)
        @if found.len() > 1 {
            section aria-labelledby="below" {
                h2 #below { "Sessions that work for it" }
                (table(explorer, ask, &tree, &[session], "The session and those below it"))
            }
        }
        (alerts::of_session(explorer, ask, &session.id)?)
        (shown(explorer, ask, &session.id)?)
        (events(explorer, ask, session)?)
    };
    Ok(Page::new(format!("Session {}", clean_line(&name)), main))
}

/// The page of a session of which no event is known: a reminder can name it before it begins.
fn unknown(explorer: &Explorer, ask: &Ask, given: &str) -> Result<Page> {
    let main = html! {
        div.notice.warn {
            p { strong { "No event of this session is known" @if ask.at.is_some() { " up to this moment" } "." } }
            p {
                "A session is listed from its first event on. "
                a href=(ask.link("/sessions", &[])) { "All sessions" }
                @if ask.at.is_some() { " · " a href=(ask.link_at(None)) { "This session now" } }
            }
        }
        (alerts::of_session(explorer, ask, given)?)
    };
    Ok(Page::new(
        format!("Session {}", start_of(given, NAME_CHARS)),
        main,
    ))
}

fn about(explorer: &Explorer, ask: &Ask, session: &Session) -> Result<Markup> {
    let parent = session
        .parent
        .as_deref()
        .filter(|parent| *parent != session.id);
    let names = session_names(explorer, parent.into_iter())?;
    let numbers = [
        (session.events, "events"),
        (session.stored, "stored"),
        (session.changed, "other changes"),
        (session.recalls, "recalls"),
        (session.injected, "shown unasked"),
        (session.tokens, "tokens, estimated"),
    ];
    Ok(html! {
        ul.tiles.log-tiles aria-label="Numbers" {
            @for (n, unit) in numbers { li { strong { (number(n)) } " " span { (unit) } } }
        }
        dl.log-fields {
            div { dt { "state" } dd { (state(session)) @if let Some(reason) = &session.ended { " " (line(reason)) } } }
            div { dt { "client" } dd { (line(&session.client_and_agent())) } }
            @if let Some(project) = &session.project { div { dt { "project" } dd { a href=(ask.link("/sessions", &[("project", project)])) { (line(project)) } } } }
            @if let Some(folder) = &session.folder { div { dt { "folder" } dd { code { (line(folder)) } } } }
            @if let Some(parent) = parent { div { dt { "works for" } dd { (show::session(ask, parent, names.get(parent).map(String::as_str))) } } }
            div { dt { "first event" } dd { (time(explorer, ask, &session.first_at)) } }
            div { dt { "newest event" } dd { (time(explorer, ask, &session.last_at)) } }
            @if session.starts > 1 { div { dt { "starts" } dd { (number(session.starts)) " (with resumes, clearings and compactions)" } } }
            div { dt { "id" } dd { code { (line(&session.id)) } } }
        }
    })
}

/// Returns the memories that the session was shown unasked.
fn shown(explorer: &Explorer, ask: &Ask, id: &str) -> Result<Markup> {
    let request = LogRequest {
        session: Some(id.to_owned()),
        cursor: Some(ask.basis.position.saturating_add(1)),
        limit: Some(INJECTIONS + 1),
        ..LogRequest::default()
    };
    let mut found: Vec<Injection> = Vec::new();
    injections(&explorer.service, &request, &mut |injection| {
        found.push(injection);
        true
    })?;
    let mut glimpses = Glimpses::default();
    Ok(html! {
        section aria-labelledby="shown" {
            h2 #shown { "What it was shown" }
            @if found.is_empty() { p.quiet { "No hook and no wake-up pack showed it memories." } }
            ul.log-cards {
                @for injection in found.iter().take(INJECTIONS) {
                    li.card {
                        p {
                            strong { (line(&injection.front)) }
                            @if let Some(words) = &injection.words { " for “" (start(words, 120)) "”" }
                        }
                        (memories_of(explorer, ask, injection, &mut glimpses))
                        p.quiet { (place(ask, injection.position)) ", " (time(explorer, ask, &injection.at)) ", " (count(injection.tokens, "token", "tokens")) }
                    }
                }
            }
            @if found.len() > INJECTIONS {
                p { a href=(ask.link("/log", &[("injected", "yes"), ("session", id)])) { "All that it was shown" } }
            }
        }
    })
}

/// Returns the events of the session, the oldest first.
fn events(explorer: &Explorer, ask: &Ask, session: &Session) -> Result<Markup> {
    let cursor = ask.get("cursor").map(str::parse).transpose();
    let cursor = cursor.map_err(|_| {
        ServiceError::invalid_with("`cursor` is no position", "go back to the first page")
    })?;
    let request = LogRequest {
        session: Some(session.id.clone()),
        oldest_first: true,
        cursor,
        ..LogRequest::default()
    };
    let mut entries: Vec<LogEntry> = Vec::new();
    let mut next = None;
    explorer.service.log(&request, &mut |entry| {
        if entry.position > ask.basis.position {
            return false;
        }
        if entries.len() == EVENTS {
            next = entries.last().map(|last| last.position);
            return false;
        }
        entries.push(entry);
        true
    })?;
    Ok(html! {
        section aria-labelledby="events" {
            h2 #events { "What it did" }
            p.quiet {
                "Oldest first. " a href=(ask.link("/log", &[("session", &session.id)])) { "In the log" }
                ". Take its changes back: " code { "icm undo --session " (&session.id[..session.id.len().min(8)]) }
            }
            (rows(explorer, ask, &entries, "Events of the session")?)
            (pages(ask, cursor.is_some(), next, true))
        }
    })
}

#[cfg(test)]
mod tests;
