//! The page, the bar above it, and the stream.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use futures_util::StreamExt;
use icm_api::{Caller, RecallRequest, StoreRequest};
use icm_service::{OpenOptions, Service};
use icm_wait::bounds;

use super::{FEEDS_MAX, feed, page};
use crate::Explorer;
use crate::ask::Ask;
use crate::time;

const HOSTILE: &str =
    "<script>alert(1)</script>\r\n\r\ndata: x\u{202e}<img src=x onerror=alert(2)>";

fn explorer(folder: &std::path::Path) -> Arc<Explorer> {
    let options = OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    let service = Service::open(options).expect("a store");
    let explorer = Explorer::new(Arc::new(service), Caller::default(), false);
    Arc::new(explorer.expect("random numbers"))
}

fn store(explorer: &Explorer, text: &str) {
    let request = StoreRequest::new("lamps", text);
    let stored = explorer.service.store(&explorer.caller, request);
    stored.expect("it stores");
}

fn ask(explorer: &Explorer, address: &str) -> Ask {
    let uri: Uri = address.parse().expect("an address");
    let Query(params) = Query::try_from_uri(&uri).expect("parameters");
    Ask::of(explorer, &uri, params).expect("a moment")
}

#[test]
fn the_bar_leads_one_command_back_and_forward() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    for text in ["one lamp", "two chairs", "three doors"] {
        store(&explorer, text);
    }
    let ends = (explorer.heads)
        .with(explorer.service.log_handle(), |seen| seen.ends.clone())
        .expect("it counts");
    let [.., second, third, fourth] = ends[..] else {
        panic!("{ends:?}")
    };
    let bar = |address: &str| {
        let ask = ask(&explorer, address);
        time::bar(&explorer, &ask).expect("a bar").into_string()
    };
    let now = bar("/log?kind=memory");
    assert!(
        now.contains(&format!("href=\"/log?kind=memory&amp;at=%40{third}\"")),
        "{now}"
    );
    assert!(
        !now.contains("As of") && !now.contains("data-step=\"next\""),
        "{now}"
    );
    let past = bar(&format!("/log?kind=memory&at=@{third}"));
    assert!(
        past.contains("As of") && past.contains(&format!("event {third} of {fourth}")),
        "{past}"
    );
    assert!(past.contains(&format!("at=%40{second}\"")), "{past}");
    // The newest moment is now.
    assert!(
        past.contains("href=\"/log?kind=memory\" rel=\"next\""),
        "{past}"
    );
}

#[test]
fn a_page_of_the_past_has_no_stream_and_shows_no_later_event() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    store(&explorer, "one lamp");
    let position = explorer.service.newest_position().expect("a position");
    store(&explorer, "two chairs");
    let shown = |address: &str| {
        let page = page(&explorer, &ask(&explorer, address)).expect("a page");
        page.main.into_string()
    };
    let now = shown("/");
    assert!(
        now.contains("two chairs") && now.contains("data-feed=\"/now/feed\" data-after=\""),
        "{now}"
    );
    let then = shown(&format!("/?at=@{position}"));
    assert!(
        then.contains("one lamp") && !then.contains("two chairs"),
        "{then}"
    );
    assert!(!then.contains("data-feed"), "{then}");
}

