//! Facts that have only values for later: no list and no search finds their memories before.

use icm_api::error::Result;
use icm_api::{FACTS, Fact, FactListRequest, FactState, MemoryState};
use maud::{Markup, html};

use super::filters::Filters;
use super::{MEMORIES, card};
use crate::Explorer;
use crate::ask::Ask;
use crate::show;

/// Returns a page of the facts that have no value at the moment, by subject and attribute, each with its first value.
pub(super) fn list(explorer: &Explorer, ask: &Ask, filters: &Filters) -> Result<Markup> {
    let request = FactListRequest {
        scope: filters.scope.clone().filter(|scope| scope != "all"),
        at: ask.at.clone(),
        ..FactListRequest::default()
    };
    let mut facts = explorer.service.list_facts(&request)?;
    facts.retain(|fact| fact.state == FactState::Planned && is_below(filters, fact));
    let after = filters.after.as_deref();
    let start = after.map_or(0, |id| {
        let at = facts.iter().position(|fact| fact.id == id);
        at.map_or(0, |at| at + 1)
    });
    let end = facts.len().min(start + MEMORIES);
    let shown = &facts[start..end];
    Ok(html! {
        @if facts.is_empty() {
            (show::empty("No fact has only values for later", &html! { a href=(ask.link("/memories", &[])) { "Show all memories" } }))
        } @else {
            p.quiet { (show::count(facts.len() as u64, "fact has", "facts have")) " no value yet, only one for later." }
            ol.cards { @for fact in shown { (row(explorer, ask, fact)) } }
            nav.pager aria-label="Pages of the list" {
                @if start > 0 { a href=(ask.link_with(&[("after", "")])) rel="first" { "First page" } }
                @if let (true, Some(last)) = (end < facts.len(), shown.last()) {
                    a.button href=(ask.link_with(&[("after", &last.id)])) rel="next" { "Next" }
                } @else { span.quiet { "The end of the list" } }
            }
        }
    })
}

/// Returns `true` if the filter for a topic lets the fact through; a topic with `/` at its end means all below it.
fn is_below(filters: &Filters, fact: &Fact) -> bool {
    let topic = format!("{FACTS}{}", fact.subject);
    match filters.topic.as_deref() {
        None => true,
        Some(given) if given.ends_with('/') => topic.starts_with(given),
        Some(given) => topic == given,
    }
}

fn row(explorer: &Explorer, ask: &Ask, fact: &Fact) -> Markup {
    let value = |value: Option<&str>| match value {
        Some(text) => show::start(text, card::START_CHARS),
        None => show::withheld(),
    };
    html! {
        li.card data-row="" {
            div.head {
                span { (show::line(&fact.subject)) " · " (show::line(&fact.attribute)) }
                (show::state(MemoryState::Planned))
                @if fact.scope != "global" { span.quiet { (show::scope(&fact.scope)) } }
            }
            p.said { a.open href=(show::memory_path(ask, &fact.id)) { (value(fact.value.as_deref())) } }
            div.foot {
                span.facts {
                    span { "valid from " (show::full_time(explorer, &fact.valid_from)) }
                    @if let Some(next) = &fact.next {
                        span { "then from " (show::full_time(explorer, &next.valid_from)) ": " (value(next.value.as_deref())) }
                    }
                    span { "by " (show::actor(ask, &fact.actor)) }
                    (show::memory_id(ask, &fact.id))
                }
            }
        }
    }
}
