//! The page of one memory.

use icm_api::error::Result;
use maud::html;

use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let id = ask.path.rsplit('/').next().unwrap_or_default();
    let memory = explorer.service.get(id, ask.at.as_deref())?;
    Ok(Page::new(
        format!("Memory in {}", memory.topic),
        html! { p.text { (memory.content.as_deref().unwrap_or("(redacted)")) } },
    ))
}