#[test]
fn a_page_of_the_past_has_the_sessions_and_tokens_of_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    store(&explorer, "one lamp");
    let before = explorer.service.newest_position().expect("a position");
    let night = Caller {
        session: Some("night shift".to_owned()),
        ..Caller::default()
    };
    let request = StoreRequest::new("chairs", "two chairs");
    explorer.service.store(&night, request).expect("it stores");
    let asked = RecallRequest {
        record: true,
        limit: Some(1),
        ..RecallRequest::new("lamp")
    };
    explorer.service.recall(&night, &asked).expect("it recalls");
    explorer.service.record_recalls();
    let then = explorer.service.newest_position().expect("a position");
    store(&explorer, "three doors");
    let shown = |address: &str| {
        let page = page(&explorer, &ask(&explorer, address)).expect("a page");
        page.main.into_string()
    };
    let first = shown(&format!("/?at=@{before}"));
    assert!(first.contains("No session was active"), "{first}");
    assert!(first.contains("0 answers, 0 memories"), "{first}");
    for (address, day) in [
        ("/".to_owned(), "today"),
        (format!("/?at=@{then}"), "that day"),
    ] {
        let page = shown(&address);
        let (_, at_work) = page.split_once("class=\"at-work\"").expect("sessions");
        let (at_work, _) = at_work.split_once("</ul>").expect("an end");
        assert!(at_work.contains("night shift"), "{page}");
        assert!(page.contains(&format!("tokens shown {day}")), "{page}");
        // The day of now can be another one than that of the recall.
        assert!(
            address == "/" || page.contains("1 answer, 1 memory"),
            "{page}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_delivers_what_is_stored_and_ends_with_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    store(&explorer, "seen before");
    let params = vec![("after".to_owned(), after(&explorer))];
    let answer = feed::feed(
        State(Arc::clone(&explorer)),
        Query(params),
        HeaderMap::new(),
    )
    .await;
    let mut stream = answer.into_body().into_data_stream();

    let storing = Arc::clone(&explorer);
    let stored = tokio::task::spawn_blocking(move || store(&storing, HOSTILE));
    stored.await.expect("it stores");
    let message = tokio::time::timeout(bounds::ANSWER, stream.next()).await;
    let message = message
        .expect("in time")
        .expect("a message")
        .expect("bytes");
    let message = String::from_utf8(message.to_vec()).expect("text");
    assert!(
        message.starts_with("id: ") && message.ends_with("\n\n"),
        "{message}"
    );
    assert!(message.contains("&lt;script&gt;alert(1)"), "{message}");
    assert!(
        !message.contains("<script") && !message.contains("<img"),
        "{message}"
    );
    assert!(
        !message.contains('\u{202e}') && !message.contains("seen before"),
        "{message}"
    );
    // Each line belongs to the one event.
    let is_field = |line: &str| {
        ["id: ", "event: ", "data: "]
            .iter()
            .any(|name| line.starts_with(name))
    };
    assert!(message.trim_end().lines().all(is_field), "{message}");

    explorer.stop.cancel();
    let end = tokio::time::timeout(bounds::ANSWER, stream.next()).await;
    assert!(end.expect("in time").is_none());
}

/// Returns the place that an open page asks the stream to go on from.
fn after(explorer: &Explorer) -> String {
    let page = page(explorer, &ask(explorer, "/")).expect("a page");
    let page = page.main.into_string();
    let (_, after) = page.split_once("data-after=\"").expect("a place");
    let (after, _) = after.split_once('"').expect("an end");
    after.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_log_that_was_replaced_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    store(&explorer, "one lamp");
    let there = after(&explorer);
    let (position, _) = there.split_once('-').expect("an event");
    let position: u64 = position.parse().expect("a position");
    store(&explorer, "two chairs");
    // The event of that place is another one, and a log that is shorter.
    let other = "0".repeat(16);
    for place in [
        format!("{position}-{other}"),
        format!("{}-{other}", position + 9),
    ] {
        let params = vec![("after".to_owned(), place)];
        let state = State(Arc::clone(&explorer));
        let answer = feed::feed(state, Query(params), HeaderMap::new()).await;
        let mut stream = answer.into_body().into_data_stream();
        let message = tokio::time::timeout(bounds::ANSWER, stream.next()).await;
        let message = message
            .expect("in time")
            .expect("a message")
            .expect("bytes");
        let message = String::from_utf8(message.to_vec()).expect("text");
        assert!(message.contains("event: replaced\n"), "{message}");
        assert!(!message.contains("two chairs"), "{message}");
    }
    let params = vec![("after".to_owned(), there)];
    let state = State(Arc::clone(&explorer));
    let answer = feed::feed(state, Query(params), HeaderMap::new()).await;
    let mut stream = answer.into_body().into_data_stream();
    let message = tokio::time::timeout(bounds::ANSWER, stream.next()).await;
    let message = message
        .expect("in time")
        .expect("a message")
        .expect("bytes");
    let message = String::from_utf8(message.to_vec()).expect("text");
    assert!(message.contains("two chairs"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_beyond_the_places_gets_no_content_until_another_one_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let open = || {
        let state = State(Arc::clone(&explorer));
        feed::feed(state, Query(Vec::new()), HeaderMap::new())
    };
    let mut streams = Vec::new();
    for _ in 0..FEEDS_MAX {
        let answer = open().await;
        assert_eq!(answer.status(), StatusCode::OK);
        streams.push(answer);
    }
    assert_eq!(open().await.status(), StatusCode::NO_CONTENT);
    streams.pop();
    assert_eq!(open().await.status(), StatusCode::OK);
}
