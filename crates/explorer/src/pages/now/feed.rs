//! The stream of new events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use icm_api::error::Result;
use icm_wait::bounds;
use tokio::sync::OwnedSemaphorePermit;

use super::{EVENTS_KEPT, row};
use crate::Explorer;
use crate::answer::guarded;
use crate::ask::Ask;

/// Looks without news after which a line shows both ends that the other one is there: 15 s of looks. Raised, a closed
/// page is noticed later.
const QUIET_LOOKS: u32 = 150;

/// Digits that are kept of the last sent event's id.
const EVENT_DIGITS: usize = 16;

/// A page that listens.
struct Listener {
    explorer: Arc<Explorer>,
    /// The newest event that it was sent; `None` if it has none: the first look sends nothing older than itself.
    seen: Option<LastSent>,
    _slot: OwnedSemaphorePermit,
}

/// The newest event that a page was sent, its position and the beginning of its id: `12-0dfea7a775390b1c`. Another log
/// has another event there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LastSent {
    position: u64,
    event: String,
}

impl LastSent {
    pub(super) fn of(position: u64, event: &str) -> LastSent {
        let digits = event.floor_char_boundary(EVENT_DIGITS);
        LastSent {
            position,
            event: event[..digits].to_owned(),
        }
    }

    fn parse(text: &str) -> Option<LastSent> {
        let (position, event) = text.split_once('-').unwrap_or((text, ""));
        Some(LastSent::of(position.parse().ok()?, event))
    }

    /// Returns `true` if the log of `newest` still has this event.
    fn is_still_in(&self, explorer: &Explorer, newest: &LastSent) -> Result<bool> {
        if self.position >= newest.position {
            return Ok(self == newest || self.event.is_empty());
        }
        if self.event.is_empty() {
            return Ok(true);
        }
        let there = explorer
            .service
            .basis(Some(&format!("@{}", self.position)))?;
        Ok(there.event.starts_with(&self.event))
    }
}

impl std::fmt::Display for LastSent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.position, self.event)
    }
}

/// Answers with the events after `after`, or after the last one that the browser received, as they are appended. If all
/// slots are taken, it answers with nothing, and the browser does not ask again by itself.
pub(super) async fn feed(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let Ok(slot) = Arc::clone(&explorer.feeds).try_acquire_owned() else {
        let mut response = StatusCode::NO_CONTENT.into_response();
        guarded(response.headers_mut());
        return response;
    };
    let received = headers.get("last-event-id");
    let received = received.and_then(|id| LastSent::parse(id.to_str().ok()?));
    let after = params.iter().find(|(name, _)| name == "after");
    let after = after.and_then(|(_, sent)| LastSent::parse(sent));
    let listener = Listener {
        explorer,
        seen: received.or(after),
        _slot: slot,
    };
    let stream = stream::unfold(listener, |mut listener| async {
        let message = listener.next().await?;
        Some((Ok::<_, Infallible>(message), listener))
    });
    let kind = [(CONTENT_TYPE, "text/event-stream")];
    let mut response = (kind, Body::from_stream(stream)).into_response();
    guarded(response.headers_mut());
    response
}

impl Listener {
    /// Waits for events and returns them as one message; `None` when the server ends.
    async fn next(&mut self) -> Option<String> {
        for _ in 0..QUIET_LOOKS {
            tokio::select! {
                () = self.explorer.stop.cancelled() => return None,
                () = icm_wait::pause_async(bounds::LOOK_EVERY) => {}
            }
            let (explorer, seen) = (Arc::clone(&self.explorer), self.seen.clone());
            let looked = tokio::task::spawn_blocking(move || look(&explorer, seen.as_ref())).await;
            match looked {
                Ok(Ok((seen, message))) => {
                    self.seen = Some(seen);
                    if let Some(message) = message {
                        return Some(message);
                    }
                }
                // A page shows why the log cannot be read; the browser asks again later.
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the stream of events ends");
                    return None;
                }
                Err(error) => {
                    tracing::error!(%error, "the stream of events panicked");
                    return None;
                }
            }
        }
        Some(":\n\n".to_owned())
    }
}

/// Returns the newest event, and the events since `seen` as a message, if there are any.
fn look(explorer: &Explorer, seen: Option<&LastSent>) -> Result<(LastSent, Option<String>)> {
    let log = explorer.service.log_handle();
    log.refresh()?;
    let newest = log.tip().map_or(LastSent::of(0, ""), |tip| {
        LastSent::of(tip.position.0, &tip.event.to_string())
    });
    let Some(seen) = seen.filter(|seen| **seen != newest) else {
        return Ok((newest, None));
    };
    if !seen.is_still_in(explorer, &newest)? {
        // Another store lies in the folder: the page shows events of the old one.
        let message = message("replaced", &newest, "");
        return Ok((newest, Some(message)));
    }
    if seen.position >= newest.position {
        return Ok((newest, None));
    }
    let ask = Ask::of(explorer, &Uri::from_static("/"), Vec::new())?;
    // An import can bring thousands: a page shows the last ones.
    let after = (seen.position).max(newest.position.saturating_sub(EVENTS_KEPT));
    let events = row::events(explorer, after, newest.position)?;
    let rows = row::rows(explorer, &ask, &events, true)?.into_string();
    let message = message("rows", &newest, &rows);
    Ok((newest, Some(message)))
}

/// Returns rows as an event of a stream. A line of the text is a line of the event, so no text ends it.
fn message(event: &str, sent: &LastSent, rows: &str) -> String {
    let mut message = format!("id: {sent}\nevent: {event}\n");
    for line in rows.split(['\n', '\r']) {
        message.push_str("data: ");
        message.push_str(line);
        message.push('\n');
    }
    message.push('\n');
    message
}

#[cfg(test)]
mod tests {
    use super::{LastSent, message};

    #[test]
    fn no_text_ends_an_event_of_the_stream() {
        assert_eq!(
            message(
                "rows",
                &LastSent::of(7, "0dfea7a775390b1c9f"),
                "<li>a\n\nevent: b\r\rdata: c</li>"
            ),
            "id: 7-0dfea7a775390b1c\nevent: rows\ndata: <li>a\ndata: \ndata: event: b\ndata: \ndata: data: c</li>\n\n"
        );
    }
}
