//! The page after an action.

use icm_api::error::Result;
use icm_guard::sanitize::clean_line;
use icm_log::Kind;
use maud::html;

use super::undo::undo_link;
use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;
use crate::event;

/// Shows the event that an action wrote, and the ways on.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let id = ask.path.rsplit('/').next().unwrap_or_default();
    let entry = event::detail(explorer, id)?.entry;
    if entry.position > ask.basis.position {
        return Ok(Page::new("Done", event::later(ask, &entry)));
    }
    let undone = event::undone(&entry).map(|undone| undone.linked(explorer, ask));
    let of_memory = entry.kind.starts_with("memory.") && entry.subject.is_some();
    let can_undo = Kind::parse(&entry.kind).is_some_and(Kind::can_be_undone);
    let main = html! {
        p.good role="status" {
            @match &undone {
                Some(undone) => (undone),
                None => bdi { (clean_line(&entry.summary)) },
            }
        }
        p { "It is event " a href=(ask.link(&format!("/log/{}", entry.event), &[])) { (entry.position) } " of the log, by " bdi { (clean_line(&entry.actor)) } "." }
        div.buttons {
            @if let (true, Some(subject)) = (of_memory, &entry.subject) {
                a.button href=(ask.link(&format!("/memories/{subject}"), &[])) { "To the memory" }
            }
            @if can_undo { (undo_link(explorer, ask, &entry.event)) }
            a.button href=(ask.link("/", &[])) { "Now" }
        }
    };
    Ok(Page::new("Done", main))
}
