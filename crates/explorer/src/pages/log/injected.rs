//! Memories that agents were shown unasked, as `icm log --injected` lists them.

use std::collections::BTreeMap;

use icm_agents::shown::{Injection, injections};
use icm_api::error::Result;
use maud::{Markup, html};

use super::filter::Filter;
use super::links::{place, session_names};
use super::pages;
use crate::Explorer;
use crate::ask::Ask;
use crate::show::{self, actor, empty, line, memory_path, number, short_memory_id, start_of, time};

/// Characters of a memory's text beside its id.
const GLIMPSE_CHARS: usize = 64;
/// Most memories of a page whose text is read. Raised, a page with many injections takes longer.
const GLIMPSES_MAX: usize = 100;

/// The beginnings of memories' texts at positions, each read once.
#[derive(Default)]
pub(in crate::pages) struct Glimpses(BTreeMap<(String, u64), Option<String>>);

impl Glimpses {
    /// Returns the beginning of a memory's text at a position; `None` if it has none, or if the page has read as many
    /// as it may.
    fn of(&mut self, explorer: &Explorer, id: &str, position: u64) -> Option<String> {
        let key = (id.to_owned(), position);
        if !self.0.contains_key(&key) && self.0.len() < GLIMPSES_MAX {
            // A memory that cannot be read is named by its id alone.
            let found = explorer.service.get(id, Some(&format!("@{position}"))).ok();
            let text = found.and_then(|memory| memory.content);
            let text = text.map(|text| start_of(&text, GLIMPSE_CHARS));
            self.0.insert(key.clone(), text);
        }
        self.0.get(&key).cloned().flatten()
    }
}

/// Returns a page of injections.
pub(super) fn list(explorer: &Explorer, ask: &Ask, filter: &Filter, most: usize) -> Result<Markup> {
    let request = filter.request(ask.basis.position);
    let mut found: Vec<Injection> = Vec::new();
    let mut next = None;
    injections(&explorer.service, &request, &mut |injection| {
        if injection.position > ask.basis.position {
            return false;
        }
        if found.len() == most {
            next = found.last().map(|last| last.position);
            return false;
        }
        found.push(injection);
        true
    })?;
    if found.is_empty() {
        let next = html! { "Hooks and wake-up packs show memories to agents: " code { "icm init" } " sets them up." };
        return Ok(empty("Nothing was shown unasked", &next));
    }
    let mut glimpses = Glimpses::default();
    let sessions = found.iter().filter_map(|it| it.session.as_deref());
    let names = session_names(explorer, sessions)?;
    let name = |id: &str| names.get(id).map(String::as_str);
    Ok(html! {
        div.wide {
            table.log-rows {
                caption.unseen { "Memories that were shown unasked" }
                thead {
                    tr {
                        th scope="col" { "Event" }
                        th scope="col" { "Time" }
                        th scope="col" { "By" }
                        th scope="col" { "Memories" }
                        th.n scope="col" { "Tokens" }
                        th scope="col" { "Actor" }
                        th scope="col" { "Session" }
                    }
                }
                tbody {
                    @for injection in &found {
                        tr.item data-row {
                            th.log-place scope="row" { (place(ask, injection.position)) }
                            td.log-when { (time(explorer, ask, &injection.at)) }
                            td.log-what { (line(&injection.front)) }
                            td.log-summary {
                                @if let Some(words) = &injection.words { p.quiet { "for “" (line(words)) "”" } }
                                (memories_of(explorer, ask, injection, &mut glimpses))
                            }
                            td.n { (number(injection.tokens)) span.unit { " tokens" } }
                            td.log-who { (actor(ask, &injection.actor)) }
                            td.log-where { @if let Some(session) = &injection.session { (show::session(ask, session, name(session))) } }
                        }
                    }
                }
            }
        }
        (pages(ask, filter.cursor.is_some(), next, filter.oldest_first))
    })
}

/// Returns the memories of an injection, best first, with their texts at that time.
pub(in crate::pages) fn memories_of(
    explorer: &Explorer,
    ask: &Ask,
    injection: &Injection,
    glimpses: &mut Glimpses,
) -> Markup {
    html! {
        ul.log-plain {
            @for alert in &injection.alerts {
                li { @match &alert.text { Some(text) => bdi { (start_of(text, GLIMPSE_CHARS)) }, None => (show::withheld()) } }
            }
            @for memory in &injection.memories {
                @let glimpse = glimpses.of(explorer, &memory.id, injection.position);
                li {
                    a href=(memory_path(ask, &memory.id)) title=(short_memory_id(&memory.id)) {
                        @match glimpse {
                            Some(text) => bdi { (text) },
                            None => code { (short_memory_id(&memory.id)) },
                        }
                    }
                    @if let Some(fit) = memory.fit { span.quiet { " fit " (format!("{fit:.2}")) } }
                }
            }
        }
    }
}
