//! Events as a table.

use std::collections::BTreeMap;

use icm_api::LogEntry;
use icm_api::error::Result;
use maud::{Markup, html};

use super::links::{kind, place, session_names};
use crate::Explorer;
use crate::ask::Ask;
use crate::event::{planned, undone};
use crate::show::{self, Tone, actor, badge, memory_id, start, time};

/// Characters of a summary in a table.
const SUMMARY_CHARS: usize = 220;

/// Returns events as a table.
pub(in crate::pages) fn rows(
    explorer: &Explorer,
    ask: &Ask,
    entries: &[LogEntry],
    caption: &str,
) -> Result<Markup> {
    let sessions = entries.iter().filter_map(|entry| entry.session.as_deref());
    let names = session_names(explorer, sessions)?;
    Ok(html! {
        div.wide {
            table.log-rows.events {
                caption.unseen { (caption) }
                thead {
                    tr {
                        th scope="col" { "Event" }
                        th scope="col" { "Time" }
                        th scope="col" { "Kind" }
                        th scope="col" { "Summary" }
                        th scope="col" { "Actor" }
                        th scope="col" { "Session" }
                    }
                }
                tbody {
                    @for entry in entries { (row(explorer, ask, entry, entries, &names)) }
                }
            }
        }
    })
}

fn row(
    explorer: &Explorer,
    ask: &Ask,
    entry: &LogEntry,
    others: &[LogEntry],
    names: &BTreeMap<&str, String>,
) -> Markup {
    html! {
        tr.item data-row {
            th.log-place scope="row" { (place(ask, entry.position)) }
            td.log-when { (time(explorer, ask, &entry.at)) }
            td.log-what { (kind(&entry.kind)) }
            td.log-summary { (summary(explorer, ask, entry, others)) }
            td.log-who { (actor(ask, &entry.actor)) }
            td.log-where {
                @if let Some(session) = &entry.session {
                    (show::session(ask, session, names.get(&**session).map(String::as_str)))
                }
            }
        }
    }
}

/// Returns what an event says, and the memory that it is about.
fn summary(explorer: &Explorer, ask: &Ask, entry: &LogEntry, others: &[LogEntry]) -> Markup {
    html! {
        @if entry.body != "present" { (badge(Tone::Warn, &entry.body)) " " }
        @if let Some(undone) = undone(entry) {
            (undone.linked(explorer, ask)) " "
        } @else if entry.summary != "(withheld)" {
            (planned(explorer, entry, others)) (start(&entry.summary, SUMMARY_CHARS)) " "
        }
        @if let (true, Some(subject)) = (entry.kind.starts_with("memory."), &entry.subject) {
            (memory_id(ask, subject))
        }
    }
}
