//! The facts about a memory: its fields beside the text, its origin, and the values of a fact.

use icm_api::error::Result;
use icm_api::{Authors, FACTS, FactQuery, FactState, Memory, Version};
use maud::{Markup, html};

use crate::ask::Ask;
use crate::{Explorer, show};

/// Most events and memories that a memory is based on that are named.
const NAMED: usize = 12;

/// Returns the fields beside the text.
pub(super) fn side(
    explorer: &Explorer,
    ask: &Ask,
    memory: &Memory,
    known: &[Version],
) -> Result<Markup> {
    Ok(html! {
        h2 { "Facts" }
        dl.pairs { (fields(ask, memory)) }
        h2 { "Time" }
        dl.pairs { (times(explorer, ask, memory)) }
        h2 { "Where it comes from" }
        dl.pairs { (origin(explorer, ask, memory, known)?) }
        @if let Some(metadata) = &memory.metadata {
            details {
                summary { "Metadata" }
                div.mono { (show::text(&serde_json::to_string_pretty(metadata).unwrap_or_default())) }
            }
        }
    })
}

fn fields(ask: &Ask, memory: &Memory) -> Markup {
    let marks = memory.marks.unwrap_or_default();
    html! {
        dt { "Id" } dd { code.whole { (memory.id) } }
        dt { "Topic" } dd { (show::topic_of(ask, memory)) }
        @if let Some(key) = &memory.key {
            dt { @if memory.topic.starts_with(FACTS) { "Attribute" } @else { "Key" } }
            dd { (show::line(key)) }
        }
        dt { "Importance" } dd { (show::importance(memory.importance)) }
        dt { "Weight" } dd { (show::share(memory.weight, "weight")) }
        @if !memory.keywords.is_empty() { dt { "Tags" } dd { (show::tags(ask, &memory.keywords)) } }
        dt { "Scope" }
        dd { a href=(ask.link("/memories", &[("scope", &memory.scope)])) { (show::scope(&memory.scope)) } }
        @let text_by = memory.authors.as_ref().map_or(memory.trust, |authors| authors.text.trust);
        dt { "Trust" } dd { "written by " (show::trust(text_by)) }
        @if memory.confirmations > 0 {
            dt { "Confirmed" } dd { "by " (show::count(memory.confirmations, "other", "others")) }
        }
        @if let Some(told) = marks.told() { dt { "Judged" } dd { (told) } }
        dt { "Shown" }
        dd { (show::count(memory.access_count, "time", "times")) " by recalls" }
        @if let Some(expires) = &memory.expires {
            dt { "Expires" }
            dd {
                code { (show::line(expires)) }
                @if let Some(left) = memory.recalls_left { " (" (show::count(left, "recall", "recalls")) " left)" }
            }
        }
    }
}

fn times(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Markup {
    html! {
        dt { "Stored" } dd { (show::time(explorer, ask, &memory.created_at)) }
        @if memory.updated_at != memory.created_at {
            dt { "Changed" } dd { (show::time(explorer, ask, &memory.updated_at)) }
        }
        @if let Some(at) = &memory.occurred_at { dt { "Happened" } dd { (show::full_time(explorer, at)) } }
        @if let Some(at) = &memory.last_accessed { dt { "Last shown" } dd { (show::time(explorer, ask, at)) } }
        @match memory.pinned_until.as_deref() {
            None => {}
            Some("unpinned") => { dt { "Pinned" } dd { "until it is unpinned" } }
            Some(at) => { dt { "Pinned" } dd { "until " (show::full_time(explorer, at)) } }
        }
    }
}

/// Returns who wrote the memory, through which program, and which events were known then.
fn origin(explorer: &Explorer, ask: &Ask, memory: &Memory, known: &[Version]) -> Result<Markup> {
    let source = &memory.source;
    let stored = known.iter().find(|version| version.kind == "memory.stored");
    let stored = stored.or(known.first());
    // The event that wrote the text that is shown.
    let wrote = known.iter().rev().find(|version| {
        !version.is_not_shown() && version.changed.iter().any(|field| field == "content")
    });
    let refs = match wrote.or(stored) {
        Some(version) => {
            let at = format!("@{}", version.position);
            explorer.service.log_show(&at)?.refs
        }
        None => Vec::new(),
    };
    Ok(html! {
        @match &memory.authors {
            Some(Authors { text, first: Some(first) }) => {
                dt { "Written by" }
                dd { (show::actor(ask, &text.actor)) ", " (show::time(explorer, ask, &text.at)) }
                dt { "Made by" }
                dd { (show::actor(ask, &first.actor)) ", " (show::trust(first.trust)) }
            }
            _ => { @if let Some(stored) = stored { dt { "Actor" } dd { (show::actor(ask, &stored.actor)) } } }
        }
        @for (name, value) in [("Agent", &source.agent), ("Program", &source.client), ("File", &source.file)] {
            @if let Some(value) = value { dt { (name) } dd { (show::line(value)) } }
        }
        @if let Some(project) = &source.project { dt { "Project" } dd { (show::line(project)) } }
        @if let Some(session) = &source.session { dt { "Session" } dd { (show::session(ask, session, None)) } }
        @if !refs.is_empty() {
            dt { "Based on" }
            dd {
                ul.plain {
                    @for event in refs.iter().take(NAMED) { li { "event " (show::event_id(ask, event)) } }
                    @if refs.len() > NAMED { li.quiet { "and " (refs.len() - NAMED) " more" } }
                }
            }
        }
    })
}

/// Returns the values of a fact, each with the time in which it is valid; nothing for another memory.
pub(super) fn values(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Markup {
    let subject = memory.topic.strip_prefix(FACTS);
    let (Some(subject), Some(attribute)) = (subject, memory.key.as_deref()) else {
        return html! {};
    };
    let query = FactQuery {
        scope: Some(memory.scope.clone()),
        at: ask.at.clone(),
        ..FactQuery::new(subject, Some(attribute))
    };
    // A memory below `facts/` that was forgotten is no fact.
    let values = explorer.service.fact_history(&explorer.caller, &query);
    let values = values.unwrap_or_default();
    html! {
        @if !values.is_empty() {
            section aria-labelledby="values" {
                h2 #values { "Values of " (show::start(subject, 60)) " · " (show::start(attribute, 60)) }
                div.wide {
                    table {
                        thead { tr { th scope="col" { "Value" } th scope="col" { "Valid from" } th scope="col" { "until" } th scope="col" { "By" } th scope="col" { "Event" } } }
                        tbody {
                            @for value in &values {
                                tr {
                                    td {
                                        @match &value.value { Some(text) => { (show::start(text, 400)) } None => { (show::withheld()) } }
                                        @match value.state {
                                            FactState::Earlier => {}
                                            FactState::Current => { " " (show::badge(show::Tone::Good, "current")) }
                                            FactState::Planned => { " " (show::badge(show::Tone::Plain, "planned")) }
                                            FactState::Corrected => { " " (show::badge(show::Tone::Warn, "corrected")) }
                                        }
                                    }
                                    td { (show::full_time(explorer, &value.valid_from)) }
                                    td { @match &value.valid_until { Some(at) => { (show::full_time(explorer, at)) } None => { span.quiet { "—" } } } }
                                    td { (show::actor(ask, &value.actor)) }
                                    td { (show::position(ask, &value.event, value.position)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
