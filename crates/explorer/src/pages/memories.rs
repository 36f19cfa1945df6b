//! The page *Memories*: search and list.

use icm_api::ListRequest;
use icm_api::error::Result;
use maud::html;

use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;

/// Most memories on a page.
const MEMORIES: usize = 50;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let request = ListRequest {
        limit: Some(MEMORIES),
        at: ask.at.clone(),
        ..ListRequest::default()
    };
    let memories = explorer.service.list(&request)?;
    let main = html! {
        ul.memories {
            @for memory in &memories {
                li { a href=(ask.link(&format!("/memories/{}", memory.id), &[])) { (memory.content.as_deref().unwrap_or("(redacted)")) } }
            }
        }
    };
    Ok(Page::new("Memories", main))
}
