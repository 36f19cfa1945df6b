//! Actions: each is a form with a token, and one command of the service.
//!
//! A form is posted to `/act/NAME`. The answer is a redirect to `/done/EVENT`, the page of what was done, so loading a
//! page again repeats nothing. What cannot be taken back, or changes much, is shown first: [`undo`] and [`redact`].

mod done;
mod form;
mod memory;
mod redact;
mod settle;
mod undo;

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use icm_api::error::{Result, ServiceError};
use maud::html;

use crate::Explorer;
use crate::answer::{Make, failed, guarded, html_answer, in_background, shows};
use crate::frame;

pub(crate) use form::{Fields, FormTokens};
pub(crate) use memory::{for_finding, for_memory, store_link};
pub(crate) use settle::for_conflict;
pub(crate) use undo::undo_link;

/// The page that follows an action.
pub(crate) enum Done {
    /// An event was written.
    Event(String),
    /// Nothing had to change; the page to go on with.
    Nothing(String),
}

/// An action: it carries out one command.
type Act = fn(&Explorer, &Fields) -> Result<Done>;

/// The actions by their names.
const ACTS: [(&str, Act); 11] = [
    ("store", memory::store),
    ("update", memory::update),
    ("forget", memory::forget),
    ("revive", memory::revive),
    ("pin", memory::pin),
    ("unpin", memory::unpin),
    ("link", memory::link),
    ("unlink", memory::unlink),
    ("undo", undo::undo),
    ("settle", settle::settle),
    ("redact", redact::redact),
];

/// The pages that belong to actions.
const PAGES: [(&str, Make); 4] = [
    ("/store", memory::store_page),
    ("/undo", undo::page),
    ("/redact", redact::page),
    ("/done/{event}", done::page),
];

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    let pages = PAGES.into_iter();
    let router = pages.fold(Router::new(), |router, (path, make)| {
        router.route(path, shows(make))
    });
    ACTS.into_iter().fold(router, |router, (name, act)| {
        let handler = async move |State(explorer): State<Arc<Explorer>>, form: Posted| {
            in_background(move || acted(&explorer, name, act, form)).await
        };
        router.route(&format!("/act/{name}"), post(handler))
    })
}

type Posted = std::result::Result<Form<Vec<(String, String)>>, FormRejection>;

fn acted(explorer: &Explorer, name: &'static str, act: Act, form: Posted) -> Response {
    let Ok(Form(fields)) = form else {
        let error =
            ServiceError::invalid_with("this is no form of the explorer", "go back to the page");
        return failed(&error);
    };
    let fields = Fields::new(fields);
    if !explorer
        .forms
        .is_of(name, fields.get(form::TOKEN).unwrap_or_default())
    {
        return html_answer(
            StatusCode::FORBIDDEN,
            frame::bare(
                "Not done",
                &html! {
                    p.error role="alert" { "This form is not of a page of this explorer, or icm was started again since." }
                    p.hint { "Go back, load the page again, and repeat it there. Nothing was changed." }
                },
            ),
        );
    }
    match act(explorer, &fields) {
        Ok(Done::Event(event)) => goes_to(format!("/done/{event}")),
        Ok(Done::Nothing(page)) => goes_to(page),
        Err(error) => failed(&error),
    }
}

fn goes_to(page: String) -> Response {
    let mut response = (StatusCode::SEE_OTHER, [(LOCATION, page)]).into_response();
    guarded(response.headers_mut());
    response
}
