//! The explorer: a store as pages in the browser, each at any moment of its log.
//!
//! ```text
//! request ─▶ ask (path, parameters, moment) ─▶ pages/… (asks the service) ─▶ frame (head, time, navigation) ─▶ HTML
//! form    ─▶ act (form token, one command)  ─▶ redirect to the page that shows what was done
//! ```
//!
//! [`routes`] makes an [`axum::Router`]. Its server must let in one browser of this user alone: the router knows
//! neither sockets nor who asks. Each page is complete without script. All text of the store goes through `maud`, which
//! escapes it.

mod act;
mod answer;
mod ask;
mod assets;
mod event;
mod frame;
mod heads;
mod keys;
mod pages;
mod problem;
mod show;
mod time;

use std::sync::Arc;

use axum::Router;
use icm_api::Caller;
use icm_service::Service;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The store that is shown, and what a visitor may do.
pub struct Explorer {
    pub(crate) service: Arc<Service>,
    /// The actor of each change: the person in front of the browser.
    pub(crate) caller: Caller,
    /// No page offers or accepts a change.
    pub(crate) read_only: bool,
    /// Ends the streams of events, so that the server can stop.
    pub(crate) stop: CancellationToken,
    pub(crate) forms: act::FormTokens,
    /// Places of the streams of events.
    pub(crate) feeds: Arc<Semaphore>,
    pub(crate) heads: heads::Heads,
    pub(crate) webs: pages::Webs,
}

impl Explorer {
    /// Returns an explorer of this store. With `read_only`, it changes nothing.
    ///
    /// # Errors
    /// `Internal` if the system has no random numbers.
    pub fn new(
        service: Arc<Service>,
        caller: Caller,
        read_only: bool,
    ) -> icm_api::error::Result<Explorer> {
        Ok(Explorer {
            service,
            caller,
            read_only,
            stop: CancellationToken::new(),
            forms: act::FormTokens::new()?,
            feeds: Arc::new(Semaphore::new(pages::FEEDS_MAX)),
            heads: heads::Heads::default(),
            webs: pages::Webs::default(),
        })
    }
}

/// Returns all pages, files and actions. Streams of events end once `stop` is cancelled.
pub fn routes(explorer: Explorer, stop: CancellationToken) -> Router {
    let explorer = Arc::new(Explorer { stop, ..explorer });
    // The first page needs the counts of a walk through the log. The walk begins before a browser asks.
    let first = Arc::clone(&explorer);
    let walk = std::thread::Builder::new().name("first-walk".to_owned());
    let walk = walk.spawn(move || {
        if let Err(error) = first.heads.with(first.service.log_handle(), |_| ()) {
            tracing::warn!(%error, "the log cannot be walked");
        }
    });
    if let Err(error) = walk {
        tracing::warn!(%error, "no thread can be made: the first page walks the log");
    }
    let mut router = pages::routes().merge(assets::routes());
    if !explorer.read_only {
        router = router.merge(act::routes());
    }
    router
        .fallback(answer::no_page)
        .method_not_allowed_fallback(answer::no_page)
        .with_state(explorer)
}
