//! The page of one event.

use icm_api::error::Result;
use icm_api::when::rfc3339;
use icm_api::{EventDetail, LogEntry, LogRequest};
use icm_log::Kind;
use icm_log::kind::{KINDS, family_of};
use maud::{Markup, html};

use super::facts::Of;
use super::links::{at_place, kind, last_part, place, session_names};
use super::rows::rows;
use crate::Explorer;
use crate::act;
use crate::answer::Page;
use crate::ask::{Ask, encoded};
use crate::event::{detail, later, undone, undos};
use crate::show::{
    self, Tone, actor, badge, count, event_id, event_path, full_time, line, memory_id, number,
    text, time,
};

/// Most referenced events that are named.
const REFS: usize = 50;
/// Most events of one command that are listed on each side of the event.
const OF_COMMAND: usize = 25;
/// Most events that are read on each side to find those of the command and the neighbours in the chain. Raised, a
/// neighbour is found across a longer import.
const AROUND: usize = 200;

pub(crate) fn event_page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let detail = detail(explorer, &last_part(ask))?;
    let entry = &detail.entry;
    if entry.position > ask.basis.position {
        return Ok(Page::new(
            format!("Event {}", number(entry.position)),
            later(ask, entry),
        ));
    }
    let around = Around::of(explorer, ask, entry)?;
    let undos = undos(explorer, ask, entry);
    let names = session_names(explorer, entry.session.as_deref().into_iter())?;
    let session = entry.session.as_deref().map(|id| {
        let name = names.get(id).map(String::as_str);
        show::session(ask, id, name)
    });
    let main = html! {
        (steps(ask, entry))
        (lead(explorer, ask, entry, session.as_ref(), &undos))
        div.log-columns {
            (moments(ask, entry))
            (head(explorer, ask, &detail, session.as_ref()))
        }
        (content(explorer, ask, entry))
        (refs(ask, &detail.refs))
        (of_command(explorer, ask, &around)?)
        (chain(explorer, ask, &detail, &around)?)
    };
    Ok(Page::new(format!("Event {}", number(entry.position)), main))
}

fn steps(ask: &Ask, entry: &LogEntry) -> Markup {
    html! {
        nav.log-steps aria-label="Events before and after" {
            @if entry.position > 1 {
                a.button rel="prev" href=(event_path(ask, entry.position - 1)) { "← @" (number(entry.position - 1)) }
            }
            @if entry.position < ask.basis.position {
                a.button rel="next" href=(event_path(ask, entry.position + 1)) { "@" (number(entry.position + 1)) " →" }
            }
            a href=(ask.link("/log", &[])) { "All events" }
        }
    }
}

/// Returns the event in words: its kind, its summary, its author, and what became of it.
fn lead(
    explorer: &Explorer,
    ask: &Ask,
    entry: &LogEntry,
    session: Option<&Markup>,
    undos: &[(u64, u64)],
) -> Markup {
    let about = KINDS
        .iter()
        .find(|row| row.name == entry.kind)
        .map(|row| row.about);
    let undo = act::undo_link(explorer, ask, entry);
    html! {
        div.log-lead {
            p {
                (kind(&entry.kind)) " "
                @match about {
                    Some(about) => (about),
                    None => "This version of icm does not know this kind.",
                }
            }
            @if let Some(undone) = undone(entry) {
                p { (undone.linked(explorer, ask)) }
            } @else if !entry.summary.is_empty() && entry.summary != "(withheld)" {
                div.log-excerpt tabindex="0" { (text(&entry.summary)) }
            }
            p.quiet {
                "by " (actor(ask, &entry.actor)) ", " (time(explorer, ask, &entry.at))
                @if let Some(session) = session { ", in session " (session) }
            }
            @match &*entry.body {
                "withheld" => { p.log-note { (badge(Tone::Warn, "withheld")) " The text of this event was taken out. The event itself, its time and its author stay in the log." } }
                "damaged" => { p.log-note { (badge(Tone::Bad, "damaged")) " The text of this event cannot be read. " code { "icm log verify" } " says what is damaged, " code { "icm log repair" } " can bring it back." } }
                _ => {}
            }
            @for (position, ms) in undos {
                p.log-note { (badge(Tone::Warn, "undone")) " Event " (place(ask, *position)) " took this event back, " (time(explorer, ask, &rfc3339(*ms))) "." }
            }
            @if undos.is_empty() && !undo.0.is_empty() { p.buttons { (undo) } }
        }
    }
}

