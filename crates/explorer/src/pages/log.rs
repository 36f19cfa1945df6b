//! The page *Log*, and the page of one event.

use icm_api::LogRequest;
use icm_api::error::Result;
use maud::html;

use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;

/// Most events on a page.
const EVENTS: usize = 100;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let request = LogRequest {
        limit: Some(EVENTS),
        cursor: Some(ask.basis.position + 1),
        ..LogRequest::default()
    };
    let mut entries = Vec::new();
    explorer.service.log(&request, &mut |entry| {
        entries.push(entry);
        true
    })?;
    let main = html! {
        ol.events {
            @for entry in &entries {
                li { a href=(ask.link(&format!("/log/{}", entry.event), &[])) { (entry.position) } " " (entry.summary) }
            }
        }
    };
    Ok(Page::new("Log", main))
}

pub(crate) fn event_page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let id = ask.path.rsplit('/').next().unwrap_or_default();
    let detail = explorer.service.log_show(id)?;
    Ok(Page::new(
        format!("Event {}", detail.entry.position),
        html! { p { (detail.entry.summary) } },
    ))
}
