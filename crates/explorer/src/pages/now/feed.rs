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

/// A page that listens.
struct Listener {
    explorer: Arc<Explorer>,
    /// Position of the newest event that it was sent.
    seen: u64,
    _place: OwnedSemaphorePermit,
}

/// Answers with the events after `after`, or after the last one that the browser received, as they are appended. If all
/// places are taken, it answers with nothing, and the browser does not ask again by itself.
pub(super) async fn feed(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let Ok(place) = Arc::clone(&explorer.feeds).try_acquire_owned() else {
        let mut response = StatusCode::NO_CONTENT.into_response();
        guarded(response.headers_mut());
        return response;
    };
    let received = headers.get("last-event-id");
    let received = received.and_then(|id| id.to_str().ok()?.parse().ok());
    let after = params.iter().find(|(name, _)| name == "after");
    let after = after.and_then(|(_, position)| position.parse().ok());
    let listener = Listener {
        explorer,
        // Without a position, the first look sends nothing older than itself.
        seen: received.or(after).unwrap_or(u64::MAX),
        _place: place,
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
            let (explorer, seen) = (Arc::clone(&self.explorer), self.seen);
            let looked = tokio::task::spawn_blocking(move || look(&explorer, seen)).await;
            match looked {
                Ok(Ok((seen, message))) => {
                    self.seen = seen;
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

/// Returns the newest position, and the events since `seen` as a message, if there are any.
fn look(explorer: &Explorer, seen: u64) -> Result<(u64, Option<String>)> {
    let newest = explorer.service.newest_position()?;
    if newest <= seen {
        // A log that is shorter was restored: the page goes on from there.
        return Ok((newest, None));
    }
    let ask = Ask::of(explorer, &Uri::from_static("/"), Vec::new())?;
    // An import can bring thousands: a page shows the last ones.
    let after = seen.max(newest.saturating_sub(EVENTS_KEPT));
    let events = row::events(explorer, after, newest)?;
    let rows = row::rows(explorer, &ask, &events, true)?.into_string();
    Ok((newest, Some(message(newest, &rows))))
}

/// Returns rows as an event of a stream. A line of the text is a line of the event, so no text ends it.
fn message(position: u64, rows: &str) -> String {
    let mut message = format!("id: {position}\nevent: rows\n");
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
    use super::message;

    #[test]
    fn no_text_ends_an_event_of_the_stream() {
        assert_eq!(
            message(7, "<li>a\n\nevent: b\r\rdata: c</li>"),
            "id: 7\nevent: rows\ndata: <li>a\ndata: \ndata: event: b\ndata: \ndata: data: c</li>\n\n"
        );
    }
}