/// Returns links to the store, and to the subject, at the moment of the event and before it.
fn moments(ask: &Ask, entry: &LogEntry) -> Markup {
    let position = entry.position;
    let before = (position > 1).then(|| position - 1);
    let memory = match family_of(&entry.kind) {
        "memory" => entry.subject.as_deref(),
        _ => None,
    };
    html! {
        section aria-labelledby="moments" {
            h2 #moments { "Moments" }
            ul.log-plain {
                li { a href=(at_place("/memories", position)) { "The store at this moment" } }
                @if let Some(before) = before {
                    li { a href=(at_place("/memories", before)) { "The store just before it" } }
                    li { a href={ (at_place("/compare", position)) "&with=" (encoded(&format!("@{before}"))) } { "Both side by side" } }
                }
            }
            @if let Some(id) = memory {
                @let path = format!("/memories/{}", encoded(id));
                @let is_first = matches!(Kind::parse(&entry.kind), Some(Kind::MEMORY_STORED | Kind::MEMORY_CONSOLIDATED));
                h3 { "Its memory " (memory_id(ask, id)) }
                ul.log-plain {
                    li { a href=(at_place(&path, position)) { "The memory after this event" } }
                    @if let (Some(before), false) = (before, is_first) {
                        li { a href=(at_place(&path, before)) { "The memory before it" } }
                    }
                    li { a href=(ask.link("/log", &[("id", id)])) { "All events about it" } }
                }
            } @else if let Some(id) = &entry.subject {
                p { a href=(ask.link("/log", &[("id", id)])) { "All events about " code { (line(id)) } } }
                @match family_of(&entry.kind) {
                    "memoir" => { p { a href=(at_place(&format!("/graph/{}", encoded(id)), position)) { "The memoir at this moment" } } }
                    "concept" => { p { a href=(at_place("/graph", position)) { "The graph at this moment" } } }
                    _ => {}
                }
            }
        }
    }
}

fn head(explorer: &Explorer, ask: &Ask, detail: &EventDetail, session: Option<&Markup>) -> Markup {
    let entry = &detail.entry;
    let (index, of) = detail.batch;
    html! {
        section aria-labelledby="head" {
            h2 #head { "Head" }
            dl.log-fields {
                div { dt { "id" } dd { code { (line(&entry.event)) } } }
                div { dt { "time" } dd { (full_time(explorer, &entry.at)) span.quiet { " " (line(&entry.at)) } } }
                div { dt { "position" } dd { "@" (number(entry.position)) } }
                div { dt { "origin" } dd { a href={ (ask.link("/machines", &[])) "#origin-" (entry.origin) } { code { (line(&entry.origin)) } } } }
                div { dt { "place in its chain" } dd { (number(entry.seq)) } }
                div { dt { "command" } dd { code { (line(&entry.command)) } } }
                div { dt { "batch" } dd { "event " (index + 1) " of " (of) } }
                @if let Some(session) = session { div { dt { "session" } dd { (session) } } }
                @if let Some(subject) = &entry.subject { div { dt { "subject" } dd { code { (line(subject)) } } } }
            }
            details {
                summary { "On disk" }
                dl.log-fields {
                    div { dt { "segment" } dd { code { (line(&detail.segment)) } } }
                    div { dt { "offset" } dd { (count(detail.offset_bytes, "byte", "bytes")) } }
                    div { dt { "head" } dd { (count(detail.head_len_bytes, "byte", "bytes")) } }
                    div { dt { "payload" } dd { (count(detail.payload_len_bytes, "byte", "bytes")) " (" (line(&entry.body)) ")" } }
                    div { dt { "commitment" } dd { code { (line(&detail.commitment)) } } }
                }
            }
        }
    }
}

