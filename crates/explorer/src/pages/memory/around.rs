//! Memories around one: at the other end of its links, recalled together with it, or saying nearly the same.

use std::collections::BTreeSet;

use icm_api::error::Result;
use icm_api::{Direction, Memory, RecallRequest, Related};
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::{Ask, encoded};
use crate::show::{self, Tone};

/// Most links that are shown with the text of the other memory.
const LINKS: usize = 100;
/// Memories near to one that are shown.
const NEAR: usize = 8;
/// Bytes of a text by which near memories are searched.
const ASKED_BYTES: usize = 2_000;

/// Returns the links of a memory, and the memories that are often recalled with it.
pub(super) fn links(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Markup {
    html! {
        @if !memory.related.is_empty() || !memory.often_together.is_empty() {
            section aria-labelledby="links" {
                h2 #links { "Links" }
                ul.links {
                    @for related in memory.related.iter().take(LINKS) {
                        li {
                            (relation(related)) " " (other(explorer, ask, &related.id)) " "
                            a.quiet href=(show::event_id_path(ask, &related.event)) { "event" }
                        }
                    }
                    @for id in &memory.often_together {
                        li { (show::badge(Tone::Plain, "often recalled with")) " " (other(explorer, ask, id)) }
                    }
                }
                @if memory.related.len() > LINKS { p.quiet { (show::number((memory.related.len() - LINKS) as u64)) " more" } }
            }
        }
    }
}

/// Returns the relation as seen from this memory.
fn relation(related: &Related) -> Markup {
    let words = match (related.relation.as_str(), related.direction) {
        ("supersedes", Direction::Out) => "supersedes",
        ("supersedes", Direction::In) => "superseded by",
        ("contradicts", Direction::Out) => "contradicts",
        ("contradicts", Direction::In) => "contradicted by",
        ("derived_from", Direction::Out) => "derived from",
        ("derived_from", Direction::In) => "source of",
        ("similar_to", _) => "similar to",
        ("related", _) => "related to",
        (other, Direction::Out) => return html! { (show::badge(Tone::Plain, other)) },
        (other, Direction::In) => {
            return html! { (show::badge(Tone::Plain, &format!("{other}, from"))) };
        }
    };
    let tone = match related.relation.as_str() {
        "contradicts" => Tone::Bad,
        "supersedes" => Tone::Warn,
        _ => Tone::Plain,
    };
    show::badge(tone, words)
}

/// Returns another memory as a link with its topic and the start of its text.
fn other(explorer: &Explorer, ask: &Ask, id: &str) -> Markup {
    match explorer.service.get(id, ask.at.as_deref()) {
        Ok(memory) => html! {
            a href=(show::memory_path(ask, &memory.id)) {
                @match memory.content.as_deref() {
                    Some(text) => { (show::start(text, 140)) }
                    None => { (show::withheld()) }
                }
            }
            " " span.quiet { "in " (show::topic_of(ask, &memory)) ", " (show::time(explorer, ask, &memory.updated_at)) }
        },
        Err(_) => show::memory_id(ask, id),
    }
}

/// Returns the place that near memories are loaded into once the page is shown.
pub(super) fn later(ask: &Ask, memory: &Memory) -> Markup {
    let path = ask.link(&format!("/memories/{}/near", encoded(&memory.id)), &[]);
    html! {
        @if memory.content.is_some() {
            section #near aria-labelledby="near-title" hx-get=(path) hx-trigger="load" hx-select="#near" hx-swap="outerHTML" {
                h2 #near-title { "Near to it" }
                p { a href=(path) { "Search for memories that say nearly the same" } }
            }
        }
    }
}

/// Returns the memories that a search with this memory's own text finds, and what the rules say of it.
pub(super) fn near(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Result<Markup> {
    let text = memory.content.as_deref().unwrap_or_default();
    let request = RecallRequest {
        scope: Some("all".to_owned()),
        at: ask.at.clone(),
        limit: Some(NEAR + 1),
        record: false,
        no_links: true,
        ..RecallRequest::new(&text[..text.floor_char_boundary(ASKED_BYTES)])
    };
    let results = match text.trim().is_empty() {
        true => Vec::new(),
        false => explorer.service.recall(&explorer.caller, &request)?.results,
    };
    let own = results
        .iter()
        .find(|hit| hit.memory.id == memory.id || hit.repeats.contains(&memory.id));
    let mut repeats: BTreeSet<&str> = BTreeSet::new();
    if let Some(own) = own {
        repeats.extend(own.repeats.iter().map(String::as_str));
        repeats.insert(&own.memory.id);
        repeats.remove(memory.id.as_str());
    }
    let hits = results
        .iter()
        .filter(|hit| own.is_none_or(|own| own.memory.id != hit.memory.id));
    let hits: Vec<_> = hits.take(NEAR).collect();
    let itself = own.filter(|own| own.memory.id == memory.id);
    Ok(html! {
        section #near aria-labelledby="near-title" {
            h2 #near-title { "Near to it" }
            ul.links {
                @if let Some(itself) = itself {
                    @for id in &itself.seems_to_replace { li { (show::badge(Tone::Warn, "seems to replace")) " " (other(explorer, ask, id)) } }
                    @if let Some(id) = &itself.seems_replaced_by { li { (show::badge(Tone::Warn, "seems replaced by")) " " (other(explorer, ask, id)) } }
                }
                @for id in &repeats { li { (show::badge(Tone::Warn, "says the same")) " " (other(explorer, ask, id)) } }
                @for hit in &hits {
                    li { (show::share(hit.fit, "fit")) " " (other(explorer, ask, &hit.memory.id)) }
                }
            }
            @if hits.is_empty() && repeats.is_empty() { p.quiet { "No other memory says nearly the same." } }
        }
    })
}
