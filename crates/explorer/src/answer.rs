//! Answers: a page in its frame, an error as a page, and the headers that each answer has.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use icm_api::error::{Result, ServiceError};
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;
pub(crate) use crate::frame::Page;
use crate::{frame, problem};

/// Files of this server alone, no script or style inside a page, no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A function that makes a page.
pub(crate) type Make = fn(&Explorer, &Ask) -> Result<Page>;

/// Returns the route of a page.
pub(crate) fn shows(make: Make) -> MethodRouter<Arc<Explorer>> {
    get(
        async move |explorer: State<Arc<Explorer>>,
                    query: Query<Vec<(String, String)>>,
                    uri: Uri| { page(make, explorer, query, uri).await },
    )
}

/// Answers a request for an address that has no page.
pub(crate) async fn no_page(
    explorer: State<Arc<Explorer>>,
    query: Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    let none = |_: &Explorer, _: &Ask| {
        Err(ServiceError::nothing(
            "there is no page at this address",
            "the pages are named at the top",
        ))
    };
    page(none, explorer, query, uri).await
}

/// Answers a request for a page.
async fn page(
    make: Make,
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || match Ask::of(&explorer, &uri, params) {
        Ok(ask) => match make(&explorer, &ask) {
            Ok(page) => whole(&explorer, &ask, StatusCode::OK, page),
            Err(error) => whole(&explorer, &ask, status(&error), error_page(&error)),
        },
        Err(error) => failed(&explorer, uri.path(), &error),
    })
    .await
}

/// Answers with a page in its frame.
pub(crate) fn whole(explorer: &Explorer, ask: &Ask, status: StatusCode, page: Page) -> Response {
    frame::around(explorer, ask, page)
        .map_or_else(|error| alone(&error), |whole| html_answer(status, whole))
}

/// Runs what asks the store on a thread that may block.
pub(crate) async fn in_background(work: impl FnOnce() -> Response + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(work).await {
        Ok(response) => response,
        Err(error) => {
            tracing::error!(%error, "a page panicked");
            let error = ServiceError::Internal("this page; details are in the log of icm".into());
            alone(&error)
        }
    }
}

/// Answers with an error as a page of now. The bar of time leads to other moments of the page at `path`.
pub(crate) fn failed(explorer: &Explorer, path: &str, error: &ServiceError) -> Response {
    match Ask::now(explorer, path) {
        Ok(ask) => whole(explorer, &ask, status(error), error_page(error)),
        Err(_) => alone(error),
    }
}

/// Answers with an error without the frame, which asks the store.
pub(crate) fn alone(error: &ServiceError) -> Response {
    let page = error_page(error);
    html_answer(status(error), frame::bare(&page.title, &page.main))
}

fn error_page(error: &ServiceError) -> Page {
    let main = html! {
        (problem::shown(error))
        p { a href="/" { "To the first page" } }
    };
    Page::new("This did not work", main)
}

/// Returns the status for an error.
pub(crate) fn status(error: &ServiceError) -> StatusCode {
    match error {
        ServiceError::Invalid { .. } | ServiceError::Ambiguous { .. } => StatusCode::BAD_REQUEST,
        ServiceError::Secret { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        ServiceError::Nothing { .. } | ServiceError::NotFound { .. } => StatusCode::NOT_FOUND,
        ServiceError::OtherPlan | ServiceError::Conflict { .. } => StatusCode::CONFLICT,
        ServiceError::ReadOnly { .. } => StatusCode::FORBIDDEN,
        ServiceError::NoSpace { .. } => StatusCode::INSUFFICIENT_STORAGE,
        ServiceError::Busy { .. } | ServiceError::Stopped { .. } => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Answers with HTML. A page can change at any time, so no browser keeps it.
pub(crate) fn html_answer(status: StatusCode, page: Markup) -> Response {
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    let mut response = (status, kind, page.into_string()).into_response();
    guarded(response.headers_mut());
    response
}

/// Adds the headers that bound what a browser does with an answer.
pub(crate) fn guarded(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
