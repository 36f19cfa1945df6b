//! The recalls, hooks and wake-up packs that showed a memory: to whom, and when.

use icm_api::Memory;
use icm_api::WhyRecall;
use icm_api::error::Result;
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::{Ask, encoded};
use crate::pages::log::session_names;
use crate::show::{self, Tone};

/// Recalls that are shown. Raised, the page takes longer to read.
const RECALLS: usize = 50;
/// Recalls that are read for a past moment, to find those before it.
const PAST_RECALLS: usize = 5_000;

/// Returns the place that the recalls are loaded into once the page is shown: for old memories much of the log is read.
pub(super) fn later(ask: &Ask, memory: &Memory) -> Markup {
    let path = ask.link(&format!("/memories/{}/shown", encoded(&memory.id)), &[]);
    html! {
        section #shown aria-labelledby="shown-title" hx-get=(path) hx-trigger="load" hx-select="#shown" hx-swap="outerHTML" {
            h2 #shown-title { "Who was shown it" }
            p { a href=(path) { "List the recalls, hooks and wake-up packs that showed it" } }
        }
    }
}

/// Returns the id of a memory, and who was shown it.
pub(super) fn section(explorer: &Explorer, ask: &Ask, id: &str) -> Result<(String, Markup)> {
    let read = if ask.at.is_some() {
        PAST_RECALLS
    } else {
        RECALLS
    };
    let why = explorer.service.why(id, read)?;
    let is_known = |recall: &&WhyRecall| recall.position <= ask.basis.position;
    let mut all: Vec<&WhyRecall> = why
        .recalls
        .iter()
        .chain(&why.injections)
        .filter(is_known)
        .collect();
    all.sort_by_key(|recall| std::cmp::Reverse(recall.position));
    let total = match ask.at {
        Some(_) => all.len() as u64,
        None => why.recalls_total + why.injections_total,
    };
    all.truncate(RECALLS);
    let section = html! {
        section #shown aria-labelledby="shown-title" {
            h2 #shown-title { "Who was shown it" }
            @if all.is_empty() {
                p.quiet { "No recall, hook or wake-up pack has shown it." }
            } @else {
                @if (all.len() as u64) < total {
                    p.quiet { "The newest " (all.len()) " of " (show::count(total, "time", "times")) }
                }
                div.wide { (table(explorer, ask, &all)?) }
            }
        }
    };
    Ok((why.memory.id, section))
}

fn table(explorer: &Explorer, ask: &Ask, all: &[&WhyRecall]) -> Result<Markup> {
    let sessions = all.iter().filter_map(|recall| recall.session.as_deref());
    let names = session_names(explorer, sessions)?;
    let name = |id: &str| names.get(id).map(String::as_str);
    Ok(html! {
        table.log-rows {
            thead {
                tr {
                    th scope="col" { "When" } th scope="col" { "By" } th scope="col" { "To" }
                    th scope="col" { "Session" } th scope="col" { "Question" } th.number scope="col" { "Rank" }
                }
            }
            tbody {
                @for recall in all {
                    tr {
                        td.log-when { (show::time(explorer, ask, &recall.at)) " " (show::position(ask, &recall.event, recall.position)) }
                        td {
                            @match recall.front.as_deref() {
                                Some(front) => { (show::badge(Tone::Plain, front)) }
                                None => { (show::badge(Tone::Plain, "recall")) }
                            }
                            @if recall.undone { " " (show::badge(Tone::Warn, "undone")) }
                        }
                        td.log-who { (show::actor(ask, &recall.actor)) }
                        td.log-where { @if let Some(session) = &recall.session { (show::session(ask, session, name(session))) } }
                        td.log-summary { (question(recall)) }
                        td.number { span.unit { "rank " } (recall.rank) }
                    }
                }
            }
        }
    })
}

fn question(recall: &WhyRecall) -> Markup {
    html! {
        @match recall.query.as_deref() {
            Some(_) if recall.front.as_deref() == Some("wake-up") => { span.quiet { "at the start" } }
            Some(query) => { (show::start(query, 200)) }
            None => { (show::withheld()) }
        }
    }
}
