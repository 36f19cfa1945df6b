//! The page *Memories*: a list, or the search that `icm recall` makes.

mod card;
mod explain;
mod filters;
mod planned;
mod search;
#[cfg(test)]
mod tests;

use icm_api::error::{Result, ServiceError};
use icm_api::{FACTS, Memory};
use maud::{Markup, html};

use super::topics;
use crate::act;
use crate::answer::Page;
use crate::ask::Ask;
use crate::{Explorer, problem, show};

use filters::Filters;

/// Memories on a page of the list. Raised, a page takes longer to read.
const MEMORIES: usize = 50;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let filters = Filters::of(ask);
    let found = match &filters.query {
        Some(query) => search::results(explorer, ask, &filters, query),
        None if filters.is_planned() => planned::list(explorer, ask, &filters),
        None => list(explorer, ask, &filters),
    };
    // A filter that fits nothing in the store is told beside the form, where it can be changed.
    let found = match found {
        Ok(found) => found,
        Err(error) if is_of_filter(&error) => told(&error),
        Err(error) => return Err(error),
    };
    let main = html! {
        div.with-side {
            section.side aria-label="Topics" {
                (act::store_link(explorer, ask))
                (topics::beside(explorer, ask, filters.topic.as_deref())?)
            }
            div.body {
                (filters.form(ask))
                (filters.chips(ask))
                (found)
            }
        }
    };
    Ok(Page::new("Memories", main))
}

/// Returns `true` for an error that another filter avoids.
fn is_of_filter(error: &ServiceError) -> bool {
    matches!(
        error,
        ServiceError::Invalid { .. }
            | ServiceError::Ambiguous { .. }
            | ServiceError::Nothing { .. }
            | ServiceError::NotFound { .. }
    )
}

fn told(error: &ServiceError) -> Markup {
    html! {
        div.notice.warn role="alert" {
            p { strong { (problem::message(error)) } }
            @if let Some(advice) = problem::advice(error) { p.quiet { (advice) } }
        }
    }
}

/// Returns a page of the list, and the way to the next one.
fn list(explorer: &Explorer, ask: &Ask, filters: &Filters) -> Result<Markup> {
    let mut memories = explorer
        .service
        .list(&filters.list_request(ask, MEMORIES + 1))?;
    let more = memories.len() > MEMORIES;
    memories.truncate(MEMORIES);
    Ok(html! {
        @if filters.has_search_only() {
            p.notice { "Importance, trust, times and fit narrow a search. Type words to search for." }
        }
        @match memories.last() {
            None => { (nothing(explorer, ask, filters)) }
            Some(last) => {
                ol.cards {
                    @for memory in &memories { (row(explorer, ask, memory)) }
                }
                nav.pager aria-label="Pages of the list" {
                    @if filters.after.is_some() { a href=(ask.link_with(&[("after", "")])) rel="first" { "First page" } }
                    @if more { a.button href=(ask.link_with(&[("after", &last.id)])) rel="next" { "Next" } }
                    @else { span.quiet { "The end of the list" } }
                }
            }
        }
    })
}

fn nothing(explorer: &Explorer, ask: &Ask, filters: &Filters) -> Markup {
    if filters.is_any() || filters.after.is_some() {
        let is_of_facts = filters
            .topic
            .as_deref()
            .is_some_and(|topic| topic.starts_with(FACTS));
        let all = html! {
            a href=(ask.link("/memories", &[])) { "Show all memories" }
            @if is_of_facts { ", or " a href=(ask.link_with(&[("state", "planned"), ("after", "")])) { "values of facts for later" } }
        };
        return show::empty("No memory fits these filters", &all);
    }
    match &ask.at {
        Some(_) => show::empty(
            "There was no memory yet at this moment",
            &html! { a href=(ask.link_at(None)) { "To now" } },
        ),
        None => show::empty(
            "There is no memory yet",
            &html! { "Store one with " code { (icm_api::STORE_EXAMPLE) } " " (act::store_link(explorer, ask)) },
        ),
    }
}

/// Returns a memory as a row of the list.
fn row(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Markup {
    html! {
        li.card data-row="" {
            (card::head(explorer, ask, memory, &html! {}))
            p.said {
                a.open href=(show::memory_path(ask, &memory.id)) {
                    @match memory.content.as_deref() {
                        Some(content) => { (show::start(content, card::START_CHARS)) }
                        None => { (show::withheld()) }
                    }
                }
            }
            (card::foot(explorer, ask, memory))
        }
    }
}
