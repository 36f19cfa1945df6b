//! The page *Sessions*.

use icm_api::error::Result;
use maud::html;

use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;

pub(crate) fn page(_explorer: &Explorer, _ask: &Ask) -> Result<Page> {
    Ok(Page::new("Sessions", html! {}))
}
