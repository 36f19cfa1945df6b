//! The page of one memory: its text, facts, links, versions, origin, and the ones that were shown it.

mod around;
mod facts;
mod shown;
mod state;
mod versions;
mod words;

use icm_api::error::{Result, ServiceError};
use icm_api::{Memory, Passage, Version};
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

use crate::act;
use crate::answer::Page;
use crate::ask::Ask;
use crate::{Explorer, show};

/// Most passages of a text that get a place of their own. Raised, long texts take longer.
const PASSAGES: usize = 200;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let id = id_of(ask);
    let memory = match explorer.service.get(id, ask.at.as_deref()) {
        Ok(memory) => memory,
        Err(ServiceError::Nothing { .. }) if ask.at.is_some() => return not_yet(explorer, ask),
        Err(error) => return Err(error),
    };
    let history = explorer.service.history(&memory.id)?;
    let (known, later): (Vec<Version>, Vec<Version>) = history
        .into_iter()
        .partition(|version| version.position <= ask.basis.position);
    let main = html! {
        (state::notices(explorer, ask, &memory, &known)?)
        (changed_since(ask, &later))
        div.with-side.wide-side {
            div.body {
                section aria-labelledby="text" {
                    h2.unseen #text { "Text" }
                    (content(&memory))
                    @if let Some(raw) = &memory.raw_excerpt {
                        details { summary { "The words behind it" } blockquote { (show::text(raw)) } }
                    }
                }
                (act::for_memory(explorer, ask, &memory)?)
                (state::conflicts(explorer, ask, &memory)?)
                (facts::values(explorer, ask, &memory))
                (around::links(explorer, ask, &memory))
                (versions::section(explorer, ask, &known)?)
                (shown::later(ask, &memory))
                (around::later(ask, &memory))
            }
            section.side aria-label="Facts about this memory" { (facts::side(explorer, ask, &memory, &known)?) }
        }
    };
    Ok(Page::new(title(&memory), main))
}

/// The page of all who were shown a memory.
pub(crate) fn shown_page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let (id, section) = shown::section(explorer, ask, id_of(ask))?;
    Ok(Page::new(
        "Who was shown this memory",
        back(ask, &id, &section),
    ))
}

/// The page of the memories that say nearly the same.
pub(crate) fn near_page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let memory = explorer.service.get(id_of(ask), ask.at.as_deref())?;
    let section = around::near(explorer, ask, &memory)?;
    Ok(Page::new(
        "Memories near to one",
        back(ask, &memory.id, &section),
    ))
}

fn back(ask: &Ask, id: &str, section: &Markup) -> Markup {
    html! {
        p { a href=(show::memory_path(ask, id)) { "Back to the memory" } }
        (section)
    }
}

/// Returns the id in the path: the part behind `/memories/`.
fn id_of(ask: &Ask) -> &str {
    ask.path.split('/').nth(2).unwrap_or_default()
}

fn title(memory: &Memory) -> String {
    match memory.withheld.iter().any(|field| field == "topic") {
        true => "Memory with a withheld topic".to_owned(),
        false => format!("Memory in {}", clean_line(&memory.topic)),
    }
}

/// The page of a memory that was stored after the moment.
fn not_yet(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let history = explorer.service.history(id_of(ask))?;
    let first = history.first().map(|version| version.position);
    let main = html! {
        div.notice.warn {
            p { strong { "This memory was not stored yet at this moment." } }
            @if let Some(first) = first {
                p {
                    a href=(ask.link_at(Some(&format!("@{first}")))) { "To the moment when it was stored" }
                    " · " a href=(ask.link_at(None)) { "To now" }
                }
            }
        }
    };
    Ok(Page::new("A memory to come", main))
}

/// Returns a remark for a past moment after which the memory changed.
fn changed_since(ask: &Ask, later: &[Version]) -> Markup {
    html! {
        @if !later.is_empty() {
            p.notice {
                "After this moment it changed " (show::count(later.len() as u64, "time", "times")) ". "
                a href=(ask.link_at(None)) { "See it now" }
            }
        }
    }
}

/// Returns the text, with a place for each passage of a long one.
fn content(memory: &Memory) -> Markup {
    let Some(text) = &memory.content else {
        return html! { p.said { (show::withheld()) } };
    };
    let passages: Vec<Passage> = (0..PASSAGES)
        .map_while(|number| Passage::of(text, number))
        .collect();
    html! {
        @if passages.is_empty() {
            div.said { (show::text(text)) }
        } @else {
            p.quiet { (show::count(passages.len() as u64, "passage", "passages")) ", " (show::count(text.len() as u64, "byte", "bytes")) }
            div.said.passages {
                @for (at, passage) in passages.iter().enumerate() {
                    // Blanks between passages belong to the one before.
                    @let end = passages.get(at + 1).map_or(text.len(), |next| next.start);
                    @let start = if at == 0 { 0 } else { passage.start };
                    section id={ "passage-" (passage.number) } aria-label=(passage.told()) {
                        p.mark-place aria-hidden="true" { (passage.told()) }
                        (show::text(text.get(start..end).unwrap_or_default().trim_matches('\n')))
                    }
                }
            }
        }
    }
}
