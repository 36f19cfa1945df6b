//! The page *Graph*.

use std::sync::Arc;

use axum::Router;
use icm_api::error::Result;
use maud::html;

use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new()
}

pub(crate) fn page(_explorer: &Explorer, _ask: &Ask) -> Result<Page> {
    Ok(Page::new("Graph", html! {}))
}
