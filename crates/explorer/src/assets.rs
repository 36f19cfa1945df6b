//! Files of the pages: style, scripts, and libraries of others, which are part of the program.

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::Explorer;
use crate::answer::guarded;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Name, media type, content.
const FILES: [(&str, &str, &str); 6] = [
    ("explorer.css", CSS, include_str!("../assets/explorer.css")),
    ("explorer.js", SCRIPT, include_str!("../assets/explorer.js")),
    ("icon.svg", SVG, include_str!("../assets/icon.svg")),
    (
        "htmx.js",
        SCRIPT,
        include_str!("../assets/vendor/htmx-2.0.11.min.js"),
    ),
    (
        "sse.js",
        SCRIPT,
        include_str!("../assets/vendor/htmx-ext-sse-2.2.4.min.js"),
    ),
    (
        "cytoscape.js",
        SCRIPT,
        include_str!("../assets/vendor/cytoscape-3.35.0.min.js"),
    ),
];

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    FILES
        .into_iter()
        .fold(Router::new(), |router, (name, kind, content)| {
            let path = format!("/assets/{name}");
            router.route(&path, get(async move || file(kind, content)))
        })
}

fn file(kind: &'static str, content: &'static str) -> Response {
    let mut response = ([(CONTENT_TYPE, kind)], content).into_response();
    guarded(response.headers_mut());
    response
}
