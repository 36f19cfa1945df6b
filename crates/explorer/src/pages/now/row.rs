//! Events as rows of the feed.

use icm_api::error::Result;
use icm_api::{LogEntry, LogRequest};
use icm_guard::sanitize::clean_line;
use icm_log::SessionId;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;
use crate::event;
use crate::heads::Family;
use crate::show;

/// Characters of an event's summary. Raised, a row takes more lines.
const SUMMARY_CHARS: usize = 240;

/// Returns the events after one position, up to another one, newest first.
pub(super) fn events(explorer: &Explorer, after: u64, until: u64) -> Result<Vec<LogEntry>> {
    let request = LogRequest {
        oldest_first: true,
        cursor: Some(after),
        ..LogRequest::default()
    };
    let mut events = Vec::new();
    explorer.service.log(&request, &mut |entry| {
        let is_before = entry.position <= until;
        if is_before {
            events.push(entry);
        }
        is_before
    })?;
    events.reverse();
    Ok(events)
}

/// Returns events as rows; new ones are marked as such.
pub(super) fn rows(
    explorer: &Explorer,
    ask: &Ask,
    events: &[LogEntry],
    are_new: bool,
) -> Result<Markup> {
    let names = explorer.heads.with(explorer.service.log_handle(), |seen| {
        let name = |entry: &LogEntry| {
            let id = SessionId::parse_hex(entry.session.as_deref()?)?;
            seen.sessions.name(id).map(str::to_owned)
        };
        events.iter().map(name).collect::<Vec<_>>()
    })?;
    let today = explorer.service.day(&ask.time(explorer).to_string());
    Ok(html! {
        @for (entry, name) in events.iter().zip(names) {
            li.event.new[are_new] data-row {
                span.kind.(Family::named(&entry.kind).class()) { (clean_line(&entry.kind)) }
                a.what href=(show::event_path(ask, entry.position)) {
                    @if let Some(undone) = event::undone(entry) { (undone.words()) }
                    @else if entry.summary.is_empty() { "@" (entry.position) }
                    @else { (event::planned(explorer, entry, events)) (show::start(&entry.summary, SUMMARY_CHARS)) }
                }
                span.by {
                    @if let (Some(subject), true) = (&entry.subject, entry.kind.starts_with("memory.")) {
                        (show::memory_id(ask, subject)) " · "
                    }
                    (show::actor(ask, &entry.actor))
                    @if let Some(session) = &entry.session {
                        " in "
                        (show::session(ask, session, name.as_deref()))
                    }
                }
                (clock(explorer, &entry.at, &today))
            }
        }
    })
}

/// Returns the time of day of an event; its day, too, if that is another one.
fn clock(explorer: &Explorer, at: &str, today: &str) -> Markup {
    let Ok(time) = at.parse::<Timestamp>() else {
        return html! {};
    };
    let time = time.to_zoned(explorer.service.zone());
    let format = match explorer.service.day(at) == today {
        true => "%H:%M:%S",
        false => "%Y-%m-%d %H:%M",
    };
    html! {
        time datetime=(clean_line(at)) title=(time.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()) {
            (time.strftime(format).to_string())
        }
    }
}
