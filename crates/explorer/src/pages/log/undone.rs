//! What an undo took back, in words.

use icm_api::LogEntry;
use maud::{Markup, html};
use serde_json::Value;

use crate::Explorer;
use crate::ask::Ask;
use crate::show::{count, event_id, memory_id, position};

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

    /// Returns the words with a link to the newest event.
    pub(crate) fn with_event(&self, ask: &Ask) -> Markup {
        html! { (self.words()) ": " (event_id(ask, &self.newest)) }
    }

    /// Returns the words with links to the newest event and its memory. Reads the log for them.
    pub(crate) fn with_memory(&self, explorer: &Explorer, ask: &Ask) -> Markup {
        let Ok(detail) = explorer.service.log_show(&self.newest) else {
            return self.with_event(ask);
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
