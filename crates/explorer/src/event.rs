//! Events: one that an address names, one that is later than the moment of a page, those that an undo took back, and the
//! two by which a fact gets a value for later.

use icm_api::error::Result;
use icm_api::{EventDetail, FACTS, LogEntry};
use icm_log::EventId;
use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;

use crate::Explorer;
use crate::ask::Ask;
use crate::show::{count, event_id, event_path, full_time, memory_id, number, position};

/// Digits up to which a number in the path is a position, not the beginning of an id.
const POSITION_DIGITS: usize = 15;
/// Most undos that are named.
const UNDOS: usize = 5;

/// Returns the event that a position, an id, or the beginning of an id names. Only a beginning costs a walk through the
/// log.
pub(crate) fn detail(explorer: &Explorer, given: &str) -> Result<EventDetail> {
    let service = &explorer.service;
    if given.len() <= POSITION_DIGITS && given.bytes().all(|byte| byte.is_ascii_digit()) {
        return service.log_show(&format!("@{given}"));
    }
    if let Some(id) = EventId::parse_hex(given) {
        let log = service.log_handle();
        let position = explorer.heads.with(log, |seen| seen.position_of(id))?;
        if let Some(position) = position {
            let detail = service.log_show(&format!("@{position}"))?;
            if detail.entry.event == given {
                return Ok(detail);
            }
        }
    }
    service.log_show(given)
}

/// Returns the note for an event that is later than the moment of the page.
pub(crate) fn later(ask: &Ask, entry: &LogEntry) -> Markup {
    html! {
        p { "This event is later than the moment of this page, " a.id href=(event_path(ask, ask.basis.position)) { "@" (number(ask.basis.position)) } "." }
        p.buttons {
            a.button href=(ask.link_at(Some(&format!("@{}", entry.position)))) { "Go to its moment" }
            a.button href=(ask.link_at(None)) { "Go to now" }
        }
    }
}

/// Returns the undos in force at the moment that name the event, in the order of learning: position and time of each.
pub(crate) fn undos(explorer: &Explorer, ask: &Ask, entry: &LogEntry) -> Vec<(u64, u64)> {
    let undos = explorer.service.undos_of(entry, ask.basis.position);
    // Damage elsewhere does not hide the event itself.
    let mut undos = undos.unwrap_or_default();
    undos.truncate(UNDOS);
    undos
}

/// Returns the words before the summary of an event that gives a fact a value for later, and of the event that writes
/// the current value again behind it. The memory of a fact shows the value that was written last.
pub(crate) fn planned(explorer: &Explorer, entry: &LogEntry, others: &[LogEntry]) -> Markup {
    let is_behind = |other: &LogEntry| {
        other.position + 1 == entry.position
            && (&other.command, &other.subject) == (&entry.command, &entry.subject)
            && planned_from(explorer, other).is_some()
    };
    html! {
        @if let Some(from) = planned_from(explorer, entry) {
            "planned from " (full_time(explorer, &from.to_string())) ": "
        } @else if others.iter().any(is_behind) {
            "the current value stays: "
        }
    }
}

/// Returns the time from which the value of a fact is valid that an event wrote; `None` if it was valid at once.
fn planned_from(explorer: &Explorer, entry: &LogEntry) -> Option<Timestamp> {
    let from_ms = entry.payload.get("occurred_at_ms")?.as_i64()?;
    let from = Timestamp::from_millisecond(from_ms).ok()?;
    let subject = entry.subject.as_deref();
    let id = subject.filter(|_| entry.kind.starts_with("memory."))?;
    // An event that leaves the topic as it is does not name it.
    let topic = || match entry.payload.get("topic").and_then(Value::as_str) {
        Some(topic) => Some(topic.to_owned()),
        None => explorer.service.get(id, None).ok().map(|it| it.topic),
    };
    later_value(topic, from, &entry.at)
}

/// Returns the time from which the value of a memory is valid, if the memory is a fact and was written before.
pub(crate) fn later_value(
    topic: impl FnOnce() -> Option<String>,
    from: Timestamp,
    written: &str,
) -> Option<Timestamp> {
    let is_later = written.parse::<Timestamp>().is_ok_and(|at| at < from);
    (is_later && topic()?.starts_with(FACTS)).then_some(from)
}

/// The events that an undo took back.
pub(crate) struct Undone {
    events: u64,
    /// The newest event of the first range.
    newest: String,
}

/// Returns the events that an entry took back; `None` if it is no undo.
pub(crate) fn undone(entry: &LogEntry) -> Option<Undone> {
    if entry.kind != "log.undone" {
        return None;
    }
    let ranges = entry.facts.get("ranges")?.as_array()?;
    let len = |range: &Value| {
        let seq = |name: &str| range.get(name)?.as_u64();
        Some(seq("to_seq")?.saturating_sub(seq("from_seq")?) + 1)
    };
    let newest = ranges.first()?.get("head")?.as_str()?;
    Some(Undone {
        events: ranges.iter().filter_map(len).sum(),
        newest: newest.to_owned(),
    })
}

impl Undone {
    /// Returns the words alone.
    pub(crate) fn words(&self) -> String {
        format!("took back {}", count(self.events, "event", "events"))
    }

    /// Returns the words with links to the newest event and its memory.
    pub(crate) fn linked(&self, explorer: &Explorer, ask: &Ask) -> Markup {
        let Ok(detail) = detail(explorer, &self.newest) else {
            return html! { (self.words()) ": " (event_id(ask, &self.newest)) };
        };
        let entry = &detail.entry;
        let memory = entry.subject.as_deref();
        let memory = memory.filter(|_| entry.kind.starts_with("memory."));
        html! {
            (self.words()) ": " (entry.kind) " " (position(ask, &entry.event, entry.position))
            @if let Some(id) = memory { " of the memory " (memory_id(ask, id)) }
        }
    }
}
