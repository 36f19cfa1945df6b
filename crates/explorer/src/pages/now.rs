//! The page *Now*: what happens, live; at a past moment, what had just happened.

mod feed;
mod row;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::get;
use icm_api::error::Result;
use maud::html;

use self::feed::LastSent;
use crate::Explorer;
use crate::act;
use crate::answer::{Page, alone, html_answer, in_background};
use crate::ask::Ask;
use crate::show;

/// Events on the page as it is opened. Raised, it takes longer to make.
const EVENTS: u64 = 40;
/// Most streams of events at the same time: a browser has six connections to a server, and other pages need some.
pub(crate) const FEEDS_MAX: usize = 4;
/// Most events that an open page keeps; the oldest are dropped. Raised, a page that is open for days needs more memory.
const EVENTS_KEPT: u64 = 200;

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new()
        .route("/now/feed", get(feed::feed))
        .route("/now/state", get(state_alone))
}

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let position = ask.basis.position;
    let events = row::events(explorer, position.saturating_sub(EVENTS), position)?;
    let rows = row::rows(explorer, ask, &events, false)?;
    let is_live = ask.at.is_none();
    let main = html! {
        div.now.then[!is_live] data-feed=[is_live.then_some("/now/feed")] data-after=[is_live.then(|| LastSent::of(position, &ask.basis.event))] {
            (state::state_or_later(explorer, ask)?)
            section.events aria-labelledby="events" {
                div.heading {
                    h2 #events { @if is_live { "Events" } @else { "The events before" } }
                    @if is_live {
                        span.live data-live hidden { "live" }
                        noscript { span.quiet { "Reload the page for newer events." } }
                    }
                    a.quiet.more href=(ask.link("/log", &[])) { "The whole log" }
                }
                ol.feed reversed data-rows data-most=(EVENTS_KEPT) { (rows) }
                (show::empty("Nothing has happened yet", &html! {
                    "Store something: " code { (icm_api::STORE_EXAMPLE) } ", or set up an agent with " code { "icm init" } ". "
                    (act::store_link(explorer, ask))
                }))
            }
        }
    };
    let title = match is_live {
        true => "Now".to_owned(),
        false => "Then".to_owned(),
    };
    Ok(Page::new(title, main))
}

/// Answers with the counts and sessions alone, for a page that is open.
async fn state_alone(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || {
        let state = Ask::of(&explorer, &uri, params).and_then(|ask| state::state(&explorer, &ask));
        state.map_or_else(
            |error| alone(&error),
            |state| html_answer(StatusCode::OK, state),
        )
    })
    .await
}

#[cfg(test)]
mod tests;
