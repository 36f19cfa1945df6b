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

use axum::Router;
use axum::extract::{Query, State};
use axum::http::Uri;
use axum::routing::{MethodRouter, get};

use crate::Explorer;
use crate::act;
use crate::answer::{Make, page};

/// Returns the routes of all pages. Those that are not HTML pages are routes of the file that needs them.
pub(crate) fn routes() -> Router<Arc<Explorer>> {
    let acting = act::PAGES.into_iter();
    let router = acting.fold(Router::new(), |router, (path, make)| router.route(path, shows(make)));
    router
        .route("/", shows(now::page))
        .route("/memories", shows(memories::page))
        .route("/memories/{id}", shows(memory::page))
        .route("/log", shows(log::page))
        .route("/log/{event}", shows(log::event_page))
        .route("/graph", shows(graph::page))
        .route("/sessions", shows(sessions::page))
        .route("/health", shows(health::page))
        .route("/machines", shows(machines::page))
        .route("/numbers", shows(numbers::page))
        .route("/topics", shows(topics::page))
        .route("/compare", shows(compare::page))
        .merge(moment::routes())
        .merge(now::routes())
        .merge(graph::routes())
}

fn shows(make: Make) -> MethodRouter<Arc<Explorer>> {
    get(
        async move |explorer: State<Arc<Explorer>>,
                    query: Query<Vec<(String, String)>>,
                    uri: Uri| { page(make, explorer, query, uri).await },
    )
}
