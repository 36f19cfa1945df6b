//! One file a page.

mod compare;
mod graph;
mod health;
mod log;
mod machines;
mod memories;
mod memory;
mod moment;
mod now;
mod numbers;
mod sessions;
mod topics;

use std::sync::Arc;

pub(crate) use graph::Webs;
pub(crate) use now::FEEDS_MAX;

use axum::Router;

use crate::Explorer;
use crate::answer::shows;

/// Returns the routes of all pages. Those that are not HTML pages are routes of the file that needs them.
pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new()
        .route("/", shows(now::page))
        .route("/memories", shows(memories::page))
        .route("/memories/{id}", shows(memory::page))
        .route("/memories/{id}/near", shows(memory::near_page))
        .route("/memories/{id}/shown", shows(memory::shown_page))
        .route("/log", shows(log::page))
        .route("/log/{event}", shows(log::event_page))
        .route("/graph", shows(graph::page))
        .route("/sessions", shows(sessions::page))
        .route("/sessions/{id}", shows(sessions::session_page))
        .route("/health", shows(health::page))
        .route("/machines", shows(machines::page))
        .route("/numbers", shows(numbers::page))
        .route("/topics", shows(topics::page))
        .route("/compare", shows(compare::page))
        .merge(moment::routes())
        .merge(now::routes())
        .merge(graph::routes())
        .merge(numbers::routes())
}
