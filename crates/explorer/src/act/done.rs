//! The page after an action.

use icm_api::error::Result;
use icm_guard::sanitize::clean_line;
use maud::html;

use super::undo::undo_link;
use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;
use crate::event;
use crate::show::{event_id_path, event_path, memory_path};

/// Shows the event that an action wrote, and the ways on.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let id = ask.path.rsplit('/').next().unwrap_or_default();
    let entry = event::detail(explorer, id)?.entry;
    if entry.position > ask.basis.position {
        return Ok(Page::new("Done", event::later(ask, &entry)));
    }
    let undone = event::undone(&entry).map(|undone| undone.linked(explorer, ask));
    let of_memory = entry.kind.starts_with("memory.") && entry.subject.is_some();
    let undos = event::undos(explorer, ask, &entry);
    let main = html! {
        p.good role="status" {
            @match &undone {
                Some(undone) => (undone),
                None => bdi { (clean_line(&entry.summary)) },
            }
        }
        p { "It is event " a href=(event_id_path(ask, &entry.event)) { (entry.position) } " of the log, by " bdi { (clean_line(&entry.actor)) } "." }
        div.buttons {
            @if let (true, Some(subject)) = (of_memory, &entry.subject) {
                a.button href=(memory_path(ask, subject)) { "To the memory" }
            }
            @match undos.last() {
                Some((position, _)) => { a.button href=(event_path(ask, *position)) { "To its undo" } }
                None => (undo_link(explorer, ask, &entry)),
            }
            a.button href=(ask.link("/", &[])) { "Now" }
        }
    };
    Ok(Page::new("Done", main))
}