fn content(explorer: &Explorer, ask: &Ask, entry: &LogEntry) -> Markup {
    let of = Of {
        explorer,
        ask,
        kind: &entry.kind,
        position: entry.position,
    };
    html! {
        section aria-labelledby="payload" {
            h2 #payload { "Payload" }
            @match &*entry.body {
                "withheld" => { p.quiet { "Withheld: a redaction took the text out for good, or it was imported without its text." } }
                "damaged" => { p.quiet { "Damaged: the text cannot be read." } }
                _ => {
                    (of.values(&entry.payload))
                    (of.raw("payload", &entry.payload))
                }
            }
        }
        section aria-labelledby="facts" {
            h2 #facts { "Facts" }
            (of.values(&entry.facts))
            (of.raw("facts", &entry.facts))
        }
    }
}

fn refs(ask: &Ask, refs: &[String]) -> Markup {
    html! {
        section aria-labelledby="refs" {
            h2 #refs { "Events it builds on" }
            @if refs.is_empty() {
                p.quiet { "None: the writer needed no earlier event." }
            } @else {
                p.quiet { "The writer had seen these events." }
                ul.log-values { @for event in refs.iter().take(REFS) { li { (event_id(ask, event)) } } }
                @if refs.len() > REFS { p.quiet { "… and " (count((refs.len() - REFS) as u64, "more", "more")) } }
            }
        }
    }
}

/// The events of the same command, and the neighbours in the chain.
struct Around {
    command: Vec<LogEntry>,
    /// `true` if the command has more events than were read.
    is_cut: bool,
    before: Option<LogEntry>,
    after: Option<LogEntry>,
}

impl Around {
    /// Reads a few events on both sides in one walk. The events of a command stand together.
    fn of(explorer: &Explorer, ask: &Ask, entry: &LogEntry) -> Result<Around> {
        let around = AROUND as u64;
        let request = LogRequest {
            oldest_first: true,
            cursor: Some(entry.position.saturating_sub(around + 1)),
            ..LogRequest::default()
        };
        let until = ask.basis.position.min(entry.position + around);
        let mut near: Vec<LogEntry> = Vec::new();
        explorer.service.log(&request, &mut |found| {
            let is_near = found.position <= until;
            if is_near {
                near.push(found);
            }
            is_near
        })?;
        let at = near.partition_point(|found| found.position < entry.position);
        let (before, after) = near.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        let is_of_command = |found: &&LogEntry| found.command == entry.command;
        let is_of_chain = |found: &&LogEntry| found.origin == entry.origin;
        let first = before.iter().rev().take_while(is_of_command).count();
        let last = after.iter().take_while(is_of_command).count();
        let mut command: Vec<LogEntry> = before[at - first.min(OF_COMMAND)..].to_vec();
        command.push(entry.clone());
        command.extend_from_slice(&after[..last.min(OF_COMMAND)]);
        Ok(Around {
            command,
            is_cut: first.max(last) > OF_COMMAND,
            before: before.iter().rev().find(is_of_chain).cloned(),
            after: after.iter().find(is_of_chain).cloned(),
        })
    }
}

fn of_command(explorer: &Explorer, ask: &Ask, around: &Around) -> Result<Markup> {
    Ok(html! {
        section aria-labelledby="command" {
            h2 #command { "The whole command" }
            @if around.command.len() == 1 {
                p.quiet { "The command wrote this event alone." }
            } @else {
                (rows(explorer, ask, &around.command, "Events of the same command")?)
                @if around.is_cut { p.quiet { "The command wrote more events before or after these." } }
            }
        }
    })
}

fn chain(explorer: &Explorer, ask: &Ask, detail: &EventDetail, around: &Around) -> Result<Markup> {
    let is_first = detail.prev.bytes().all(|digit| digit == b'0');
    let neighbours: Vec<LogEntry> = around.before.iter().chain(&around.after).cloned().collect();
    Ok(html! {
        section aria-labelledby="chain" {
            h2 #chain { "Before and after in its chain" }
            @if is_first {
                p.quiet { "It is the first event of its chain." }
            } @else if around.before.is_none() {
                p { "The event before it: " (event_id(ask, &detail.prev)) "." }
            }
            @if !neighbours.is_empty() {
                (rows(explorer, ask, &neighbours, "Neighbours in the chain")?)
            }
        }
    })
}
