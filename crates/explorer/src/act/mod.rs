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
use maud::{Markup, html};

use crate::Explorer;
use crate::answer::{Make, Page, alone, failed, guarded, in_background, shows, whole};
use crate::ask::Ask;

use form::Begun;
pub(crate) use form::{Fields, FormTokens};
pub(crate) use memory::{for_finding, for_memory, link_advice, offers, store_link};
pub(crate) use settle::for_conflict;
pub(crate) use undo::{undo_link, undo_of_version};

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
        return failed(explorer, "/", &error);
    };
    let fields = Fields::new(fields);
    if !explorer
        .forms
        .is_of(name, fields.get(form::TOKEN).unwrap_or_default())
    {
        return not_of_here(explorer);
    }
    let running = match explorer.forms.begin(fields.digest(name)) {
        Begun::Before(page) => return goes_to(page),
        Begun::Now(running) => running,
    };
    let page = match act(explorer, &fields) {
        Ok(Done::Event(event)) => format!("/done/{event}"),
        Ok(Done::Nothing(page)) => page,
        Err(error) => {
            drop(running);
            return failed(explorer, "/", &error);
        }
    };
    running.led_to(page.clone());
    goes_to(page)
}

/// Answers a form with a wrong token.
fn not_of_here(explorer: &Explorer) -> Response {
    let main = html! {
        p.error role="alert" { "This form is not of a page of this explorer, or icm was started again since." }
        p.hint { "Go back, load the page again, and repeat it there. Nothing was changed." }
    };
    match Ask::now(explorer, "/") {
        Ok(ask) => whole(
            explorer,
            &ask,
            StatusCode::FORBIDDEN,
            Page::new("Not done", main),
        ),
        Err(error) => alone(&error),
    }
}

/// Returns the note of a page that changes the present, at an earlier moment.
fn only_now(ask: &Ask) -> Markup {
    html! {
        p.notice {
            "Only the present can be changed, and this page shows an earlier moment. "
            a href=(ask.link_at(None)) { "To now" }
        }
    }
}

fn goes_to(page: String) -> Response {
    let mut response = (StatusCode::SEE_OTHER, [(LOCATION, page)]).into_response();
    guarded(response.headers_mut());
    response
}
