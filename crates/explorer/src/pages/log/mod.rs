//! The page *Log*, and the page of one event.

mod event;
mod facts;
mod filter;
mod injected;
mod links;
mod rows;

use icm_api::LogEntry;
use icm_api::error::{Result, ServiceError};
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

use self::filter::Filter;
use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;
use crate::problem;
use crate::show::{count, empty};

pub(crate) use self::event::event_page;
pub(super) use self::injected::{Glimpses, memories_of};
pub(super) use self::links::{last_part, place, session_names};
pub(super) use self::rows::rows;

/// Most events on a page.
const EVENTS: usize = 100;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let filter = Filter::of(ask)?;
    let found = match filter.injected {
        true => injected::list(explorer, ask, &filter, EVENTS),
        false => events(explorer, ask, &filter),
    };
    let list = match found {
        Ok(list) => list,
        Err(error) => refused(error)?,
    };
    let main = html! {
        (filter.form(ask))
        (filter.chips(ask))
        (list)
    };
    Ok(Page::new("Log", main))
}

fn events(explorer: &Explorer, ask: &Ask, filter: &Filter) -> Result<Markup> {
    let (entries, next) = page_of(explorer, ask, filter, EVENTS)?;
    if entries.is_empty() {
        return nothing(explorer, ask, filter);
    }
    Ok(html! {
        p.quiet {
            @if filter.is_empty() { (count(ask.basis.position, "event", "events")) ", " }
            (filter.order()) "."
        }
        (rows(explorer, ask, &entries, "Events")?)
        (pages(ask, filter.cursor.is_some(), next, filter.oldest_first))
    })
}

/// Returns a page of events up to the moment, and the place where the next page begins.
fn page_of(
    explorer: &Explorer,
    ask: &Ask,
    filter: &Filter,
    most: usize,
) -> Result<(Vec<LogEntry>, Option<u64>)> {
    let request = filter.request(ask.basis.position);
    let mut entries: Vec<LogEntry> = Vec::new();
    let mut next = None;
    explorer.service.log(&request, &mut |entry| {
        if entry.position > ask.basis.position {
            return false;
        }
        if entries.len() == most {
            next = entries.last().map(|last| last.position);
            return false;
        }
        entries.push(entry);
        true
    })?;
    Ok((entries, next))
}

/// Returns the links to the first and the next page.
pub(super) fn pages(ask: &Ask, is_later: bool, next: Option<u64>, oldest_first: bool) -> Markup {
    let (first, more) = match oldest_first {
        true => ("Oldest", "Newer →"),
        false => ("Newest", "Older →"),
    };
    html! {
        @if is_later || next.is_some() {
            nav.log-pages aria-label="Pages of the list" {
                @if is_later { a.button href=(ask.link_with(&[("cursor", "")])) { (first) } }
                @if let Some(next) = next {
                    a.button rel="next" href=(ask.link_with(&[("cursor", &next.to_string())])) { (more) }
                }
            }
        }
    }
}

/// Returns the words for a list without events.
fn nothing(explorer: &Explorer, ask: &Ask, filter: &Filter) -> Result<Markup> {
    if filter.is_empty() && filter.cursor.is_none() {
        let next = html! { "Each change is an event here. Store something: " code { (icm_api::STORE_EXAMPLE) } };
        return Ok(empty("No events yet", &next));
    }
    let unknown = match &filter.actor {
        Some(actor) => explorer.service.unknown_actor(actor)?,
        None => None,
    };
    let next = html! {
        @if let Some(unknown) = unknown { bdi { (clean_line(&unknown)) } ". " }
        a href=(ask.link("/log", &[])) { "Show all events" }
    };
    Ok(empty("No event fits", &next))
}

/// Returns the message for a filter that means nothing here. The filters stay on the page, to be mended.
///
/// # Errors
/// Any other error, as it is.
fn refused(error: ServiceError) -> Result<Markup> {
    match error {
        ServiceError::Invalid { .. }
        | ServiceError::Ambiguous { .. }
        | ServiceError::Nothing { .. }
        | ServiceError::NotFound { .. } => Ok(problem::shown(&error)),
        other => Err(other),
    }
}

#[cfg(test)]
mod tests;
