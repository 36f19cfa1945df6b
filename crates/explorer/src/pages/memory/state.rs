//! The state of a memory, told first if it is not an ordinary living one; and its conflicts.

use icm_api::error::Result;
use icm_api::{Conflict, ConflictValue, ConflictsRequest, LogEntry, LogRequest, Memory, Version};
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::{Explorer, act, show};

/// Returns what is to be known before the text is read.
pub(super) fn notices(
    explorer: &Explorer,
    ask: &Ask,
    memory: &Memory,
    known: &[Version],
) -> Result<Markup> {
    let redaction = match memory.withheld.is_empty() {
        true => None,
        false => redaction(explorer, ask, memory, known)?,
    };
    Ok(html! {
        @if memory.undone {
            (gone(explorer, ask, "Undone: no event that stored this memory is in force.", turned(known, |it| it.undone)))
        }
        @if let Some(summary) = &memory.consolidated_into {
            (gone(explorer, ask, "Consolidated: a summary stands for this memory.", turned(known, |it| it.forgotten)))
            p.notice { "The summary is " (show::memory_id(ask, summary)) }
        } @else if memory.forgotten {
            (gone(explorer, ask, "Forgotten: no recall finds this memory.", turned(known, |it| it.forgotten)))
        }
        @if memory.expired {
            div.notice.warn role="status" {
                p { strong { "Expired: no recall finds this memory." } }
                @if let Some(condition) = &memory.expires { p { "Its condition: " code { (show::line(condition)) } } }
                (by_version(explorer, ask, with_condition(memory, known)))
            }
        }
        @if let Some(from) = &memory.planned_from {
            div.notice.warn role="status" {
                p { strong { "Planned: valid from " (show::full_time(explorer, from)) "." } }
                p { "The fact has no value until then, and no recall finds it." }
            }
        }
        @if !memory.withheld.is_empty() {
            div.notice.bad role="status" {
                p { strong { "Withheld: " @for (at, field) in memory.withheld.iter().enumerate() { @if at > 0 { ", " } (show::line(field)) } } }
                @match &redaction {
                    Some(entry) => {
                        p { "Taken out by " (show::actor(ask, &entry.actor)) ", " (show::time(explorer, ask, &entry.at)) ", in the event " (show::position(ask, &entry.event, entry.position)) }
                    }
                    None => { p.quiet { "The text is missing or damaged: no redaction of it is known. See " a href=(ask.link("/health", &[])) { "Health" } "." } }
                }
            }
        }
    })
}

/// Returns a notice with the event that made a memory go.
fn gone(explorer: &Explorer, ask: &Ask, what: &str, by: Option<&Version>) -> Markup {
    html! {
        div.notice.bad role="status" {
            p { strong { (what) } }
            (by_version(explorer, ask, by))
        }
    }
}

fn by_version(explorer: &Explorer, ask: &Ask, by: Option<&Version>) -> Markup {
    html! {
        @if let Some(by) = by {
            p {
                code { (show::line(&by.kind)) } " by " (show::actor(ask, &by.actor)) ", "
                (show::time(explorer, ask, &by.at)) ", " (show::position(ask, &by.event, by.position)) " "
                (act::undo_of_version(explorer, ask, by))
            }
        }
    }
}

/// Returns the first of the newest versions that have a property.
fn turned(known: &[Version], has: impl Fn(&Memory) -> bool) -> Option<&Version> {
    let made = known.iter().rev().filter(|version| !version.is_not_shown());
    made.take_while(|version| has(&version.memory)).last()
}

/// Returns the version that set the condition of expiry.
fn with_condition<'v>(memory: &Memory, known: &'v [Version]) -> Option<&'v Version> {
    turned(known, |it| it.expires == memory.expires)
}

/// Returns the newest redaction of a memory or of one of its events. Reads the log back to it.
fn redaction(
    explorer: &Explorer,
    ask: &Ask,
    memory: &Memory,
    known: &[Version],
) -> Result<Option<LogEntry>> {
    let request = LogRequest {
        kind: Some("log.redacted".to_owned()),
        cursor: Some(ask.basis.position + 1),
        ..LogRequest::default()
    };
    let mut entries = Vec::new();
    explorer.service.log(&request, &mut |entry| {
        entries.push(entry);
        true
    })?;
    for entry in entries {
        let subjects = entry.facts["subjects"].as_array();
        let names = |subject: &Value| subject.as_str() == Some(&memory.id);
        if subjects.is_some_and(|subjects| subjects.iter().any(names)) {
            return Ok(Some(entry));
        }
        let refs = explorer.service.log_show(&entry.event)?.refs;
        if known.iter().any(|version| refs.contains(&version.event)) {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// Returns the fields to which machines gave different values.
pub(super) fn conflicts(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Result<Markup> {
    if memory.conflicts.is_empty() {
        return Ok(html! {});
    }
    let request = ConflictsRequest {
        topic: None,
        limit: None,
        at: ask.at.clone(),
    };
    let all = explorer.service.conflicts(&request)?.conflicts;
    let of_memory: Vec<_> = all.into_iter().filter(|it| it.id == memory.id).collect();
    Ok(html! {
        section aria-labelledby="conflicts" {
            h2 #conflicts { "Conflicts" }
            p.quiet { "Machines wrote these fields without knowing of each other." }
            @for conflict in &of_memory {
                div.notice.bad {
                    h3 { (show::line(&conflict.field)) }
                    ol.values {
                        li { (show::badge(show::Tone::Good, "shown")) " " (value(explorer, ask, conflict, &conflict.shown)) }
                        @for other in &conflict.others {
                            li {
                                @if conflict.is_about_forgetting() { (show::badge(show::Tone::Warn, "written meanwhile")) " " }
                                (value(explorer, ask, conflict, other))
                            }
                        }
                    }
                    (act::for_conflict(explorer, ask, conflict)?)
                }
            }
        }
    })
}

fn value(explorer: &Explorer, ask: &Ask, conflict: &Conflict, value: &ConflictValue) -> Markup {
    html! {
        span.quiet {
            (show::actor(ask, &value.actor)) ", " (show::time(explorer, ask, &value.at)) ", " (show::event_id(ask, &value.event))
            ", machine " code title=(value.origin) { (show::start(&value.origin, 8)) }
        }
        @if value.withheld { p { (show::withheld()) } } @else {
            (show::text(&conflict.told(value, &explorer.service.zone())))
        }
    }
}
